// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes how large an error of each value of a graph may be, relative to the value, before it
// exceeds half of what the roundings behind it may lose.

#ifndef MP_LIB_KERNELS_SELECT_FUNCTIONERRORS_H
#define MP_LIB_KERNELS_SELECT_FUNCTIONERRORS_H

#include "FunctionForms.h"
#include "SoftmaxParts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::mp {

/// The room of a value: the relative error that it may have, and the format whose rounding behind
/// it allows that; null: the budget of a result does, or nothing where the error is 0.
struct ErrorRoom {
  double relative = std::numeric_limits<double>::infinity();
  Type format;
};

/// A function in the body of a linalg.generic, the relative error of its approximation, and the
/// room of its result.
struct FunctionChoice {
  Operation *op;
  FunctionForm form;
  double error;
  ErrorRoom room;
  std::optional<SoftmaxParts> softmax; ///< of SoftmaxExp and NarrowSoftmaxExp

  bool isApproximate() const { return error <= room.relative; }
};

/// The functions of f32 in the bodies of `func`, in reverse order. Each op between a function and a
/// rounding must keep relative errors: products, quotients, roots, maxima, selections, views, sums
/// of what is never negative. What a product of two approximated factors may lose is halved for
/// each; sums of a product that is read once leave its rounding out; any other use allows nothing,
/// but for returned f32, which may be off by `budget`, relative to each element. Of attention that
/// runs as one kernel only the exponential is a choice, whose error is that of all factors that a
/// weight goes through there. Where kernels may compute in `excess` precision, roundings to bf16
/// and f16 hide nothing.
SmallVector<FunctionChoice> chooseFunctions(func::FuncOp func, double budget, bool excess);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_SELECT_FUNCTIONERRORS_H
