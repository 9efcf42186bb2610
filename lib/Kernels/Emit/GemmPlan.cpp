// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses tile, vector widths and staging of a contraction from its loops and accesses.

#include "GemmPlan.h"

#include "../Build/StagedSums.h"
#include "../Plan/OperandSource.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::mp;
using mpcore::performance::MatmulSchedule;

namespace {

/// Arithmetic on sizes: now where they are known, on the host where not.
struct SizeBuilder {
  OpBuilder &b;
  Location loc;

  Value value(Size size) {
    return size.isKnown() ? arith::ConstantIndexOp::create(b, loc, size.value).getResult()
                          : size.dynamic;
  }
  Size from(OpFoldResult size) {
    if (auto known = getConstantIntValue(size))
      return Size::known(*known);
    return {0, cast<Value>(size)};
  }
  Size add(Size x, Size y) {
    if (x.isKnown() && y.isKnown())
      return Size::known(x.value + y.value);
    if (x.is(0) || y.is(0))
      return x.is(0) ? y : x;
    return {0, arith::AddIOp::create(b, loc, value(x), value(y))};
  }
  Size scale(Size x, int64_t factor) {
    if (x.isKnown() || factor == 0)
      return Size::known(x.value * factor);
    if (factor == 1)
      return x;
    return {0, arith::MulIOp::create(b, loc, x.dynamic, value(Size::known(factor)))};
  }
};

/// Strides and offset of a buffer.
struct Strides {
  SmallVector<Size> strides;
  Size offset;
};

Strides stridesOf(SizeBuilder &sizes, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  Strides result;
  memref::ExtractStridedMetadataOp metadata;
  auto get = [&](int64_t known, auto read) -> Size {
    if (!ShapedType::isDynamic(known))
      return Size::known(known);
    if (!metadata)
      metadata = memref::ExtractStridedMetadataOp::create(sizes.b, sizes.loc, buffer);
    return {0, read(metadata)};
  };
  for (auto [dim, stride] : llvm::enumerate(strides))
    result.strides.push_back(
        get(stride, [&, dim = dim](auto op) -> Value { return op.getStrides()[dim]; }));
  result.offset = get(offset, [](auto op) -> Value { return op.getOffset(); });
  return result;
}

/// Merges neighbouring loops that every operand walks as one.
void mergeLoops(SmallVectorImpl<StridedLoop> &loops) {
  auto merges = [](const StridedLoop &outer, const StridedLoop &inner) {
    if (!inner.size.isKnown() || !outer.size.isKnown())
      return false;
    for (auto [o, i] : llvm::zip_equal(outer.step, inner.step))
      if (!o.isKnown() || !i.isKnown() || o.value != i.value * inner.size.value)
        return false;
    return true;
  };
  for (size_t i = loops.size(); i-- > 1;) {
    if (!merges(loops[i - 1], loops[i]))
      continue;
    loops[i].size.value *= loops[i - 1].size.value;
    loops.erase(loops.begin() + (i - 1));
  }
}

/// Drops loops of one iteration, which only cost divisions.
void dropUnitLoops(SmallVectorImpl<StridedLoop> &loops) {
  llvm::erase_if(loops, [](const StridedLoop &loop) { return loop.size.is(1); });
}

/// Elements of `operand` that can be read at once along the innermost loops of `group`: a power of
/// two that divides the contiguous run and everything else that moves the address.
unsigned vectorWidth(unsigned operand, ArrayRef<StridedLoop> group,
                     ArrayRef<ArrayRef<StridedLoop>> others, Size offset, unsigned most,
                     ArrayRef<PaddedDim> padded = {}) {
  // Elements of one access are inside together, or beyond an end.
  auto movesInPadded = [&](const StridedLoop &loop) {
    return llvm::any_of(padded, [&](const PaddedDim &dim) {
      return dim.operand == operand && !loop.step[dim.coordinate].is(0);
    });
  };
  if (group.empty() || !group.back().step[operand].is(1) || movesInPadded(group.back()))
    return 1;
  // The run: loops from the innermost outwards that continue one another.
  Size run = Size::known(1);
  size_t outside = group.size();
  while (outside > 0 && run.isKnown() && group[outside - 1].step[operand].is(run.value) &&
         !movesInPadded(group[outside - 1])) {
    const Size &size = group[--outside].size;
    run = size.isKnown() ? Size::known(run.value * size.value) : size;
  }
  auto fits = [&](unsigned width) {
    auto aligned = [&](const StridedLoop &loop) { return loop.step[operand].divides(width); };
    return run.divides(width) && offset.divides(width) &&
           llvm::all_of(group.take_front(outside), aligned) &&
           llvm::all_of(others,
                        [&](ArrayRef<StridedLoop> loops) { return llvm::all_of(loops, aligned); });
  };
  unsigned width = most;
  while (width > 1 && !fits(width))
    width /= 2;
  return width;
}

StagingPlan planStaging(unsigned operand, ArrayRef<StridedLoop> outer, ArrayRef<StridedLoop> k,
                        ArrayRef<StridedLoop> batch, Size offset, unsigned elementBits,
                        ArrayRef<PaddedDim> padded) {
  unsigned most = 128 / elementBits;
  unsigned widthK = vectorWidth(operand, k, {outer, batch}, offset, most, padded);
  unsigned widthOuter = vectorWidth(operand, outer, {k, batch}, offset, most, padded);
  if (widthK == 1 && widthOuter == 1) {
    // Scalars: neighbouring lanes should still read neighbours.
    bool outerContiguous = !outer.empty() && outer.back().step[operand].is(1);
    bool kContiguous = !k.empty() && k.back().step[operand].is(1);
    return {kContiguous || !outerContiguous, 1};
  }
  return widthK >= widthOuter ? StagingPlan{true, widthK} : StagingPlan{false, widthOuter};
}

/// Gives the loops a step in each padded dimension, behind those in operands, so that only loops
/// merge that walk these as one, too.
SmallVector<PaddedDim, 2> addCoordinates(SizeBuilder &sizes, ArrayRef<GemmOperand> operands,
                                         MutableArrayRef<StridedLoop> loops) {
  SmallVector<PaddedDim, 2> padded;
  unsigned coordinate = operands.size();
  for (auto [number, operand] : llvm::enumerate(operands))
    for (unsigned dim : operand.padded) {
      const int64_t size = cast<MemRefType>(operand.buffer.getType()).getDimSize(dim);
      OpFoldResult known = sizes.b.getIndexAttr(size);
      if (ShapedType::isDynamic(size))
        known = memref::DimOp::create(sizes.b, sizes.loc, operand.buffer, int64_t(dim)).getResult();
      padded.push_back({unsigned(number), coordinate++, operand.access.constants[dim],
                        sizes.from(known), operand.beyond});
      for (auto [loop, step] : llvm::zip_equal(loops, operand.access.coefficients[dim]))
        loop.step.push_back(Size::known(step));
    }
  return padded;
}

} // namespace

