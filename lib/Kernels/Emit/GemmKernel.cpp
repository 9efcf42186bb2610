// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the k loop of a contraction kernel, its mma instructions and its epilogue.

#include "GemmKernel.h"
#include "Staging.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mp;

SmallVector<Size *> mlir::mp::dynamicSizes(GemmPlan &plan) {
  SmallVector<Size *> result;
  auto add = [&](Size &size) {
    if (!size.isKnown())
      result.push_back(&size);
  };
  for (SmallVectorImpl<GemmLoop> *group : {&plan.batch, &plan.m, &plan.n, &plan.k})
    for (GemmLoop &loop : *group) {
      add(loop.size);
      for (Size &step : loop.step)
        add(step);
    }
  for (Size &offset : plan.offset)
    add(offset);
  return result;
}

namespace {

class GemmKernel {
public:
  GemmKernel(GemmBuilder device, GemmPlan plan)
      : d(std::move(device)), plan(std::move(plan)), a(d, this->plan, FragmentOperand::A),
        b(d, this->plan, FragmentOperand::B) {}

  int64_t sharedBytes() const { return 2 * (a.bufferBytes() + b.bufferBytes()); }

  void emit(ArrayRef<Value> pointers, Value shared) {
    locate();
    SmallVector<Value> base;
    for (unsigned operand = 0; operand < 3; ++operand)
      base.push_back(d.add(d.ix(plan.offset[operand]), d.offsetOf(operand, plan.batch, batch)));
    a.prepare(pointers[0], shared, base[0], rowStart, thread, lane, warpRow);
    Value sharedB = d.advanceBytes(shared, 2 * a.bufferBytes());
    b.prepare(pointers[1], sharedB, base[1], columnStart, thread, lane, warpColumn);
    SmallVector<Value> accumulators = mainLoop();
    epilogue(accumulators, pointers[2], base[2]);
  }

private:
  Value extent(ArrayRef<GemmLoop> group) {
    Value product = d.ix(1);
    for (const GemmLoop &loop : group)
      product = d.mul(product, d.ix(loop.size));
    return product;
  }
  Value roundUpDiv(Value value, int64_t by) { return d.div(d.add(value, d.ix(by - 1)), d.ix(by)); }

  /// Computes which tile the block has, and which part of it the warp.
  void locate() {
    Type i32 = d.b.getI32Type();
    thread = NVVM::ThreadIdXOp::create(d.b, i32);
    lane = d.rem(thread, d.i32(32));
    Value warp = d.div(thread, d.i32(32));
    warpRow = d.mul(d.div(warp, d.i32(plan.tile.warpsN)), d.i32(plan.tile.warpM()));
    warpColumn = d.mul(d.rem(warp, d.i32(plan.tile.warpsN)), d.i32(plan.tile.warpN()));
    Value block = d.widen(NVVM::BlockIdXOp::create(d.b, i32));
    Value rowTiles = roundUpDiv(extent(plan.m), plan.tile.m);
    Value columnTiles = roundUpDiv(extent(plan.n), plan.tile.n);
    columnStart = d.mul(d.rem(block, columnTiles), d.ix(plan.tile.n));
    Value rest = d.div(block, columnTiles);
    rowStart = d.mul(d.rem(rest, rowTiles), d.ix(plan.tile.m));
    batch = d.div(rest, rowTiles);
  }

