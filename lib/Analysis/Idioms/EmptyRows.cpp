// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads reductions by what they combine and which tensor they read, behind views that keep its
// rows.

#include "mp/Analysis/Idioms/EmptyRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mp/Interfaces/LoopNest.h"

using namespace mlir;
using namespace mlir::mp;

namespace {
/// A size: of which dimension of a tensor (-1 if it is known), and by what that is divided; or the
/// size that is known.
using Size = std::pair<int64_t, int64_t>;

/// The tensor whose rows others are, in their order, and the sizes by which these number them.
struct Rows {
  Value tensor; ///< null for what has no such rows
  SmallVector<Size> sizes;

  /// True if places that both number by a type of the same known sizes are the same.
  bool numberAs(const Rows &other) const {
    auto unknown = [](const Rows &rows) {
      return llvm::to_vector(llvm::make_filter_range(ArrayRef<Size>(rows.sizes).drop_back(),
                                                     [](Size size) { return size.first >= 0; }));
    };
    return tensor && tensor == other.tensor && unknown(*this) == unknown(other);
  }
};
} // namespace

/// The rows of a tensor, which are those of another behind views that split dimensions before the
/// last.
static Rows behindViews(Value tensor) {
  ArrayRef<int64_t> shape = cast<ShapedType>(tensor.getType()).getShape();
  auto sizeOf = [&](int64_t dim, Size unknown) {
    const int64_t size = shape[size_t(dim)];
    return ShapedType::isDynamic(size) ? unknown : Size{-1, size};
  };
  auto expand = tensor.getDefiningOp<tensor::ExpandShapeOp>();
  if (!expand) {
    Rows rows = {tensor, {}};
    for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
      rows.sizes.push_back(sizeOf(dim, {dim, 1}));
    return rows;
  }
  Rows rows = behindViews(expand.getSrc());
  SmallVector<ReassociationIndices> groups = expand.getReassociationIndices();
  if (!rows.tensor || groups.empty() || groups.back().size() != 1)
    return {};
  SmallVector<Size> sizes;
  for (auto [group, whole] : llvm::zip_equal(groups, rows.sizes)) {
    int64_t known = 1, unknown = 0;
    for (int64_t dim : group)
      if (const int64_t size = shape[size_t(dim)]; ShapedType::isDynamic(size))
        ++unknown;
      else
        known *= size;
    if (unknown > 1)
      return {};
    for (int64_t dim : group)
      sizes.push_back(sizeOf(dim, {whole.first, whole.second * known}));
  }
  rows.sizes = std::move(sizes);
  return rows;
}

/// The rows that a reduction of its last dimension reads element by element; none if `op` is no
/// such reduction.
static Rows findRows(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumReductionLoops() != 1 ||
      !op.getIndexingMapsArray().front().isIdentity() ||
      op.getIteratorTypesArray().back() != utils::IteratorType::reduction)
    return {};
  return behindViews(op.getDpsInputs()[0]);
}

static bool isMinusInfinity(Value value) {
  APFloat constant(0.0f);
  return matchPattern(value, m_ConstantFloat(&constant)) && constant.isInfinity() &&
         constant.isNegative();
}

/// True if the reduction starts from what `suits` takes, in every row.
static bool startsFrom(linalg::GenericOp op, function_ref<bool(Value)> suits) {
  Value start = op.getDpsInits()[0];
  while (auto view = start.getDefiningOp<tensor::ExpandShapeOp>())
    start = view.getSrc();
  Operation *init = start.getDefiningOp();
  if (auto fill = dyn_cast_or_null<linalg::FillOp>(init))
    return suits(fill.getInputs()[0]);
  auto generic = dyn_cast_or_null<linalg::GenericOp>(init);
  return generic && generic.getNumDpsInputs() == 0 && generic.getNumReductionLoops() == 0 &&
         suits(generic.getBody()->getTerminator()->getOperand(0));
}

/// True for the maximum of each row, which is NaN where the row has one. Beside it may be where.
static bool isMaximum(linalg::GenericOp op) {
  std::optional<Combination> found = readCombination(op, 0);
  return found && isa<arith::MaximumFOp>(found->combiner) &&
         found->combined == op.getBody()->getArgument(0) && startsFrom(op, isMinusInfinity);
}

/// The rows of the tensor whose elements an op without reductions maps one by one; none if it reads
/// others or has other results.
static Rows findMapped(linalg::GenericOp op) {
  const bool maps =
      op && op.getNumDpsInputs() == 1 && op->getNumResults() == 1 &&
      op.getNumReductionLoops() == 0 &&
      llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); });
  return maps ? behindViews(op.getDpsInputs()[0]) : Rows();
}

/// Rows of `inner`, numbered as `outer` numbers those of a tensor of the same sizes.
static Rows renumberRows(const Rows &outer, Rows inner) {
  if (!inner.tensor)
    return {};
  SmallVector<Size> sizes;
  for (auto [dim, divisor] : outer.sizes) {
    const Size whole = dim < 0 ? Size{-1, divisor} : inner.sizes[size_t(dim)];
    if (dim >= 0 && whole.first < 0)
      return {};
    sizes.push_back({whole.first, dim < 0 ? divisor : whole.second * divisor});
  }
  inner.sizes = std::move(sizes);
  return inner;
}

/// The rows of which a reduction asks whether all elements are minus infinity; none if it does not.
static Rows findAsked(linalg::GenericOp op) {
  Rows rows = op->getNumResults() == 1 ? findRows(op) : Rows();
  std::optional<Combination> found = rows.tensor ? readCombination(op, 0) : std::nullopt;
  if (!found || !isa<arith::AndIOp>(found->combiner) ||
      !startsFrom(op, [](Value start) { return matchPattern(start, m_One()); }))
    return {};
  Value test = found->combined;
  if (test == op.getBody()->getArgument(0)) { // another op compares
    op = rows.tensor.getDefiningOp<linalg::GenericOp>();
    rows = renumberRows(rows, findMapped(op));
    if (!rows.tensor)
      return {};
    test = op.getBody()->getTerminator()->getOperand(0);
  }
  auto comparison = test.getDefiningOp<arith::CmpFOp>();
  if (!comparison || comparison.getPredicate() != arith::CmpFPredicate::OEQ ||
      !isMinusInfinity(comparison.getRhs()))
    return {};
  Value element = comparison.getLhs();
  if (auto wide = element.getDefiningOp<arith::ExtFOp>())
    element = wide.getIn();
  return element == op.getBody()->getArgument(0) ? rows : Rows();
}

SmallVector<EmptyRows> mlir::mp::findEmptyRows(Operation *function) {
  SmallVector<std::pair<linalg::GenericOp, Rows>> questions;
  SmallVector<linalg::GenericOp> reductions;
  function->walk([&](linalg::GenericOp op) {
    if (op.getNumReductionLoops() == 0)
      return;
    if (Rows rows = findAsked(op); rows.tensor)
      questions.push_back({op, std::move(rows)});
    else
      reductions.push_back(op);
  });
  SmallVector<EmptyRows> found;
  if (questions.empty())
    return found;
  DominanceInfo dominance(function);
  for (auto &[question, rows] : questions) {
    EmptyRows empty = {question, {}};
    for (linalg::GenericOp op : reductions)
      if (rows.numberAs(findRows(op)) && isMaximum(op) && dominance.dominates(op, question))
        empty.maxima.push_back(op);
    if (!empty.maxima.empty())
      found.push_back(std::move(empty));
  }
  return found;
}
