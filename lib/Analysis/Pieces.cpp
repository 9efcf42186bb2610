// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads pieces off concatenations, chains of insertions, and loops that choose by an index.

#include "mp/Analysis/Pieces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mp;

static constexpr size_t kMostPieces = 4;

/// Sorts the pieces; nothing if they overlap, leave elements out, or are too many.
static std::optional<Whole> checkPieces(Whole whole, int64_t size) {
  llvm::erase_if(whole.pieces, [](const Piece &piece) { return piece.size == 0; });
  llvm::sort(whole.pieces, [](const Piece &a, const Piece &b) { return a.offset < b.offset; });
  int64_t next = 0;
  for (const Piece &piece : whole.pieces) {
    if (piece.offset != next)
      return std::nullopt;
    next += piece.size;
  }
  if (next != size || whole.pieces.size() < 2 || whole.pieces.size() > kMostPieces)
    return std::nullopt;
  return whole;
}

static std::optional<Whole> readConcatenation(Operation *op, ValueRange inputs, unsigned dim) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || type.isDynamicDim(dim))
    return std::nullopt;
  Whole whole{{op}, dim, {}};
  int64_t offset = 0;
  for (Value input : inputs) {
    auto part = dyn_cast<RankedTensorType>(input.getType());
    if (!part || part.isDynamicDim(dim))
      return std::nullopt;
    whole.pieces.push_back({input, offset, part.getDimSize(dim)});
    offset += part.getDimSize(dim);
  }
  return checkPieces(std::move(whole), type.getDimSize(dim));
}

/// Adds what `op` inserts into a tensor of `sizes`; fails if that does not lie beside other pieces
/// along one dimension, `dim` once it is known.
static LogicalResult addPiece(tensor::InsertSliceOp op, ArrayRef<OpFoldResult> sizes, Whole &whole,
                              std::optional<unsigned> &dim) {
  RankedTensorType source = op.getSourceType();
  if (!op.hasUnitStride() || source.getRank() != op.getDestType().getRank() ||
      llvm::any_of(op.getStaticOffsets(), ShapedType::isDynamic))
    return failure();
  for (auto [i, offset, size] : llvm::enumerate(op.getStaticOffsets(), op.getMixedSizes())) {
    if (offset == 0 && isEqualConstantIntOrValue(size, sizes[i]))
      continue;
    if (dim.value_or(i) != i || source.isDynamicDim(i))
      return failure();
    dim = unsigned(i);
  }
  if (!dim)
    return failure();
  whole.ops.push_back(op);
  whole.pieces.push_back({op.getSource(), op.getStaticOffset(*dim), source.getDimSize(*dim)});
  return success();
}

static std::optional<Whole> readInsertions(tensor::InsertSliceOp last) {
  RankedTensorType type = last.getDestType();
  Value base = last.getDest();
  while (auto insert = base.getDefiningOp<tensor::InsertSliceOp>())
    base = insert.getDest();
  auto empty = base.getDefiningOp<tensor::EmptyOp>();
  if (!empty && !type.hasStaticShape())
    return std::nullopt;
  const SmallVector<OpFoldResult> sizes =
      empty ? empty.getMixedSizes() : getAsIndexOpFoldResult(type.getContext(), type.getShape());
  Whole whole;
  std::optional<unsigned> dim;
  int64_t covered = 0;
  for (auto op = last; op; op = op.getDest().getDefiningOp<tensor::InsertSliceOp>()) {
    if (failed(addPiece(op, sizes, whole, dim)) || type.isDynamicDim(*dim))
      return std::nullopt;
    covered += whole.pieces.back().size;
    if (covered >= type.getDimSize(*dim))
      break;
  }
  whole.dim = *dim;
  return checkPieces(std::move(whole), type.getDimSize(*dim));
}

namespace {

/// Reads a concatenation as loops that take each element from the first piece that ends behind it,
/// which StableHLO's lowering writes.
class Choices {
public:
  explicit Choices(linalg::GenericOp op) : op(op) {}

  std::optional<Whole> read() {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    Value chosen = op.getBody()->getTerminator()->getOperand(0);
    whole.ops.push_back(op);
    while (auto choice = chosen.getDefiningOp<scf::IfOp>()) {
      std::optional<int64_t> end = endOfPiece(choice.getCondition());
      if (!type || !end || !addPiece(choice.thenYield().getOperand(0), *end))
        return std::nullopt;
      chosen = choice.elseYield().getOperand(0);
    }
    if (!dim || type.isDynamicDim(*dim) || !addPiece(chosen, type.getDimSize(*dim)))
      return std::nullopt;
    whole.dim = *dim;
    return checkPieces(std::move(whole), type.getDimSize(*dim));
  }

private:
  /// The end that the index of a dimension is compared with; the same dimension for all pieces.
  std::optional<int64_t> endOfPiece(Value condition) {
    auto compare = condition.getDefiningOp<arith::CmpIOp>();
    auto index = compare ? compare.getLhs().getDefiningOp<linalg::IndexOp>() : linalg::IndexOp();
    if (!index || compare.getPredicate() != arith::CmpIPredicate::ult ||
        dim.value_or(index.getDim()) != index.getDim())
      return std::nullopt;
    dim = unsigned(index.getDim());
    return getConstantIntValue(compare.getRhs());
  }

  bool addPiece(Value element, int64_t end) {
    auto extract = element.getDefiningOp<tensor::ExtractOp>();
    auto type = extract ? extract.getTensor().getType() : RankedTensorType();
    const int64_t start =
        whole.pieces.empty() ? 0 : whole.pieces.back().offset + whole.pieces.back().size;
    if (!type || type.getRank() != op.getNumLoops() || type.getDimSize(*dim) != end - start)
      return false;
    for (auto [loop, index] : llvm::enumerate(extract.getIndices()))
      if (!isIndex(index, unsigned(loop), loop == *dim ? start : 0) &&
          !(type.getDimSize(loop) == 1 && loop != *dim && matchPattern(index, m_Zero())))
        return false;
    whole.pieces.push_back({extract.getTensor(), start, end - start});
    return true;
  }

  /// True if `value` is the index of `loop`, less `start`.
  static bool isIndex(Value value, unsigned loop, int64_t start) {
    if (auto less = value.getDefiningOp<arith::SubIOp>(); less && start != 0)
      return getConstantIntValue(less.getRhs()) == start && isIndex(less.getLhs(), loop, 0);
    auto index = value.getDefiningOp<linalg::IndexOp>();
    return index && index.getDim() == loop && start == 0;
  }

  linalg::GenericOp op;
  Whole whole;
  std::optional<unsigned> dim;
};

} // namespace

static bool makesElements(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() && op->getNumResults() == 1 &&
         op.getNumParallelLoops() == op.getNumLoops() &&
         op.getIndexingMapMatchingResult(op->getOpResult(0)).isIdentity();
}

std::optional<Whole> mlir::mp::readWhole(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return makesElements(generic) ? Choices(generic).read() : std::nullopt;
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return readConcatenation(op, concat.getInputs(), unsigned(concat.getDim()));
  if (auto concat = dyn_cast<tosa::ConcatOp>(op))
    return readConcatenation(op, concat.getInput1(), concat.getAxis());
  auto insert = dyn_cast<tensor::InsertSliceOp>(op);
  if (!insert)
    return std::nullopt;
  auto next = insert->hasOneUse() ? dyn_cast<tensor::InsertSliceOp>(*insert->user_begin())
                                  : tensor::InsertSliceOp();
  return next && next.getDest() == insert.getResult() ? std::nullopt : readInsertions(insert);
}
