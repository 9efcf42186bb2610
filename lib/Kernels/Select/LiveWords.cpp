// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the values of a body that are live at once, in the order in which kernels evaluate it.
//
// A kernel has one pass over columns for each level of reductions, then one for the results. A
// value is computed at its first use and remembered, so that it lives until its last. A map keeps
// its results until all are there, so that what it reads is asked for before any of it is waited
// for: its stores count as one more pass.

#include "LiveWords.h"

#include "mp/Interfaces/LoopNest.h"

using namespace mlir;
using namespace mlir::mp;

namespace {

class Replay {
public:
  explicit Replay(const StreamPlan &plan) : plan(plan) {}

  LiveWords run() {
    for (auto [depth, level] : llvm::enumerate(plan.levels)) {
      for (linalg::LinalgOp op : level)
        for (unsigned i = 0; i < op->getNumResults(); ++i)
          use(readCombination(op, i)->combined);
      useResults([&, depth = depth](unsigned i) { return plan.resultDepths[i] == depth; });
      ++pass;
    }
    const bool isMap = plan.levels.empty();
    useResults([&](unsigned i) { return isMap || plan.resultDepths[i] == plan.levels.size(); });
    if (isMap) {
      ++pass;
      useResults([](unsigned) { return true; });
    }
    return count();
  }

private:
  struct Life {
    unsigned first, last, firstPass, lastPass; ///< times and passes of its uses
  };

  /// Returns what a value is but for names: views, and ops of a dispatch as what their bodies
  /// yield.
  static Value origin(Value value) {
    while (true) {
      Operation *op = value.getDefiningOp();
      if (!op) {
        auto argument = cast<BlockArgument>(value);
        auto owner = dyn_cast_or_null<linalg::LinalgOp>(argument.getOwner()->getParentOp());
        if (!owner)
          return value;
        value = owner->getOperand(argument.getArgNumber());
      } else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
                 linalgOp && linalgOp.getNumReductionLoops() == 0) {
        value = linalgOp.getBlock()->getTerminator()->getOperand(
            cast<OpResult>(value).getResultNumber());
      } else if (op->getNumOperands() == 1 && isa<TensorType>(value.getType()) && !linalgOp) {
        value = op->getOperand(0);
      } else {
        return value;
      }
    }
  }

  static double wordsOf(Value value, unsigned leastBits) {
    Type element = getElementTypeOrSelf(value.getType());
    return element.isIntOrFloat() ? std::max(leastBits, element.getIntOrFloatBitWidth()) / 32.0 : 2;
  }

  /// A value at its next use, and what it is made of if this is its first.
  void use(Value value) {
    value = origin(value);
    Operation *op = value.getDefiningOp();
    if ((op && op->hasTrait<OpTrait::ConstantLike>()) || isa_and_nonnull<linalg::LinalgOp>(op))
      return; // an immediate, and a sum, which is no element
    if (auto known = lives.find(value); known != lives.end()) {
      known->second.last = time;
      known->second.lastPass = pass;
      return;
    }
    if (op)
      llvm::for_each(op->getOperands(), [&](Value operand) { use(operand); });
    lives[value] = {time, time, pass, pass};
    ++time;
  }

  void useResults(llvm::function_ref<bool(unsigned)> isOne) {
    for (auto [i, result] : llvm::enumerate(plan.results))
      if (isOne(i) && (plan.varies(result) & kAlongColumns || plan.levels.empty()))
        use(result);
    ++time;
  }

  LiveWords count() const {
    SmallVector<double> held(pass + 2), passing(time + 2);
    for (const auto &[value, life] : lives) {
      SmallVectorImpl<double> &change = life.firstPass == life.lastPass ? passing : held;
      const bool isHeld = &change == &held;
      // Results of 16 bits are packed while they wait for their stores.
      const double words = wordsOf(value, isHeld && plan.levels.empty() ? 16 : 32);
      change[isHeld ? life.firstPass : life.first] += words;
      change[isHeld ? life.lastPass : life.last + 1] -= words;
    }
    return {largestSum(held), largestSum(passing)};
  }

  static double largestSum(ArrayRef<double> changes) {
    double sum = 0, largest = 0;
    for (double change : changes)
      largest = std::max(largest, sum += change);
    return largest;
  }

  const StreamPlan &plan;
  llvm::MapVector<Value, Life> lives;
  unsigned time = 0, pass = 0;
};

} // namespace

LiveWords mlir::mp::liveWords(const StreamPlan &plan) { return Replay(plan).run(); }
