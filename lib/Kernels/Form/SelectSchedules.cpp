// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-select-schedules: say how the kernel of each dispatch is written (exact).

#include "../Families/Family.h"
#include "../Select/AttentionProblem.h"
#include "../Select/StreamProblem.h"
#include "../Select/TargetPart.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Kernels/Dispatches.h"
#include "mp/Kernels/Form/Passes.h"
#include "mp/Kernels/Passes.h"
#include "mp/Performance/Estimate.h"

#include "llvm/Support/FormatVariadic.h"

namespace mlir::mp {
#define GEN_PASS_DEF_SELECTSCHEDULES
#include "mp/Kernels/Form/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;
using namespace mpcore::performance;

/// The family that writes kernels by such a schedule; nothing if none does yet.
static std::optional<mpk::Family> familyOf(const Schedule &schedule) {
  if (std::holds_alternative<MapSchedule>(schedule))
    return mpk::Family::Map;
  if (std::holds_alternative<RowSchedule>(schedule))
    return mpk::Family::Rows;
  return std::nullopt;
}

/// "H100 SXM: 5.12 us, bound by memory, 3 % ahead of rows threads-per-row=64"
static std::string reasonFor(const Ranked &chosen, ArrayRef<Ranked> ranked, const Part &part) {
  std::string text =
      llvm::formatv("modelled {0:f2} us on {1}, bound by {2}", chosen.estimate.microseconds(),
                    part.name, toString(chosen.estimate.bound));
  std::string name = toString(chosen.schedule);
  const Ranked *other =
      llvm::find_if(ranked, [&](const Ranked &next) { return toString(next.schedule) != name; });
  if (other != ranked.end()) {
    double share = (other->estimate.seconds / chosen.estimate.seconds - 1) * 100;
    text += llvm::formatv(", {0:f1} % {1} {2}", std::abs(share),
                          share < 0 ? "behind, but more robust than," : "ahead of",
                          toString(other->schedule));
  }
  return text;
}

/// Gives a dispatch a schedule if a family writes kernels by it; else it has none.
static bool setSchedule(mpk::DispatchOp dispatch, const Schedule &schedule) {
  std::string why;
  if (std::optional<mpk::Family> family = familyOf(schedule)) {
    const std::string text = toString(schedule); // the family's word, then settings
    StringRef settings = StringRef(text).split(' ').second;
    dispatch.setScheduleAttr(mpk::ScheduleAttr::get(dispatch.getContext(), *family, settings));
    if (succeeded(planKernels(dispatch, {}, why))) {
      dispatch->setAttr(kModelledScheduleAttrName, UnitAttr::get(dispatch.getContext()));
      return true;
    }
  }
  dispatch.removeScheduleAttr();
  return false;
}

/// Lets products take three quarters of the registers that they could; false where a kernel would
/// be too small to be worth it, or somebody pinned its schedule.
static bool takeSmallerTile(mpk::DispatchOp dispatch) {
  constexpr unsigned mostRegisters = 255, leastRegisters = 96;
  SmallVector<Operation *> products;
  for (Operation &op : dispatch.getBody().front())
    if (op.hasAttr(kMmaAttrName))
      products.push_back(&op);
  unsigned most = mostRegisters;
  for (Operation *op : products) {
    if (op->hasAttr(kScheduleAttrName))
      return false;
    if (auto known = op->getAttrOfType<IntegerAttr>(kMmaRegistersAttrName))
      most = unsigned(known.getInt());
  }
  most = most * 3 / 4;
  if (most < leastRegisters)
    return false;
  for (Operation *op : products)
    op->setAttr(kMmaRegistersAttrName, Builder(op->getContext()).getI64IntegerAttr(most));
  return true;
}

bool mlir::mp::takeSmallerSchedule(mpk::DispatchOp dispatch, StringRef target) {
  llvm::Expected<const Part &> part = firstPart(target);
  if (!part) {
    llvm::consumeError(part.takeError());
    return false;
  }
  mpk::ScheduleAttr old = dispatch.getScheduleAttr();
  if (old && old.getFamily() == mpk::Family::Matmul)
    return takeSmallerTile(dispatch);
  std::string why;
  Block &body = dispatch.getBody().front();
  FailureOr<StreamPlan> plan = planStream(body, why);
  if (!old || failed(plan))
    return false;
  Problem problem = problemOf(*plan, body, *part);
  auto registersOf = [&](const Schedule &schedule) {
    llvm::Expected<Resources> resources = resourcesOf(problem, schedule, *part);
    if (resources)
      return resources->registers;
    llvm::consumeError(resources.takeError()); // too many
    return part->limits().registersPerThread + 1;
  };
  llvm::Expected<Schedule> now =
      parseSchedule((mpk::stringifyFamily(old.getFamily()) + " " + old.getSettings()).str());
  llvm::Expected<std::vector<Ranked>> ranked = rank(problem, *part, /*limit=*/64);
  if (!now || !ranked) {
    llvm::consumeError(now.takeError());
    llvm::consumeError(ranked.takeError());
    return false;
  }
  const unsigned most = registersOf(*now) * 3 / 4;
  for (const Ranked &next : *ranked)
    if (registersOf(next.schedule) <= most && setSchedule(dispatch, next.schedule))
      return true;
  dispatch.setScheduleAttr(old);
  return false;
}

namespace {

struct SelectSchedules : mlir::mp::impl::SelectSchedulesBase<SelectSchedules> {
  using Base::Base;

