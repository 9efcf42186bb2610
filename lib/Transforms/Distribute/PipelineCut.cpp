// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts the forward pass so that the stage that takes longest takes as little as it can.

#include "Pipeline.h"

#include "../Common/ProductProblem.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::distribute;

/// True for contractions; all other ops stay with what they read.
bool StagePlan::mayBeginStage(Operation *op) const {
  return isContraction(op) && facts.lookup(op->getResult(0)).readsState;
}

/// Contractions as kernels of their own; everything else as parts of kernels, which move bytes.
int64_t StagePlan::timeOf(Operation *op) const {
  Sizes sizes(1);
  if (isContraction(op))
    return costs.timeOf(productOf(op, sizes));
  if (!isa<linalg::LinalgOp>(op) && !op->hasTrait<OpTrait::Elementwise>())
    return 0;
  uint64_t bytes = 0;
  auto add = [&](Value value) {
    Type element = getElementTypeOrSelf(value.getType());
    if (isa<RankedTensorType>(value.getType()) && element.isIntOrFloat())
      bytes += sizes.countBytes(value, element.getIntOrFloatBitWidth());
  };
  llvm::for_each(usesOf(op), add);
  llvm::for_each(op->getResults(), add);
  return costs.memoryTime(bytes);
}

SmallVector<int64_t> StagePlan::times() const {
  SmallVector<int64_t> found(size_t(stages), 0);
  for (Operation &op : ops()) {
    const int64_t number = stageOf(op.getResult(0));
    const bool isEach = phaseOf(&op) == Phase::Forward || phaseOf(&op) == Phase::Backward;
    if (number != kAnywhere)
      found[size_t(number)] += timeOf(&op) * (isEach ? microBatches : 1);
  }
  return found;
}

/// Cuts a line of pieces into `count` parts that are not empty, so that the longest is as short as
/// it can be: the piece with which each part begins.
static SmallVector<size_t> cutEvenly(ArrayRef<int64_t> pieces, size_t count) {
  const size_t n = pieces.size();
  SmallVector<int64_t> sums{0};
  for (int64_t piece : pieces)
    sums.push_back(sums.back() + piece);
  // longest[part][end]: of the first `end` pieces in `part + 1` parts.
  std::vector<std::vector<int64_t>> longest(count, std::vector<int64_t>(n + 1, INT64_MAX));
  std::vector<std::vector<size_t>> begins(count, std::vector<size_t>(n + 1, 0));
  for (size_t end = 1; end <= n; ++end)
    longest[0][end] = sums[end];
  for (size_t part = 1; part < count; ++part)
    for (size_t end = part + 1; end <= n; ++end)
      for (size_t begin = part; begin < end; ++begin)
        if (int64_t time = std::max(longest[part - 1][begin], sums[end] - sums[begin]);
            time < longest[part][end]) {
          longest[part][end] = time;
          begins[part][end] = begin;
        }
  SmallVector<size_t> found(count, 0);
  for (size_t part = count - 1, end = n; part > 0; --part)
    found[part] = end = begins[part][end];
  return found;
}

// A plan with a stage for each contraction says what comes with it: what follows in the forward
// pass, its part of the backward pass, and the parameters that move by that. Stages of several
// contractions do together what these would do alone, since an op's stage is the least or the
// greatest of others'.
LogicalResult StagePlan::findCut() {
  SmallVector<Operation *> begins;
  for (Operation &op : ops())
    if (phaseOf(&op) == Phase::Forward && mayBeginStage(&op))
      begins.push_back(&op);
  if (stages > std::max<int64_t>(1, int64_t(begins.size())))
    return step.emitError("mp-pipeline: option 'stages' is ")
           << stages << ", expected at most " << std::max<size_t>(1, begins.size())
           << ", as many as the forward pass has contractions of parameters to cut it at";
  if (stages == 1)
    return success();
  for (auto [i, op] : llvm::enumerate(begins))
    cut[op] = int64_t(i);
  const int64_t wanted = std::exchange(stages, int64_t(begins.size()));
  LogicalResult placed = place();
  const SmallVector<int64_t> pieces = times();
  stages = wanted;
  if (failed(placed))
    return failure();
  SmallVector<size_t> first = cutEvenly(pieces, size_t(stages));
  for (auto [i, op] : llvm::enumerate(begins))
    cut[op] = std::distance(first.begin(), llvm::upper_bound(first, i)) - 1;
  return success();
}
