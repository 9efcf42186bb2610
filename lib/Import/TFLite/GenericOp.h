// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The generic form of ops on tensors:
//
//   RESULTS = "DIALECT.NAME"(VALUES) <{NAME = VALUE, ...}> : (TYPES) -> TYPES

#ifndef MP_LIB_IMPORT_TFLITE_GENERICOP_H
#define MP_LIB_IMPORT_TFLITE_GENERICOP_H

#include "../LoopText.h"

namespace mlir::mp::import {

struct GenericOp {
  Span span;           ///< the whole statement
  std::string name;    ///< "tfl.cumsum"
  std::string results; ///< "%0, %1 = "
  SmallVector<Operand> operands;
  SmallVector<TensorType> types;           ///< of results
  llvm::StringMap<std::string> properties; ///< as written

  /// Reads the op whose name is at `name`. On failure an error is recorded, and nothing returned.
  static std::optional<GenericOp> parse(Source &source, size_t name);
};

/// The integers of the constant that `operand` of `op` is, if it is one.
std::optional<SmallVector<int64_t>> constantIntegers(const Source &source, const GenericOp &op,
                                                     size_t operand);

} // namespace mlir::mp::import

#endif // MP_LIB_IMPORT_TFLITE_GENERICOP_H
