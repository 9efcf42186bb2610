// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits a contraction kernel: a ring of stages that cp.async or loads fill, products of fragments
// that are read one part ahead, by mma.sync or the scalar units, stores of the sums.

#include "GemmKernel.h"

#include "../Build/KernelFunction.h"
#include "../Build/MatrixUnit.h"
#include "../Build/Raster.h"
#include "../Build/ScalarProducts.h"
#include "../Build/StagedSums.h"
#include "SplitSums.h"
#include "StageCopies.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mp/Kernels/Build/Pipeline.h"

using namespace mlir;
using namespace mlir::mp;
using mpcore::performance::MatmulSchedule;

static Value tilesOf(DeviceBuilder &d, ArrayRef<StridedLoop> loops, int64_t tile) {
  return d.div(d.add(extentOf(d, loops), tile - 1), tile);
}

/// Gives a plan of ragged products the sizes of that which the block works for, of `sizes` of each;
/// returns its number, and which of its blocks this is.
static std::pair<Value, Value> chooseSizes(DeviceBuilder &d, GemmPlan &plan,
                                           ArrayRef<SmallVector<Value>> sizes) {
  SmallVector<Size *> dynamics = dynamicSizes(plan);
  auto assign = [&](ArrayRef<Value> values) {
    for (auto [size, value] : llvm::zip_equal(dynamics, values))
      size->dynamic = value;
  };
  SmallVector<Value> counts;
  for (ArrayRef<Value> own : sizes) {
    assign(own);
    Value tiles = d.mul(tilesOf(d, plan.m, plan.schedule.m), tilesOf(d, plan.n, plan.schedule.n));
    counts.push_back(d.mul(extentOf(d, plan.batch), tiles));
  }
  Value block = d.widen(NVVM::BlockIdXOp::create(d.b, d.b.getI32Type()));
  auto [product, own] = findProduct(d, block, counts);
  assign(chooseProduct(d, product, sizes));
  return {product, own};
}

namespace {

class GemmKernel {
public:
  GemmKernel(DeviceBuilder device, const GemmPlan &kernelPlan)
      : d(std::move(device)), plan(kernelPlan), copier(d, plan), unit(makeUnit()),
        pipeline(int(plan.schedule.stages), unit->parts(),
                 plan.stageA.asynchronous || plan.stageB.asynchronous,
                 !plan.stageA.asynchronous || !plan.stageB.asynchronous),
        stageBytes(copier.bytes()) {}

  /// The pointers and scalars of each product. `operands` after A and B get their bases. The block
  /// is number `block` of those of `product`, which are null where products are of one size.
  void emit(ArrayRef<SmallVector<Value>> allPointers, ArrayRef<SmallVector<Value>> allScalars,
            Value product, Value block, Value sharedBase, MutableArrayRef<ResultOperand> operands,
            const GemmEnds &ends) {
    shared = sharedBase;
    locate(block);
    SmallVector<Value> pointers = allPointers.front(), scalars = allScalars.front();
    if (plan.products > 1 && !product) {
      Value each = d.mul(extentOf(d, plan.batch), int64_t(plan.schedule.splitK));
      product = d.div(position.batch, each);
      position.batch = d.rem(position.batch, each);
    }
    if (product) {
      pointers = chooseProduct(d, product, allPointers);
      scalars = chooseProduct(d, product, allScalars);
    }
    const StageCopies::Steps share = takeShare();
    SmallVector<Value> base;
    for (auto [operand, offset] : llvm::enumerate(plan.offset))
      base.push_back(d.add(d.ix(offset), offsetOf(d, operand, plan.batch, position.batch)));
    Value row = d.mul(position.row, int64_t(plan.schedule.m));
    Value column = d.mul(position.column, int64_t(plan.schedule.n));
    SmallVector<Value> paddedBatch;
    for (const PaddedDim &dim : plan.padded)
      paddedBatch.push_back(offsetOf(d, dim.coordinate, plan.batch, position.batch));
    copier.prepare(pointers, base, position, thread, paddedBatch, share);
    unit->prepare(lane, warpRow, warpColumn, slice);
    for (ResultOperand &o : operands)
      std::tie(o.pointer, o.base) = std::pair(pointers[o.operand], base[o.operand]);
    const EpilogueStore::Tile tile{plan.m, plan.n, copier.a().outer(), copier.b().outer()};
    SmallVector<Value> sums(unit->accumulators(), d.zero(unit->accumulatorType()));
    if (ends.start) { // sums of the scalar units
      EpilogueStore store(d, tile, row, scalar->rows(), column, scalar->columns());
      ends.startSums({d, store, nullptr, operands, scalars}, sums);
    }
    sums = multiplyAll(sums);
    if (!part)
      return end(sums, tile, row, column, [&](EpilogueStore &store, auto sum) {
        ends.epilogue({d, store, sum, operands, scalars});
      });
    const SharedSums shares(d, plan, tile, row, column, thread, operands);
    end(sums, tile, row, column,
        [&](EpilogueStore &store, auto sum) { shares.leave(store, sum, part); });
    shares.finish(position, product, scalars, ends);
  }

private:
  using Ending = function_ref<void(EpilogueStore &, function_ref<Value(Point)>)>;

