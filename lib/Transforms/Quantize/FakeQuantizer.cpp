// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites contractions on codes, and lets gradients pass straight through the rounding.

#include "FakeQuantizer.h"
#include "../Common/TensorCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Analysis/Parameters.h"
#include "mp/Dialect/MP/Remarks.h"

using namespace mlir;
using namespace mlir::mp;

FakeQuantizer::FakeQuantizer(func::FuncOp function, const FakeQuantizeSettings &settings,
                             const TrainingRoles *roles, const HomogeneityGraph::Degrees *degrees)
    : function(function), settings(settings), roles(roles), degrees(degrees), appended(function) {}

unsigned FakeQuantizer::run() {
  collect();
  if (roles) {
    BackwardProducts backward(function, *degrees);
    for (auto &[value, tensor] : tensors)
      findGradients(tensor, backward);
  }
  for (auto &[value, tensor] : tensors)
    makeStep(tensor);
  for (const FactorPair &pair : pairs)
    rewrite(pair);
  for (auto &[value, tensor] : tensors)
    if (roles)
      passGradients(tensor);
  if (!next.empty())
    appended.finish(next);
  updateFunctionType(function);
  return pairs.size();
}

/// Finds the contractions of the forward pass, and what their factors are moved from.
void FakeQuantizer::collect() {
  auto isParameter = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      return value.getDefiningOp()->hasTrait<OpTrait::ConstantLike>();
    if (!roles)
      return !whyParameter(function, argument.getArgNumber()).empty();
    const TrainingState *state = roles->ofArgument(argument.getArgNumber());
    return state && state->role == kRoleParameter;
  };
  for (Operation &op : function.getBody().front()) {
    std::optional<FactorPair> pair = readFactors(&op);
    if (!pair)
      continue;
    bool isForward = !roles || (!llvm::is_contained(roles->optimizerContractions, &op) &&
                                llvm::all_of(pair->factors, [&](OpOperand *factor) {
                                  return degrees->of(factor->get()).is(0);
                                }));
    if (isForward)
      pairs.push_back(*pair);
  }
  ModuleRanges ranges(function->getParentOfType<ModuleOp>());
  for (const FactorPair &pair : pairs)
    for (OpOperand *factor : pair.factors) {
      Value value = findMoved(factor->get());
      Tensor &tensor = tensors[value];
      tensorsRead[factor] = value;
      bool isNew = tensor.factors.empty();
      tensor.factors.push_back(factor);
      if (isNew) {
        tensor.value = value;
        tensor.isWeight = isParameter(value);
        tensor.format = tensor.isWeight ? settings.weights : settings.activations;
        auto integer = dyn_cast<IntegerType>(tensor.format);
        const RangeState &range = ranges.lookup(value);
        if (!tensor.isWeight && integer && integer.getWidth() < 8 && !range.isBottom() &&
            range.facts.isNonNegative())
          tensor.format =
              IntegerType::get(function.getContext(), integer.getWidth(), IntegerType::Unsigned);
        tensor.isAffine = settings.zeroPoints && !tensor.isWeight && integer &&
                          tensor.format == settings.activations;
      }
      SmallVector<int64_t> shape;
      if (tensor.isWeight && settings.perChannel && value == factor->get())
        shape = channelShape(*factor);
      if (isNew)
        tensor.stepShape = shape;
      else if (tensor.stepShape != shape)
        tensor.stepShape.clear();
    }
}

/// Finds what the backward pass computes for a tensor: the gradient of each factor that it is, or
/// else, of a parameter that nothing but contractions read, what the optimizer takes over.
void FakeQuantizer::findGradients(Tensor &tensor, const BackwardProducts &backward) {
  if (tensor.isWeight && !settings.learned)
    return; // the step follows the weight: nothing is clamped
  for (OpOperand *factor : tensor.factors) {
    FactorPair pair = *readFactors(factor->getOwner());
    auto product = backward.find(pair, factor == pair.factors[1]);
    if (product && (tensor.stepShape.empty() || isIdentityPermutation(product->permutation)))
      tensor.products.push_back({*product, factor->get()});
  }
  if (tensor.products.size() != tensor.factors.size()) {
    tensor.products.clear();
    tensor.gradient = tensor.isWeight ? findOnlyGradient(tensor.value) : nullptr;
  }
  bool isKnown = tensor.gradient || !tensor.products.empty();
  tensor.isLearned = settings.learned && isKnown;
  if (!isKnown)
    remarkObserved(tensor);
}

