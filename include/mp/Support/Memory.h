// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes are compared with the memory there is before anything is allocated.

#ifndef MP_SUPPORT_MEMORY_H
#define MP_SUPPORT_MEMORY_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace mpcore::support {

/// Bytes that this process may still take: what the system says is available, what its control
/// group and its limit of address space leave, and what setMemoryLimit leaves, whichever is least.
uint64_t availableMemory();

/// Limits the memory of this process, as --max-memory does. 0: no limit but the machine's.
void setMemoryLimit(uint64_t bytes);
uint64_t memoryLimit();

/// Bytes that this process holds now.
uint64_t residentMemory();

/// Errors where `bytes` are more than availableMemory(): "WHAT takes 3.6 TiB, but only 20 GiB of
/// memory are free".
llvm::Error checkMemory(uint64_t bytes, const llvm::Twine &what);

/// "3.64 TiB", for people.
std::string formatBytes(uint64_t bytes);

} // namespace mpcore::support

#endif // MP_SUPPORT_MEMORY_H
