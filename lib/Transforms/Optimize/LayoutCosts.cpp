// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks the performance model for a product, and for copies of its tiles that are narrower than 16
// bytes, which that leaves out.

#include "LayoutCosts.h"

#include "../Common/ProductProblem.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Performance/Estimate.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mpcore::performance;

namespace {
/// A loop, as it walks through one operand.
struct Walk {
  int64_t size, step; ///< step: in elements; kUnknown where a size is dynamic
  bool isPadded;      ///< it reaches beyond the ends of what lies in memory
};

/// Holds what a thread reads at once, and what neighbouring threads read in one piece, in elements.
struct Run {
  int64_t width = 1, length = 1;
};
} // namespace

/// Divides by nothing, and continues nothing.
static constexpr int64_t kUnknown = -1;
/// Rows and columns of a tile, of which there are less where blocks are few, and warp instructions
/// for one access: those of cp.async, and those that load, join and store elements, with their
/// addresses.
static constexpr double kTileRows = 128, kFewestRows = 32, kTileColumns = 64;
static constexpr double kCopies = 3, kLoads = 8;

/// As kernels find it (planGemm), from loops in their order.
static Run runAlong(ArrayRef<Walk> group, ArrayRef<Walk> others, int64_t most) {
  Run run;
  size_t outside = group.size();
  while (outside > 0 && group[outside - 1].step == run.length && !group[outside - 1].isPadded &&
         group[outside - 1].size != kUnknown)
    run.length *= group[--outside].size;
  auto isAligned = [&](const Walk &walk) { return walk.step % run.width == 0; };
  for (run.width = most; run.width > 1; run.width /= 2)
    if (run.length % run.width == 0 && llvm::all_of(group.take_front(outside), isAligned) &&
        llvm::all_of(others, isAligned))
      break;
  return run;
}

/// The tensor that lies in memory for an operand, and along which of its dimensions something lies
/// beyond its ends: kernels read what casts and paddings make as they copy it.
static Value findSource(Value value, SmallVectorImpl<bool> &padded) {
  while (Operation *def = value.getDefiningOp()) {
    if (auto padding = dyn_cast<tensor::PadOp>(def)) {
      for (auto [dim, low, high] : llvm::enumerate(padding.getStaticLow(), padding.getStaticHigh()))
        padded[dim] = padded[dim] || low != 0 || high != 0;
      value = padding.getSource();
    } else if (isa<CastOp>(def)) {
      value = def->getOperand(0);
    } else {
      break;
    }
  }
  return value;
}

/// Finds how each loop walks through the operand, by the loops' numbers.
static SmallVector<Walk> walksThrough(OpOperand &operand, AffineMap map, bool isMoved,
                                      ArrayRef<int64_t> loopSizes) {
  SmallVector<bool> padded(map.getNumResults(), false);
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(findSource(operand.get(), padded).getType()).getShape());
  if (isMoved) {
    applyPermutationToVector(shape, channelsLast(int64_t(shape.size())));
    applyPermutationToVector(padded, channelsLast(int64_t(shape.size())));
  }
  SmallVector<Walk> walks;
  for (int64_t size : loopSizes)
    walks.push_back({size, 0, false});
  FailureOr<LinearAccess> access = LinearAccess::of(map);
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    for (auto [loop, walk] : llvm::enumerate(walks)) {
      const int64_t times = succeeded(access) ? access->coefficients[dim][loop] : 1;
      if (times == 0 || walk.step == kUnknown)
        continue;
      walk.step = stride == kUnknown || failed(access) ? kUnknown : walk.step + times * stride;
      walk.isPadded |= padded[dim];
    }
    stride =
        stride == kUnknown || ShapedType::isDynamic(shape[dim]) ? kUnknown : stride * shape[dim];
  }
  return walks;
}