const Gradient *FakeQuantizer::findOnlyGradient(Value parameter) const {
  auto argument = dyn_cast<BlockArgument>(parameter);
  auto moves = [&](const Gradient &gradient) {
    return argument && gradient.argument == argument.getArgNumber() &&
           gradient.value.getType() == argument.getType();
  };
  bool isReadOtherwise = llvm::any_of(parameter.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return !leadsToContractions(use) && !user->hasTrait<OpTrait::IsTerminator>() &&
           llvm::all_of(user->getResults(),
                        [&](Value result) { return degrees->of(result).is(0); });
  });
  if (isReadOtherwise || llvm::count_if(roles->gradients, moves) != 1)
    return nullptr;
  return llvm::find_if(roles->gradients, moves);
}

void FakeQuantizer::remarkObserved(const Tensor &tensor) {
  remark::missed(tensor.value.getLoc(), remarks::kNotClamped.in(function))
      << remark::add("its step is observed, and gradients pass where it is clamped, too")
      << remark::reason("the backward pass has no single product that is its gradient");
}

const FakeQuantizer::Tensor &FakeQuantizer::tensorOf(OpOperand &factor) const {
  return tensors.find(tensorsRead.lookup(&factor))->second;
}

/// Replaces a contraction, whose result may be a factor of others.
void FakeQuantizer::replaceSums(Operation *op, Value by) {
  Value old = op->getResult(0);
  for (auto &[before, tensor] : tensors) {
    if (tensor.value == old)
      tensor.value = by;
    for (auto &[product, factor] : tensor.products)
      if (factor == old)
        factor = by;
  }
}

/// The codes of a factor, as numbers in f32.
Value FakeQuantizer::encode(OpBuilder &builder, OpOperand &factor) {
  const Tensor &tensor = tensorOf(factor);
  return FakeQuantizeOp::create(
      builder, factor.getOwner()->getLoc(), factor.get().getType(), factor.get(), tensor.step,
      tensor.zero, TypeAttr::get(tensor.format), /*codes=*/builder.getUnitAttr(), UnitAttr());
}

void FakeQuantizer::rewrite(const FactorPair &pair) {
  OpBuilder builder(pair.op);
  Value steps[2];
  for (auto [step, factor] : llvm::zip_equal(steps, pair.factors))
    step = tensorOf(*factor).step;
  auto view = viewContraction(pair.op);
  const bool hasZero =
      llvm::any_of(pair.factors, [&](OpOperand *factor) { return bool(tensorOf(*factor).zero); });
  if (!view || hasZero) // mp.scaled_matmul has no zero points
    return scaleSums(builder, pair);
  bool swapped = view->a == pair.factors[1];
  Value init = view->init;
  if (!init) {
    auto type = cast<RankedTensorType>(pair.op->getResult(0).getType());
    Value empty = tensor::EmptyOp::create(
        builder, pair.op->getLoc(), sizesOf(builder, pair.op->getLoc(), pair.op->getResult(0)),
        type.getElementType());
    Value zero = scalar(builder, pair.op->getLoc(), builder.getF32FloatAttr(0));
    init = linalg::FillOp::create(builder, pair.op->getLoc(), zero, empty).getResult(0);
  }
  Value a = encode(builder, *view->a), b = encode(builder, *view->b);
  auto product = ScaledMatmulOp::create(builder, pair.op->getLoc(), init.getType(), init, a,
                                        steps[swapped], b, steps[!swapped],
                                        builder.getAffineMapArrayAttr(view->maps), UnitAttr());
  replaceSums(pair.op, product);
  pair.op->getResult(0).replaceAllUsesWith(product);
  pair.op->erase();
}

