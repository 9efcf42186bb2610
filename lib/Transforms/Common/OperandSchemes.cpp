// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells gradients, weights and activations apart, and looks up their schemes.

#include "OperandSchemes.h"
#include "mp/Analysis/Parameters.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Dialect/MP/Scaling.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include <numeric>

using namespace mlir;
using namespace mlir::mp;
using numerics::Granularity;
using numerics::OperandScheme;

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

/// The seeds of a train step's backward pass, if they are marked: by their role, or by a loss
/// scale.
static SmallVector<Value> findMarkedSeeds(FunctionOpInterface function) {
  SmallVector<Value> seeds;
  function->walk([&](Operation *op) {
    auto role = op->getAttrOfType<StringAttr>(kRoleAttrName);
    if (op->getNumResults() == 1 &&
        (isa<ScaleLossOp>(op) || (role && role.getValue() == kRoleSeed)))
      seeds.push_back(op->getResult(0));
  });
  // A seed that is scaled counts once.
  llvm::erase_if(
      seeds, [](Value seed) { return llvm::any_of(seed.getUsers(), llvm::IsaPred<ScaleLossOp>); });
  return seeds;
}

LogicalResult mlir::mp::checkOverflows(FunctionOpInterface function,
                                       ArrayRef<Operation *> contractions,
                                       const numerics::Recipe &recipe, bool areScalesStatic) {
  SmallVector<Value> scaled;
  function->walk([&](ScaleLossOp op) { scaled.push_back(op.getResult()); });
  const auto &scheme = recipe.gradient ? recipe.gradient : recipe.activation;
  bool saturates = scheme && (recipe.history || areScalesStatic ||
                              numerics::findScaleRule(scheme->rule)->rule.onNonFinite !=
                                  numerics::OnNonFinite::Propagate);
  if (scaled.empty() || !saturates || !function.getFunctionBody().hasOneBlock())
    return success();
  HomogeneityGraph graph(function);
  HomogeneityGraph::Degrees degrees = graph.propagate(scaled);
  for (Operation *op : contractions)
    for (OpOperand &operand : op->getOpOperands())
      if (degrees.of(operand.get()).is(1)) {
        InFlightDiagnostic diag =
            op->emitOpError()
            << "operand #" << operand.getOperandNumber() << " carries the loss scale, and recipe '"
            << recipe.name
            << "' saturates what overflowed before the check can find it: expected "
               "loss-scale=none, as the recipe scales gradients by their own magnitude";
        diag.attachNote(scaled.front().getLoc()) << "the loss is scaled here";
        return diag;
      }
  return success();
}

/// Returns how many blocks a dimension has that wants `extent` places in each. A dimension no
/// larger is one block: zeros that would fill it up change neither its magnitude nor any sum.
/// Smaller blocks will do, down to a quarter, but not where hardware reads their scales (`exact`).
static std::optional<int64_t> countBlocks(int64_t size, int64_t extent, bool exact) {
  if (extent == 1)
    return size;
  if (ShapedType::isDynamic(size))
    return std::nullopt;
  if (size && size <= extent)
    return 1;
  int64_t common = std::gcd(size, extent);
  if (common != extent && (exact || common * 4 < extent))
    return std::nullopt;
  return size / common;
}

FailureOr<SmallVector<int64_t>> mlir::mp::scaleShapeFor(const OperandScheme &scheme,
                                                        OpOperand &operand, std::string &why) {
  if (scheme.granularity == Granularity::Tensor)
    return SmallVector<int64_t>();
  auto dimensions = dimensionsOf(operand);
  if (!dimensions) {
    why = "what its loops sum over is not known";
    return failure();
  }
  SmallVector<int64_t> shape;
  bool exact = numerics::findScaleRule(scheme.rule)->scaleFormat != numerics::Format::F32;
  auto lastKept = llvm::find(llvm::reverse(*dimensions), Along::Keeps);
  ArrayRef<int64_t> sizes = cast<RankedTensorType>(operand.get().getType()).getShape();
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    Along along = (*dimensions)[dim];
    // A scale leaves the sum only if it is the same for all of a window.
    if (along == Along::Slides ||
        (along == Along::Sums && scheme.granularity == Granularity::Slice)) {
      shape.push_back(1);
      continue;
    }
    bool isOther = lastKept != dimensions->rend() && &*lastKept == &(*dimensions)[dim];
    int64_t extent = along == Along::Sums ? scheme.summed : isOther ? scheme.other : 1;
    auto count = countBlocks(size, extent, exact);
    if (!count) {
      why = "dimension " + std::to_string(dim) + " of " +
            (ShapedType::isDynamic(size) ? "unknown size" : "size " + std::to_string(size)) +
            " has no blocks of " + std::to_string(extent);
      return failure();
    }
    shape.push_back(*count);
  }
  return shape;
}

OperandSchemes::OperandSchemes(FunctionOpInterface function, ArrayRef<Operation *> contractions,
                               const numerics::Recipe &recipe)
    : recipe(recipe) {
  std::optional<HomogeneityGraph::Degrees> degrees;
  std::optional<HomogeneityGraph> graph;
  if (SmallVector<Value> seeds = findMarkedSeeds(function);
      !seeds.empty() && recipe.gradient && function.getFunctionBody().hasOneBlock())
    degrees = graph.emplace(function).propagate(seeds);
  for (Operation *op : contractions)
    for (OpOperand &operand : op->getOpOperands()) {
      bool gradient = degrees && degrees->of(operand.get()).is(1),
           weight = !gradient && ::isWeight(operand.get());
      const auto &scheme = gradient ? recipe.gradient : weight ? recipe.weight : recipe.activation;
      schemes[&operand] = scheme ? &*scheme : nullptr;
      if (gradient)
        gradients.insert(&operand);
      if (weight)
        weights.insert(&operand);
    }
}

std::string OperandSchemes::whyNoProduct(Operation *op) const {
  auto view = viewContraction(op);
  if (!view)
    return "it is no plain sum of products of two tensors";
  std::string why;
  for (OpOperand *factor : {view->a, view->b}) {
    if (!lookup(*factor))
      return "recipe '" + recipe.name.str() + "' stores only one of its factors";
    if (failed(scaleShapeFor(*lookup(*factor), *factor, why)))
      return why;
  }
  return "";
}

FloatType OperandSchemes::getFormat(Operation *op) const {
  std::optional<numerics::Format> coarsest;
  for (OpOperand &operand : op->getOpOperands()) {
    const numerics::OperandScheme *scheme = lookup(operand);
    if (!scheme)
      continue;
    if (scheme->code.isInteger())
      return nullptr;
    numerics::Format format = scheme->code.floatFormat();
    if (!coarsest || numerics::info(format).unitRoundoff > numerics::info(*coarsest).unitRoundoff)
      coarsest = format;
  }
  return coarsest ? floatTypeOf(op->getContext(), *coarsest) : nullptr;
}
