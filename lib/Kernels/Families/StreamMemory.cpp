// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses, guards and vectors of the loads and stores of stream kernels.

#include "StreamMemory.h"

#include "../Build/Elements.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mp;

/// Two bf16 of a word, and the same as f32: a shift and a mask.
static void splitWords(DeviceBuilder &d, Value words, int64_t count,
                       SmallVectorImpl<Value> &elements, SmallVectorImpl<Value> &widened) {
  ImplicitLocOpBuilder &b = d.b;
  Type i16 = b.getI16Type();
  auto narrow = [&](Value word) -> Value {
    return arith::BitcastOp::create(b, b.getBF16Type(), arith::TruncIOp::create(b, i16, word));
  };
  for (int64_t i = 0; i < count; ++i) {
    Value word = LLVM::ExtractElementOp::create(b, words, d.i32(i));
    elements.push_back(narrow(word));
    elements.push_back(narrow(arith::ShRUIOp::create(b, word, d.i32(16))));
    Value low = arith::ShLIOp::create(b, word, d.i32(16));
    Value high = arith::AndIOp::create(b, word, d.i32(int32_t(0xffff0000)));
    widened.push_back(arith::BitcastOp::create(b, b.getF32Type(), low));
    widened.push_back(arith::BitcastOp::create(b, b.getF32Type(), high));
  }
}

void StreamMemory::setRow(Value index, Value inside) {
  row = index;
  rowInside = inside;
  // Addresses of rows are computed once, here.
  for (ArrayRef<StreamAccess> accesses : {ArrayRef(s.reads), ArrayRef(s.writes)})
    for (const StreamAccess &access : accesses)
      if (access.type)
        rowPointers[&access] = rowPointer(access);
}

void StreamMemory::setColumns(Value first, ArrayRef<Chunk> chunks) {
  base = first;
  held.assign(chunks.begin(), chunks.end());
  basePointers.clear();
  if (s.columnGroups.size() != 1)
    return;
  for (ArrayRef<StreamAccess> accesses : {ArrayRef(s.reads), ArrayRef(s.writes)})
    for (const StreamAccess &access : accesses)
      if (access.type)
        basePointers[&access] =
            d.advance(rowPointers[&access], d.mul(base, d.ix(columnStep(access))),
                      k.operands[access.operand].bytes());
}

/// The index of each group at a flat position, the last group fastest.
SmallVector<Value> StreamMemory::split(ArrayRef<LoopGroup> groups, Value flat) {
  SmallVector<Value> indices(groups.size());
  for (size_t i = groups.size(); i-- > 0;) {
    if (i == 0) {
      indices[i] = flat;
      break;
    }
    Value size = k.extent(s.plan, groups[i]);
    indices[i] = d.rem(flat, size);
    flat = d.div(flat, size);
  }
  return indices;
}

Value StreamMemory::offset(const StreamAccess &access, ArrayRef<LoopGroup> groups,
                           ArrayRef<Value> indices) {
  Value sum = d.ix(0);
  for (auto [group, index] : llvm::zip_equal(groups, indices)) {
    int dimension = access.dimensionOf(group.back());
    if (dimension >= 0)
      sum = d.add(sum, d.mul(index, d.ix(k.operands[access.operand].strides[dimension])));
  }
  return sum;
}

Value StreamMemory::rowPointer(const StreamAccess &access) {
  const KernelOperand &operand = k.operands[access.operand];
  Value place = offset(access, s.rowGroups, split(s.rowGroups, row));
  return d.advance(operand.pointer, d.add(d.ix(operand.offset), place), operand.bytes());
}

Size StreamMemory::columnStep(const StreamAccess &access) const {
  int dimension = s.columnGroups.empty() ? -1 : access.dimensionOf(s.columnGroups.back().back());
  return dimension < 0 ? Size::known(0) : k.operands[access.operand].strides[dimension];
}