  /// Calls `ending` for what threads have of the tile: once, or in a loop over its rows.
  void end(ArrayRef<Value> sums, const EpilogueStore::Tile &tile, Value row, Value column,
           Ending ending) {
    if (plan.stagesSums())
      return storeByRows(sums, tile, row, column, ending);
    if (scalar) {
      EpilogueStore store(d, tile, row, scalar->rows(), column, scalar->columns());
      return ending(
          store, [&](Point point) { return sums[scalar->accumulator(point.row, point.column)]; });
    }
    Value firstRow = d.add(row, d.widen(d.mul(warpRow, plan.warpM())));
    Value firstColumn = d.add(column, d.widen(d.mul(warpColumn, plan.warpN())));
    EpilogueStore store(d, {tile, plan.warpM(), plan.warpN(), firstRow, firstColumn, lane});
    ending(store, [&](Point point) { return sums[store.accumulator(point)]; });
  }

  std::unique_ptr<TileProducts> makeUnit() {
    if (!plan.instruction->isScalar())
      return std::make_unique<MmaSync>(d, *plan.instruction, copier.a(), copier.b(), plan.warpM(),
                                       plan.warpN(), int(plan.schedule.slices), copier.metadata());
    auto made = std::make_unique<ScalarProducts>(d, d.b.getF32Type(), copier.a(), copier.b(),
                                                 plan.warpM(), plan.warpN());
    scalar = made.get();
    return made;
  }

  /// Puts sums into shared memory, and calls `ending` in a loop over the rows of the tile.
  void storeByRows(ArrayRef<Value> sums, const EpilogueStore::Tile &tile, Value row, Value column,
                   Ending ending) {
    for (const PipelineEvent &event : pipeline.drain()) // nobody reads the last stages any more
      synchronize(event);
    const StagedSums staged(
        d, shared, tile.tileM, tile.tileN, plan.threads(), int(plan.schedule.slices),
        scalar ? StagedSums::ofRuns(scalar->rowRun()) : StagedSums::kOfFragments);
    if (scalar)
      staged.put(sums, scalar->rows(), scalar->columns());
    else
      staged.put(sums, plan.warpM(), plan.warpN(), warpRow, warpColumn, lane, slice);
    gpu::BarrierOp::create(d.b);
    OpBuilder::InsertionGuard guard(d.b);
    staged.enterBusy(thread);
    auto loop = scf::ForOp::create(d.b, d.i32(0), d.i32(staged.turns()), d.i32(1));
    keepWhole(loop);
    d.b.setInsertionPointToStart(loop.getBody());
    const StagedSums::Turn turn =
        staged.get(loop.getInductionVar(), thread, unit->accumulatorType());
    EpilogueStore store(d, tile, row, turn.rows, column, turn.columns);
    ending(store, [&](Point point) { return turn.sums[point.row][point.column]; });
  }

  /// Finds which steps of the sum are the block's, where blocks share it.
  StageCopies::Steps takeShare() {
    steps = d.narrow(tilesOf(d, plan.k, plan.schedule.depth()));
    firstStep = d.i32(0);
    if (plan.schedule.splitK == 1)
      return {};
    const int64_t parts = plan.schedule.splitK;
    Value all = steps, batches = extentOf(d, plan.batch);
    part = d.narrow(d.div(position.batch, batches));
    position.batch = d.rem(position.batch, batches);
    firstStep = d.div(d.mul(part, all), parts);
    Value end = d.div(d.mul(d.add(part, int64_t(1)), all), parts);
    steps = d.sub(end, firstStep);
    return {firstStep, end};
  }

  /// Holds what the loop carries besides accumulators and fragments.
  struct Position {
    Value read, write; ///< stages: that of this step, and the one that the step before has left
    StageCopies::Pointers pointers;
  };

  /// Computes which tile the block has, and which part of it the warp.
  void locate(Value block) {
    Type i32 = d.b.getI32Type();
    thread = NVVM::ThreadIdXOp::create(d.b, i32);
    lane = d.rem(thread, 32);
    Value warp = d.div(thread, 32);
    const int64_t warps = int64_t(plan.schedule.warpsM) * plan.schedule.warpsN;
    if (plan.schedule.slices > 1) {
      slice = d.div(warp, warps);
      warp = d.rem(warp, warps);
    }
    warpRow = d.div(warp, int64_t(plan.schedule.warpsN));
    warpColumn = d.rem(warp, int64_t(plan.schedule.warpsN));
    position = rasterize(d, block ? block : d.widen(NVVM::BlockIdXOp::create(d.b, i32)),
                         tilesOf(d, plan.m, plan.schedule.m), tilesOf(d, plan.n, plan.schedule.n));
  }

