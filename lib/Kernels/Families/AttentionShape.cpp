// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the tiles of an attention kernel, and how many blocks it has.

#include "AttentionKernel.h"
#include "OnlineSoftmax.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::mp;

int64_t AttentionShape::tileColumns(int64_t head) {
  return std::max<int64_t>(16, llvm::PowerOf2Ceil(head));
}

int64_t AttentionShape::sharedBytes() const {
  const int64_t query = int64_t(queries) * 128 * llvm::divideCeil(depth(), 64);
  const int64_t head = tileColumns(depth()) + tileColumns(width());
  return query + stages * keys * 2 * head;
}

FailureOr<AttentionShape>
mlir::mp::shapeAttention(const AttentionPlan &plan, bool hasAsyncCopies,
                         const std::optional<mpcore::performance::AttentionSchedule> &asked,
                         std::string &reason) {
  AttentionShape shape;
  shape.plan = plan;
  shape.hasAsyncCopies = hasAsyncCopies;
  const int64_t head = std::max(shape.depth(), shape.width());
  if (asked) {
    shape.queries = asked->queries;
    shape.keys = asked->keys;
    shape.warps = asked->warps;
    shape.stages = asked->stages;
    shape.splits = asked->splitKeys;
    shape.splitFrom = shape.splits > 1 ? asked->splitFrom : 0;
    shape.splitBlocks = shape.splitFrom != 0 ? asked->splitBlocks : 0;
  } else if (head > (hasAsyncCopies ? 128 : 64)) { // before cp.async blocks have 64 KiB
    shape.keys = 32;
  }
  shape.atOnce = std::min(shape.keys, 64u);
  if (shape.rowsOfWarp() == 32 && head > 64)
    shape.atOnce = 32;
  shape.keepsQuery = shape.rowsOfWarp() == 16 && shape.depth() <= 128;
  auto refuse = [&](const Twine &why) {
    reason = ("its schedule: " + why).str();
    return failure();
  };
  auto isPower = [](unsigned x) { return llvm::isPowerOf2_32(x); };
  if (asked && (asked->unit != mpcore::performance::MatrixUnit::MmaSync || asked->overlapped))
    return refuse("attention is written for unit=mma.sync, without overlapped");
  if (shape.splits == 0 || shape.splits > mpcore::performance::kMostKeySplits)
    return refuse("expected split-keys to be 1 to " + Twine(mpcore::performance::kMostKeySplits) +
                  ", found " + Twine(shape.splits));
  if (asked && asked->splitFrom != 0 && shape.splits == 1)
    return refuse("split-from is for blocks that share keys, expected split-keys, too");
  if (shape.splitFrom != 0 && shape.splitFrom < 2 * shape.keys)
    return refuse("blocks share keys from two tiles for each of two on, which spares each as many: "
                  "expected split-from=" +
                  Twine(2 * shape.keys) + " or more");
  if (asked && asked->splitBlocks != 0 && shape.splitFrom == 0)
    return refuse("split-blocks bounds how many share keys at run time, expected split-from, too");
  if (!isPower(shape.queries) || !isPower(shape.keys) || !isPower(shape.warps) || shape.keys < 32 ||
      shape.keys > 128 || shape.warps > 8 || shape.stages < 2 ||
      (shape.rowsOfWarp() != 16 && shape.rowsOfWarp() != 32))
    return refuse("expected keys of 32, 64 or 128, 16 or 32 queries for each of up to 8 warps, and "
                  "2 stages or more, found " +
                  Twine(shape.keys) + " keys, " + Twine(shape.queries) + " queries, " +
                  Twine(shape.warps) + " warps and " + Twine(shape.stages) + " stages");
  if (shape.sharedBytes() > (hasAsyncCopies ? 99 : 64) * 1024 && !asked)
    return refuse("its tiles take " + Twine(shape.sharedBytes()) + " bytes of shared memory");
  return shape;
}

Value mlir::mp::attentionBlocks(OpBuilder &host, Location loc, const AttentionShape &shape,
                                ValueRange operands) {
  const AttentionPlan &plan = shape.plan;
  Value rows = hostExtent(host, loc, plan, plan.rows, operands);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(host, loc, value);
  };
  Value tiles = host.createOrFold<arith::CeilDivUIOp>(loc, rows, index(shape.queries));
  Value blocks = host.createOrFold<arith::MulIOp>(
      loc, hostExtent(host, loc, plan, plan.batch, operands), tiles);
  return host.createOrFold<arith::MulIOp>(loc, blocks, sharersOf(host, loc, shape, operands));
}

Value mlir::mp::sharersOf(OpBuilder &builder, Location loc, const AttentionShape &shape,
                          function_ref<Value(ArrayRef<unsigned>)> extentOf) {
  const AttentionPlan &plan = shape.plan;
  Value keys = extentOf(plan.keys);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(keys.getType(), value));
  };
  if (shape.splitFrom == 0)
    return index(shape.splits);
  Value one = index(1);
  Value sharers = builder.createOrFold<arith::DivUIOp>(loc, keys, index(2 * shape.keys));
  sharers = builder.createOrFold<arith::MinUIOp>(loc, sharers, index(shape.splits));
  if (shape.splitBlocks != 0) {
    Value tiles = builder.createOrFold<arith::AddIOp>(loc, extentOf(plan.rows),
                                                      index(int64_t(shape.queries) - 1));
    tiles = builder.createOrFold<arith::DivUIOp>(loc, tiles, index(shape.queries));
    Value blocks = builder.createOrFold<arith::MulIOp>(loc, extentOf(plan.batch), tiles);
    blocks = builder.createOrFold<arith::MaxUIOp>(loc, blocks, one);
    Value each = builder.createOrFold<arith::DivUIOp>(loc, index(shape.splitBlocks), blocks);
    sharers = builder.createOrFold<arith::MinUIOp>(loc, sharers, each);
  }
  sharers = builder.createOrFold<arith::MaxUIOp>(loc, sharers, one);
  Value left = builder.createOrFold<arith::DivUIOp>(loc, keys, sharers);
  Value spared = builder.createOrFold<arith::SubIOp>(loc, keys, left);
  Value few = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, spared,
                                                  index(shape.splitFrom));
  return builder.createOrFold<arith::SelectOp>(loc, few, one, sharers);
}

Value mlir::mp::sharersOf(OpBuilder &host, Location loc, const AttentionShape &shape,
                          ValueRange operands) {
  return sharersOf(host, loc, shape, [&](ArrayRef<unsigned> loops) {
    return hostExtent(host, loc, shape.plan, loops, operands);
  });
}

Value mlir::mp::sharersOf(KernelFunction &kernel, const AttentionShape &shape) {
  return sharersOf(kernel.d.b, kernel.d.b.getLoc(), shape,
                   [&](ArrayRef<unsigned> loops) { return kernel.extent(shape.plan, loops); });
}

Value mlir::mp::attentionRows(OpBuilder &host, Location loc, const AttentionShape &shape,
                              ValueRange operands) {
  SmallVector<unsigned> loops(shape.plan.batch);
  llvm::append_range(loops, shape.plan.rows);
  return hostExtent(host, loc, shape.plan, loops, operands);
}

bool mlir::mp::foldsScale(const AttentionPlan &plan, const MathForms &forms) {
  const double scale = scaleOf(plan);
  return forms.approximate && (scale == 1 || OnlineSoftmax::canFold(scale));
}

double mlir::mp::foldedScale(const AttentionPlan &plan, const MathForms &forms) {
  return foldsScale(plan, forms) ? scaleOf(plan) : 1;
}
