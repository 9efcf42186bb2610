// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Butterflies over lanes, and one exchange over warps.

#include "RowReduce.h"

#include "Elements.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::mp;

TypedAttr mlir::mp::neutralElement(Operation *combiner) {
  OpBuilder b(combiner->getContext());
  Type type = combiner->getResult(0).getType();
  // Minus zero: it keeps the sign of a zero. NaN: maxnum takes the other operand.
  if (isa<arith::AddFOp>(combiner))
    return b.getFloatAttr(type, -0.0);
  if (isa<arith::MaxNumFOp, arith::MinNumFOp>(combiner))
    return b.getFloatAttr(type, APFloat::getNaN(cast<FloatType>(type).getFloatSemantics()));
  // A format without infinities has its largest number, not NaN, in their place.
  if (isa<arith::MaximumFOp, arith::MinimumFOp>(combiner))
    if (auto &format = cast<FloatType>(type).getFloatSemantics(); !APFloat::semanticsHasInf(format))
      return b.getFloatAttr(type, APFloat::getLargest(format, isa<arith::MaximumFOp>(combiner)));
  return arith::getNeutralElement(combiner).value_or(TypedAttr());
}

bool mlir::mp::isOrderFree(Operation *combiner) {
  return !isa<arith::AddFOp, arith::MulFOp>(combiner);
}

Value mlir::mp::combine(OpBuilder &b, Operation *combiner, Value x, Value y) {
  OperationState state(x.getLoc(), combiner->getName());
  state.addOperands({x, y});
  state.addTypes(x.getType());
  state.addAttributes(combiner->getAttrs());
  return b.create(state)->getResult(0);
}

Value mlir::mp::combineTree(OpBuilder &b, Operation *combiner, ArrayRef<Value> values) {
  SmallVector<Value> rest(values);
  while (rest.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < rest.size(); i += 2)
      next.push_back(combine(b, combiner, rest[i], rest[i + 1]));
    if (rest.size() % 2)
      next.push_back(rest.back());
    rest = std::move(next);
  }
  return rest.front();
}

/// The value of the lane whose number differs in the bits of `distance`. The instruction moves
/// words of 32 bits.
Value RowReduce::shuffled(Value value, unsigned distance) {
  ImplicitLocOpBuilder &b = k.d.b;
  Type type = value.getType(), i32 = b.getI32Type();
  const unsigned bits = type.getIntOrFloatBitWidth();
  auto exchanged = [&](Value word) -> Value {
    return NVVM::ShflOp::create(b, word.getType(), k.d.i32(-1), word, k.d.i32(distance),
                                k.d.i32(31), NVVM::ShflKind::bfly, UnitAttr());
  };
  if (bits == 32)
    return exchanged(value);
  Type whole = b.getIntegerType(bits);
  Value word = type == whole ? value : arith::BitcastOp::create(b, whole, value).getResult();
  if (bits < 32) {
    Value other = exchanged(arith::ExtUIOp::create(b, i32, word));
    word = arith::TruncIOp::create(b, whole, other);
  } else {
    Value half = arith::ConstantOp::create(b, b.getIntegerAttr(whole, 32));
    Value low = exchanged(arith::TruncIOp::create(b, i32, word));
    Value high = exchanged(arith::TruncIOp::create(b, i32, arith::ShRUIOp::create(b, word, half)));
    Value moved = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, whole, high), half);
    word = arith::OrIOp::create(b, moved, arith::ExtUIOp::create(b, whole, low));
  }
  return type == whole ? word : arith::BitcastOp::create(b, type, word).getResult();
}

Value RowReduce::overLanes(Operation *combiner, Value value) {
  if (threads.lanesAlongColumns)
    for (unsigned distance = std::min(threads.perRow, 32u) / 2; distance; distance /= 2)
      value = combine(k.d.b, combiner, value, shuffled(value, distance));
  return value;
}

int64_t RowReduce::bytesOf(Type type) const {
  return parts() <= 1 ? 0
                      : llvm::alignTo(int64_t(parts()) * threads.rows *
                                          llvm::divideCeil(type.getIntOrFloatBitWidth(), 8),
                                      16);
}

SmallVector<Value> RowReduce::overShared(ArrayRef<Operation *> combiners, ArrayRef<Value> values,
                                         Value room) {
  DeviceBuilder &d = k.d;
  // By row and then part where a row's parts are read as vectors; else neighbouring lanes, which
  // have neighbouring rows, use neighbouring banks.
  const bool byRow = threads.lanesAlongColumns;
  Value part = byRow ? d.div(threads.position, d.i32(32)) : threads.position;
  Value rowStart = byRow ? d.mul(threads.row, d.i32(parts())) : threads.row;
  Value place = d.add(rowStart, byRow ? part : d.mul(part, d.i32(threads.rows)));
  int64_t start = 0;
  SmallVector<Value> rooms;
  for (Value value : values) {
    int64_t bytes = llvm::divideCeil(value.getType().getIntOrFloatBitWidth(), 8);
    rooms.push_back(d.advanceBytes(room, start));
    start += bytesOf(value.getType());
    d.store(toMemory(d, value), d.advance(rooms.back(), place, bytes), bytes);
  }
  k.barrier();
  SmallVector<Value> results;
  for (auto [combiner, value, slot] : llvm::zip_equal(combiners, values, rooms)) {
    Type type = value.getType();
    int64_t bytes = llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
    Value first = d.advance(slot, rowStart, bytes);
    SmallVector<Value> all;
    const unsigned width = byRow && bytes == 4 ? std::min(4u, parts()) : 1;
    for (unsigned i = 0; i < parts(); i += width) {
      Value pointer = d.advanceBytes(first, int64_t(i) * bytes * (byRow ? 1 : threads.rows));
      if (width == 1) {
        all.push_back(fromMemory(d, d.load(memoryType(d.b, type), pointer, bytes), type));
        continue;
      }
      Value loaded = d.load(VectorType::get({width}, type), pointer, width * bytes);
      for (unsigned q = 0; q < width; ++q)
        all.push_back(LLVM::ExtractElementOp::create(d.b, loaded, d.i32(q)));
    }
    results.push_back(combineTree(d.b, combiner, all));
  }
  return results;
}

SmallVector<Value> RowReduce::reduce(ArrayRef<Operation *> combiners, ArrayRef<Value> partials,
                                     Value room) {
  SmallVector<Value> values;
  for (auto [combiner, partial] : llvm::zip_equal(combiners, partials))
    values.push_back(overLanes(combiner, partial));
  return parts() > 1 ? overShared(combiners, values, room) : values;
}
