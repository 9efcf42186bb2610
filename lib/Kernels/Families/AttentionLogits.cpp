// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates the ops between the two products of attention on the registers of the first.

#include "AttentionLogits.h"

using namespace mlir;
using namespace mlir::mp;

AttentionLogits::AttentionLogits(KernelFunction &kernel, const AttentionShape &shape,
                                 const MathForms &forms)
    : d(kernel.d), s(shape), p(shape.plan), elements(kernel, p, p.scores->getResult(0), p.keys),
      logits(d.b, elements, forms), isFolded(foldsScale(p, forms)) {}

void AttentionLogits::setKeys(Value count, Value tiles) {
  keyCount = count;
  steps = tiles;
}

void AttentionLogits::hoistBefore(Operation *loop) {
  if (!p.keys.empty()) // else nothing is known to vary along the columns, scores least of all
    logits.hoistBefore(loop);
}

void AttentionLogits::replace(MutableArrayRef<Value> x, Value number, unsigned firstKey,
                              Value laneColumn) {
  Value first =
      d.add(d.widen(d.add(d.mul(number, int64_t(s.keys)), int64_t(firstKey))), d.widen(laneColumn));
  SmallVector<Value> keyIndex;
  for (unsigned column = 0; column < columns(); ++column)
    keyIndex.push_back(d.add(first, int64_t(column / 2 * 8 + column % 2)));
  std::optional<int64_t> known;
  if (int64_t extent = p.extent(p.keys); !ShapedType::isDynamic(extent))
    known = extent;
  const bool isRagged = !known || *known % s.keys != 0;
  if (!isFolded) {
    SmallVector<Value> raw(x);
    elements.columnIndex = keyIndex;
    if (isRagged)
      for (Value &index : elements.columnIndex)
        index = d.min(index, d.sub(keyCount, d.ix(1)));
    elements.held = [&, raw](unsigned row, unsigned column) {
      return raw[accumulatorOf(row, column, tiles())];
    };
    logits.forgetColumns();
    for (unsigned row = 0; row < rows(); ++row)
      for (unsigned column = 0; column < columns(); ++column) {
        Point point{row, column};
        Value logit = p.logits.op ? logits.inBody(p.logits.op, p.logits.value, point)
                                  : logits.at(p.logits.value, point);
        x[accumulatorOf(row, column, tiles())] =
            logit.getType().isF32() ? logit : arith::ExtFOp::create(d.b, d.b.getF32Type(), logit);
      }
  }
  if (isRagged)
    maskBeyond(x, number, keyIndex);
}

/// Keys beyond the end, which only the last tile has, are at minus infinity.
void AttentionLogits::maskBeyond(MutableArrayRef<Value> x, Value number, ArrayRef<Value> keyIndex) {
  Value isLast = d.equal(number, d.sub(steps, d.i32(1)));
  auto branch = scf::IfOp::create(d.b, SmallVector<Type>(x.size(), d.b.getF32Type()), isLast,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(d.b);
  d.b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(d.b, x);
  d.b.setInsertionPointToStart(branch.thenBlock());
  Value lowest =
      arith::ConstantOp::create(d.b, d.b.getF32FloatAttr(-std::numeric_limits<float>::infinity()));
  SmallVector<Value> masked(x);
  for (unsigned column = 0; column < columns(); ++column) {
    Value inside = d.less(keyIndex[column], keyCount);
    for (unsigned row = 0; row < rows(); ++row) {
      Value &logit = masked[accumulatorOf(row, column, tiles())];
      logit = d.select(inside, logit, lowest);
    }
  }
  scf::YieldOp::create(d.b, masked);
  llvm::copy(branch.getResults(), x.begin());
}
