// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads integers of a function as multiples of a dimension of one of its arguments.

#ifndef MP_LIB_KERNELS_DISPATCH_SIZEFORMS_H
#define MP_LIB_KERNELS_DISPATCH_SIZEFORMS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AffineExpr.h"

namespace mlir::mp {

/// factor * (size of dimension `dim` of `argument`) + constant; a constant where the factor is 0.
struct SizeForm {
  Value argument;
  int64_t dim = 0, factor = 0, constant = 0;

  static SizeForm of(int64_t constant) { return {{}, 0, 0, constant}; }
  bool isConstant() const { return factor == 0; }
  bool operator==(const SizeForm &) const = default;
};

/// Nothing where either is nothing or the product is no such form.
std::optional<SizeForm> multiply(const std::optional<SizeForm> &a,
                                 const std::optional<SizeForm> &b);

/// Sizes of tensors that exist do not overflow, so that what is divided after it was multiplied is
/// what it was.
class SizeReader {
public:
  explicit SizeReader(func::FuncOp function) : entry(&function.front()) {}

  /// Nothing where the value has no such form.
  std::optional<SizeForm> read(Value value);
  std::optional<SizeForm> read(OpFoldResult size);
  /// The form of a dimension of a tensor.
  std::optional<SizeForm> readDim(Value tensor, int64_t dim);
  /// The outcome of a comparison, if it is the same for all sizes.
  std::optional<bool> compare(arith::CmpIOp op);

private:
  std::optional<SizeForm> compute(Operation *op);
  std::optional<SizeForm> computeDim(Operation *op, Value tensor, int64_t dim);
  std::optional<SizeForm> read(AffineExpr expr, unsigned dims, ValueRange operands);

  Block *entry;
  llvm::DenseMap<Value, std::optional<SizeForm>> known;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_DISPATCH_SIZEFORMS_H