/// Adds what it takes to copy the tiles of an operand, `times` over.
static void countCopies(ArrayRef<Walk> walks, AffineMap map, AffineMap result, double times,
                        unsigned bits, bool hasAsync, KernelCounts &counts) {
  SmallVector<Walk> sum, outer;
  double elements = times;
  for (auto [loop, walk] : llvm::enumerate(walks)) {
    if (walk.size == 1 || !map.isFunctionOfDim(unsigned(loop)))
      continue;
    (result.isFunctionOfDim(unsigned(loop)) ? outer : sum).push_back(walk);
    elements *= double(walk.size == kUnknown ? kAssumedSize : walk.size);
  }
  const int64_t bytes = std::max(bits / 8, 1u), most = std::max<int64_t>(16 / bytes, 1);
  const Run alongSum = runAlong(sum, outer, most), alongOuter = runAlong(outer, sum, most);
  const Run run = alongSum.width >= alongOuter.width ? alongSum : alongOuter;
  const bool isAsync = hasAsync && run.width * bytes >= 4;
  counts.warpInstructions += elements / double(run.width) / 32 * (isAsync ? kCopies : kLoads);
  counts.sectors +=
      elements / double(std::clamp<int64_t>(run.length, 1, std::max<int64_t>(32 / bytes, 1)));
}

static MatmulProblem problemOf(linalg::LinalgOp op, Sizes &sizes) {
  MatmulProblem problem = productOf(op, sizes);
  auto element = dyn_cast<IntegerType>(getElementTypeOrSelf(op->getOperand(0).getType()));
  if (element && element.getWidth() == 8) {
    problem.format = "i8";
    problem.result = "i32";
  }
  return problem;
}

int64_t LayoutCosts::ofProducts(linalg::LinalgOp op, const LoopOrder &loops) {
  if (!multiplies(op))
    return 0;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges(), loopSizes;
  for (int64_t loop : loops.order)
    loopSizes.push_back(ShapedType::isDynamic(ranges[loop]) ? kUnknown : ranges[loop]);
  const MatmulProblem problem = problemOf(op, sizes);
  const double columns = std::ceil(double(problem.n) / kTileColumns);
  double rows = 0;
  KernelCounts counts;
  for (double tile = kTileRows; tile >= kFewestRows; tile /= 2) {
    rows = std::ceil(double(problem.m) / tile);
    counts.blocks = double(problem.batch) * rows * columns;
    if (counts.blocks >= model.part().multiprocessors())
      break;
  }
  counts.threads = 128;
  counts.uniqueBytes = minimumBytes(problem);
  for (OpOperand *factor : op.getDpsInputOperands()) {
    const unsigned number = factor->getOperandNumber();
    AffineMap map = loops.maps[number];
    const Type element = getElementTypeOrSelf(factor->get().getType());
    countCopies(walksThrough(*factor, map, loops.isMoved[number], loopSizes), map,
                loops.maps.back(), number == 0 ? columns : rows,
                element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64,
                model.target().memory.cpAsync, counts);
  }
  const double copies = estimate(counts, model.part()).seconds * 1e12;
  return std::max(model.timeOf(problem), model.launch() + int64_t(std::min(copies, 1e15)));
}

/// True if elementwise ops make the value of what is there before them: a kernel that can write it
/// in any order. What is computed from the sums of a kernel is written by that.
static bool isMadeByElements(Value value) {
  Operation *def = value.getDefiningOp();
  return def && OpTrait::hasElementwiseMappableTraits(def) &&
         llvm::all_of(def->getOperands(), [](Value operand) {
           Operation *source = operand.getDefiningOp();
           return !source || source->hasTrait<OpTrait::ConstantLike>() || isMadeByElements(operand);
         });
}

int64_t LayoutCosts::ofTransposition(Value value) {
  const Type element = getElementTypeOrSelf(value.getType());
  const unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  return isMadeByElements(value) ? model.memoryTime(sizes.countBytes(value, bits))
                                 : model.castTime(sizes.countElements(value), bits, bits);
}
