// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds what does not depend on the dialect: the interface of @main, weights, and the ways to
// apply a stack of layers.

#include "mp/Models/GraphBuilder.h"
#include "WeightData.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;

Value LayerWeights::operator[](StringRef name) const {
  for (auto [spec, value] : llvm::zip_equal(specs, values))
    if (spec.name == name)
      return value;
  llvm::report_fatal_error("the layer declares no weight '" + Twine(name) + "'");
}

GraphBuilder::GraphBuilder(ModuleOp module, const GraphOptions &options)
    : builder(module.getContext()), options(options), module(module) {
  builder.setInsertionPointToEnd(module.getBody());
  main = func::FuncOp::create(builder, loc(), "main", builder.getFunctionType({}, {}));
  mainScope.block = main.addEntryBlock();
  scope = &mainScope;
  builder.setInsertionPointToEnd(mainScope.block);
}

RankedTensorType GraphBuilder::tensor(ArrayRef<int64_t> shape, Type element) {
  return RankedTensorType::get(shape, element ? element : f32());
}

SmallVector<OpFoldResult> GraphBuilder::dims(Value v) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t axis = 0, rank = rankOf(v); axis != rank; ++axis)
    sizes.push_back(dim(v, axis));
  return sizes;
}

int64_t GraphBuilder::staticSize(OpFoldResult size) {
  auto constant = dyn_cast<Attribute>(size);
  return constant ? cast<IntegerAttr>(constant).getInt() : ShapedType::kDynamic;
}

SmallVector<int64_t> GraphBuilder::broadcastShape(ArrayRef<Value> operands) {
  int64_t rank = 0;
  for (Value operand : operands)
    rank = std::max(rank, rankOf(operand));
  SmallVector<int64_t> shape(rank, 1);
  for (Value operand : operands) {
    ArrayRef<int64_t> own = typeOf(operand).getShape();
    for (auto [size, result] : llvm::zip(llvm::reverse(own), llvm::reverse(shape)))
      if (result == 1 || (ShapedType::isDynamic(result) && size != 1))
        result = size;
  }
  return shape;
}

Value GraphBuilder::softmax(Value x) {
  int64_t last = rankOf(x) - 1;
  Value shifted = binary(Binary::Subtract, x, reduce(Reduction::Max, x, last));
  Value weights = unary(Unary::Exp, shifted);
  return binary(Binary::Divide, weights, reduce(Reduction::Sum, weights, last));
}

Value GraphBuilder::once(Attribute key, llvm::function_ref<Value()> make) {
  if (Value known = scope->hoisted.lookup(key))
    return known;
  OpBuilder::InsertionGuard guard(builder);
  if (scope->lastHoisted)
    builder.setInsertionPointAfter(scope->lastHoisted);
  else
    builder.setInsertionPointToStart(scope->block);
  Value made = make();
  scope->hoisted[key] = made;
  scope->lastHoisted = made.getDefiningOp();
  return made;
}

void GraphBuilder::inScope(Block *block, llvm::function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(builder);
  Scope inner;
  inner.block = block;
  Scope *outer = std::exchange(scope, &inner);
  builder.setInsertionPointToEnd(block);
  body();
  scope = outer;
}

//===--------------------------------------------------------------------------------===//
// Arguments and weights
//===--------------------------------------------------------------------------------===//

Value GraphBuilder::addArgument(StringRef name, RankedTensorType type, ArgumentKind kind,
                                ArrayRef<int64_t> likelySizes) {
  static constexpr StringLiteral roles[] = {"input", "parameter", "optimizer_state"};
  NamedAttrList attributes;
  if (options.roles) {
    attributes.set(kRoleAttrName, builder.getStringAttr(roles[static_cast<unsigned>(kind)]));
    if (!type.hasStaticShape())
      attributes.set(kDimAttrName, builder.getDenseI64ArrayAttr(likelySizes));
  }
  arguments.push_back({kind, attributes});
  return mainScope.block->addArgument(type, NameLoc::get(builder.getStringAttr(name)));
}