/// A convolution sums codes, and its sums are scaled; other ops read rounded values.
void FakeQuantizer::scaleSums(OpBuilder &builder, const FactorPair &pair) {
  Location loc = pair.op->getLoc();
  auto structured = dyn_cast<linalg::LinalgOp>(pair.op);
  SmallVector<Value> steps;
  if (structured && structured.getNumDpsInits() == 1) {
    AffineMap result = structured.getMatchingIndexingMap(structured.getDpsInitOperand(0));
    for (OpOperand *factor : pair.factors)
      if (Value step = moveToResult(builder, tensorOf(*factor).step,
                                    structured.getMatchingIndexingMap(factor), result, loc))
        steps.push_back(step);
  }
  if (steps.size() != 2) {
    for (OpOperand *factor : pair.factors) {
      const Tensor &tensor = tensorOf(*factor);
      factor->set(FakeQuantizeOp::create(builder, loc, factor->get().getType(), factor->get(),
                                         tensor.step, tensor.zero, TypeAttr::get(tensor.format),
                                         UnitAttr(), UnitAttr()));
    }
    return;
  }
  OpOperand *init = structured.getDpsInitOperand(0);
  Value base = init->get();
  for (OpOperand *factor : pair.factors)
    factor->set(encode(builder, *factor));
  Value zero = scalar(builder, loc, builder.getF32FloatAttr(0));
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizesOf(builder, loc, base), builder.getF32Type());
  init->set(linalg::FillOp::create(builder, loc, zero, empty).getResult(0));
  builder.setInsertionPointAfter(pair.op);
  Value sums = pair.op->getResult(0);
  auto scaled = DequantizeOp::create(builder, loc, sums.getType(), sums, steps, UnitAttr());
  Value result = arith::AddFOp::create(builder, loc, base, scaled);
  replaceSums(pair.op, result);
  sums.replaceAllUsesExcept(result, scaled);
}

/// The backward pass reads rounded values; what was clamped has no gradient.
void FakeQuantizer::passGradients(Tensor &tensor) {
  OpBuilder builder(function.getContext());
  Location loc = tensor.value.getLoc();
  builder.setInsertionPointAfterValue(tensor.zero ? tensor.zero : tensor.step);
  auto rounded =
      FakeQuantizeOp::create(builder, loc, tensor.value.getType(), tensor.value, tensor.step,
                             tensor.zero, TypeAttr::get(tensor.format), UnitAttr(), UnitAttr());
  replaceInContractions(tensor.value, rounded);
  if (rounded->use_empty())
    rounded->erase();

  Value slope;
  auto pass = [&](Value gradient, Value source, ArrayRef<OpOperand *> uses) {
    if (tensor.isLearned) {
      Value part =
          StepGradientOp::create(builder, loc, tensor.step.getType(), gradient, source, tensor.step,
                                 tensor.zero, TypeAttr::get(tensor.format), UnitAttr());
      slope = slope ? arith::AddFOp::create(builder, loc, slope, part) : part;
    }
    Value passed =
        StraightThroughOp::create(builder, loc, gradient.getType(), gradient, source, tensor.step,
                                  tensor.zero, TypeAttr::get(tensor.format), UnitAttr());
    for (OpOperand *use : uses)
      use->set(passed);
  };
  if (tensor.gradient && tensor.isLearned) {
    builder.setInsertionPointAfterValue(tensor.gradient->value);
    pass(tensor.gradient->value, tensor.value, tensor.gradient->uses);
  }
  for (auto &[product, factor] : tensor.products) {
    Value gradient = product.op->getResult(0), source = factor;
    SmallVector<OpOperand *> uses =
        llvm::map_to_vector(gradient.getUses(), [](OpOperand &use) { return &use; });
    builder.setInsertionPointAfterValue(gradient);
    if (!isIdentityPermutation(product.permutation)) {
      Value empty = tensor::EmptyOp::create(builder, loc, sizesOf(builder, loc, gradient),
                                            builder.getF32Type());
      source = linalg::TransposeOp::create(builder, loc, factor, empty, product.permutation)
                   ->getResult(0);
    }
    pass(gradient, source, uses);
  }
  if (!tensor.state)
    return;
  Value moved = tensor.step;
  if (tensor.isLearned) {
    builder.setInsertionPointAfterValue(slope);
    moved = buildElementwise(
        builder, loc, {tensor.step, slope}, builder.getF32Type(),
        [&](OpBuilder &b, Location at, ValueRange x) -> Value {
          Value rate = scalar(b, at, b.getF32FloatAttr(float(settings.stepRate)));
          return arith::SubFOp::create(b, at, x[0], arith::MulFOp::create(b, at, rate, x[1]));
        });
  }
  next.push_back(moved);
  if (tensor.isAffine)
    next.push_back(tensor.below);
}
