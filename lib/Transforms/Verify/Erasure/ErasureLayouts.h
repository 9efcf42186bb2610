// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows values of a converted function through the order in which their dimensions lie.

#ifndef MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASURELAYOUTS_H
#define MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASURELAYOUTS_H

#include "mlir/IR/Operation.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::mp {

class ErasureLayouts {
public:
  /// Dimension i is the original's dimension order[i]; empty: as in the original.
  using Order = SmallVector<int64_t>;

  /// Layouts are followed where the converted function has them and the original has none.
  void begin(Operation *original, Operation *converted);

  /// True for what mp wrote to bring a value into another order: it has no counterpart.
  bool isTransposition(Operation *converted) const;
  /// True for what stands for an op of the original in another order.
  bool isMoved(Operation *converted) const;

  /// The value behind inserted casts and transpositions, and the order of `converted`.
  std::pair<Value, Order> follow(Value converted) const;

  /// Reads the orders of the operands and of the result (the last) of what stands for `original`,
  /// or says why it does not.
  std::string pair(Operation *original, Operation *converted);
  /// The same of an elementwise op; false where it computes as the original does.
  bool pairElements(Operation *original, Operation *converted);

  /// The order in which a paired op reads an operand.
  Order orderOf(OpOperand &converted) const;

private:
  std::string pairLoops(Operation *original, Operation *converted);
  std::string pairPadding(Operation *original, Operation *converted);

  bool isActive = false;
  llvm::DenseMap<Value, Order> results;
  llvm::DenseMap<Operation *, SmallVector<Order>> operands;
};

/// `type` with its dimensions in that order.
Type inOrder(Type type, ArrayRef<int64_t> order);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASURELAYOUTS_H
