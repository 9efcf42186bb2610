// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-insert-scaling: contractions that the layers of decision would narrow work on scaled values
// instead. It runs on the graph in f32, before precision is assigned, so that values are quantised
// from what they are, not from what they were rounded to.

#include "../Assign/Decisions.h"
#include "Contractions.h"
#include "DelayedScales.h"
#include "Quantizer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mp/Analysis/Parameters.h"
#include "mp/Analysis/TrainingRoles.h"
#include "mp/Numerics/Scaling/Hadamard.h"
#include "mp/Policy/PolicyJSON.h"
#include "mp/Target/Targets.h"
#include "mp/Transforms/Scale/Passes.h"
#include "mp/Transforms/Scale/StaticScales.h"

namespace mlir::mp {
#define GEN_PASS_DEF_INSERTSCALING
#include "mp/Transforms/Scale/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;
namespace numerics = ::mp::numerics;
namespace policy = ::mp::policy;

/// A constant or parameter of the function, perhaps moved.
static bool isWeight(Value value) {
  for (;;) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
      return function && !whyParameter(function, argument.getArgNumber()).empty();
    }
    Operation *def = value.getDefiningOp();
    if (def->hasTrait<OpTrait::ConstantLike>())
      return true;
    auto interface = dyn_cast<PrecisionOpInterface>(def);
    if (!interface || interface.getOpClass() != OpClass::ExactCommute)
      return false;
    Value moved;
    for (OpOperand &operand : def->getOpOperands())
      if (interface.getOperandRole(operand.getOperandNumber()) == OperandRole::Data)
        moved = moved ? Value() : operand.get();
    if (!moved)
      return false;
    value = moved;
  }
}

/// The seeds of a train step's backward pass, if they are marked: by their role, or by a loss scale.
static SmallVector<Value> findMarkedSeeds(FunctionOpInterface function) {
  SmallVector<Value> seeds;
  function->walk([&](Operation *op) {
    auto role = op->getAttrOfType<StringAttr>(kRoleAttrName);
    if (op->getNumResults() == 1 && (isa<ScaleLossOp>(op) || (role && role.getValue() == kRoleSeed)))
      seeds.push_back(op->getResult(0));
  });
  // A seed that is scaled counts once.
  llvm::erase_if(seeds, [](Value seed) { return llvm::any_of(seed.getUsers(), llvm::IsaPred<ScaleLossOp>); });
  return seeds;
}

namespace {
/// Scales the contractions of one function.
class FunctionScaler {
public:
  /// What each operand is, is asked of the function as it is now; the recipe outlives this.
  FunctionScaler(FunctionOpInterface function, ArrayRef<Operation *> contractions, const numerics::Recipe &recipe) {
    std::optional<HomogeneityGraph::Degrees> degrees;
    std::optional<HomogeneityGraph> graph;
    if (SmallVector<Value> seeds = findMarkedSeeds(function);
        !seeds.empty() && recipe.gradient && function.getFunctionBody().hasOneBlock())
      degrees = graph.emplace(function).propagate(seeds);
    for (Operation *op : contractions)
      for (OpOperand &operand : op->getOpOperands()) {
        bool gradient = degrees && degrees->of(operand.get()).is(1), weight = !gradient && isWeight(operand.get());
        const auto &scheme = gradient ? recipe.gradient : weight ? recipe.weight : recipe.activation;
        schemes[&operand] = scheme ? &*scheme : nullptr;
        if (gradient)
          gradients.insert(&operand);
        if (weight)
          weights.insert(&operand);
      }
    step = dyn_cast<func::FuncOp>(function.getOperation());
    if (step && recipe.history)
      delayed.emplace(step, *recipe.history);
    if (step && recipe.stochasticGradients && !gradients.empty()) {
      randomState.emplace(step);
      draws.emplace(*randomState, step.getContext(), /*seed=*/1);
    }
    spreads = recipe.spreadsGradients;
  }

  /// Why `op` stays as it is; empty if it is scaled now.
  std::string scale(Operation *op) {
    if (delayed)
      for (OpOperand &operand : op->getOpOperands())
        if (schemes.lookup(&operand) && getFloatFormat(operand.get().getType()) && !delayed->canThread(operand.get()))
          return "a history cannot be threaded through control flow";
    if (draws)
      for (OpOperand &operand : op->getOpOperands())
        if (gradients.contains(&operand))
          if (std::string why = whyNoDraws(operand.get()); !why.empty())
            return why;
    if (auto view = viewContraction(op); view && schemes.at(view->a) && schemes.at(view->b))
      return contract(op, *view);
    return roundTrip(op);
  }