Value StreamMemory::columnOf(unsigned chunk, unsigned position) {
  return d.add(base, d.ix(held[chunk].ahead + position));
}

Value StreamMemory::chunkPointer(const StreamAccess &access, unsigned chunk) {
  const int64_t bytes = k.operands[access.operand].bytes();
  if (s.columnGroups.empty())
    return rowPointers[&access];
  if (s.columnGroups.size() == 1) {
    Value pointer = basePointers[&access];
    Size step = columnStep(access);
    if (held[chunk].ahead == 0)
      return pointer;
    if (step.isKnown() && std::abs(held[chunk].ahead * step.value * bytes) < (int64_t(1) << 31))
      return d.advanceBytes(pointer, held[chunk].ahead * step.value * bytes);
    return d.advance(pointer, d.mul(d.ix(held[chunk].ahead), d.ix(step)), bytes);
  }
  Value place = offset(access, s.columnGroups, split(s.columnGroups, columnOf(chunk, 0)));
  return d.advance(rowPointers[&access], place, bytes);
}

int64_t StreamMemory::width(const StreamAccess &access) const {
  const KernelOperand &operand = k.operands[access.operand];
  if (s.columnGroups.empty() || !columnStep(access).is(1))
    return 1;
  // Loops that merged are one step for all.
  return operand.alignment(s.vector, [&](unsigned dimension) {
    int loop = access.dims[dimension];
    return loop >= 0 && llvm::is_contained(s.columnGroups.back(), unsigned(loop));
  });
}

Value StreamMemory::load(const StreamAccess &access) {
  const KernelOperand &operand = k.operands[access.operand];
  if (!access.type)
    return operand.scalar;
  Type type = memoryType(d.b, operand.element());
  const bool perRow = llvm::any_of(access.dims, [&](int loop) { return loop >= 0; });
  Value inside = perRow ? rowInside : Value();
  Value loaded = k.where(inside, type, [&]() -> SmallVector<Value> {
    return {d.load(type, rowPointers[&access], operand.bytes(), access.isConstant)};
  })[0];
  return fromMemory(d, loaded, operand.element());
}

SmallVector<Value> StreamMemory::load(const StreamAccess &access, unsigned chunk,
                                      SmallVectorImpl<Value> &widened) {
  const KernelOperand &operand = k.operands[access.operand];
  Type scalar = memoryType(d.b, operand.element());
  const int64_t wide = width(access), bytes = operand.bytes();
  const bool inWords = wide > 1 && scalar.isBF16();
  Type type = wide == 1 ? scalar
              : inWords ? Type(VectorType::get({wide / 2}, d.b.getI32Type()))
                        : Type(VectorType::get({wide}, scalar));
  const unsigned pieces = s.vector / wide;
  auto loadPieces = [&] {
    SmallVector<Value> loaded;
    Value pointer = chunkPointer(access, chunk);
    Size step = columnStep(access);
    for (unsigned i = 0; i < pieces; ++i) {
      Value place = i == 0 ? pointer
                    : step.isKnown()
                        ? d.advanceBytes(pointer, int64_t(i) * wide * step.value * bytes)
                        : d.advance(pointer, d.mul(d.ix(i * wide), d.ix(step)), bytes);
      loaded.push_back(d.load(type, place, wide * bytes, access.isConstant));
    }
    return loaded;
  };
  Value inside = d.logicalAnd(rowInside, held[chunk].inside);
  SmallVector<Value> loaded = k.where(inside, SmallVector<Type>(pieces, type), loadPieces);
  SmallVector<Value> elements;
  for (Value piece : loaded) {
    if (inWords) {
      splitWords(d, piece, wide / 2, elements, widened);
      continue;
    }
    for (int64_t q = 0; q < wide; ++q) {
      Value element =
          wide == 1 ? piece : LLVM::ExtractElementOp::create(d.b, piece, d.i32(q)).getResult();
      elements.push_back(fromMemory(d, element, operand.element()));
    }
  }
  return elements;
}

