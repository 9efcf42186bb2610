// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-recompute: values that are computed again, or stored narrow, where memory is short
// (exact, unless narrow formats are allowed).

#include "MemoryGraph.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mp/Dialect/MP/Recomputed.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Target/Targets.h"
#include "mp/Transforms/Optimize/Passes.h"
#include "llvm/Support/Format.h"

namespace mlir::mp {
#define GEN_PASS_DEF_RECOMPUTE
#include "mp/Transforms/Optimize/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;
using assignment::Keeping;
using assignment::MemoryAnswer;
using assignment::ScheduledStep;

/// The first of what makes the places that `op` writes to, and `op`: a buffer begins there.
static Operation *beginOf(Operation *op) {
  Operation *begin = op;
  if (auto writes = dyn_cast<DestinationStyleOpInterface>(op))
    for (Value init : writes.getDpsInits())
      if (Operation *def = init.getDefiningOp();
          def && isMade(def) && init.hasOneUse() && !def->hasTrait<OpTrait::ConstantLike>())
        if (Operation *first = beginOf(def); first->isBeforeInBlock(begin))
          begin = first;
  return begin;
}

namespace {
/// Writes a plan into the function.
class PlanWriter {
public:
  PlanWriter(const MemoryGraph &graph, FloatType narrow) : graph(graph), narrow(narrow) {}

  void run(const assignment::MemoryPlan &plan) {
    Operation *next = nullptr;
    // Whatever runs beside the steps as they stand comes right before the next of them, or behind
    // the last one.
    SmallVector<Operation *> before(plan.schedule.size());
    for (size_t at = plan.schedule.size(); at-- > 0;) {
      if (plan.schedule[at].kind == ScheduledStep::Kind::Original)
        next = beginOf(graph.opOf(plan.schedule[at].index));
      before[at] = next;
    }
    Block *block = graph.opOf(0)->getBlock();
    for (auto [scheduled, op] : llvm::zip_equal(plan.schedule, before)) {
      OpBuilder builder(block->getParentOp()->getContext());
      if (op)
        builder.setInsertionPoint(op);
      else
        builder.setInsertionPoint(block->getTerminator());
      write(builder, scheduled);
    }
    OpBuilder atEnd(block->getTerminator());
    readNow(atEnd, block->getTerminator());
    eraseUnused(block);
  }

private:
  void write(OpBuilder &builder, const ScheduledStep &scheduled) {
    using Kind = ScheduledStep::Kind;
    switch (scheduled.kind) {
    case Kind::Original: readNow(builder, graph.opOf(scheduled.index)); return;
    case Kind::Again: computeAgain(builder, graph.opOf(scheduled.index)); return;
    case Kind::ToNarrow:
    case Kind::FromNarrow: {
      Value value = definitionOf(scheduled.index);
      bool toNarrow = scheduled.kind == Kind::ToNarrow;
      setNow(value,
             castAll(builder, now(builder, value), toNarrow ? narrow : builder.getF32Type()));
      return;
    }
    }
  }

  Value definitionOf(uint32_t value) {
    if (definitions.empty())
      for (auto [index, step] : llvm::enumerate(graph.getProblem().steps))
        if (step.writes)
          definitions[*step.writes] = graph.opOf(uint32_t(index));
    return MemoryGraph::tensorsOf(definitions.lookup(value))[0];
  }

  Value castAll(OpBuilder &builder, Value value, FloatType to) {
    auto type = cast<RankedTensorType>(value.getType()).clone(to);
    auto overflow =
        to.isF32() ? OverflowAttr() : OverflowAttr::get(builder.getContext(), Overflow::IEEE);
    return CastOp::create(builder, value.getLoc(), type, value, Value(), RoundingAttr(), overflow,
                          builder.getUnitAttr());
  }

  void setNow(Value value, Value as) {
    current[value] = as;
    views.clear();
  }

  /// Returns what shows `value` by now: itself, or where its storage was made again, that, in the
  /// same view.
  Value now(OpBuilder &builder, Value value) {
    if (auto found = current.find(value); found != current.end())
      return found->second;
    Operation *op = value.getDefiningOp(), *storage = graph.storageOf(value);
    if (!storage || storage == op)
      return value;
    if (auto found = views.find(value); found != views.end())
      return found->second;
    Value source = now(builder, op->getOperand(0));
    if (source == op->getOperand(0))
      return value;
    IRMapping mapping;
    mapping.map(op->getOperand(0), source);
    Operation *view = builder.clone(*op, mapping);
    view->setAttr(kRecomputedAttrName, builder.getUnitAttr());
    return views[value] = view->getResult(0);
  }

  void readNow(OpBuilder &builder, Operation *op) {
    for (OpOperand *read : MemoryGraph::readsOf(op))
      read->set(now(builder, read->get()));
  }