  /// From now on, the operands of contractions (constants aside) have these magnitudes. Fails where
  /// one that will be stored has none.
  LogicalResult useMagnitudes(FunctionOpInterface function, const FunctionMagnitudes &measured) {
    for (const ContractionOperand &place : findContractionOperands(function)) {
      OpOperand &operand = place.op->getOpOperand(place.operand);
      Operation *def = operand.get().getDefiningOp();
      if (!schemes.lookup(&operand) || (def && def->hasTrait<OpTrait::ConstantLike>()))
        continue;
      auto found = measured.operands.find({place.contraction, place.operand});
      if (found == measured.operands.end() || !(found->second.amax > 0))
        return place.op->emitOpError() << "operand #" << place.operand << " would be stored with a scale for which there is no "
                                       << "evidence: expected a magnitude of contraction " << place.contraction
                                       << " of '" << function.getName() << "' in the file of scales, found "
                                       << (found == measured.operands.end() ? "none" : "0");
      magnitudes[&operand] = found->second.amax;
    }
    return success();
  }

  /// Once all is scaled.
  void finish() {
    quantizer.eraseSuperseded();
    if (delayed)
      delayed->finish();
    if (draws) {
      OpBuilder atEnd(step.getBody().front().getTerminator());
      randomState->finish(draws->next(atEnd));
    }
  }

private:
  /// Why a gradient cannot be rounded by chance; empty if it can.
  std::string whyNoDraws(Value gradient) {
    if (gradient.getParentBlock() != &step.getBody().front())
      return "in control flow the same random bits would be drawn again and again";
    return cast<ShapedType>(gradient.getType()).hasStaticShape() ? "" : "random bits are drawn for static shapes";
  }

  /// Replaces the factors by what a Hadamard transform makes of them along what is summed over, where one is a
  /// gradient and the other an activation. Their product stays the same.
  void spread(OpBuilder &builder, const ContractionView &view) {
    if (gradients.contains(view.a) == gradients.contains(view.b) || weights.contains(view.a) || weights.contains(view.b))
      return;
    std::optional<unsigned> axes[2];
    for (bool second : {false, true}) {
      OpOperand *operand = second ? view.b : view.a;
      for (auto [dim, along] : llvm::enumerate(*dimensionsOf(*operand))) {
        if (along != Along::Sums)
          continue;
        int64_t size = cast<ShapedType>(operand->get().getType()).getDimSize(dim);
        // One axis of whole blocks; over several, blocks would not meet.
        if (axes[second] || ShapedType::isDynamic(size) || size % numerics::hadamardSigns16().size())
          return;
        axes[second] = dim;
      }
    }
    if (!axes[0] || !axes[1])
      return;
    view.a->set(quantizer.spread(builder, view.a->get(), *axes[0]));
    view.b->set(quantizer.spread(builder, view.b->get(), *axes[1]));
  }

  ScaledValue store(OpBuilder &builder, OpOperand &operand, ArrayRef<int64_t> shape) {
    const numerics::OperandScheme &scheme = *schemes.at(&operand);
    auto measured = magnitudes.find(&operand);
    if (measured != magnitudes.end())
      return quantizer.quantizeBy(builder, operand.get(), scheme, measured->second);
    if (delayed)
      return delayed->quantize(builder, operand.get(), scheme);
    return quantizer.quantize(builder, operand.get(), scheme, shape,
                              draws && gradients.contains(&operand) ? &*draws : nullptr);
  }

  /// The contraction on stored values, then scales.
  std::string contract(Operation *op, const ContractionView &view) {
    std::string why;
    SmallVector<int64_t> shapes[2];
    for (bool second : {false, true}) {
      OpOperand *operand = second ? view.b : view.a;
      auto shape = scaleShapeFor(*schemes.at(operand), *operand, why);
      if (failed(shape))
        return why;
      shapes[second] = *shape;
    }
    OpBuilder builder(op);
    if (spreads)
      spread(builder, view);
    ScaledValue a = store(builder, *view.a, shapes[0]), b = store(builder, *view.b, shapes[1]);
    replaceByScaled(builder, op, view, a, b);
    return "";
  }