  /// Two buffers and one barrier a step: while the warps multiply from one, the next tile is on its
  /// way to registers and then to the other.
  SmallVector<Value> mainLoop() {
    Value zero = d.i32(0), one = d.i32(1);
    a.store(a.load(d.ix(0)), zero);
    b.store(b.load(d.ix(0)), zero);
    Value steps = roundUpDiv(extent(plan.k), plan.tile.k);
    Value nothing = arith::ConstantOp::create(d.b, d.b.getZeroAttr(accumulatorType()));
    int count =
        plan.tile.warpM() / plan.instruction->m * (plan.tile.warpN() / plan.instruction->n) * 4;
    // With promotion, totals follow the sums of the running interval.
    SmallVector<Value> initial(plan.promoteEvery ? 2 * count : count, nothing);
    auto loop = scf::ForOp::create(d.b, d.ix(0), steps, d.ix(1), initial);
    keepWhole(loop);
    OpBuilder::InsertionGuard guard(d.b);
    d.b.setInsertionPointToStart(loop.getBody());
    gpu::BarrierOp::create(d.b);
    Value step = loop.getInductionVar();
    Value narrow = step.getType().isInteger(32)
                       ? step
                       : arith::TruncIOp::create(d.b, d.b.getI32Type(), step).getResult();
    Value buffer = arith::AndIOp::create(d.b, narrow, one);
    Value other = arith::XOrIOp::create(d.b, buffer, one);
    Value next = d.mul(d.add(step, d.ix(1)), d.ix(plan.tile.k));
    SmallVector<Value> nextA = a.load(next), nextB = b.load(next);
    SmallVector<Value> results = multiply(buffer, loop.getRegionIterArgs().take_front(count));
    if (plan.promoteEvery)
      promote(results, loop.getRegionIterArgs().drop_front(count), step, steps, nothing);
    a.store(nextA, other);
    b.store(nextB, other);
    scf::YieldOp::create(d.b, results);
    return SmallVector<Value>(loop.getResults().take_back(count));
  }

  /// LLVM would take the last step, which loads nothing, out of the loop: twice the code, and more
  /// registers than there are.
  static void keepWhole(scf::ForOp loop) {
    MLIRContext *context = loop.getContext();
    auto unroll =
        LLVM::LoopUnrollAttr::get(context, BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
    // The name of the attribute of the branch that the loop becomes.
    loop->setAttr("loop_annotation",
                  LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {},
                                                {}, {}, {}, {}, {}));
  }

  /// Adds the sums to the totals, appended to `sums`, and starts them again from zero, after each
  /// interval and after the last step.
  void promote(SmallVectorImpl<Value> &sums, ValueRange totals, Value step, Value steps,
               Value zero) {
    Value done = d.add(step, d.ix(1));
    Value rest = d.rem(done, d.ix(plan.promoteEvery / plan.tile.k));
    auto equal = [&](Value x, Value y) -> Value {
      return arith::CmpIOp::create(d.b, arith::CmpIPredicate::eq, x, y);
    };
    Value now = arith::OrIOp::create(d.b, equal(rest, d.ix(0)), equal(done, steps));
    SmallVector<Value> moved;
    for (auto [sum, total] : llvm::zip_equal(sums, totals)) {
      Value added = arith::AddFOp::create(d.b, total, sum);
      moved.push_back(arith::SelectOp::create(d.b, now, added, total));
      sum = arith::SelectOp::create(d.b, now, zero, sum);
    }
    sums.append(moved);
  }

  SmallVector<Value> multiply(Value buffer, ValueRange accumulators) {
    SmallVector<Value> sums(accumulators);
    for (int step = 0; step < plan.tile.k / plan.instruction->k; ++step) {
      auto fragmentsA = a.fragments(buffer, step), fragmentsB = b.fragments(buffer, step);
      size_t position = 0;
      for (const auto &rows : fragmentsA)
        for (const auto &columns : fragmentsB) {
          mma(rows, columns, MutableArrayRef(sums).slice(position, 4));
          position += 4;
        }
    }
    return sums;
  }

  Type accumulatorType() {
    return plan.instruction->isInteger() ? Type(d.b.getI32Type()) : Type(d.b.getF32Type());
  }

  /// sums += rows * columns, as the instruction computes it.
  void mma(ArrayRef<Value> rows, ArrayRef<Value> columns, MutableArrayRef<Value> sums) {
    Type result =
        LLVM::LLVMStructType::getLiteral(d.b.getContext(), SmallVector<Type>(4, accumulatorType()));
    Value product = plan.instruction->intrinsic.empty() ? mmaOp(result, rows, columns, sums)
                                                        : mmaIntrinsic(result, rows, columns, sums);
    for (int i = 0; i < 4; ++i)
      sums[i] = LLVM::ExtractValueOp::create(d.b, product, i);
  }

