// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The form shared by scatter, scan, sort and topk of iree_linalg_ext and tm_tensor:
//
//   RESULTS = DIALECT.NAME WORD(VALUE)... ins(VALUES : TYPES) outs(VALUES : TYPES) {
//   ^bb0(ARGUMENTS):
//     BODY
//     DIALECT.yield VALUES : TYPES
//   } -> TYPES

#ifndef MP_LIB_IMPORT_FORMS_STRUCTUREDOP_H
#define MP_LIB_IMPORT_FORMS_STRUCTUREDOP_H

#include "../Source.h"

#include <optional>

namespace mlir::mp::import {

/// tensor<2x?xf32>: sizes, -1 for dynamic ones, and the element type as written.
struct TensorType {
  std::string text;
  SmallVector<int64_t> shape;
  std::string element;

  /// Nothing for what is no ranked tensor, or has an encoding.
  static std::optional<TensorType> parse(StringRef text);
  static TensorType get(ArrayRef<int64_t> shape, StringRef element);
  size_t rank() const { return shape.size(); }
  TensorType withElement(StringRef newElement) const { return get(shape, newElement); }
  bool isFloat() const;
};

struct Operand {
  std::string value;
  TensorType type;
};

struct StructuredOp {
  Span span;                                       ///< the whole statement
  std::string name;                                ///< "iree_linalg_ext.scan"
  std::string results;                             ///< "%4:2 = "
  llvm::StringMap<SmallVector<std::string>> words; ///< dimension -> 1; dimension_map -> 0, 1
  SmallVector<Operand> inputs, outputs;
  SmallVector<std::string> arguments; ///< of the body
  Span body;                          ///< without the yield
  SmallVector<std::string> yielded;

  /// Reads the op whose name is at `name`. On failure an error is recorded, and nothing returned.
  static std::optional<StructuredOp> parse(Source &source, size_t name);

  /// The one integer given as `word`.
  std::optional<int64_t> integer(StringRef word) const;
  /// The dimension along which the op compares values, which may have indices; nothing where it
  /// does not, or its two outputs do not have `lost` dimensions less.
  std::optional<int64_t> comparedDimension(size_t lost) const;
};

} // namespace mlir::mp::import

#endif // MP_LIB_IMPORT_FORMS_STRUCTUREDOP_H
