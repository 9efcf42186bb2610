// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the contractions whose weights are sparse.

#include "../Select/MatmulProblem.h"
#include "../Select/SparseFactor.h"
#include "../Select/TargetPart.h"
#include "SparseWeights.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Dialect/MPK/MPKDialect.h"
#include "mp/Kernels/Passes.h"
#include "mp/Performance/Estimate.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mpcore::performance;

/// Marks the contraction as one with a sparse A; exchanges its factors if that was B.
static void markSparse(linalg::GenericOp op, const SparseFactor &factor) {
  OpBuilder b(op);
  op->setAttr(kMmaSparseAttrName, b.getI64IntegerAttr(factor.loop));
  if (factor.operand == 0)
    return;
  OpOperand &first = *op.getDpsInputOperand(0), &second = *op.getDpsInputOperand(1);
  Value a = first.get();
  first.set(second.get());
  second.set(a);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  std::swap(maps[0], maps[1]);
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  BlockArgument x = op.getBody()->getArgument(0), y = op.getBody()->getArgument(1);
  SmallVector<OpOperand *> usesOfX = llvm::map_to_vector(x.getUses(), [](auto &u) { return &u; });
  SmallVector<OpOperand *> usesOfY = llvm::map_to_vector(y.getUses(), [](auto &u) { return &u; });
  for (OpOperand *use : usesOfX)
    use->set(y);
  for (OpOperand *use : usesOfY)
    use->set(x);
  auto [formatA, formatB] = op->getAttrOfType<StringAttr>(kMmaAttrName).getValue().split('_');
  if (!formatB.empty())
    op->setAttr(kMmaAttrName, b.getStringAttr(formatB + "_" + formatA));
}

/// Returns what the model sees of the dense product, with what runs on its sums where that is
/// planned.
static std::optional<MatmulProblem> denseProblemOf(linalg::GenericOp op) {
  std::string reason;
  if (auto dispatch = op->getParentOfType<mpk::DispatchOp>()) {
    Block &body = dispatch.getBody().front();
    if (FailureOr<EpiloguePlan> plan = planEpilogue(body, reason);
        succeeded(plan) && plan->op == op)
      return problemOf(*plan, body);
  }
  FailureOr<Contraction> contraction = matchContraction(op, reason);
  if (failed(contraction))
    return std::nullopt;
  const SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto extent = [&](ArrayRef<unsigned> loops) {
    int64_t size = 1;
    for (unsigned loop : loops)
      size *=
          ShapedType::isDynamic(ranges[loop]) ? kAssumedSize : std::max<int64_t>(ranges[loop], 1);
    return size;
  };
  MatmulProblem problem;
  problem.batch = extent(contraction->batch), problem.m = extent(contraction->m);
  problem.n = extent(contraction->n), problem.k = extent(contraction->k);
  const bool isInteger = isa<IntegerType>(contraction->format[0]);
  StringRef format = op->getAttrOfType<StringAttr>(kMmaAttrName).getValue();
  problem.format = isInteger ? "i8" : format.split('_').first.str();
  problem.result = isInteger ? "i32" : "f32";
  return problem;
}

/// True if mma.sp is modelled to be faster than the dense product on the first part of `model`.
static bool isSparseFaster(linalg::GenericOp op, const SparseFactor &factor,
                           const target::TargetModel &model) {
  std::optional<MatmulProblem> dense = denseProblemOf(op);
  const Part *part = firstPart(model);
  if (!dense || !part)
    return false;
  auto secondsOf = [&](const MatmulProblem &problem) {
    llvm::Expected<Ranked> best = fastestWritten(problem, *part);
    if (!best) {
      llvm::consumeError(best.takeError());
      return std::numeric_limits<double>::infinity();
    }
    return best->estimate.seconds;
  };
  return secondsOf(sparseProblemOf(*dense, factor.operand)) < secondsOf(*dense);
}

/// The buffers of the host that are factors of a contraction, alone or in a dispatch.
static std::array<Value, 2> factorBuffers(linalg::GenericOp op) {
  std::array<Value, 2> buffers;
  auto dispatch = op->getParentOfType<mpk::DispatchOp>();
  for (auto [buffer, value] : llvm::zip(buffers, op.getDpsInputs())) {
    if (!dispatch)
      buffer = value;
    else if (auto argument = dyn_cast<BlockArgument>(value))
      buffer = dispatch->getOperand(argument.getArgNumber());
  }
  return buffers;
}

/// True for a contraction that is to be a kernel of its own, with an epilogue or without.
static bool isMatmul(linalg::GenericOp op) {
  auto dispatch = op->getParentOfType<mpk::DispatchOp>();
  return op->hasAttr(kMmaAttrName) &&
         (!dispatch ||
          (dispatch.getSchedule() && dispatch.getSchedule()->getFamily() == mpk::Family::Matmul));
}

void mlir::mp::chooseSparse(linalg::GenericOp op, const target::TargetModel &model) {
  if (!isMatmul(op))
    return;
  std::string reason;
  const bool isPinned = op->hasAttr(kScheduleAttrName);
  FailureOr<SparseFactor> factor = findSparseFactor(op, factorBuffers(op), model, reason);
  if (succeeded(factor) && !isPinned && !isSparseFaster(op, *factor, model)) {
    reason = "that is modelled to be no slower, by schedules of both";
    factor = failure();
  }
  if (failed(factor)) {
    remark::missed(op.getLoc(), remarks::kSparseProduct) << "products stay dense: " + reason;
    return;
  }
  remark::passed(op.getLoc(), remarks::kSparseProduct)
      << (factor->operand ? "two of each four weights are multiplied: B, which becomes A of mma.sp"
                          : "two of each four weights are multiplied: A, by mma.sp");
  markSparse(op, *factor);
}
