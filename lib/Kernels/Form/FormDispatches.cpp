// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-form-dispatches: draw lines around what runs as one kernel (exact).
//
// For each block with ops on tensors: group by the rules of attention, of epilogues, of operands,
// of rows and of maps, then put a dispatch in the place of each group. A group that cannot be moved
// together falls apart into its members.

#include "../Select/AttentionProblem.h"
#include "../Select/MatmulProblem.h"
#include "../Select/SparseFactor.h"
#include "../Select/StreamProblem.h"
#include "../Select/TargetPart.h"
#include "DispatchBody.h"
#include "DispatchPlan.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Kernels/Form/Passes.h"
#include "mp/Kernels/Passes.h"
#include "mp/Performance/Estimate.h"

#include "llvm/Support/FormatVariadic.h"

namespace mlir::mp {
#define GEN_PASS_DEF_FORMDISPATCHES
#include "mp/Kernels/Form/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;
using mpcore::performance::Part;

/// Blocks whose ops may become dispatches: not those within ops that compute elements.
static void collectBlocks(Operation *op, SmallVectorImpl<Block *> &blocks) {
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      blocks.push_back(&block);
      for (Operation &inner : block)
        if (!isa<linalg::LinalgOp, mpk::DispatchOp>(inner))
          collectBlocks(&inner, blocks);
    }
}

/// Ops of a body that compute in f64: neither constants nor conversions of formats.
static size_t countOfF64(Block &body) {
  size_t count = 0;
  body.walk([&](Operation *op) {
    const bool computes = llvm::any_of(op->getOperandTypes(), [](Type t) { return t.isF64(); }) &&
                          isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect());
    count += computes && !isa<CastOpInterface>(op);
  });
  return count;
}

namespace {

struct FormDispatches : mlir::mp::impl::FormDispatchesBase<FormDispatches> {
  using Base::Base;

  void runOnOperation() override {
    const Part *part = valueOrError(getOperation(), firstPart(target));
    if (!part)
      return signalPassFailure();
    if (attention == AttentionForm::Fused && failed(expandAttention(getOperation())))
      return signalPassFailure();
    SmallVector<Block *> blocks;
    collectBlocks(getOperation(), blocks);
    for (Block *block : blocks)
      formBlock(*block, *part);
  }

  void formBlock(Block &block, const Part &part) {
    std::string reason;
    DispatchPlan plan(block, [&](Block &body) { return secondsOf(body, part); });
    if (attention == AttentionForm::Fused)
      groupAttention(
          plan, block, [&](Block &body) { return secondsOfAttention(body, part, reason); }, reason);
    groupEpilogues(plan);
    groupOperands(plan);
    groupRows(plan);
    groupMaps(plan);
    const SmallVector<DispatchGroup> groups = groupsToForm(plan);
    IRRewriter rewriter(&getContext());
    for (const DispatchGroup &group : groups) {
      if (FailureOr<mpk::DispatchOp> dispatch = form(rewriter, group); succeeded(dispatch)) {
        note(*dispatch, group, part);
        continue;
      }
      for (linalg::LinalgOp member : group.members)
        if (!isContractionAlone(member))
          (void)form(rewriter, {group.rule, {member}}); // or it stays what it is
    }
    for (auto op : block.getOps<linalg::LinalgOp>())
      if (!isContractionAlone(op) && !isFill(op) && !op->use_empty())
        remark::missed(op.getLoc(), remarks::kPlainDispatch)
            << "no family of kernels takes this op; it takes the plain route";
  }

  /// Contractions have kernels without dispatches.
  static bool isContractionAlone(ArrayRef<linalg::LinalgOp> members) {
    return members.size() == 1 && members.front()->hasAttr(kMmaAttrName);
  }

  static SmallVector<DispatchGroup> groupsToForm(const DispatchPlan &plan) {
    SmallVector<DispatchGroup> groups;
    for (const DispatchGroup &group : plan.getGroups())
      if (!group.members.empty() && (!isContractionAlone(group.members) ||
                                     !group.repeated.empty() || hasSibling(plan, group)))
        groups.push_back(group);
    return groups;
  }