  Value mmaIntrinsic(Type result, ArrayRef<Value> rows, ArrayRef<Value> columns,
                     ArrayRef<Value> sums) {
    SmallVector<Value> operands(rows);
    operands.append(columns.begin(), columns.end());
    operands.append(sums.begin(), sums.end());
    return LLVM::CallIntrinsicOp::create(d.b, result,
                                         d.b.getStringAttr(plan.instruction->intrinsic), operands)
        .getResult(0);
  }

  Value mmaOp(Type result, ArrayRef<Value> rows, ArrayRef<Value> columns, ArrayRef<Value> sums) {
    StringRef format = plan.instruction->format;
    SmallVector<Value> operandA(rows), operandB(columns);
    std::optional<std::array<NVVM::MMATypes, 2>> types;
    if (format == "f16") {
      Type pair = VectorType::get({2}, d.b.getF16Type());
      for (Value &value : operandA)
        value = LLVM::BitcastOp::create(d.b, pair, value);
      for (Value &value : operandB)
        value = LLVM::BitcastOp::create(d.b, pair, value);
    } else {
      NVVM::MMATypes type = format == "bf16" ? NVVM::MMATypes::bf16 : NVVM::MMATypes::tf32;
      types = {type, type};
    }
    int64_t shape[] = {plan.instruction->m, plan.instruction->n, plan.instruction->k};
    return NVVM::MmaOp::create(
        d.b, result, operandA, operandB, sums, shape, std::nullopt, std::nullopt, types,
        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
  }

  Value sum(Value x, Value y) {
    if (plan.instruction->isInteger())
      return arith::AddIOp::create(d.b, x, y);
    return arith::AddFOp::create(d.b, x, y);
  }

  /// Adds the old C, unless it is to be overwritten, and stores.
  void epilogue(ArrayRef<Value> sums, Value pointer, Value base) {
    const FragmentLayout &layout = plan.instruction->c;
    SmallVector<int> rowWeights, columnWeights;
    for (FragmentPosition bit : layout.laneBits) {
      rowWeights.push_back(bit.row);
      columnWeights.push_back(bit.column);
    }
    Value laneRow = d.add(warpRow, d.weighBits(lane, rowWeights));
    Value laneColumn = d.add(warpColumn, d.weighBits(lane, columnWeights));
    int tilesM = plan.tile.warpM() / plan.instruction->m,
        tilesN = plan.tile.warpN() / plan.instruction->n;
    for (int tileM = 0; tileM < tilesM; ++tileM)
      for (int half = 0; half < 2; ++half) {
        int rowInWarp = tileM * plan.instruction->m + layout.position(0, 2 * half).row;
        Value row = d.add(rowStart, d.widen(d.add(laneRow, d.i32(rowInWarp))));
        OpBuilder::InsertionGuard guard(d.b);
        enterIf(bound(row, plan.m, plan.tile.m));
        Value rowOffset = d.add(base, d.offsetOf(2, plan.m, row));
        for (int tileN = 0; tileN < tilesN; ++tileN) {
          Value column =
              d.add(columnStart, d.widen(d.add(laneColumn, d.i32(tileN * plan.instruction->n))));
          ArrayRef<Value> pair = sums.slice((tileM * tilesN + tileN) * 4 + 2 * half, 2);
          storePair(pair, pointer, rowOffset, column);
        }
      }
  }

  /// Tests whether a row or column is inside; null if it certainly is.
  Value bound(Value position, ArrayRef<GemmLoop> group, int tile) {
    bool known = llvm::all_of(group, [](const GemmLoop &loop) { return loop.size.isKnown(); });
    if (known && GemmPlan::extent(group).value % tile == 0)
      return Value();
    return d.less(position, extent(group));
  }

  void enterIf(Value condition) {
    if (!condition)
      return;
    auto branch = scf::IfOp::create(d.b, condition, /*withElseRegion=*/false);
    d.b.setInsertionPointToStart(branch.thenBlock());
  }

  void storePair(ArrayRef<Value> pair, Value pointer, Value rowOffset, Value column) {
    if (plan.pairedStore) {
      OpBuilder::InsertionGuard guard(d.b);
      enterIf(bound(column, plan.n, plan.tile.n));
      Value place = d.advance(pointer, d.add(rowOffset, d.offsetOf(2, plan.n, column)), 4);
      Type type = VectorType::get({2}, accumulatorType());
      Value both = LLVM::UndefOp::create(d.b, type);
      for (int i = 0; i < 2; ++i)
        both = LLVM::InsertElementOp::create(d.b, both, pair[i], d.i32(i));
      if (!plan.fresh)
        both = sum(d.load(type, place, 8), both);
      d.store(both, place, 8);
      return;
    }
    for (int i = 0; i < 2; ++i) {
      OpBuilder::InsertionGuard guard(d.b);
      Value here = d.add(column, d.ix(i));
      enterIf(bound(here, plan.n, plan.tile.n));
      Value place = d.advance(pointer, d.add(rowOffset, d.offsetOf(2, plan.n, here)), 4);
      Value value = pair[i];
      if (!plan.fresh)
        value = sum(d.load(accumulatorType(), place, 4), value);
      d.store(value, place, 4);
    }
  }

  GemmBuilder d;
  GemmPlan plan;
  OperandStaging a, b;
  Value thread, lane, warpRow, warpColumn, rowStart, columnStart, batch;
};

} // namespace

gpu::GPUFuncOp mlir::mp::emitGemmKernel(gpu::GPUModuleOp module, Location loc, StringRef name,
                                        const GemmPlan &hostPlan, TypeRange buffers) {
  ImplicitLocOpBuilder b(loc, module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  Type i8 = b.getI8Type();
  GemmBuilder device{b, hostPlan.fitsInt32() ? b.getI32Type() : b.getI64Type()};

  // Kernel arguments: buffers, then dynamic sizes.
  GemmPlan plan = hostPlan;
  SmallVector<Size *> dynamics = dynamicSizes(plan);
  SmallVector<Type> types(buffers);
  types.append(dynamics.size(), b.getIndexType());
  auto kernel = gpu::GPUFuncOp::create(b, name, b.getFunctionType(types, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  kernel.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({plan.tile.threads(), 1, 1}));
  // One block a multiprocessor is fine: without this ptxas may spill to fit more of them.
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(1));
  Block &entry = kernel.getBody().front();
  device.b.setInsertionPointToStart(&entry);
  gpu::ReturnOp::create(device.b);
  device.b.setInsertionPointToStart(&entry);
  for (auto [i, size] : llvm::enumerate(dynamics))
    size->dynamic = arith::IndexCastOp::create(device.b, device.indexType,
                                               entry.getArgument(buffers.size() + i));
  auto globalPointer = LLVM::LLVMPointerType::get(b.getContext(), 1);
  SmallVector<Value> pointers;
  for (unsigned operand = 0; operand < 3; ++operand) {
    Value address =
        memref::ExtractAlignedPointerAsIndexOp::create(device.b, entry.getArgument(operand));
    address = arith::IndexCastOp::create(device.b, device.b.getI64Type(), address);
    pointers.push_back(LLVM::IntToPtrOp::create(device.b, globalPointer, address));
  }

  OpBuilder::InsertPoint body = device.b.saveInsertionPoint();
  GemmKernel writer(device, plan);
  b.setInsertionPoint(kernel);
  auto shared = LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(i8, writer.sharedBytes()),
                                       /*isConstant=*/false, LLVM::Linkage::Internal,
                                       (name + "_tiles").str(), Attribute(), /*alignment=*/128,
                                       /*addrSpace=*/3);
  device.b.restoreInsertionPoint(body);
  Value sharedPointer = LLVM::AddressOfOp::create(device.b, shared);
  writer.emit(pointers, sharedPointer);
  return kernel;
}
