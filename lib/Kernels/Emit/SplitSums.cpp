// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the kernel that adds the parts of sums.

#include "SplitSums.h"

#include "../Build/KernelFunction.h"
#include "../Build/Raster.h"
#include "../Build/StagedSums.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mp;

bool mlir::mp::canSplitSums(const GemmPlan &plan) {
  auto isKnown = [&](const StridedLoop &loop) {
    return llvm::all_of(ArrayRef(loop.step).slice(2, plan.offset.size() - 2),
                        [](const Size &step) { return step.isKnown(); });
  };
  for (ArrayRef<StridedLoop> group : {ArrayRef(plan.batch), ArrayRef(plan.m), ArrayRef(plan.n)})
    if (!llvm::all_of(group, isKnown))
      return false;
  return plan.isCertainlyNonEmpty() && !plan.isRagged &&
         llvm::all_of(ArrayRef(plan.offset).drop_front(2),
                      [](const Size &offset) { return offset.isKnown(); });
}

GemmOperand mlir::mp::allocateParts(OpBuilder &builder, Location loc,
                                    const Contraction &contraction, ArrayRef<OpFoldResult> sizes,
                                    unsigned parts) {
  SmallVector<unsigned> loops(contraction.batch);
  llvm::append_range(loops, contraction.m);
  llvm::append_range(loops, contraction.n);
  SmallVector<int64_t> coefficients(sizes.size(), 0);
  int64_t sums = 1;
  for (unsigned loop : llvm::reverse(loops)) {
    coefficients[loop] = sums;
    sums *= *getConstantIntValue(sizes[loop]);
  }
  LinearAccess access;
  access.coefficients.push_back(coefficients);
  access.constants.push_back(0);
  auto type = MemRefType::get({sums * parts}, contraction.accumulator);
  Value buffer = memref::AllocOp::create(builder, loc, type, builder.getI64IntegerAttr(64));
  return {buffer, access, {}, {}};
}

namespace {
/// A block's tile of a batch: a row, or four; four columns a thread.
struct CombiningTile {
  int64_t rows, columns, tilesM, tilesN;
  explicit CombiningTile(const GemmPlan &plan) {
    const int64_t m = *knownExtent(plan.m), n = *knownExtent(plan.n);
    rows = m < 4 ? 1 : 4;
    columns = kCombiningThreads / rows * 4;
    tilesM = (m + rows - 1) / rows;
    tilesN = (n + columns - 1) / columns;
  }
};

/// The parts of sums of a thread, added when somebody asks for one of four neighbours.
class PartsInOrder {
public:
  PartsInOrder(DeviceBuilder &device, EpilogueStore &store, const ResultOperand &first,
               unsigned parts, int64_t sums)
      : d(device), store(store), first(first), parts(parts), sums(sums) {}

  Value operator()(Point point) {
    Value &known = whole[{point.row, point.column}];
    if (known)
      return known;
    SmallVector<SmallVector<Value>> loaded;
    for (unsigned part = 0; part < parts; ++part) {
      ResultOperand from = first;
      from.base = d.add(from.base, d.ix(int64_t(part) * sums));
      loaded.push_back(store.load(from, point));
    }
    const unsigned width = loaded.front().size(), start = point.column / width * width;
    for (auto [i, sum] : llvm::enumerate(addParts(d, loaded)))
      whole[{point.row, start + unsigned(i)}] = sum;
    return whole[{point.row, point.column}];
  }

private:
  DeviceBuilder &d;
  EpilogueStore &store;
  const ResultOperand &first;
  unsigned parts;
  int64_t sums; ///< of a part
  DenseMap<std::pair<unsigned, unsigned>, Value> whole;
};
} // namespace

int64_t mlir::mp::combiningBlocks(const GemmPlan &plan) {
  const CombiningTile tile(plan);
  return plan.products * *knownExtent(plan.batch) * tile.tilesM * tile.tilesN;
}

gpu::GPUFuncOp mlir::mp::emitCombination(gpu::GPUModuleOp module, Location loc, StringRef name,
                                         const GemmPlan &plan, TypeRange buffers, TypeRange scalars,
                                         function_ref<void(GemmEpilogue)> epilogue) {
  SmallVector<Type> types;
  for (int product = 0; product < plan.products; ++product) {
    llvm::append_range(types, buffers);
    llvm::append_range(types, scalars);
  }
  KernelFunction kernel(module, loc, name, types, kCombiningThreads);
  DeviceBuilder &d = kernel.d;
  const CombiningTile tile(plan);
  Value block = kernel.block(), thread = kernel.thread();
  const int64_t threadsOfRow = tile.columns / 4, tiles = tile.tilesM * tile.tilesN;
  Value batch = d.widen(d.div(block, tiles)), inBatch = d.rem(block, tiles);
  SmallVector<SmallVector<Value>> arguments(plan.products);
  for (auto [number, operand] : llvm::enumerate(kernel.operands))
    arguments[number / (buffers.size() + scalars.size())].push_back(
        operand.pointer ? operand.pointer : operand.scalar);
  SmallVector<Value> chosen = arguments.front();
  if (plan.products > 1) {
    const int64_t batches = *knownExtent(plan.batch);
    chosen = chooseProduct(d, d.div(batch, batches), arguments);
    batch = d.rem(batch, batches);
  }
  Value row = d.add(d.mul(d.div(inBatch, tile.tilesN), tile.rows), d.div(thread, threadsOfRow));
  Value column = d.add(d.mul(d.rem(inBatch, tile.tilesN), tile.columns),
                       d.mul(d.rem(thread, threadsOfRow), 4));
  EpilogueStore store(d, {plan.m, plan.n, int(tile.rows), int(tile.columns)}, d.widen(row),
                      {d.i32(0)}, d.widen(column), {d.i32(0), d.i32(1), d.i32(2), d.i32(3)});
  SmallVector<ResultOperand> operands;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const unsigned number = unsigned(i) + 2; // behind A and B
    Value base = d.add(d.ix(plan.offset[number]), offsetOf(d, number, plan.batch, batch));
    operands.push_back({number, kernel.operands[i].element(), chosen[i], base, plan.width[number]});
  }
  const SmallVector<Value> scalarValues(ArrayRef(chosen).drop_front(buffers.size()));
  PartsInOrder sum(d, store, operands.back(), plan.schedule.splitK, plan.sums());
  epilogue({d, store, [&](Point point) { return sum(point); }, ArrayRef(operands).drop_back(),
            scalarValues});
  return kernel.function;
}