bool GemmPlan::canStageSums(const mpcore::performance::MatmulSchedule &s) const {
  return StagedSums::suits(int(s.m), int(s.n), int(32 * s.warpsM * s.warpsN * s.slices),
                           int(s.slices), ringBytes(s));
}

int64_t GemmPlan::ringBytes(const mpcore::performance::MatmulSchedule &s) const {
  const int64_t depth = s.depth(), dense = int64_t(s.m + s.n) * depth * elementBytes();
  if (!sparse)
    return s.stages * dense;
  const int64_t leftOut = int64_t(s.m) * depth / 2 * elementBytes();
  return s.stages * (dense - leftOut + s.m / 16 * sparse->wordsOf(int(depth)) * 4);
}

bool GemmPlan::stagesSums() const {
  return schedule.slices > 1 || (prefersRows && canStageSums(schedule));
}

bool GemmPlan::isCertainlyNonEmpty() const {
  for (ArrayRef<StridedLoop> group : {ArrayRef(batch), ArrayRef(m), ArrayRef(n)})
    if (knownExtent(group).value_or(0) == 0)
      return false;
  return true;
}

bool GemmPlan::fitsInt32() const {
  constexpr int64_t limit = (int64_t(1) << 31) - 4096;
  for (auto [operand, start] : llvm::enumerate(offset)) {
    int64_t reach = 0;
    if (!start.isKnown())
      return false;
    for (ArrayRef<StridedLoop> group : {ArrayRef(batch), ArrayRef(m), ArrayRef(n), ArrayRef(k)})
      for (const StridedLoop &loop : group) {
        if (!loop.size.isKnown() || !loop.step[operand].isKnown())
          return false;
        reach += loop.size.value * std::abs(loop.step[operand].value);
      }
    // Tiles reach beyond the ends by less than a few tiles of each kind.
    if ((reach + start.value) * bytes[operand] > limit / 2)
      return false;
  }
  for (ArrayRef<StridedLoop> group : {ArrayRef(batch), ArrayRef(m), ArrayRef(n), ArrayRef(k)})
    if (*knownExtent(group) > limit / 2)
      return false;
  return true;
}

