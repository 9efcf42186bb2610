// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the contractions whose weights are sparse.

#include "../Select/TargetPart.h"
#include "ConstantMatrix.h"
#include "SparseWeights.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Dialect/MPK/MPKDialect.h"
#include "mp/Kernels/Passes.h"
#include "mp/Performance/Estimate.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mp;
using mpcore::layouts::DenseGroup;

namespace {
struct SparseFactor {
  unsigned operand; ///< 0 or 1
  unsigned loop;    ///< of the sum, along which four follow each other
};
} // namespace

/// The same contraction with factors A and B exchanged.
static Contraction exchanged(const Contraction &contraction) {
  Contraction other = contraction;
  std::swap(other.m, other.n);
  std::swap(other.access[0], other.access[1]);
  std::swap(other.format[0], other.format[1]);
  std::swap(other.isUnsigned[0], other.isUnsigned[1]);
  return other;
}

static void moveInnermost(Contraction &contraction, unsigned loop) {
  llvm::erase(contraction.k, loop);
  contraction.k.push_back(loop);
}

/// Reads A; nothing if it is no constant. `first` is what is in the way, else.
static std::optional<unsigned> findGroupLoop(Value buffer, Contraction contraction,
                                             ArrayRef<int64_t> ranges, bool &isConstant,
                                             std::optional<DenseGroup> &first) {
  if (contraction.k.empty())
    return std::nullopt;
  // In the order of the loops, then along each that has whole groups.
  SmallVector<unsigned> candidates = {contraction.k.back()};
  for (unsigned loop : llvm::reverse(ArrayRef(contraction.k).drop_back()))
    if (ranges[loop] % 4 == 0)
      candidates.push_back(loop);
  for (unsigned loop : candidates) {
    moveInnermost(contraction, loop);
    auto matrix = ConstantMatrix::read(buffer, contraction.access[0], contraction, ranges);
    if (!matrix)
      return std::nullopt;
    isConstant = true;
    std::optional<DenseGroup> dense = matrix->findDense();
    if (!dense)
      return loop;
    if (!first)
      first = dense;
  }
  return std::nullopt;
}

/// The factor of a contraction that can be sparse on `model`. `buffers` hold its operands, null for
/// those that are made on the way. On failure `reason` says why there is none.
static FailureOr<SparseFactor> findSparseFactor(linalg::GenericOp op, ArrayRef<Value> buffers,
                                                const target::TargetModel &model,
                                                std::string &reason) {
  StringRef format = op->getAttrOfType<StringAttr>(kMmaAttrName).getValue();
  if (!selectSparseInstruction(model, format)) {
    reason = (model.name + " has no mma.sp of " + format + " that is written here").str();
    return failure();
  }
  FailureOr<Contraction> contraction = matchContraction(op, reason);
  if (failed(contraction))
    return failure();
  const SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  bool isConstant = false;
  std::optional<DenseGroup> first;
  for (unsigned operand : {1, 0})
    if (buffers[operand])
      if (auto loop =
              findGroupLoop(buffers[operand], operand ? exchanged(*contraction) : *contraction,
                            ranges, isConstant, first))
        return SparseFactor{operand, *loop};
  if (first)
    reason = llvm::formatv("of the four weights of output {0} from product {1} on, {2} are not "
                           "zero",
                           first->row, first->k, first->nonZeros);
  else if (!isConstant)
    reason = "neither factor is a constant of 8 or 16 bits, whose zeros could be checked";
  return failure();
}

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

/// True if mma.sp is modelled to be faster than the dense product on the first part of `model`.
static bool isSparseFaster(linalg::GenericOp op, const SparseFactor &factor,
                           const target::TargetModel &model) {
  using namespace mpcore::performance;
  std::string reason;
  FailureOr<Contraction> contraction = matchContraction(op, reason);
  const Part *part = firstPart(model);
  if (failed(contraction) || !part)
    return false;
  const SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto extent = [&](ArrayRef<unsigned> loops) {
    int64_t size = 1;
    for (unsigned loop : loops)
      size *= ShapedType::isDynamic(ranges[loop]) ? 1024 : std::max<int64_t>(ranges[loop], 1);
    return size;
  };
  auto secondsOf = [&](const Contraction &c, bool sparse) {
    MatmulProblem problem;
    problem.batch = extent(c.batch), problem.m = extent(c.m), problem.n = extent(c.n);
    problem.k = extent(c.k), problem.sparseA = sparse;
    const bool isInteger = isa<IntegerType>(c.format[0]);
    StringRef format = op->getAttrOfType<StringAttr>(kMmaAttrName).getValue();
    problem.format = isInteger ? "i8" : format.str();
    problem.result = isInteger ? "i32" : "f32";
    llvm::Expected<Ranked> best = fastestWritten(problem, *part);
    if (!best) {
      llvm::consumeError(best.takeError());
      return std::numeric_limits<double>::infinity();
    }
    return best->estimate.seconds;
  };
  return secondsOf(factor.operand ? exchanged(*contraction) : *contraction, true) <
         secondsOf(*contraction, false);
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
static bool isProduct(linalg::GenericOp op) {
  auto dispatch = op->getParentOfType<mpk::DispatchOp>();
  return op->hasAttr(kMmaAttrName) &&
         (!dispatch ||
          (dispatch.getSchedule() && dispatch.getSchedule()->getFamily() == mpk::Family::Matmul));
}

void mlir::mp::chooseSparse(linalg::GenericOp op, const target::TargetModel &model) {
  if (!isProduct(op))
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
