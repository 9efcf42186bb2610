// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elementwise ops around attention's products read registers that hold a product, and
// arguments in memory at the rows and columns of a thread.

#ifndef MP_LIB_KERNELS_FAMILIES_ATTENTIONELEMENTS_H
#define MP_LIB_KERNELS_FAMILIES_ATTENTIONELEMENTS_H

#include "../Build/Elements.h"
#include "../Build/Evaluate.h"
#include "AttentionTiles.h"

namespace mlir::mp {

/// Points of a fragment: its rows are queries, its columns keys or elements of a head.
class AttentionElements : public Evaluate::Source {
public:
  /// `held` are the elements of the result of `product`.
  AttentionElements(KernelFunction &kernel, const AttentionPlan &plan, Value product,
                    ArrayRef<unsigned> columns)
      : k(kernel), d(kernel.d), plan(plan), product(product), columns(columns) {}

  DenseMap<unsigned, Value> fixed;               ///< index of each loop of the batch
  SmallVector<DenseMap<unsigned, Value>> rows;   ///< of each loop of rows, by number of the row
  SmallVector<Value> columnIndex;                ///< by number of the column; within bounds
  std::function<Value(unsigned, unsigned)> held; ///< element at (row, column)

  Value read(Value tensor, Point point) override {
    if (tensor == product)
      return held(point.row, point.column);
    auto argument = cast<BlockArgument>(tensor);
    const KernelOperand &operand = k.operands[argument.getArgNumber()];
    if (!operand.pointer)
      return operand.scalar;
    Type type = memoryType(d.b, operand.element());
    return fromMemory(d, d.load(type, place(argument, point), operand.bytes()), operand.element());
  }

  /// Address of an argument's element at the point.
  Value place(BlockArgument argument, Point point) {
    const KernelOperand &operand = k.operands[argument.getArgNumber()];
    Value sum = d.ix(operand.offset);
    for (auto [dimension, loop] : llvm::enumerate(plan.dims.lookup(argument)))
      if (loop >= 0)
        sum = d.add(sum, d.mul(indexOf(loop, point), d.ix(operand.strides[dimension])));
    return d.advance(operand.pointer, sum, operand.bytes());
  }

  Value gather(BlockArgument, ValueRange, Point, unsigned) override {
    llvm_unreachable("planAttention refuses gathers");
  }

  Value index(Operation *op, unsigned loop, Point point) override {
    int own = plan.opLoops.lookup(op)[loop];
    Value flat = own < 0 ? d.ix(0) : indexOf(own, point);
    return arith::IndexCastOp::create(d.b, d.b.getIndexType(), flat);
  }

  unsigned varies(Value tensor) override {
    unsigned bits = kUniform;
    for (int loop : plan.dims.lookup(tensor))
      bits |= bitsOf(loop);
    return bits;
  }
  unsigned varies(Operation *op, unsigned loop) override {
    return bitsOf(plan.opLoops.lookup(op)[loop]);
  }

private:
  unsigned bitsOf(int loop) const {
    return loop < 0                                        ? kUniform
           : llvm::is_contained(columns, unsigned(loop))   ? kAlongColumns
           : llvm::is_contained(plan.rows, unsigned(loop)) ? kAlongRows
                                                           : kUniform;
  }
  Value indexOf(unsigned loop, Point point) {
    if (llvm::is_contained(columns, loop))
      return columnIndex[point.column];
    if (llvm::is_contained(plan.rows, loop))
      return rows[point.row].at(loop);
    return fixed.at(loop);
  }

  KernelFunction &k;
  DeviceBuilder &d;
  const AttentionPlan &plan;
  Value product;
  SmallVector<unsigned, 1> columns;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FAMILIES_ATTENTIONELEMENTS_H