std::string GemmPlan::key() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto print = [&](const Size &size) {
    if (size.isKnown())
      stream << size.value << ' ';
    else
      stream << "? ";
  };
  stream << instruction->format << instruction->k << instruction->isSparse << ' '
         << mpcore::performance::toString(mpcore::performance::Schedule(schedule)) << ' '
         << promotes << prefersRows << isRagged << ' ' << products;
  for (auto [size, columns] : llvm::zip_equal(bytes, width))
    stream << ' ' << size << 'x' << columns;
  for (const StagingPlan &stage : {stageA, stageB})
    stream << ' ' << stage.alongK << stage.vector << stage.asynchronous << bool(stage.narrowing);
  for (ArrayRef<StridedLoop> group : {ArrayRef(batch), ArrayRef(m), ArrayRef(n), ArrayRef(k)}) {
    stream << " | ";
    for (const StridedLoop &loop : group) {
      print(loop.size);
      for (const Size &step : loop.step)
        print(step);
    }
  }
  stream << " | ";
  for (const Size &size : offset)
    print(size);
  for (const PaddedDim &dim : padded) {
    stream << "padded " << dim.operand << ' ' << dim.start << ' ' << unsigned(dim.beyond) << ' ';
    print(dim.size);
  }
  return text;
}

SmallVector<Size *> mlir::mp::dynamicSizes(GemmPlan &plan) {
  SmallVector<Size *> result;
  auto add = [&](Size &size) {
    if (!size.isKnown())
      result.push_back(&size);
  };
  for (SmallVectorImpl<StridedLoop> *group : {&plan.batch, &plan.m, &plan.n, &plan.k})
    for (StridedLoop &loop : *group) {
      add(loop.size);
      for (Size &step : loop.step)
        add(step);
    }
  for (Size &offset : plan.offset)
    add(offset);
  for (PaddedDim &dim : plan.padded)
    add(dim.size);
  return result;
}