SmallVector<Value> GraphBuilder::argumentsOf(ArgumentKind kind) {
  SmallVector<Value> values;
  for (auto [argument, value] : llvm::zip_equal(arguments, mainScope.block->getArguments()))
    if (argument.kind == kind)
      values.push_back(value);
  return values;
}

Value GraphBuilder::state(const Twine &name, ArrayRef<int64_t> shape) {
  return addArgument(name.str(), tensor(shape), ArgumentKind::State, shape);
}

StringRef GraphBuilder::nameOf(Value argument) {
  return cast<NameLoc>(argument.getLoc()).getName();
}

void GraphBuilder::orderArguments(ArrayRef<Value> order, MutableArrayRef<Value> results) {
  unsigned count = arguments.size();
  assert(order.size() == count && "every argument has its place");
  SmallVector<Argument> ordered;
  for (Value old : order) {
    ordered.push_back(arguments[cast<BlockArgument>(old).getArgNumber()]);
    Value moved = mainScope.block->addArgument(old.getType(), old.getLoc());
    old.replaceAllUsesWith(moved);
    llvm::replace(results, old, moved);
  }
  mainScope.block->eraseArguments(0, count);
  arguments = std::move(ordered);
}

Value GraphBuilder::input(StringRef name, ArrayRef<int64_t> shape, Type element,
                          ArrayRef<int64_t> dynamicAxes) {
  SmallVector<int64_t> type(shape);
  if (options.dynamic)
    for (int64_t axis : dynamicAxes.take_front(maxDynamicDims()))
      type[axis] = ShapedType::kDynamic;
  return addArgument(name, tensor(type, element), ArgumentKind::Input, shape);
}

Value GraphBuilder::storedWeight(StringRef name, ArrayRef<WeightSpec> layers, bool stacked) {
  SmallVector<int64_t> shape = layers.front().storedShape();
  if (stacked)
    shape.insert(shape.begin(), layers.size());
  RankedTensorType type = tensor(shape);
  if (options.weights == WeightStorage::Arguments)
    return addArgument(name, type, ArgumentKind::Parameter, shape);

  std::vector<float> data;
  for (const WeightSpec &spec : layers)
    appendWeightData(spec, options.seed, data);
  if (options.weights == WeightStorage::Resources) {
    AsmResourceBlob blob = HeapAsmResourceBlob::allocateAndCopyInferAlign<float>(data);
    auto value = DenseResourceElementsAttr::get(type, name, std::move(blob));
    return once(value, [&] { return materialize(cast<TypedAttr>(Attribute(value))); });
  }
  auto value = DenseElementsAttr::get(type, ArrayRef<float>(data));
  return once(value, [&] { return materialize(value); });
}

Value GraphBuilder::weight(const WeightSpec &spec) {
  return storedWeight(spec.name, spec, /*stacked=*/false);
}

void GraphBuilder::finish(ValueRange results, Loss) {
  func::ReturnOp::create(builder, loc(), results);
  main.setFunctionType(
      builder.getFunctionType(mainScope.block->getArgumentTypes(), results.getTypes()));
  for (auto [index, argument] : llvm::enumerate(arguments))
    if (!argument.attributes.empty())
      main.setArgAttrs(index, argument.attributes);
}

//===--------------------------------------------------------------------------------===//
// Stacks of layers
//===--------------------------------------------------------------------------------===//

static WeightSpec weightOfLayer(const LayerStack &layers, const WeightSpec &spec, int64_t index) {
  WeightSpec own = spec;
  own.name = (layers.name + Twine(index) + "." + spec.name).str();
  return own;
}

SmallVector<Value> GraphBuilder::weightsOfLayer(const LayerStack &layers, int64_t index) {
  SmallVector<Value> values;
  for (const WeightSpec &spec : layers.weights)
    values.push_back(weight(weightOfLayer(layers, spec, index)));
  return values;
}