  SmallVector<Value> multiplyAll(SmallVector<Value> sums) {
    if (knownExtent(plan.k) == 0)
      return sums;
    Position start = fill();
    auto loop = scf::ForOp::create(d.b, d.i32(0), steps, d.i32(1), pack(sums, fragments, start));
    keepWhole(loop);
    OpBuilder::InsertionGuard guard(d.b);
    d.b.setInsertionPointToStart(loop.getBody());
    Position here = unpack(loop.getRegionIterArgs(), sums);
    Position next = multiplyStep(loop.getInductionVar(), here, sums);
    scf::YieldOp::create(d.b, pack(sums, fragments, next));
    return SmallVector<Value>(loop.getResults().take_front(unit->accumulators()));
  }

  static SmallVector<Value> pack(ArrayRef<Value> sums, ArrayRef<Value> fragments,
                                 const Position &p) {
    SmallVector<Value> values(sums);
    llvm::append_range(values, fragments);
    values.append({p.read, p.write});
    llvm::copy_if(p.pointers, std::back_inserter(values), [](Value value) { return value; });
    return values;
  }
  Position unpack(ValueRange values, SmallVectorImpl<Value> &sums) {
    sums.assign(values.begin(), values.begin() + unit->accumulators());
    values = values.drop_front(unit->accumulators());
    fragments.assign(values.begin(), values.begin() + unit->fragmentRegisters());
    values = values.drop_front(unit->fragmentRegisters());
    Position p{values[0], values[1], {}};
    values = values.drop_front(2);
    for (Value start : copier.start()) {
      p.pointers.push_back(start ? values.front() : Value());
      values = values.drop_front(start ? 1 : 0);
    }
    return p;
  }

  void synchronize(const PipelineEvent &event) {
    switch (event.kind) {
    case PipelineEvent::Commit: NVVM::CpAsyncCommitGroupOp::create(d.b); break;
    case PipelineEvent::Wait:
      NVVM::CpAsyncWaitGroupOp::create(d.b, d.b.getI32IntegerAttr(event.pending));
      break;
    case PipelineEvent::Barrier: gpu::BarrierOp::create(d.b); break;
    default: llvm_unreachable("not an event of synchronisation");
    }
  }

  /// Copies step `number` (i32) to the stage at `stage`.
  StageCopies::Accesses listCopies(Value stage, Value number,
                                   const StageCopies::Pointers &pointers) {
    return copier.list(stage, d.add(number, firstStep), d.less(number, steps), pointers);
  }

  /// All before the first step.
  Position fill() {
    auto stage = [&](int number) { return d.add(shared, int64_t(number) * stageBytes); };
    SmallVector<StageCopies::Accesses> copies;
    for (int ahead = 0; ahead < pipeline.stages - 1; ++ahead)
      copies.push_back(
          listCopies(stage(ahead), d.i32(ahead), copier.advance(copier.start(), ahead)));
    SmallVector<Work> reads;
    for (const PipelineEvent &event : pipeline.prologue())
      switch (event.kind) {
      case PipelineEvent::Copy:
        run(StageCopies::Accesses::share(copies[event.ahead].start, event.part,
                                         pipeline.copyParts()));
        break;
      case PipelineEvent::Put:
        run(StageCopies::Accesses::share(copies[event.ahead].put, event.part,
                                         pipeline.copyParts()));
        break;
      case PipelineEvent::Read:
        unit->read(stage(event.ahead), event.part, fragments, reads);
        run(reads);
        break;
      default: synchronize(event);
      }
    const int ahead = pipeline.stages - 1;
    return {stage(0), stage(ahead), copier.advance(copier.start(), ahead)};
  }

  static void run(ArrayRef<Work> work) {
    for (const Work &item : work)
      item();
  }