GemmPlan mlir::mp::planGemm(OpBuilder &builder, Location loc, const Contraction &contraction,
                            ArrayRef<GemmOperand> operands, ArrayRef<OpFoldResult> loopSizes,
                            const MmaInstruction &instruction, const target::TargetModel &target) {
  SizeBuilder sizes{builder, loc};
  SmallVector<StridedLoop> loops(loopSizes.size());
  for (auto [loop, size] : llvm::zip_equal(loops, loopSizes)) {
    loop.size = sizes.from(size);
    loop.step.assign(operands.size(), Size::known(0));
  }
  SmallVector<PaddedDim, 2> padded = addCoordinates(sizes, operands, loops);
  GemmPlan plan;
  plan.instruction = &instruction;
  plan.padded = padded;
  plan.promotes = promotionInterval(target, instruction) != 0;
  for (auto [number, operand] : llvm::enumerate(operands)) {
    Strides strides = stridesOf(sizes, operand.buffer);
    Size offset = strides.offset;
    for (auto [result, stride] : llvm::enumerate(strides.strides)) {
      offset = sizes.add(offset, sizes.scale(stride, operand.access.constants[result]));
      for (auto [loop, coefficient] : llvm::enumerate(operand.access.coefficients[result]))
        if (coefficient != 0)
          loops[loop].step[number] =
              sizes.add(loops[loop].step[number], sizes.scale(stride, coefficient));
    }
    plan.offset.push_back(offset);
    Type element = cast<MemRefType>(operand.buffer.getType()).getElementType();
    plan.bytes.push_back(int(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)));
  }
  auto gather = [&](ArrayRef<unsigned> members, SmallVectorImpl<StridedLoop> &group) {
    for (unsigned loop : members)
      group.push_back(loops[loop]);
    dropUnitLoops(group);
    mergeLoops(group);
  };
  gather(contraction.batch, plan.batch);
  gather(contraction.m, plan.m);
  gather(contraction.n, plan.n);
  gather(contraction.k, plan.k);

  // Elements that are wider in memory fill an access there: neighbouring lanes then read
  // neighbours, and each request whole sectors.
  auto stagingOf = [&](unsigned operand, ArrayRef<StridedLoop> outer) {
    const unsigned bits = std::max<unsigned>(instruction.elementBits, 8 * plan.bytes[operand]);
    return planStaging(operand, outer, plan.k, plan.batch, plan.offset[operand], bits, padded);
  };
  plan.stageA = stagingOf(0, plan.m);
  plan.stageB = stagingOf(1, plan.n);
  plan.stageA.narrowing = operands[0].narrowing;
  plan.stageB.narrowing = operands[1].narrowing;
  for (StagingPlan *stage : {&plan.stageA, &plan.stageB}) {
    stage->asynchronous =
        !stage->narrowing && target.memory.cpAsync && stage->vector * instruction.elementBits >= 32;
    if (isTF32Rounding(stage->narrowing))
      stage->rounding =
          target.computeCapability >= 90 ? TF32Rounding::Instruction : TF32Rounding::Integers;
  }
  for (size_t number = 0; number < operands.size(); ++number)
    plan.width.push_back(vectorWidth(number, plan.n, {plan.m, plan.batch}, plan.offset[number], 4));
  return plan;
}

bool mlir::mp::shareKernel(OpBuilder &b, Location loc, MutableArrayRef<GemmPlan> plans) {
  for (size_t i = 0; i < plans.front().offset.size(); ++i) {
    const Size first = plans.front().offset[i];
    if (llvm::all_of(plans, [&](const GemmPlan &plan) { return plan.offset[i].is(first.value); }))
      continue;
    for (GemmPlan &plan : plans)
      if (Size &offset = plan.offset[i]; offset.isKnown())
        offset = {0, arith::ConstantIndexOp::create(b, loc, offset.value)};
  }
  return llvm::all_of(plans,
                      [&](const GemmPlan &plan) { return plan.key() == plans.front().key(); });
}

/// Tiles of a product along batch, m and n.
static Value countTiles(OpBuilder &b, Location loc, const GemmPlan &plan, const MatmulSchedule &s) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto tiles = [&](ArrayRef<StridedLoop> loops, int64_t tile) -> Value {
    int64_t known = 1;
    Value product;
    for (const StridedLoop &loop : loops) {
      if (loop.size.isKnown())
        known *= loop.size.value;
      else
        product = product ? arith::MulIOp::create(b, loc, product, loop.size.dynamic).getResult()
                          : loop.size.dynamic;
    }
    if (!product)
      return index((known + tile - 1) / tile);
    Value all = arith::MulIOp::create(b, loc, product, index(known));
    return arith::CeilDivUIOp::create(b, loc, all, index(tile));
  };
  Value count = tiles(plan.batch, 1);
  for (Value factor : {tiles(plan.m, s.m), tiles(plan.n, s.n)})
    count = b.createOrFold<arith::MulIOp>(loc, count, factor);
  return count;
}

Value mlir::mp::gridBlocks(OpBuilder &b, Location loc, ArrayRef<GemmPlan> plans) {
  const GemmPlan &first = plans.front();
  Value blocks = countTiles(b, loc, first, first.schedule);
  if (first.isRagged) {
    for (const GemmPlan &plan : plans.drop_front())
      blocks = arith::AddIOp::create(b, loc, blocks, countTiles(b, loc, plan, first.schedule));
    return blocks;
  }
  Value each =
      arith::ConstantIndexOp::create(b, loc, int64_t(first.products) * first.schedule.splitK);
  return b.createOrFold<arith::MulIOp>(loc, each, blocks);
}