  void computeAgain(OpBuilder &builder, Operation *op) {
    IRMapping mapping;
    for (OpOperand *read : MemoryGraph::readsOf(op)) {
      Value value = read->get();
      Operation *def = value.getDefiningOp();
      // A place to write to is made again, too.
      bool isPlace =
          def && isMade(def) && !graph.storageOf(value) && !def->hasTrait<OpTrait::ConstantLike>();
      if (isPlace)
        value = makeAgain(builder, def)->getResult(cast<OpResult>(value).getResultNumber());
      else
        value = now(builder, value);
      mapping.map(read->get(), value);
    }
    Operation *again = builder.clone(*op, mapping);
    again->setAttr(kRecomputedAttrName, builder.getUnitAttr());
    for (auto [before, after] : llvm::zip_equal(op->getResults(), again->getResults()))
      setNow(before, after);
  }

  static void eraseUnused(Block *block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  const MemoryGraph &graph;
  FloatType narrow;
  llvm::DenseMap<uint32_t, Operation *> definitions;
  llvm::DenseMap<Value, Value> current; ///< of what was made again or stored narrow
  llvm::DenseMap<Value, Value> views;   ///< of what is current
};

struct Recompute : mlir::mp::impl::RecomputeBase<Recompute> {
  using RecomputeBase::RecomputeBase;

  void runOnOperation() override {
    if (failed(recompute()))
      signalPassFailure();
  }

private:
  LogicalResult fail(const Twine &what) {
    return emitError(UnknownLoc::get(&getContext())) << "mp-recompute: " << what;
  }

  LogicalResult recompute() {
    if (maxMemory < 0)
      return fail("option 'max-memory' is " + Twine(maxMemory.getValue()) +
                  ", expected bytes, or 0 for none");
    if (maxMemory == 0)
      return success();
    FloatType format;
    if (narrow == StoredFormat::BF16)
      format = BFloat16Type::get(&getContext());
    else if (narrow == StoredFormat::F16)
      format = Float16Type::get(&getContext());
    auto model = target::lookupTarget(chip);
    if (!model)
      return fail(llvm::toString(model.takeError()));
    auto costs = mpcore::performance::CostModel::create(*model);
    if (!costs)
      return fail(llvm::toString(costs.takeError()));
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.getBody().hasOneBlock() && failed(plan(function, *costs, format)))
        return failure();
    return success();
  }

  LogicalResult plan(func::FuncOp function, const mpcore::performance::CostModel &costs,
                     FloatType format) {
    separateInits(function);
    MemoryGraph graph(function, costs, format, late);
    if (!graph.whyNot().empty())
      return function.emitError("mp-recompute: expected sizes that are known, but ")
             << graph.whyNot();
    const assignment::MemoryProblem &problem = graph.getProblem();
    std::vector<Keeping> whole(problem.values.size(), Keeping::Whole);
    int64_t before = assignment::evaluatePlan(problem, whole).peak;
    MemoryAnswer answer = assignment::planMemory(problem, maxMemory);
    if (!answer.isWithin)
      return function.emitError("mp-recompute: needs ")
             << before << " bytes, and with all that may be computed again " << answer.plan.peak
             << ": expected max-memory of at least that, found " << maxMemory.getValue();
    report(function, problem, answer, before);
    if (answer.plan.keeping != whole)
      PlanWriter(graph, format).run(answer.plan);
    return success();
  }

  void report(func::FuncOp function, const assignment::MemoryProblem &problem,
              const MemoryAnswer &answer, int64_t before) {
    int64_t time = 0;
    for (const assignment::MemoryStep &step : problem.steps)
      time += step.time;
    auto count = [&](Keeping keeping) { return llvm::count(answer.plan.keeping, keeping); };
    std::string text;
    llvm::raw_string_ostream(text)
        << "peak " << answer.plan.peak << " bytes of " << before << ": "
        << count(Keeping::Recomputed) << " values computed again, " << count(Keeping::Narrow)
        << " stored narrow, " << llvm::format("%.2f", time ? 100.0 * answer.plan.extra / time : 0)
        << "% more time (modelled), " << (answer.isProven ? "optimal" : "not proven optimal");
    if (answer.checkpointing)
      llvm::raw_string_ostream(text)
          << "; checkpoints alone "
          << llvm::format("%.2f%%", time ? 100.0 * *answer.checkpointing / time : 0);
    Builder builder(&getContext());
    function->setAttr(kMemoryPlanAttrName, builder.getStringAttr(text));
    remark::passed(function.getLoc(), remarks::kRecomputed.in(function))
        << remark::add("{0}", text);
  }
};
} // namespace
