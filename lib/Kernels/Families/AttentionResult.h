// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of queries get what attention gives them: the ops behind its output are evaluated and
// stored.

#ifndef MP_LIB_KERNELS_FAMILIES_ATTENTIONRESULT_H
#define MP_LIB_KERNELS_FAMILIES_ATTENTIONRESULT_H

#include "AttentionElements.h"

namespace mlir::mp {

class AttentionResult {
public:
  AttentionResult(KernelFunction &kernel, const AttentionPlan &plan, const MathForms &forms)
      : k(kernel), d(kernel.d), p(plan), elements(k, p, p.output->getResult(0), {p.width}),
        results(d.b, elements, forms),
        target(p.scores->getBlock()->getArguments().back()), // the output of the body
        bytes(k.operands[target.getArgNumber()].bytes()), paired(isPaired()) {}

  /// The indices of loops whose points have the numbers 0, 1, ..
  static DenseMap<unsigned, Value> indicesOf(KernelFunction &k, const AttentionPlan &plan,
                                             ArrayRef<unsigned> loops, Value number) {
    DenseMap<unsigned, Value> indices;
    for (size_t i = loops.size(); i-- > 0;) {
      Value size = k.extent(plan, {loops[i]});
      indices[loops[i]] = i == 0 ? number : k.d.rem(number, size);
      number = i == 0 ? number : k.d.div(number, size);
    }
    return indices;
  }

  void setBatch(const DenseMap<unsigned, Value> &indices) { elements.fixed = indices; }
  void addRow(const DenseMap<unsigned, Value> &indices) { elements.rows.push_back(indices); }
  /// Writes row number `row`, at these columns, of which each two are neighbours. `held` are
  /// elements of the output by number of the column.
  void store(unsigned row, ArrayRef<Value> columns, std::function<Value(unsigned)> held) {
    elements.columnIndex.assign(columns.begin(), columns.end());
    elements.held = [held](unsigned, unsigned column) { return held(column); };
    results.forgetColumns();
    for (unsigned column = 0; column < columns.size(); column += 1 + paired) {
      SmallVector<Value> values;
      for (unsigned i = 0; i < 1u + paired; ++i)
        values.push_back(toMemory(d, results.at(p.result, {row, column + i})));
      d.store(packVector(d, values), elements.place(target, {row, column}), bytes * (1 + paired));
    }
  }

private:
  /// True if two neighbouring elements of the head are one aligned access.
  bool isPaired() {
    auto isWidth = [&](unsigned dimension) {
      return p.dims.lookup(target)[dimension] == int(p.width);
    };
    return stepAlong(k, p, target, p.width).is(1) &&
           k.operands[target.getArgNumber()].alignment(2, isWidth) == 2;
  }

  KernelFunction &k;
  DeviceBuilder &d;
  const AttentionPlan &p;
  AttentionElements elements;
  Evaluate results;
  BlockArgument target;
  int64_t bytes;
  bool paired;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FAMILIES_ATTENTIONRESULT_H