  /// The op as it is, on operands that were stored and come back.
  std::string roundTrip(Operation *op) {
    auto interface = cast<PrecisionOpInterface>(op);
    std::string why;
    SmallVector<std::pair<OpOperand *, SmallVector<int64_t>>> stored;
    for (OpOperand &operand : op->getOpOperands()) {
      if (interface.getOperandRole(operand.getOperandNumber()) != OperandRole::Factor)
        continue;
      const numerics::OperandScheme *scheme = schemes.at(&operand);
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!scheme || !type || operand.get().getDefiningOp<DequantizeOp>())
        continue;
      auto shape = scaleShapeFor(*scheme, operand, why);
      if (failed(shape))
        return why;
      stored.push_back({&operand, *shape});
    }
    if (stored.empty())
      return "no operand of it is stored scaled";
    OpBuilder builder(op);
    for (auto &[operand, shape] : stored) {
      ScaledValue value = store(builder, *operand, shape);
      operand->set(DequantizeOp::create(builder, op->getLoc(), operand->get().getType(), value.codes, value.scales,
                                        builder.getUnitAttr()));
    }
    return "";
  }

  func::FuncOp step;
  llvm::DenseSet<OpOperand *> gradients, weights;
  llvm::DenseMap<OpOperand *, const numerics::OperandScheme *> schemes; ///< null: stays as it is
  llvm::DenseMap<OpOperand *, double> magnitudes;                           ///< measured beforehand
  Quantizer quantizer;
  std::optional<DelayedScales> delayed;
  std::optional<AppendedState> randomState;
  std::optional<RandomDraws> draws;
  bool spreads = false;
};

struct InsertScaling : mlir::mp::impl::InsertScalingBase<InsertScaling> {
  using InsertScalingBase::InsertScalingBase;

  void runOnOperation() override {
    numerics::Recipe chosen{"", "", {}, {}, {}, {}};
    if (failed(readRecipe(chosen)))
      return signalPassFailure();
    // Which contractions may be narrow does not depend on the recipe; bf16 needs no proof of range.
    auto effective = policy::findPolicy({"bf16", target, policyFile});
    if (!effective)
      return fail(llvm::toString(effective.takeError()));
    auto model = ::mp::target::lookupTarget(effective->policy.target);
    if (!model)
      return fail(llvm::toString(model.takeError()));
    auto costs = ::mp::target::CostModel::create(*model);
    if (!costs)
      return fail(llvm::toString(costs.takeError()));
    policy::Matcher rules(effective->policy);
    AssignSettings settings{effective->policy, *model, rules, BFloat16Type::get(&getContext()), 1, false, *costs, {}};
    WalkResult done = getOperation()->walk<WalkOrder::PreOrder>(
        [&](ModuleOp module) { return WalkResult(scaleModule(module, chosen, settings)); });
    if (done.wasInterrupted())
      signalPassFailure();
  }

private:
  std::optional<StaticScales> scales;

  LogicalResult scaleModule(ModuleOp module, const numerics::Recipe &chosen, const AssignSettings &settings) {
    StorageGangs gangs(module);
    CarriedStorage carried(gangs);
    for (auto function : module.getOps<FunctionOpInterface>()) {
      if (function.isExternal() || function->hasAttr(kPhaseAttrName))
        continue;
      SmallVector<Operation *> contractions;
      {
        ModuleEvidence evidence(gangs); // of the module as scaled so far
        FunctionDecisions decisions(function, carried, evidence);
        for (Layer layer : {applyPins, applyPolicy, applyClasses})
          if (failed(layer(decisions, settings)))
            return failure();
        for (auto &[op, decision] : decisions.getOps())
          if (decisions.isNarrowContraction(op))
            contractions.push_back(op);
      }
      if (failed(checkOverflows(function, contractions, chosen)))
        return failure();
      FunctionScaler scaler(function, contractions, chosen);
      if (scales && !contractions.empty()) {
        auto measured = scales->lookup(function);
        if (!measured)
          return function.emitError() << llvm::toString(measured.takeError()), failure();
        if (failed(scaler.useMagnitudes(function, *measured)))
          return failure();
      }
      for (Operation *op : contractions)
        scaleOp(op, function, scaler);
      scaler.finish();
    }
    return success();
  }

