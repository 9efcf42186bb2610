// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Array files: NumPy's .npy (versions 1 to 3) and safetensors. Nothing in a file
// is trusted: sizes and offsets are checked against its length.

#ifndef MP_EXECUTION_FILES_H
#define MP_EXECUTION_FILES_H

#include "mp/Execution/Array.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <memory>

namespace llvm {
class MemoryBuffer;
}

namespace mlir::mp {

/// Reads a .npy: bool, signed and unsigned integers, f16, f32, f64, and raw V1 and
/// V2 elements (as integers), C or Fortran order, either byte order.
llvm::Expected<Array> parseNpy(llvm::StringRef bytes);
llvm::Expected<Array> readNpy(llvm::StringRef path);

/// The bytes of a version 1.0 .npy. Formats NumPy lacks are written as unsigned
/// integers of the same width, i1 as bool.
std::string formatNpy(const Array &array);
/// Writes the file whole; "-" is standard output.
llvm::Error writeNpy(llvm::StringRef path, const Array &array);

/// A .safetensors file: arrays by name, read when asked for.
class Safetensors {
public:
  static llvm::Expected<Safetensors> parse(std::unique_ptr<llvm::MemoryBuffer> buffer);
  static llvm::Expected<Safetensors> open(llvm::StringRef path);

  bool contains(llvm::StringRef name) const { return entries.count(name.str()); }
  /// A copy of the named array, which must be there.
  Array get(llvm::StringRef name) const;
  std::vector<std::string> names() const;

private:
  struct Entry {
    ElementType type;
    llvm::SmallVector<int64_t> shape;
    uint64_t begin, end; ///< in the data section
  };
  std::shared_ptr<llvm::MemoryBuffer> buffer;
  uint64_t dataStart = 0;
  std::map<std::string, Entry> entries;
};

} // namespace mlir::mp

#endif // MP_EXECUTION_FILES_H
