// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the copies of an operand's tile.

#include "TileCopy.h"

#include "Elements.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::mp;

/// Loops of which the operand walks neighbours as one, though others do not (the windows of a
/// convolution are one loop of the filters).
static SmallVector<StridedLoop> mergedFor(unsigned operand, ArrayRef<StridedLoop> loops) {
  SmallVector<StridedLoop> merged;
  for (const StridedLoop &loop : loops) {
    const Size &step = loop.step[operand];
    if (!merged.empty() && loop.size.isKnown() && step.isKnown() && merged.back().size.isKnown() &&
        merged.back().step[operand].is(step.value * loop.size.value)) {
      merged.back().size.value *= loop.size.value;
      merged.back().step[operand] = step;
    } else {
      merged.push_back(loop);
    }
  }
  return merged;
}

TileCopy::TileCopy(DeviceBuilder &device, const SharedTile &tile, const Source &source, int threads)
    : d(device), tile(tile), source(source), outer(mergedFor(source.operand, source.outer)),
      k(mergedFor(source.operand, source.k)),
      padding(device, source.operand, source.padded, source.outer, source.k), threads(threads),
      endsInZeros(!dividesExtent(source.k, int64_t(tile.k()) * source.splits) ||
                  *knownExtent(source.k) < int64_t(source.stages) * tile.k() * source.splits) {
  for (const PaddedDim &dim : source.padded)
    if (dim.operand == source.operand)
      beyond = dim.beyond * 0x01010101u;
}

Value TileCopy::byteOffset(Value elements) { return d.mul(elements, memoryBytes()); }

/// Elements from one row of the tile to the next, where it is known.
int64_t TileCopy::rowStep() const {
  return (tile.alongK() ? outer : k).front().step[source.operand].value;
}

/// Rows from one access of a thread to the next, such that all of its addresses are one and
/// immediates, which ptxas gives to cp.async up to 2 KiB on each side only; 0 where rows lie too
/// far apart. Eight rows are exchanged alike, and eight lanes still write 128 bytes of a row.
int TileCopy::spacingOf(int perRow, int each) const {
  ArrayRef<StridedLoop> rows = tile.alongK() ? outer : k;
  if (each < 2 || perRow < 8 || perRow > threads || outer.size() > 1 || k.size() > 1 ||
      rows.empty() || !rows.front().step[source.operand].isKnown() ||
      !dividesExtent(source.outer, tile.outer()))
    return 0;
  int rowsApart = std::min(8, threads / perRow);
  while (rowsApart > 1 && rowsApart * rowStep() * each * memoryBytes() > 4096)
    rowsApart /= 2;
  return rowsApart * rowStep() * each * memoryBytes() <= 4096 && rowStep() > 0 ? rowsApart : 0;
}