  /// One step: `sums` and `fragments` go from its start to its end.
  Position multiplyStep(Value step, const Position &here, SmallVectorImpl<Value> &sums) {
    Value following = d.add(here.read, int64_t(stageBytes));
    Value end = d.add(shared, int64_t(stageBytes) * pipeline.stages);
    following = d.select(d.equal(following, end), shared, following);

    SmallVector<Value> totals;
    if (plan.promotes) {
      totals.assign(sums.begin(), sums.end());
      sums.assign(totals.size(), d.zero(unit->accumulatorType()));
    }
    StageCopies::Accesses copies =
        listCopies(here.write, d.add(step, pipeline.stages - 1), here.pointers);
    SmallVector<Work> between;
    TileProducts::Fragments next;
    for (const PipelineEvent &event : pipeline.step())
      switch (event.kind) {
      case PipelineEvent::Read:
        unit->read(event.ahead ? following : here.read, event.part, next, between);
        break;
      case PipelineEvent::Copy:
        llvm::append_range(
            between, StageCopies::Accesses::share(copies.start, event.part, pipeline.copyParts()));
        break;
      case PipelineEvent::Multiply:
        unit->multiply(fragments, event.part, sums, between);
        between.clear();
        fragments = next;
        break;
      case PipelineEvent::Put:
        run(StageCopies::Accesses::share(copies.put, event.part, pipeline.copyParts()));
        break;
      default: synchronize(event);
      }
    for (auto [sum, total] : llvm::zip(sums, totals))
      sum = arith::AddFOp::create(d.b, total, sum);
    return {following, here.read, copier.advance(here.pointers, 1)};
  }

  DeviceBuilder d;
  const GemmPlan &plan;
  StageCopies copier;
  ScalarProducts *scalar = nullptr; ///< the unit, if it is that
  std::unique_ptr<TileProducts> unit;
  Pipeline pipeline;
  uint32_t stageBytes;
  Value thread, lane, warpRow, warpColumn, shared, steps;
  Value slice;           ///< of the sum; null if there is one
  Value part, firstStep; ///< of the sum that is the block's; no part: all of it
  TilePosition position;
  TileProducts::Fragments fragments; ///< that are multiplied next
};

} // namespace

gpu::GPUFuncOp mlir::mp::emitGemmKernel(gpu::GPUModuleOp module, Location loc, StringRef name,
                                        const GemmPlan &hostPlan, TypeRange buffers,
                                        TypeRange scalars, const GemmEnds &ends) {
  LLVM::GlobalOp shared = dynamicSharedMemory(module, loc);
  ImplicitLocOpBuilder b(loc, module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  DeviceBuilder d{b, hostPlan.fitsInt32() ? b.getI32Type() : b.getI64Type()};

  GemmPlan plan = hostPlan;
  SmallVector<Size *> dynamics = dynamicSizes(plan);
  SmallVector<Type> types;
  for (int product = 0; product < plan.products; ++product) {
    llvm::append_range(types, buffers);
    llvm::append_range(types, scalars);
  }
  const size_t fixed = types.size();
  const int sized = plan.isRagged ? plan.products : 1;
  types.append(sized * dynamics.size(), b.getIndexType());
  auto kernel = gpu::GPUFuncOp::create(b, name, b.getFunctionType(types, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  kernel.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({plan.threads(), 1, 1}));
  // One block a multiprocessor is fine: without this ptxas may spill to fit more of them.
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(1));
  Block &entry = kernel.getBody().front();
  d.b.setInsertionPointToStart(&entry);
  gpu::ReturnOp::create(d.b);
  d.b.setInsertionPointToStart(&entry);
  SmallVector<SmallVector<Value>> sizes(sized);
  ArrayRef<BlockArgument> last = entry.getArguments().drop_front(fixed);
  for (auto [i, argument] : llvm::enumerate(last))
    sizes[i / dynamics.size()].push_back(arith::IndexCastOp::create(d.b, d.indexType, argument));
  Value product, ownBlock;
  if (plan.isRagged)
    std::tie(product, ownBlock) = chooseSizes(d, plan, sizes);
  else
    for (auto [size, value] : llvm::zip_equal(dynamics, sizes.front()))
      size->dynamic = value;
  auto globalPointer = LLVM::LLVMPointerType::get(b.getContext(), 1);
  SmallVector<SmallVector<Value>> pointers(plan.products), scalarValues(plan.products);
  auto argument = entry.args_begin();
  for (int number = 0; number < plan.products; ++number) {
    for (size_t i = 0; i < buffers.size(); ++i) {
      Value address = memref::ExtractAlignedPointerAsIndexOp::create(d.b, *argument++);
      address = arith::IndexCastOp::create(d.b, d.b.getI64Type(), address);
      pointers[number].push_back(LLVM::IntToPtrOp::create(d.b, globalPointer, address));
    }
    scalarValues[number].assign(argument, argument + scalars.size());
    argument += scalars.size();
  }
  SmallVector<ResultOperand> operands;
  for (auto [number, type] : llvm::enumerate(buffers))
    if (number >= 2 && !(plan.sparse && number == plan.sparse->operand))
      operands.push_back({unsigned(number), cast<MemRefType>(type).getElementType(), Value(),
                          Value(), plan.width[number]});
  Value base =
      LLVM::PtrToIntOp::create(d.b, d.b.getI32Type(), LLVM::AddressOfOp::create(d.b, shared));
  GemmKernel(d, plan).emit(pointers, scalarValues, product, ownBlock, base, operands, ends);
  return kernel;
}
