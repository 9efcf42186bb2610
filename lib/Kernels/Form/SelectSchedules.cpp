// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-select-schedules: say how the kernel of each dispatch is written (exact).

#include "../Families/Family.h"
#include "../Select/AttentionChoice.h"
#include "../Select/StreamProblem.h"
#include "../Select/TargetPart.h"
#include "mlir/IR/Remarks.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Kernels/Form/Passes.h"
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

namespace {

struct SelectSchedules : mlir::mp::impl::SelectSchedulesBase<SelectSchedules> {
  using Base::Base;

  void runOnOperation() override {
    llvm::Expected<const Part &> part = firstPart(target);
    if (!part) {
      emitError(getOperation().getLoc()) << toString(part.takeError());
      return signalPassFailure();
    }
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
    Problem problem = problemOf(*plan, body);
    llvm::Expected<Ranked> chosen = choose(problem, part);
    llvm::Expected<std::vector<Ranked>> ranked = rank(problem, part, /*limit=*/2);
    if (!chosen || !ranked) {
      llvm::consumeError(chosen.takeError());
      return llvm::consumeError(ranked.takeError());
    }
    std::optional<mpk::Family> family = familyOf(chosen->schedule);
    if (!family)
      return;                                            // the family has one way to write it
    const std::string text = toString(chosen->schedule); // the family's word, then settings
    StringRef settings = StringRef(text).split(' ').second;
    dispatch.setScheduleAttr(mpk::ScheduleAttr::get(dispatch.getContext(), *family, settings));
    if (failed(planKernels(dispatch, {}, why))) {
      dispatch.removeScheduleAttr(); // the family writes others than the model knows
      return;
    }
    note(dispatch, text, reasonFor(*chosen, *ranked, part));
  }

  static void selectAttention(mpk::DispatchOp dispatch, const AttentionPlan &plan,
                              const Part &part) {
    llvm::Expected<Ranked> chosen = chooseAttention(problemOf(plan), part);
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
    remark::analysis(
        dispatch.getLoc(),
        remark::RemarkOpts::name(remarks::kAttentionRounding).category(remarks::kDispatches))
        << text;
  }

  static void note(mpk::DispatchOp dispatch, StringRef schedule, StringRef reason) {
    remark::analysis(dispatch.getLoc(),
                     remark::RemarkOpts::name(remarks::kSchedule).category(remarks::kDispatches))
        << schedule << ": " << reason;
  }
};

} // namespace