void TileCopy::prepare(Value global, Value base, Value outerStart, Value thread,
                       ArrayRef<Value> paddedBatch, const Share &share) {
  const unsigned operand = source.operand;
  const int vector = int(source.vector);
  const int inner = tile.alongK() ? tile.k() : tile.outer(); // elements of a row
  const int perRow = inner / vector, vectors = perRow * (tile.alongK() ? tile.outer() : tile.k());
  // Access i of a thread has number thread + i * threads, or is i * spacing rows further on. All
  // are powers of two, so that the two parts have different bits, and everything linear over bits
  // is the sum of theirs.
  const int each = std::max(1, vectors / threads);
  spacing = spacingOf(perRow, each);
  auto placeOf = [&](int number) -> std::pair<int, int> {
    int along = number % perRow * vector, row = number / perRow;
    return tile.alongK() ? std::pair(row, along) : std::pair(along, row);
  };
  const int busy = std::min(threads, vectors);
  if (busy < threads)
    active = d.less(thread, d.i32(busy));
  SmallVector<uint32_t> sharedImages, outerImages, kImages;
  for (int bit = 1; bit < busy; bit *= 2) {
    auto [outer, k] = placeOf(spacing && bit >= perRow * spacing ? bit * each : bit);
    sharedImages.push_back(tile.place(outer, k));
    outerImages.push_back(outer);
    kImages.push_back(k);
  }
  threadShared = d.applyLinear(thread, sharedImages);
  threadOuter = d.add(outerStart, d.widen(d.applyLinear(thread, outerImages)));
  Value threadK = d.widen(d.applyLinear(thread, kImages));
  kLimit = share.end ? share.end : extentOf(d, source.k);

  // Accesses lie at constant distances where nothing is ragged and one loop walks the rows.
  const bool isRagged = !dividesExtent(source.outer, tile.outer());
  const bool isLinear = !isRagged && outer.size() <= 1;
  auto step = [&](ArrayRef<StridedLoop> loops) {
    return loops.empty() ? Size::known(0) : loops.back().step[operand];
  };
  auto scaled = [&](Size size, int times) -> Value {
    return size.isKnown() ? d.ix(size.value * times) : d.mul(size.dynamic, times);
  };
  Value start = base;
  if (isLinear)
    start = d.add(start, offsetOf(d, operand, outer, threadOuter));
  if (isLinearInK())
    start =
        d.add(start, offsetOf(d, operand, k, share.begin ? d.add(share.begin, threadK) : threadK));
  // In the middle of what a thread copies, so that immediates reach all of it.
  const int64_t middle = spacing ? rowStep() * spacing * (each / 2) : 0;
  pointer = d.advance(global, d.add(start, middle), memoryBytes());
  first = isLinearInK() ? pointer : Value();

  if (isRagged)
    last = d.sub(extentOf(d, source.outer), d.ix(tile.alongK() ? 1 : vector));
  // Many offsets of 64 bits would not fit into the registers.
  const bool keepsOffsets = isLinear || d.indexType.isInteger(32) || vectors <= 8 * threads;
  for (int number = 0; number < each; ++number) {
    Access access;
    std::tie(access.outer, access.k) = placeOf(number * (spacing ? perRow * spacing : threads));
    access.shared = tile.place(access.outer, access.k);
    access.kLocal = d.add(threadK, int64_t(access.k));
    if (isLinear)
      access.offset = scaled(step(outer), access.outer);
    else if (keepsOffsets)
      access.offset = outerOffset(d.add(threadOuter, int64_t(access.outer)));
    if (access.offset && isLinearInK())
      access.offset = d.add(access.offset, scaled(step(k), access.k));
    if (access.offset)
      access.offset = byteOffset(d.add(access.offset, -middle));
    if (isRagged && source.zeroRows)
      access.exists = d.less(d.add(threadOuter, int64_t(access.outer)), extentOf(d, source.outer));
    if (padding.isNeeded())
      access.row = padding.row(clamped(d.add(threadOuter, int64_t(access.outer))), paddedBatch);
    accesses.push_back(access);
  }
}

/// The last row or column for those beyond the end.
Value TileCopy::clamped(Value position) { return last ? d.min(position, last) : position; }

/// Returns the offset of a row or column, in elements.
Value TileCopy::outerOffset(Value position) {
  return offsetOf(d, source.operand, outer, clamped(position));
}

Value TileCopy::advance(Value running, int steps) {
  if (!running)
    return running;
  if (k.empty() || steps == 0)
    return running;
  const Size &step = k.back().step[source.operand];
  const int64_t products = int64_t(steps) * tile.k();
  if (spacing && step.isKnown()) // else LLVM adds a counter and a constant for each access
    return d.ptx(running.getType(),
                 "add.s64 $0, $1, " + std::to_string(step.value * products * memoryBytes()) + ";",
                 "=l,l", {running});
  return d.advance(running,
                   step.isKnown() ? d.ix(step.value * products) : d.mul(step.dynamic, products),
                   memoryBytes());
}

Value TileCopy::address(const Access &access, const Step &step, Value product) {
  Value base = step.running ? step.running : pointer;
  Value offset = access.offset;
  if (!offset) {
    // A zero that the compiler does not know keeps the arithmetic in the loop.
    Value zero = d.ptx(d.b.getI32Type(), "mov.b32 $0, 0;", "=r", {});
    Value position = d.add(d.add(threadOuter, int64_t(access.outer)), d.widen(zero));
    offset = outerOffset(position);
    if (step.running && !k.empty())
      offset = d.add(offset, d.mul(d.ix(k.back().step[source.operand]), int64_t(access.k)));
    offset = byteOffset(offset);
  }
  if (!step.running) {
    Value moved = byteOffset(offsetOf(d, source.operand, k, product));
    if (sharesK()) // once for all accesses
      base = d.advance(base, moved, 1);
    else
      offset = d.add(offset, moved);
  }
  return d.advance(base, offset, 1);
}

