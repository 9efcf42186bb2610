// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's rewrites of reshapes make linalg ops anew, without the attributes that mark products.

#ifndef MP_LIB_KERNELS_FORM_KEEPATTRIBUTES_H
#define MP_LIB_KERNELS_FORM_KEEPATTRIBUTES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {

inline bool isView(Operation *op) {
  return isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
}

inline bool isProduct(Operation *op) { return op && op->hasAttr(kMmaAttrName); }

/// Gives what replaces a generic its attributes.
struct KeepAttributes : RewriterBase::Listener {
  void notifyOperationReplaced(Operation *op, ValueRange replacement) override {
    if (!isa<linalg::GenericOp>(op))
      return;
    Value value = replacement.front();
    while (isView(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    auto made = value.getDefiningOp<linalg::GenericOp>();
    if (made)
      made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    notifyRemade(op, made);
  }

  /// `made` is in the place of `op`; null if no generic is.
  virtual void notifyRemade(Operation *op, linalg::GenericOp made) {}
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FORM_KEEPATTRIBUTES_H