  /// An overflow that the check of a loss scale has to find may not be saturated on its way there.
  LogicalResult checkOverflows(FunctionOpInterface function, ArrayRef<Operation *> contractions, const numerics::Recipe &chosen) {
    SmallVector<Value> scaled;
    function->walk([&](ScaleLossOp op) { scaled.push_back(op.getResult()); });
    const auto &scheme = chosen.gradient ? chosen.gradient : chosen.activation;
    bool saturates = scheme && (chosen.history || scales ||
                                numerics::findScaleRule(scheme->rule)->rule.onNonFinite != numerics::OnNonFinite::Propagate);
    if (scaled.empty() || !saturates || !function.getFunctionBody().hasOneBlock())
      return success();
    HomogeneityGraph graph(function);
    HomogeneityGraph::Degrees degrees = graph.propagate(scaled);
    for (Operation *op : contractions)
      for (OpOperand &operand : op->getOpOperands())
        if (degrees.of(operand.get()).is(1)) {
          InFlightDiagnostic diag = op->emitOpError() << "operand #" << operand.getOperandNumber() << " carries the loss scale, and recipe '"
                                                      << recipe << "' saturates what overflowed before the check can find it: expected "
                                                         "loss-scale=none, as the recipe scales gradients by their own magnitude";
          diag.attachNote(scaled.front().getLoc()) << "the loss is scaled here";
          return diag;
        }
    return success();
  }

  void scaleOp(Operation *op, FunctionOpInterface function, FunctionScaler &scaler) {
    std::string name = op->getName().getStringRef().str();
    Location loc = op->getLoc();
    std::string why = scaler.scale(op);
    if (!function->getContext()->getRemarkEngine())
      return;
    auto named = [&](StringRef what) {
      return remark::RemarkOpts::name(what).category("mp").function(function.getName());
    };
    if (why.empty())
      remark::passed(loc, named("scaled")) << remark::add("{0} works on scaled values", name)
                                           << remark::reason("recipe {0}", std::string(recipe));
    else
      remark::missed(loc, named("not-scaled")) << remark::add("{0} keeps its operands", name)
                                               << remark::reason("{0}", why);
  }

  LogicalResult readRecipe(numerics::Recipe &chosen) {
    SmallVector<StringRef> names;
    for (const numerics::Recipe &known : numerics::scalingRecipes())
      names.push_back(known.name);
    const numerics::Recipe *found = numerics::findRecipe(recipe);
    if (!found)
      return fail("option 'recipe' is '" + recipe + "', expected one of " + llvm::join(names, ", ") + "; nearest is '" +
                  policy::nearestWord(recipe, names) + "'"), failure();
    chosen = *found;
    if (!scalesFile.empty()) {
      if (chosen.history || !chosen.activation || chosen.activation->granularity != numerics::Granularity::Tensor)
        return fail("recipe '" + recipe + "' has not one scale per activation, so option 'scales' must be left out, found '" +
                    scalesFile + "'"), failure();
      auto read = StaticScales::read(scalesFile);
      if (!read)
        return fail("option 'scales' is " + llvm::toString(read.takeError())), failure();
      scales = std::move(*read);
    }
    if (format.empty())
      return success();
    auto wanted = llvm::StringSwitch<std::optional<numerics::Format>>(format)
                      .Case("e4m3", numerics::Format::F8E4M3FN)
                      .Case("e5m2", numerics::Format::F8E5M2)
                      .Default(std::nullopt);
    if (!wanted)
      return fail("option 'format' is '" + format + "', expected e4m3 or e5m2"), failure();
    // Gradients have a format of their own where the recipe says so, unless e5m2 is asked for throughout.
    for (auto *scheme : {&chosen.activation, &chosen.weight}) {
      if (!*scheme)
        continue;
      if ((*scheme)->code.isInteger() || (*scheme)->code.floatFormat() != numerics::Format::F8E4M3FN)
        return fail("recipe '" + recipe + "' stores no fp8, so option 'format' must be left out, found '" + format + "'"),
               failure();
      (*scheme)->code = *wanted;
    }
    return success();
  }

  void fail(const Twine &what) {
    emitError(UnknownLoc::get(&getContext())) << "mp-insert-scaling: " << what;
    signalPassFailure();
  }
};
} // namespace
