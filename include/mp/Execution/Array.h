// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays on the host: what goes into and comes out of a program.

#ifndef MP_EXECUTION_ARRAY_H
#define MP_EXECUTION_ARRAY_H

#include "mlir/IR/Types.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Numerics/Format.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::mp {

/// Type of an element: a float format, or an integer of 1 to 64 bits (index is a
/// signed one of 64). Elements are stored in 1, 2, 4 or 8 bytes, patterns of fewer
/// bits in the low ones.
struct ElementType {
  bool isFloat = true;
  numerics::Format format = numerics::Format::F32; ///< of floats
  unsigned width = 32;                             ///< of integers, in bits
  bool isUnsigned = false;                         ///< of integers

  static ElementType floating(numerics::Format format) { return {true, format, 0, false}; }
  static ElementType integer(unsigned width, bool isUnsigned = false) {
    return {false, numerics::Format::F32, width, isUnsigned};
  }
  /// Converts an MLIR type; a quantised type gives its storage type. Nullopt for types that are no
  /// elements: complex, vectors, f80, f128.
  static std::optional<ElementType> of(Type type);
  /// MLIR's spelling: "bf16", "i32", "ui8"; nullopt if it is none.
  static std::optional<ElementType> parse(llvm::StringRef spelling);

  unsigned bits() const;
  unsigned bytes() const;
  std::string str() const;
  bool operator==(const ElementType &other) const;
};

/// A dense array, row-major, native byte order. Rank 0 is one element.
struct Array {
  ElementType type;
  llvm::SmallVector<int64_t> shape;
  std::vector<char> data;

  Array() = default;
  /// Zero-filled.
  Array(ElementType type, llvm::ArrayRef<int64_t> shape);

  int64_t size() const;
  /// The bit pattern of an element, zero-extended.
  uint64_t pattern(int64_t index) const;
  void setPattern(int64_t index, uint64_t bits);
  /// The value of an element; integers beyond 53 bits are rounded.
  double value(int64_t index) const;
  std::vector<double> values() const;
  /// "2x3xf32", "f32" for rank 0.
  std::string typeStr() const;
};

/// "2x3xf32"; -1 prints as "?".
std::string typeString(llvm::ArrayRef<int64_t> shape, const ElementType &type);

/// Number of elements, or nullopt when it does not fit 62 bits or a size is
/// negative.
std::optional<int64_t> elementCount(llvm::ArrayRef<int64_t> shape);

/// Bytes of an array of that shape; the largest number where 64 bits do not hold them.
uint64_t byteSize(const ElementType &type, llvm::ArrayRef<int64_t> shape);

/// The array in another element type. Floats: rounded to nearest even, overflow as
/// IEEE. Integers of the same width as a float type become its patterns, and are
/// otherwise kept if every value fits, else an error.
llvm::Expected<Array> convertTo(Array array, const ElementType &type);

} // namespace mlir::mp

#endif // MP_EXECUTION_ARRAY_H