  /// True if another contraction alone reads an operand of this one, in the same shapes: one kernel
  /// may compute both (mp-group-dispatches).
  static bool hasSibling(const DispatchPlan &plan, const DispatchGroup &group) {
    linalg::LinalgOp op = group.members.front();
    auto isSibling = [&](Operation *user) {
      std::optional<unsigned> other = user != op ? plan.getGroup(user) : std::nullopt;
      return other && isContractionAlone(plan.getGroups()[*other].members) &&
             user->getOperandTypes() == op->getOperandTypes() &&
             cast<linalg::LinalgOp>(user).getIndexingMaps() == op.getIndexingMaps();
    };
    return llvm::any_of(op.getDpsInputs(),
                        [&](Value input) { return llvm::any_of(input.getUsers(), isSibling); });
  }

  static FailureOr<mpk::DispatchOp> form(RewriterBase &rewriter, const DispatchGroup &group) {
    FailureOr<mpk::DispatchOp> dispatch = formDispatch(rewriter, group);
    if (succeeded(dispatch) && group.rule != "attention" &&
        findContraction(dispatch->getBody().front()))
      dispatch->setScheduleAttr(
          mpk::ScheduleAttr::get(rewriter.getContext(), mpk::Family::Matmul, ""));
    return dispatch;
  }

  static void note(mpk::DispatchOp dispatch, const DispatchGroup &group, const Part &part) {
    remark::passed(dispatch.getLoc(), remarks::kFormed)
        << llvm::formatv("{0}: {1} ops in one kernel, modelled {2:f2} us on {3}, apart {4:f2} us",
                         group.rule, group.members.size(), group.seconds * 1e6, part.name,
                         group.apart * 1e6)
               .str();
    if (const size_t count = countOfF64(dispatch.getBody().front()))
      remark::analysis(dispatch.getLoc(), remarks::kComputesF64)
          << std::to_string(count)
          << " ops of this kernel compute in f64, of which a GPU does 2 to 64 times fewer than of "
             "f32; mp-narrow-doubles before computes them in f32";
  }

  /// The time of the best attention kernel for a body; nothing if there is none.
  static std::optional<double> secondsOfAttention(Block &body, const Part &part,
                                                  std::string &reason) {
    FailureOr<AttentionPlan> plan = planAttention(body, reason);
    if (failed(plan))
      return std::nullopt;
    auto chosen = mpcore::performance::fastestWritten(problemOf(*plan), part);
    if (!chosen) {
      reason = llvm::toString(chosen.takeError());
      return std::nullopt;
    }
    reason = "the performance model expects one kernel to be slower";
    return chosen->estimate.seconds;
  }

  /// Returns what the performance model sees of a body; nothing if no family takes it.
  static std::optional<mpcore::performance::Problem> problemOfBody(Block &body, const Part &part) {
    std::string reason;
    if (findContraction(body)) {
      FailureOr<EpiloguePlan> plan = planEpilogue(body, reason);
      if (succeeded(plan))
        return problemOf(*plan, body);
    } else if (FailureOr<StreamPlan> plan = planStream(body, reason); succeeded(plan)) {
      return problemOf(*plan, body, part);
    }
    return std::nullopt;
  }

  /// The time of the best kernel for a body; nothing if no family takes it.
  static std::optional<double> secondsOf(Block &body, const Part &part) {
    std::optional<mpcore::performance::Problem> problem = problemOfBody(body, part);
    if (!problem)
      return std::nullopt;
    std::optional<double> seconds = fastestSeconds(*problem, part);
    const auto *dense = std::get_if<mpcore::performance::MatmulProblem>(&*problem);
    if (linalg::GenericOp op = dense ? findContraction(body) : linalg::GenericOp())
      if (auto sparse = sparseProblemOf(*dense, op))
        if (std::optional<double> less = fastestSeconds(*sparse, part))
          seconds = std::min(seconds.value_or(*less), *less);
    return seconds;
  }

  static std::optional<double> fastestSeconds(const mpcore::performance::Problem &problem,
                                              const Part &part) {
    auto fastest = mpcore::performance::fastestWritten(problem, part);
    if (!fastest) {
      llvm::consumeError(fastest.takeError());
      return std::nullopt;
    }
    return fastest->estimate.seconds;
  }
};

} // namespace
