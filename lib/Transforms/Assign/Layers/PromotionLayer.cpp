// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs that are narrow already keep what they store; where they would compute narrow what needs
// f32, they are widened inside. Contractions and sums accumulate in f32, softmax, norms and powers
// compute in it, and so does arithmetic between them: what is read by them alone, and what reads
// their results. A value that only widened ops read stays in f32: it is inside.

#include "../Decisions.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::mp;

namespace {
class Promotion {
public:
  explicit Promotion(FunctionDecisions &decisions)
      : decisions(decisions), wide(Float32Type::get(decisions.getFunction()->getContext())) {}

  void run() {
    for (auto &[op, decision] : decisions.getOps())
      if (isRoot(op, decision))
        promote(op, decision);
    if (promoted.empty())
      return;
    promoteReadersOfRoots();
    promoteWhatIsReadWide();
    for (auto &[op, decision] : decisions.getOps())
      keepInside(op, decision);
  }

private:
  static FloatType getNarrowFormat(Operation *op) {
    FloatType format =
        op->getNumResults() ? getFloatFormat(op->getResult(0).getType()) : FloatType();
    return format && format.getWidth() < 32 ? format : FloatType();
  }

  static bool canPromote(Operation *op, const Decision &decision) {
    if (decision.keepsStorage || !getNarrowFormat(op))
      return false;
    auto interface = dyn_cast<PrecisionOpInterface>(op);
    return interface && interface.canComputeWider();
  }

  /// Needs f32 by itself: a narrow accumulator, or a function that is steep.
  static bool isRoot(Operation *op, const Decision &decision) {
    if (!canPromote(op, decision))
      return false;
    if (FloatType accumulator = cast<PrecisionOpInterface>(op).getAccumulator())
      return accumulator.getWidth() < 32;
    return decision.opClass == OpClass::KeepWide;
  }

  bool isArithmetic(Operation *op, const Decision &decision) const {
    return !promoted.contains(op) && canPromote(op, decision) &&
           (decision.opClass == OpClass::Follow || decision.opClass == OpClass::RangeConditional);
  }

  static bool moves(Operation *op, const Decision &decision) {
    return decision.followsStorage() && op->getNumOperands() > 0 && op->getNumResults() > 0;
  }

  /// Forwards: arithmetic on what a widened reduction, softmax or power returned, moved or not.
  void promoteReadersOfRoots() {
    DenseSet<Value> ofRoot;
    SmallPtrSet<Operation *, 16> roots(promoted);
    for (auto &[op, decision] : decisions.getOps()) {
      bool reads = llvm::any_of(op->getOperands(), [&](Value v) { return ofRoot.contains(v); });
      bool isRoot = roots.contains(op) && decision.opClass != OpClass::TensorCore;
      if (reads && isArithmetic(op, decision))
        promote(op, decision);
      if (isRoot || (reads && moves(op, decision)))
        ofRoot.insert_range(op->getResults());
    }
  }

  /// Backwards: arithmetic that only widened ops read.
  void promoteWhatIsReadWide() {
    for (auto &[op, decision] : llvm::reverse(decisions.getOps())) {
      if (!getNarrowFormat(op) || !llvm::all_of(op->getResults(), [&](Value result) {
            return !result.use_empty() &&
                   llvm::all_of(result.getUses(), [&](OpOperand &use) { return isReadWide(use); });
          }))
        continue;
      readWide.insert(op);
      if (isArithmetic(op, decision))
        promote(op, decision);
    }
  }

  /// The user computes in f32, or moves data for ops that do. Factors stay as they are stored.
  bool isReadWide(OpOperand &use) {
    Operation *user = use.getOwner();
    if (promoted.contains(user))
      return !isFactor(use);
    Decision *decision = decisions.find(user);
    return decision && readWide.contains(user) && moves(user, *decision);
  }

  void promote(Operation *op, Decision &decision) {
    promoted.insert(op);
    bool accumulates = static_cast<bool>(cast<PrecisionOpInterface>(op).getAccumulator());
    decision.decide(
        decision.opClass == OpClass::TensorCore ? decision.compute : wide, Origin::Class,
        stringifyOpClass(decision.opClass) +
            (accumulates ? ", promotion: accumulates in f32" : ", promotion: computes in f32"));
    if (accumulates || decision.rule != TypeRule::Uniform)
      decision.accumulator = wide;
  }

  /// Stores in f32 what only widened ops read; moves of such values follow. TOSA convolutions
  /// return the format of their operands.
  void keepInside(Operation *op, Decision &decision) {
    if (!readWide.contains(op))
      return;
    bool returnsWide = promoted.contains(op) && !(decision.opClass == OpClass::TensorCore &&
                                                  decision.rule == TypeRule::Uniform);
    bool follows = !promoted.contains(op) && moves(op, decision) &&
                   llvm::any_of(op->getOperands(), [&](Value operand) {
                     FloatType own = getFloatFormat(operand.getType());
                     return own && own != decisions.getStorage(operand);
                   });
    if (!returnsWide && !follows)
      return;
    if (follows)
      decision.compute = wide;
    for (Value result : op->getResults())
      if (getFloatFormat(result.getType()))
        decisions.setStorage(result, wide);
  }

  FunctionDecisions &decisions;
  FloatType wide;
  SmallPtrSet<Operation *, 16> promoted;
  SmallPtrSet<Operation *, 16> readWide; ///< narrow ops whose every result is only read in f32
};
} // namespace

LogicalResult mlir::mp::applyPromotions(FunctionDecisions &decisions,
                                        const AssignSettings &settings) {
  if (settings.promotes)
    Promotion(decisions).run();
  return success();
}