/// `exists` false: nothing happens. `inside` false: zeros are written.
void TileCopy::copy(Value target, Value from, Value exists, Value inside) {
  std::string text = bytes() == 16
                         ? "cp.async.cg.shared.global [$0], [$1], 16"
                         : "cp.async.ca.shared.global [$0], [$1], " + std::to_string(bytes());
  std::string constraints = "r,l";
  SmallVector<Value> operands = {target, from};
  if (inside) {
    text += ", $" + std::to_string(operands.size()); // bytes to take, the rest is zero
    operands.push_back(d.select(inside, d.i32(bytes()), d.i32(0)));
    constraints += ",r";
  }
  if (exists) {
    text = "@$" + std::to_string(operands.size()) + " " + text;
    operands.push_back(exists);
    constraints += ",b";
  }
  d.ptx(Type(), text + ";", constraints, operands);
}

/// Words of four bytes, or one of fewer; `otherwise`, null: zero, where `inside` is false, null:
/// certainly.
static SmallVector<Value> loadWords(DeviceBuilder &d, Value from, unsigned bytes, Value inside,
                                    Value otherwise) {
  const unsigned words = llvm::divideCeil(bytes, 4);
  std::string others, names, constraints;
  for (unsigned i = 0; i < words; ++i) {
    others += "mov.b32 $" + std::to_string(i) +
              (otherwise ? ", $" + std::to_string(words + 2) : std::string(", 0")) + "; ";
    names += (i ? ", $" : "$") + std::to_string(i);
    constraints += "=r,";
  }
  std::string pointer = "[$" + std::to_string(words) + "]";
  std::string access = words == 1 ? "ld.global.b" + std::to_string(8 * bytes) + " " + names
                                  : "ld.global.v" + std::to_string(words) + ".b32 {" + names + "}";
  SmallVector<Value> operands = {from};
  std::string text = access + ", " + pointer + ";";
  constraints += "l";
  if (inside) {
    text = others + "@$" + std::to_string(words + 1) + " " + text;
    operands.push_back(inside);
    constraints += ",b";
    if (otherwise) {
      operands.push_back(otherwise);
      constraints += ",r";
    }
  }
  Type word = d.b.getI32Type();
  Type result = words == 1 ? word
                           : LLVM::LLVMStructType::getLiteral(d.b.getContext(),
                                                              SmallVector<Type>(words, word));
  Value loaded = d.ptx(result, text, constraints, operands);
  if (words == 1)
    return {loaded};
  SmallVector<Value> all;
  for (unsigned i = 0; i < words; ++i)
    all.push_back(LLVM::ExtractValueOp::create(d.b, loaded, int64_t(i)));
  return all;
}

Value TileCopy::load(Value from, unsigned bytes, Value inside, Value otherwise) {
  Value words = packVector(d, loadWords(d, from, bytes, inside, otherwise));
  return bytes < 4 ? arith::TruncIOp::create(d.b, d.accessType(bytes), words).getResult() : words;
}

SmallVector<Value> TileCopy::loadAll(Value from, Value inside, Value otherwise) {
  if (!source.narrow)
    return {load(from, bytes(), inside, otherwise)};
  SmallVector<Value> words;
  const unsigned all = source.vector * memoryBytes();
  for (unsigned at = 0; at < all; at += 16)
    llvm::append_range(
        words, loadWords(d, d.advanceBytes(from, at), std::min(all - at, 16u), inside, otherwise));
  return words;
}