Value StreamMemory::gather(unsigned number, ValueRange indices, std::optional<unsigned> chunk) {
  const KernelOperand &operand = k.operands[number];
  Type type = memoryType(d.b, operand.element());
  Value loaded = k.where(insideOf(chunk), type, [&]() -> SmallVector<Value> {
    Value place = d.ix(operand.offset);
    for (auto [index, stride] : llvm::zip_equal(indices, operand.strides)) {
      Value step = arith::IndexCastOp::create(d.b, d.indexType, index);
      place = d.add(place, d.mul(step, d.ix(stride)));
    }
    return {d.load(type, d.advance(operand.pointer, place, operand.bytes()), operand.bytes())};
  })[0];
  return fromMemory(d, loaded, operand.element());
}

void StreamMemory::check(StringRef message, Value holds, std::optional<unsigned> chunk) {
  if (Value inside = insideOf(chunk)) {
    Value always = arith::ConstantOp::create(d.b, d.b.getBoolAttr(true));
    holds = arith::SelectOp::create(d.b, inside, holds, always);
  }
  cf::AssertOp::create(d.b, holds, message);
}

void StreamMemory::store(const StreamAccess &access, Value element, Value isFirst) {
  element = toMemory(d, element);
  OpBuilder::InsertionGuard restore(d.b);
  if (Value inside = d.logicalAnd(rowInside, isFirst)) {
    auto branch = scf::IfOp::create(d.b, inside, /*withElseRegion=*/false);
    d.b.setInsertionPointToStart(branch.thenBlock());
  }
  d.store(element, rowPointers[&access], k.operands[access.operand].bytes());
}

void StreamMemory::store(const StreamAccess &access, unsigned chunk, ArrayRef<Value> elements) {
  const int64_t wide = width(access), bytes = k.operands[access.operand].bytes();
  SmallVector<Value> pieces;
  for (size_t i = 0; i < elements.size(); i += wide) {
    SmallVector<Value> stored;
    for (Value element : elements.slice(i, wide))
      stored.push_back(toMemory(d, element));
    pieces.push_back(packVector(d, stored));
  }
  OpBuilder::InsertionGuard restore(d.b);
  if (Value inside = d.logicalAnd(rowInside, held[chunk].inside)) {
    auto branch = scf::IfOp::create(d.b, inside, /*withElseRegion=*/false);
    d.b.setInsertionPointToStart(branch.thenBlock());
  }
  Value pointer = chunkPointer(access, chunk);
  Size step = columnStep(access);
  for (auto [i, piece] : llvm::enumerate(pieces)) {
    Value place = i == 0           ? pointer
                  : step.isKnown() ? d.advanceBytes(pointer, int64_t(i) * wide * step.value * bytes)
                                   : d.advance(pointer, d.mul(d.ix(i * wide), d.ix(step)), bytes);
    d.store(piece, place, wide * bytes);
  }
}

Value StreamMemory::index(int loop, unsigned chunk, unsigned position) {
  Value flat = d.ix(0);
  if (loop >= 0) {
    const bool isColumn = s.plan.isColumn(loop);
    ArrayRef<LoopGroup> groups = isColumn ? s.columnGroups : s.rowGroups;
    SmallVector<Value> indices = split(groups, isColumn ? columnOf(chunk, position) : row);
    for (auto [group, index] : llvm::zip_equal(groups, indices)) {
      auto at = llvm::find(group, unsigned(loop));
      if (at == group.end())
        continue;
      flat = index;
      ArrayRef<unsigned> inner = ArrayRef(group).drop_front(at - group.begin() + 1);
      if (!inner.empty())
        flat = d.div(flat, k.extent(s.plan, inner));
      if (at != group.begin())
        flat = d.rem(flat, k.extent(s.plan, {unsigned(loop)}));
    }
  }
  return arith::IndexCastOp::create(d.b, d.b.getIndexType(), flat);
}
