// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps as JSON, which PTX kernels take by value:
//   {"array": "64x96xf16=uniform:1,1,0", "box": [64, 32], "swizzle": "128B"}
// array    what --input takes, or the number of the --input that is the array
// box      elements of a copy, the fastest dimension first, as in everything below
// type     u8 u16 u32 s32 u64 s64 f16 f32 f64 bf16 tf32 (default: the array's)
// dims     elements (default: the array's shape); strides: bytes of all dimensions but the fastest
// (default: packed) swizzle  none, 32B, 64B or 128B (default: none) outside  zero or nan: what is
// read beyond the tensor (default: zero) In im2col mode, instead of a box: pixels and channels of a
// copy, lower and upper (corners of the pixels' box beside the image's, default 0) and
// elementStrides (of all dimensions, default 1):
//   {"array": "2x5x7x16xf16=0", "pixels": 20, "channels": 16, "lower": [-1, -1], "upper": [-1, -1]}

#ifndef MP_LIB_EXECUTION_TENSORMAPINPUT_H
#define MP_LIB_EXECUTION_TENSORMAPINPUT_H

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Emulator/TensorMap.h"
#include "mp/Execution/Array.h"

#include <string>

namespace mlir::mp {

/// A map that still lacks its array's address, and which array that is: a number of an --input, or
/// the text of one.
struct TensorMapInput {
  std::string array;
  std::optional<size_t> inputNumber;
  llvm::SmallVector<uint64_t> dims, strides, box, elementStrides;
  llvm::SmallVector<int64_t> lower, upper;
  std::optional<uint32_t> pixels; ///< im2col
  uint32_t channels = 0;
  std::string type;
  emulator::TensorMap::Swizzle swizzle = emulator::TensorMap::Swizzle::None;
  bool nanOutside = false;
};

/// True for the text of a JSON object and for @FILE.json.
bool isTensorMapInput(llvm::StringRef text);

llvm::Expected<TensorMapInput> parseTensorMapInput(llvm::StringRef text);

/// The map of an array at an address. Errors say which rule of tensor maps is broken.
llvm::Expected<emulator::TensorMap> makeTensorMap(const TensorMapInput &input, const Array &array,
                                                  uint64_t address);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_TENSORMAPINPUT_H