/// Returns what is stored of what was loaded.
Value TileCopy::narrowed(ArrayRef<Value> loaded) {
  if (!source.narrow)
    return loaded.front();
  SmallVector<Value> elements(loaded);
  if (source.rounding != TF32Rounding::None)
    elements = roundToTF32(d, elements, source.rounding, /*ofOneSum=*/tile.alongK());
  else
    for (Value &element : elements) {
      Value wide = LLVM::BitcastOp::create(d.b, d.b.getF32Type(), element);
      element = toMemory(d, source.narrow(wide));
    }
  Value packed = packVector(d, elements);
  Type type = d.accessType(bytes());
  return packed.getType() == type ? packed : LLVM::BitcastOp::create(d.b, type, packed).getResult();
}

/// Loads to registers read the first step again where one does not exist: nobody multiplies what
/// they bring, and a condition on each would cost as much as the loads.
TileCopy::Step TileCopy::existing(Step step) {
  if (source.asynchronous || endsInZeros || !step.exists)
    return step;
  if (step.running)
    step.running = d.select(step.exists, step.running, first);
  step.kStart = d.select(step.exists, step.kStart, d.ix(0));
  return step;
}

Work TileCopy::issue(unsigned number, Value stage, const Step &asked, uint32_t beyondStage) {
  return [this, number, stage, asked, beyondStage] {
    Access &access = accesses[number];
    const Step step = existing(asked);
    Value product = d.add(step.kStart, access.kLocal);
    Value inside = d.logicalAnd(access.exists, endsInZeros ? d.less(product, kLimit) : Value());
    Value outside; // beyond an end of what is padded, by something else than zeros
    if (padding.isNeeded()) {
      Value within = padding.inside(access.row, product);
      if (beyond)
        outside = d.logicalAnd(inside, d.exclusiveOr(within, 1));
      inside = d.logicalAnd(inside, within);
    }
    Value from = address(access, step, product);
    if (!source.asynchronous) {
      Value otherwise = outside ? d.select(outside, d.i32(int32_t(beyond)), d.i32(0)) : Value();
      access.loaded = loadAll(from, d.logicalAnd(active, inside), otherwise);
      return;
    }
    Value exists = d.logicalAnd(active, endsInZeros ? Value() : step.exists);
    Value target = SharedTile::at(d, d.add(stage, threadShared), access.shared + beyondStage);
    if (outside) { // cp.async itself writes no other constant than zero
      SmallVector<Value> words(bytes() / 4, d.i32(int32_t(beyond)));
      storeWords(words, target, d.logicalAnd(exists, outside));
      exists = d.logicalAnd(exists, d.exclusiveOr(outside, 1));
    }
    copy(target, from, exists, inside);
  };
}

Work TileCopy::put(unsigned number, Value stage, uint32_t beyondStage) {
  return [this, number, stage, beyondStage] {
    if (!source.asynchronous)
      storeLoaded(
          narrowed(accesses[number].loaded),
          SharedTile::at(d, d.add(stage, threadShared), accesses[number].shared + beyondStage));
  };
}

/// Threads without a share write nothing.
void TileCopy::storeLoaded(Value loaded, Value target) {
  if (!active) {
    d.store(loaded, d.sharedPointer(target), bytes());
    return;
  }
  SmallVector<Value> words;
  if (bytes() <= 4)
    words.push_back(
        bytes() == 4 ? loaded : arith::ExtUIOp::create(d.b, d.b.getI32Type(), loaded).getResult());
  else
    for (unsigned i = 0; i < bytes() / 4; ++i)
      words.push_back(LLVM::ExtractElementOp::create(d.b, loaded, d.i32(i)));
  storeWords(words, target, active);
}

/// Stores an access where `exists`; fewer bytes than four are the low ones of a word.
void TileCopy::storeWords(ArrayRef<Value> words, Value target, Value exists) {
  SmallVector<Value> operands = {target};
  std::string names, constraints = "r";
  for (auto [i, word] : llvm::enumerate(words)) {
    operands.push_back(word);
    names += (i ? ", $" : "$") + std::to_string(i + 1);
    constraints += ",r";
  }
  operands.push_back(exists);
  std::string kind = words.size() == 1 ? ".b" + std::to_string(8 * bytes())
                                       : ".v" + std::to_string(words.size()) + ".b32";
  d.ptx(Type(),
        "@$" + std::to_string(words.size() + 1) + " st.shared" + kind + " [$0], {" + names + "};",
        constraints + ",b", operands);
}