  void runOnOperation() override {
    const Part *part = valueOrError(getOperation(), firstPart(target));
    if (!part)
      return signalPassFailure();
    getOperation().walk([&](mpk::DispatchOp dispatch) {
      if (!dispatch.getScheduleAttr()) // or somebody chose
        select(dispatch, *part);
    });
  }

  static void select(mpk::DispatchOp dispatch, const Part &part) {
    std::string why;
    Block &body = dispatch.getBody().front();
    if (FailureOr<AttentionPlan> attention = planAttention(body, why); succeeded(attention))
      return selectAttention(dispatch, *attention, part);
    FailureOr<StreamPlan> plan = planStream(body, why);
    if (failed(plan))
      return; // mp-refuse-dispatches says so
    if (movesAcross(*plan, body))
      return; // a transposition may be the better map, as its family sees on buffers
    Problem problem = problemOf(*plan, body, part);
    llvm::Expected<Ranked> chosen = choose(problem, part);
    llvm::Expected<std::vector<Ranked>> ranked = rank(problem, part, /*limit=*/2);
    if (!chosen || !ranked) {
      llvm::consumeError(chosen.takeError());
      return llvm::consumeError(ranked.takeError());
    }
    if (!setSchedule(dispatch, chosen->schedule))
      return;
    std::string reason = reasonFor(*chosen, *ranked, part);
    if (llvm::Expected<Resources> fits = resourcesOf(problem, chosen->schedule, part))
      reason += llvm::formatv("; about {0} registers", fits->registers);
    else
      llvm::consumeError(fits.takeError());
    note(dispatch, toString(chosen->schedule), reason);
  }

  static void selectAttention(mpk::DispatchOp dispatch, const AttentionPlan &plan,
                              const Part &part) {
    llvm::Expected<Ranked> chosen = fastestWritten(problemOf(plan), part);
    if (!chosen)
      return llvm::consumeError(chosen.takeError());
    const std::string text = toString(chosen->schedule);
    dispatch.setScheduleAttr(mpk::ScheduleAttr::get(dispatch.getContext(), mpk::Family::Attention,
                                                    StringRef(text).split(' ').second));
    note(dispatch, text, reasonFor(*chosen, {}, part));
    noteRounding(dispatch, problemOf(plan), std::get<AttentionSchedule>(chosen->schedule));
  }

  static void noteRounding(mpk::DispatchOp dispatch, const AttentionProblem &problem,
                           const AttentionSchedule &schedule) {
    const AttentionRounding rounding = roundingOf(problem, schedule);
    std::string text = llvm::formatv(
        "{0} keys: rounding of {1} probabilities and of sums moves a result by at most {2:e4} of "
        "the sum of probability times |value|, as kernels apart by {3:e4}",
        problem.keys, problem.format, rounding.fused, rounding.apart);
    remark::analysis(dispatch.getLoc(), remarks::kAttentionRounding) << text;
  }

  static void note(mpk::DispatchOp dispatch, StringRef schedule, StringRef reason) {
    remark::analysis(dispatch.getLoc(), remarks::kSchedule) << schedule << ": " << reason;
  }
};

} // namespace
