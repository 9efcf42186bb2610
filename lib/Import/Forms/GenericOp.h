// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The generic form of ops on tensors:
//
//   RESULTS = "DIALECT.NAME"(VALUES) <{NAME = VALUE, ...}> ({REGION}, ...) : (TYPES) -> TYPES

#ifndef MP_LIB_IMPORT_FORMS_GENERICOP_H
#define MP_LIB_IMPORT_FORMS_GENERICOP_H

#include "LoopText.h"

namespace mlir::mp::import {

/// { ^bb0(ARGUMENTS): BODY "DIALECT.NAME"(VALUES) : (TYPES) -> () }
struct GenericRegion {
  struct Argument {
    std::string value, type;
  };
  SmallVector<Argument> arguments;
  Span body;         ///< without its terminator
  size_t terminator; ///< the name of it
};

struct GenericOp {
  Span span;           ///< the whole statement
  std::string name;    ///< "tfl.cumsum"
  std::string results; ///< "%0, %1 = "
  SmallVector<Operand> operands;
  SmallVector<TensorType> types;           ///< of results
  llvm::StringMap<std::string> properties; ///< as written
  SmallVector<GenericRegion> regions;      ///< of one block each
  size_t typesBegin = 0;                   ///< the bracket that opens before those of operands

  /// Reads the op whose name is at `name`. On failure an error is recorded, and nothing returned.
  static std::optional<GenericOp> parse(Source &source, size_t name);
};

/// Writes tm_tensor.topk along the last dimension of the first operand in place of `op`, whose two
/// results are values and indices of static size. NaN goes first if `ordersNaN`, as JAX has it.
void writeTopK(Source &source, const GenericOp &op, bool ordersNaN);

/// The integers of "array<i64: 1, 2>", "[1, 2]" or "dense<[[1, 2]]> : ...", as a property is
/// written.
SmallVector<int64_t> integersOf(StringRef property);

/// The integers of the constant that `operand` of `op` is, if it is one.
std::optional<SmallVector<int64_t>> constantIntegers(const Source &source, const GenericOp &op,
                                                     size_t operand);

} // namespace mlir::mp::import

#endif // MP_LIB_IMPORT_FORMS_GENERICOP_H