SmallVector<Value> GraphBuilder::stackedWeights(const LayerStack &layers, int64_t begin,
                                                int64_t end) {
  SmallVector<Value> values;
  for (const WeightSpec &spec : layers.weights) {
    SmallVector<WeightSpec> each;
    for (int64_t index = begin; index != end; ++index)
      each.push_back(weightOfLayer(layers, spec, index));
    std::string name =
        (layers.name + Twine(begin) + "_to_" + Twine(end - 1) + "." + spec.name).str();
    values.push_back(storedWeight(name, each, /*stacked=*/true));
  }
  return values;
}

Value GraphBuilder::callLayer(const LayerStack &layers, Value x, ValueRange weights) {
  SmallVector<Value> operands = {x};
  llvm::append_range(operands, layers.captured);
  llvm::append_range(operands, weights);
  auto callee = module.lookupSymbol<func::FuncOp>(layers.name);
  if (!callee) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(module.getBody());
    callee =
        func::FuncOp::create(builder, loc(), layers.name,
                             builder.getFunctionType(TypeRange(ValueRange(operands)), x.getType()));
    callee.setPrivate();
    Block *entry = callee.addEntryBlock();
    entry->getArgument(0).setLoc(NameLoc::get(builder.getStringAttr("x")));
    unsigned firstWeight = 1 + layers.captured.size();
    for (auto [index, spec] : llvm::enumerate(layers.weights))
      entry->getArgument(firstWeight + index)
          .setLoc(NameLoc::get(builder.getStringAttr(spec.name)));
    inScope(entry, [&] {
      ValueRange arguments = entry->getArguments();
      Value result = layers.body(arguments[0], arguments.slice(1, layers.captured.size()),
                                 LayerWeights(layers.weights, arguments.drop_front(firstWeight)));
      func::ReturnOp::create(builder, loc(), result);
    });
  }
  return func::CallOp::create(builder, loc(), callee, operands).getResult(0);
}

Value GraphBuilder::applyLayer(const LayerStack &layers, Value x, ValueRange weights) {
  if (options.calls)
    return callLayer(layers, x, weights);
  return layers.body(x, layers.captured, LayerWeights(layers.weights, weights));
}

/// Control flow: `for` keeps all layers in one loop over stacked weights, `while` may leave
/// it early, `if` lets an argument switch each layer off. `all` puts the first half in
/// a loop of switched layers and the rest in a loop with early exit.
Value GraphBuilder::stack(const LayerStack &layers, Value x) {
  ControlFlow flow = options.controlFlow;
  bool gated = flow == ControlFlow::If || flow == ControlFlow::All;
  int64_t inFor = 0, inWhile = 0;
  if (flow == ControlFlow::For)
    inFor = layers.count;
  if (flow == ControlFlow::While)
    inWhile = layers.count;
  if (flow == ControlFlow::All) {
    inFor = (layers.count + 1) / 2;
    inWhile = layers.count - inFor;
  }

  Value gates;
  if (gated && layers.count > 0)
    gates = addArgument((layers.name + "_gates").str(), tensor({layers.count}, builder.getI1Type()),
                        ArgumentKind::Input, {});
  auto apply = [&](Value index, Value x, ValueRange weights) {
    if (!gated)
      return applyLayer(layers, x, weights);
    return buildGate(gates, index, x, [&](Value x) { return applyLayer(layers, x, weights); });
  };
  auto loopBody = [&](ArrayRef<Value> stacked) {
    return [&, stacked](Value index, Value x) {
      SmallVector<Value> weights;
      for (Value weight : stacked)
        weights.push_back(layerOf(weight, index));
      return apply(index, x, weights);
    };
  };

  if (inFor > 0) {
    SmallVector<Value> stacked = stackedWeights(layers, 0, inFor);
    x = buildFor(inFor, x, loopBody(stacked));
  }
  for (int64_t index = inFor, end = layers.count - inWhile; index != end; ++index) {
    SmallVector<Value> weights = weightsOfLayer(layers, index);
    x = apply(gated ? counter(index) : Value(), x, weights);
  }
  if (inWhile > 0) {
    gated = false;
    SmallVector<Value> stacked = stackedWeights(layers, inFor, layers.count);
    x = buildWhile(inWhile, x, /*tolerance=*/1e-4, loopBody(stacked));
  }
  return x;
}
