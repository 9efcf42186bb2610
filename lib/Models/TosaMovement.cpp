// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Data movement and control flow in TOSA.

#include "TosaBuilder.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mp;

Value TosaBuilder::transpose(Value x, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> shape;
  SmallVector<int32_t> perms;
  for (int64_t axis : permutation) {
    shape.push_back(typeOf(x).getDimSize(axis));
    perms.push_back(axis);
  }
  return create<tosa::TransposeOp>(tensor(shape), x, perms);
}

Value TosaBuilder::expand(Value x, int64_t axis, ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> shape(typeOf(x).getShape());
  SmallVector<int64_t> parts = llvm::map_to_vector(sizes, staticSize);
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, parts.begin(), parts.end());
  return reshape(x, shape);
}

Value TosaBuilder::collapse(Value x, int64_t axis, int64_t count) {
  ArrayRef<int64_t> own = typeOf(x).getShape();
  SmallVector<int64_t> shape(own);
  int64_t joined = 1;
  for (int64_t size : own.slice(axis, count))
    joined = ShapedType::isDynamic(joined) || ShapedType::isDynamic(size) ? ShapedType::kDynamic
                                                                          : joined * size;
  shape.erase(shape.begin() + axis, shape.begin() + axis + count);
  shape.insert(shape.begin() + axis, joined);
  return reshape(x, shape);
}

Value TosaBuilder::slice(Value x, int64_t axis, int64_t offset, OpFoldResult length) {
  SmallVector<int64_t> start(rankOf(x), 0), shape(typeOf(x).getShape());
  start[axis] = offset;
  shape[axis] = staticSize(length);
  if (shape == typeOf(x).getShape())
    return x;
  Value from = shapeOf(start), extent = shapeOf(shape);
  return create<tosa::SliceOp>(tensor(shape, typeOf(x).getElementType()), x, from, extent);
}

Value TosaBuilder::concat(Value a, Value b, int64_t axis) {
  SmallVector<int64_t> shape(typeOf(a).getShape());
  shape[axis] += typeOf(b).getDimSize(axis);
  return create<tosa::ConcatOp>(tensor(shape), ValueRange{a, b}, uint32_t(axis));
}

Value TosaBuilder::repeat(Value x, int64_t axis, int64_t times) {
  if (times == 1)
    return x;
  SmallVector<int64_t> shape(typeOf(x).getShape()), multiples(rankOf(x), 1);
  shape[axis] = multiples[axis] = times;
  Value count = shapeOf(multiples);
  return create<tosa::TileOp>(tensor(shape), x, count);
}

Value TosaBuilder::gather(Value table, Value ids) {
  ArrayRef<int64_t> shape = typeOf(ids).getShape();
  int64_t rows = typeOf(table).getDimSize(0), width = typeOf(table).getDimSize(1);
  Type i32 = builder.getI32Type();
  Value lowest = splat(builder.getI32IntegerAttr(0), i32, rankOf(ids));
  Value highest = splat(builder.getI32IntegerAttr(rows - 1), i32, rankOf(ids));
  Value clamped = create<tosa::MaximumOp>(ids.getType(), ids, lowest);
  clamped = create<tosa::MinimumOp>(ids.getType(), clamped, highest);
  Value flat = withRank(collapse(clamped, 0, rankOf(ids)), 2);
  Value values = withRank(table, 3);
  Value found =
      create<tosa::GatherOp>(tensor({1, typeOf(flat).getDimSize(1), width}), values, flat);
  SmallVector<int64_t> result(shape);
  result.push_back(width);
  return reshape(found, result);
}

Value TosaBuilder::oneHot(Value ids, int64_t classes) {
  int64_t rank = rankOf(ids);
  SmallVector<int64_t> shape(typeOf(ids).getShape());
  shape.push_back(1);
  Value wide = reshape(ids, shape);
  Value columns = iota(rank + 1, rank, classes);
  shape.back() = classes;
  Value hit = create<tosa::EqualOp>(tensor(shape, builder.getI1Type()), wide, columns);
  Value one = splat(1, rank + 1), zero = splat(0, rank + 1);
  return create<tosa::SelectOp>(tensor(shape), hit, one, zero);
}

Value TosaBuilder::padAxis(Value x, int64_t axis, int64_t before, int64_t after) {
  // tosa.pad of four axes needs a longer shape than the specification's checker allows.
  auto zeros = [&](int64_t length) {
    SmallVector<int64_t> shape(typeOf(x).getShape());
    shape[axis] = length;
    auto value = DenseElementsAttr::get(tensor(shape), 0.0f);
    return once(value, [&] { return materialize(value); });
  };
  if (before != 0)
    x = concat(zeros(before), x, axis);
  return after != 0 ? concat(x, zeros(after), axis) : x;
}

Value TosaBuilder::scalarOf(Value x) { return reshape(x, {}); }

//===--------------------------------------------------------------------------------===//
// Control flow
//===--------------------------------------------------------------------------------===//

void TosaBuilder::fillRegion(Region &region, TypeRange types, RegionBody body) {
  Block *block = new Block;
  region.push_back(block);
  block->addArguments(types, SmallVector<Location>(types.size(), loc()));
  inScope(block, [&] {
    SmallVector<Value> results = body(block->getArguments());
    tosa::YieldOp::create(builder, loc(), results);
  });
}

