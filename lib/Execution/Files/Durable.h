// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that are there whole or not at all, and manifests that know their own checksum.

#ifndef MP_LIB_EXECUTION_FILES_DURABLE_H
#define MP_LIB_EXECUTION_FILES_DURABLE_H

#include "mp/Execution/Array.h"
#include "llvm/Support/JSON.h"

namespace mlir::mp {

std::string sha256Of(llvm::StringRef bytes);

/// Writes a file so that it is on the disk, whole, under its name when this returns.
llvm::Error writeDurably(llvm::StringRef path, llvm::StringRef bytes);

/// Writes one line of JSON durably, and its checksum in the line behind it.
llvm::Error writeManifest(llvm::StringRef path, llvm::json::Object content);
/// Reads what writeManifest() wrote; errors begin with "its manifest".
llvm::Expected<llvm::json::Object> readManifest(llvm::StringRef path);

/// The bytes of a safetensors file of these arrays, named by number ("0000", ...).
std::string formatSafetensors(llvm::ArrayRef<Array> arrays);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_FILES_DURABLE_H
