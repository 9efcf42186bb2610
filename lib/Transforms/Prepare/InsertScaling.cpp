// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-insert-scaling: contractions that the layers of decision would narrow work on scaled values
// instead. It runs on the graph in f32, before precision is assigned, so that values are quantised
// from what they are, not from what they were rounded to.

#include "../Assign/Decisions.h"
#include "../Assign/Storage/ErrorShares.h"
#include "../Scale/FunctionScaler.h"
#include "mp/Analysis/FunctionWalk.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Dialect/MP/ScaledError.h"
#include "mp/Transforms/Prepare/Passes.h"

#include <cmath>

namespace mlir::mp {
#define GEN_PASS_DEF_INSERTSCALING
#include "mp/Transforms/Prepare/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {
struct InsertScaling : mlir::mp::impl::InsertScalingBase<InsertScaling> {
  using InsertScalingBase::InsertScalingBase;
  InsertScaling(const InsertScalingOptions &options, SharedRequest asked)
      : InsertScalingBase(options), asked(std::move(asked)) {}

  void runOnOperation() override {
    numerics::Recipe chosen{.name = "", .text = "", .activation = {}, .weight = {}, .gradient = {}};
    if (failed(readRecipe(chosen)))
      return signalPassFailure();
    // The recipe does not decide which contractions may be narrow; bf16 needs no proof of range.
    if (!asked)
      asked = std::make_shared<RequestReader>(OptionalFormat(), target, policyFile);
    auto request = asked->get(&getContext());
    if (!request)
      return fail(llvm::toString(request.takeError()));
    policy::Matcher rules(request->effective.policy);
    AssignSettings settings = settingsOf(*request, rules, request->costs);
    settings.narrow = BFloat16Type::get(&getContext());
    settings.maxUnderflow = 1;
    settings.keepsChoices = true;
    WalkResult done = walkOutsideFunctionBodies<ModuleOp>(getOperation(), [&](ModuleOp module) {
      return WalkResult(scaleModule(module, chosen, settings));
    });
    if (done.wasInterrupted())
      signalPassFailure();
  }

private:
  SharedRequest asked;
  std::optional<StaticScales> scales;

  LogicalResult scaleModule(ModuleOp module, const numerics::Recipe &chosen,
                            const AssignSettings &settings) {
    TiedStorage ties(module);
    CarriedStorage carried(ties);
    for (auto function : module.getOps<FunctionOpInterface>()) {
      if (function.isExternal() || function->hasAttr(kPhaseAttrName))
        continue;
      SmallVector<Operation *> contractions;
      SmallVector<double> shares; // of the error of results, by contraction
      {
        ModuleRanges ranges(module); // of the module as scaled so far
        FunctionDecisions decisions(function, carried, ranges);
        for (Layer layer : {applyPins, applyPolicy, applyClasses})
          if (failed(layer(decisions, settings)))
            return failure();
        for (auto &[op, decision] : decisions.getOps())
          if (decisions.isNarrowContraction(op))
            contractions.push_back(op);
          else if (decision.opClass == OpClass::TensorCore)
            remark::missed(op->getLoc(), remarks::kNotScaled.in(function))
                << remark::add("{0} keeps its operands", op->getName().getStringRef().str())
                << remark::reason("{0}", decision.describeReason());
        shares = modelErrors(decisions, settings, contractions, chosen);
      }
      if (failed(checkOverflows(function, contractions, chosen, scales.has_value())))
        return failure();
      FunctionScaler scaler(function, contractions, chosen);
      if (scales && !contractions.empty()) {
        auto measured = scales->lookup(function);
        if (!measured)
          return function.emitError() << llvm::toString(measured.takeError()), failure();
        if (failed(scaler.useMagnitudes(*measured)))
          return failure();
      }
      double error = 0;
      for (auto [op, share] : llvm::zip_equal(contractions, shares))
        if (succeeded(scaler.scale(op))) // a remark says why not
          error += share;
      scaler.finish();
      if (error != 0)
        function->setAttr(kScaledErrorAttrName,
                          FloatAttr::get(Float64Type::get(&getContext()), error));
    }
    return success();
  }

  /// Returns what each contraction adds to the error of the results when it is scaled; NaN where
  /// that cannot be modelled.
  static SmallVector<double> modelErrors(FunctionDecisions &decisions,
                                         const AssignSettings &settings,
                                         ArrayRef<Operation *> contractions,
                                         const numerics::Recipe &chosen) {
    OperandSchemes schemes(decisions.getFunction(), contractions, chosen);
    ErrorShares errors(decisions, settings, &schemes);
    return llvm::map_to_vector(contractions,
                               [&](Operation *op) { return errors.ofScaled(op).value_or(NAN); });
  }

  LogicalResult readRecipe(numerics::Recipe &chosen) {
    const numerics::Recipe *found = numerics::findRecipe(recipe);
    if (!found)
      return fail("option 'recipe' is '" + recipe + "', expected a recipe"), failure();
    chosen = *found;
    if (!scalesFile.empty()) {
      if (chosen.history || !chosen.activation ||
          chosen.activation->granularity != numerics::Granularity::Tensor)
        return fail("recipe '" + recipe +
                    "' has not one scale per activation, so option 'scales' must be left out, "
                    "found '" +
                    scalesFile + "'"),
               failure();
      auto read = StaticScales::read(scalesFile);
      if (!read)
        return fail("option 'scales' is " + llvm::toString(read.takeError())), failure();
      scales = std::move(*read);
    }
    if (!format)
      return success();
    auto wanted =
        *format == ScaledFormat::E4M3 ? numerics::Format::F8E4M3FN : numerics::Format::F8E5M2;
    // Gradients have a format of their own where the recipe says so, unless e5m2 is asked for
    // throughout.
    for (auto *scheme : {&chosen.activation, &chosen.weight}) {
      if (!*scheme)
        continue;
      if ((*scheme)->code.isInteger() ||
          (*scheme)->code.floatFormat() != numerics::Format::F8E4M3FN)
        return fail("recipe '" + recipe +
                    "' stores no fp8, so option 'format' must be left out, found '" +
                    format.spell() + "'"),
               failure();
      (*scheme)->code = wanted;
    }
    return success();
  }

  void fail(const Twine &what) {
    emitError(UnknownLoc::get(&getContext())) << "mp-insert-scaling: " << what;
    signalPassFailure();
  }
};
} // namespace

std::unique_ptr<Pass> mlir::mp::createInsertScaling(const InsertScalingOptions &options,
                                                    SharedRequest asked) {
  return std::make_unique<InsertScaling>(options, std::move(asked));
}
