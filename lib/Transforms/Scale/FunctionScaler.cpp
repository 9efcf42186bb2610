// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites contractions as products of scaled operands.

#include "FunctionScaler.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Numerics/Scaling/Hadamard.h"

using namespace mlir;
using namespace mlir::mp;

FunctionScaler::FunctionScaler(FunctionOpInterface function, ArrayRef<Operation *> contractions,
                               const numerics::Recipe &recipe)
    : function(function), recipe(recipe), schemes(function, contractions, recipe) {
  step = dyn_cast<func::FuncOp>(function.getOperation());
  if (step && recipe.history)
    delayed.emplace(step, *recipe.history);
  if (step && recipe.stochasticGradients && schemes.haveGradients()) {
    randomState.emplace(step);
    draws.emplace(*randomState, step.getContext(), /*seed=*/1);
  }
}

LogicalResult FunctionScaler::useMagnitudes(const FunctionMagnitudes &measured) {
  for (const ContractionFactor &place : findContractionFactors(function)) {
    OpOperand &operand = place.op->getOpOperand(place.operand);
    Operation *def = operand.get().getDefiningOp();
    if (!schemes.lookup(operand) || (def && def->hasTrait<OpTrait::ConstantLike>()))
      continue;
    auto found = measured.operands.find({place.contraction, place.operand});
    if (found == measured.operands.end() || !(found->second.amax > 0))
      return place.op->emitOpError()
             << "operand #" << place.operand
             << " would be stored with a scale for which there is no "
             << "evidence: expected a magnitude of contraction " << place.contraction << " of '"
             << function.getName() << "' in the file of scales, found "
             << (found == measured.operands.end() ? "none" : "0");
    magnitudes[&operand] = found->second.amax;
  }
  return success();
}

LogicalResult FunctionScaler::scale(Operation *op) {
  std::string name = op->getName().getStringRef().str();
  Location loc = op->getLoc();
  std::string why = tryScale(op);
  if (why.empty())
    remark::passed(loc, remarks::kScaled.in(function))
        << remark::add("{0} works on scaled values", name)
        << remark::reason("recipe {0}", recipe.name.str());
  else
    remark::missed(loc, remarks::kNotScaled.in(function))
        << remark::add("{0} keeps its operands", name) << remark::reason("{0}", why);
  return success(why.empty());
}

void FunctionScaler::finish() {
  quantizer.eraseSuperseded();
  if (delayed)
    delayed->finish();
  if (draws) {
    OpBuilder atEnd(step.getBody().front().getTerminator());
    randomState->finish(draws->next(atEnd));
  }
}

/// Scales `op`, or says why it stays as it is; empty if it is scaled now.
std::string FunctionScaler::tryScale(Operation *op) {
  if (delayed)
    for (OpOperand &operand : op->getOpOperands())
      if (schemes.lookup(operand) && getFloatFormat(operand.get().getType()) &&
          !delayed->canThread(operand.get()))
        return "a history cannot be threaded through control flow";
  if (draws)
    for (OpOperand &operand : op->getOpOperands())
      if (schemes.isGradient(operand))
        if (std::string why = whyNoDraws(operand.get()); !why.empty())
          return why;
  if (auto view = viewContraction(op); view && schemes.lookup(*view->a) && schemes.lookup(*view->b))
    return contract(op, *view);
  return roundTrip(op);
}

/// Says why a gradient cannot be rounded stochastically; empty if it can.
std::string FunctionScaler::whyNoDraws(Value gradient) {
  if (gradient.getParentBlock() != &step.getBody().front())
    return "in control flow the same random bits would be drawn again and again";
  return cast<ShapedType>(gradient.getType()).hasStaticShape()
             ? ""
             : "random bits are drawn for static shapes";
}

/// Replaces the factors by what a Hadamard transform makes of them along what is summed over, where
/// one is a gradient and the other an activation. Their product stays the same.
void FunctionScaler::spread(OpBuilder &builder, const ContractionView &view) {
  if (schemes.isGradient(*view.a) == schemes.isGradient(*view.b) || schemes.isWeight(*view.a) ||
      schemes.isWeight(*view.b))
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

ScaledValue FunctionScaler::store(OpBuilder &builder, OpOperand &operand, ArrayRef<int64_t> shape) {
  const numerics::OperandScheme &scheme = *schemes.lookup(operand);
  auto measured = magnitudes.find(&operand);
  if (measured != magnitudes.end())
    return quantizer.quantizeBy(builder, operand.get(), scheme, measured->second);
  if (delayed)
    return delayed->quantize(builder, operand.get(), scheme);
  return quantizer.quantize(builder, operand.get(), scheme, shape,
                            draws && schemes.isGradient(operand) ? &*draws : nullptr);
}

/// The contraction on stored values, then scales.
std::string FunctionScaler::contract(Operation *op, const ContractionView &view) {
  std::string why;
  SmallVector<int64_t> shapes[2];
  for (bool second : {false, true}) {
    OpOperand *operand = second ? view.b : view.a;
    auto shape = scaleShapeFor(*schemes.lookup(*operand), *operand, why);
    if (failed(shape))
      return why;
    shapes[second] = *shape;
  }
  OpBuilder builder(op);
  if (recipe.spreadsGradients)
    spread(builder, view);
  ScaledValue a = store(builder, *view.a, shapes[0]), b = store(builder, *view.b, shapes[1]);
  replaceByScaled(builder, op, view, a, b);
  return "";
}

/// The op as it is, on operands that were stored and come back.
std::string FunctionScaler::roundTrip(Operation *op) {
  std::string why;
  SmallVector<std::pair<OpOperand *, SmallVector<int64_t>>> stored;
  for (OpOperand *factor : getFactors(op)) {
    const numerics::OperandScheme *scheme = schemes.lookup(*factor);
    auto type = dyn_cast<RankedTensorType>(factor->get().getType());
    if (!scheme || !type || factor->get().getDefiningOp<DequantizeOp>())
      continue;
    auto shape = scaleShapeFor(*scheme, *factor, why);
    if (failed(shape))
      return why;
    stored.push_back({factor, *shape});
  }
  if (stored.empty())
    return "no operand of it is stored scaled";
  OpBuilder builder(op);
  for (auto &[operand, shape] : stored) {
    ScaledValue value = store(builder, *operand, shape);
    operand->set(DequantizeOp::create(builder, op->getLoc(), operand->get().getType(), value.codes,
                                      value.scales, builder.getUnitAttr()));
  }
  return "";
}
