// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes are compared with the memory there is before anything is allocated.

#ifndef MP_SUPPORT_MEMORY_H
#define MP_SUPPORT_MEMORY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
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

/// Reads a size as people write it: "4000000000", or with K, M, G or T behind, which are powers of
/// 1024. Nullopt for 0 and for what 64 bits do not hold.
std::optional<uint64_t> parseBytes(llvm::StringRef text);

/// "3.64 TiB", for people.
std::string formatBytes(uint64_t bytes);

} // namespace mpcore::support

#endif // MP_SUPPORT_MEMORY_H