SmallVector<Value> TosaBuilder::passCaptured(Region &first, Region &second) {
  // The regions belong to no operation yet, so ancestry cannot be asked of them.
  auto forEachOutside = [](Region &region, llvm::function_ref<void(OpOperand &)> visit) {
    llvm::DenseSet<Block *> inside;
    region.walk([&](Block *block) { inside.insert(block); });
    inside.insert(&region.front());
    region.walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands())
        if (!inside.contains(operand.get().getParentBlock()))
          visit(operand);
    });
  };
  llvm::SetVector<Value> captured;
  for (Region *region : {&first, &second})
    forEachOutside(*region, [&](OpOperand &operand) { captured.insert(operand.get()); });
  for (Region *region : {&first, &second}) {
    llvm::DenseMap<Value, Value> arguments;
    for (Value value : captured)
      arguments[value] = region->addArgument(value.getType(), loc());
    forEachOutside(*region, [&](OpOperand &operand) { operand.set(arguments[operand.get()]); });
  }
  return captured.takeVector();
}

SmallVector<Value> TosaBuilder::whileLoop(ArrayRef<Value> inits,
                                          llvm::function_ref<Value(ValueRange)> more,
                                          RegionBody body) {
  SmallVector<Value> inputs(inits);
  TypeRange carried{ValueRange(inits)};
  Region condition, step;
  fillRegion(condition, carried, [&](ValueRange v) { return SmallVector<Value>{more(v)}; });
  fillRegion(step, carried, body);
  // Invariants travel along, as the specification has no values from outside.
  llvm::append_range(inputs, passCaptured(condition, step));
  step.front().getTerminator()->insertOperands(
      inits.size(), step.front().getArguments().drop_front(inits.size()));
  auto loop = tosa::WhileOp::create(builder, loc(), TypeRange(ValueRange(inputs)), inputs);
  loop.getCondGraph().takeBody(condition);
  loop.getBodyGraph().takeBody(step);
  return llvm::to_vector_of<Value>(loop.getResults().take_front(inits.size()));
}

Value TosaBuilder::counter(int64_t value) {
  return splat(builder.getI32IntegerAttr(value), builder.getI32Type(), 0);
}

Value TosaBuilder::layerOf(Value stacked, Value index) {
  ArrayRef<int64_t> shape = typeOf(stacked).getShape();
  Value rows = withRank(rankOf(stacked) > 1 ? collapse(stacked, 1, rankOf(stacked) - 1)
                                            : reshape(stacked, {shape[0], 1}),
                        3);
  Value row = reshape(index, {1, 1});
  RankedTensorType type =
      tensor({1, 1, typeOf(rows).getDimSize(2)}, typeOf(stacked).getElementType());
  Value found = create<tosa::GatherOp>(type, rows, row);
  return reshape(found, shape.drop_front());
}

Value TosaBuilder::buildFor(int64_t count, Value x, LoopBody body) {
  RankedTensorType flag = tensor({}, builder.getI1Type());
  auto more = [&](ValueRange v) -> Value {
    return create<tosa::GreaterOp>(flag, counter(count), v[0]);
  };
  return whileLoop({counter(0), x}, more, [&](ValueRange v) -> SmallVector<Value> {
    Value next = body(v[0], v[1]);
    Value step = create<tosa::AddOp>(v[0].getType(), v[0], counter(1));
    return {step, next};
  })[1];
}

Value TosaBuilder::buildWhile(int64_t count, Value x, double tolerance, LoopBody body) {
  RankedTensorType flag = tensor({}, builder.getI1Type());
  auto more = [&](ValueRange v) -> Value {
    Value left = create<tosa::GreaterOp>(flag, counter(count), v[0]);
    Value moved = create<tosa::GreaterOp>(flag, v[2], splat(tolerance, 0));
    return create<tosa::LogicalAndOp>(flag, left, moved);
  };
  Value start = splat(std::numeric_limits<float>::max(), 0);
  return whileLoop({counter(0), x, start}, more, [&](ValueRange v) -> SmallVector<Value> {
    Value next = body(v[0], v[1]);
    Value change = unary(Unary::Abs, binary(Binary::Subtract, next, v[1]));
    Value largest = reduce(Reduction::Max, collapse(change, 0, rankOf(change)), 0);
    Value step = create<tosa::AddOp>(v[0].getType(), v[0], counter(1));
    return {step, next, scalarOf(largest)};
  })[1];
}

Value TosaBuilder::buildGate(Value gates, Value index, Value x,
                             llvm::function_ref<Value(Value)> then) {
  // tosa.gather reads no i1.
  Type i32 = builder.getI32Type();
  Value numbers = create<tosa::CastOp>(tensor(typeOf(gates).getShape(), i32), gates);
  Value zero = splat(builder.getI32IntegerAttr(0), i32, 0);
  Value condition =
      create<tosa::GreaterOp>(tensor({}, builder.getI1Type()), layerOf(numbers, index), zero);
  Region taken, skipped;
  fillRegion(taken, x.getType(), [&](ValueRange v) { return SmallVector<Value>{then(v[0])}; });
  fillRegion(skipped, x.getType(), [&](ValueRange v) { return SmallVector<Value>{v[0]}; });
  SmallVector<Value> inputs = {x};
  llvm::append_range(inputs, passCaptured(taken, skipped));
  auto branch = tosa::IfOp::create(builder, loc(), TypeRange(x.getType()), condition, inputs);
  branch.getThenGraph().takeBody(taken);
  branch.getElseGraph().takeBody(skipped);
  return branch.getResult(0);
}
