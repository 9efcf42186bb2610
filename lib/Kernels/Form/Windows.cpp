// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unrolls reductions over small windows, and reads constants beyond the ends of what is padded.
//
//   y[c, i] = max over r of pad(x)[c, 2 i + r]
//   ==>  y[c, i] = max(max(x[c, 2 i - 1] or -inf, x[c, 2 i]), ...)
//
// Such a window is a map: it runs with the elementwise ops behind it, and no kernel pads its input
// or writes what a reduction starts from. A window that does not slide, since its result has one
// element there, is a row.

#include "Windows.h"

#include "DispatchBody.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Kernels/Passes.h"

using namespace mlir;
using namespace mlir::mp;

/// Elements of a window that are worth code of their own.
static constexpr int64_t kMostElements = 32;

namespace {

/// An input of a reduction, as its elements are read.
struct WindowInput {
  Value tensor;
  LinearAccess access;
  mutable tensor::PadOp pad; ///< that is read through; null: none

  Value bound(OpBuilder &b, Location loc, size_t dim) const {
    return arith::ConstantIndexOp::create(b, loc,
                                          cast<RankedTensorType>(tensor.getType()).getDimSize(dim));
  }
};

} // namespace

/// The tensor inside a padding by a constant whose amounts and sizes are known.
static void readThroughPadding(WindowInput &input) {
  auto pad = input.tensor.getDefiningOp<tensor::PadOp>();
  if (!pad || !pad.getConstantPaddingValue() ||
      !matchPattern(pad.getConstantPaddingValue(), m_Constant()) ||
      llvm::any_of(pad.getStaticLow(), ShapedType::isDynamic))
    return;
  ArrayRef<int64_t> source = pad.getSourceType().getShape();
  for (auto [size, low, high] : llvm::zip_equal(source, pad.getStaticLow(), pad.getStaticHigh()))
    if ((low != 0 || high != 0) && (ShapedType::isDynamic(size) || size == 0))
      return;
  for (auto [constant, low] : llvm::zip_equal(input.access.constants, pad.getStaticLow()))
    constant -= low;
  input.tensor = pad.getSource();
  input.pad = pad;
}

/// `expr` without loops of one iteration, as the index of a dimension of `size`. An index that is
/// one loop alone must run over all of the dimension: a window that leaves a rest stays as it is.
static AffineExpr dropUnitLoops(AffineExpr expr, int64_t size, ArrayRef<int64_t> ranges) {
  if (isa<AffineDimExpr>(expr))
    return expr;
  SmallVector<AffineExpr> kept;
  for (auto [loop, range] : llvm::enumerate(ranges))
    kept.push_back(range == 1 ? getAffineConstantExpr(0, expr.getContext())
                              : getAffineDimExpr(loop, expr.getContext()));
  AffineExpr dropped = expr.replaceDims(kept);
  auto loop = dyn_cast<AffineDimExpr>(dropped);
  return loop && ranges[loop.getPosition()] != size ? expr : dropped;
}

/// Indices without loops of one iteration beside others: y[c, i] = sum over r of x[c, i + r], where
/// there is one i, is a sum over a row.
static void dropUnitLoops(linalg::GenericOp op) {
  const SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<AffineExpr> results;
    for (auto [expr, size] : llvm::zip_equal(map.getResults(), op.getShape(&operand)))
      results.push_back(dropUnitLoops(expr, size, ranges));
    maps.push_back(AffineMap::get(map.getNumDims(), 0, results, op.getContext()));
  }
  if (maps != op.getIndexingMapsArray())
    op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
}

/// True if some index moves by more than one loop, or not by one at a time.
static bool slides(const LinearAccess &access) {
  return llvm::any_of(access.coefficients, [](ArrayRef<int64_t> row) {
    return llvm::count_if(row, [](int64_t c) { return c != 0; }) > 1;
  });
}

/// The inputs of a reduction over a window, null for those that its body does not read; empty for
/// other ops.
static SmallVector<WindowInput> windowInputs(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 || op.hasIndexSemantics() ||
      op->hasAttr(kMmaAttrName) || op.getNumReductionLoops() == 0 ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isProjectedPermutation())
    return {};
  if (op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getNumResults() !=
      op.getNumParallelLoops())
    return {};
  int64_t elements = 1;
  for (auto [size, kind] : llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction) {
      if (ShapedType::isDynamic(size) || size == 0 || (elements *= size) > kMostElements)
        return {};
    }
  for (Operation &inner : op.getBody()->without_terminator())
    if (!isPure(&inner) || inner.getNumRegions() != 0 || isa<tensor::ExtractOp>(inner))
      return {};
  SmallVector<WindowInput> inputs;
  bool isWindow = false;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    inputs.emplace_back();
    if (op.getMatchingBlockArgument(operand).use_empty())
      continue;
    FailureOr<LinearAccess> access = LinearAccess::of(op.getMatchingIndexingMap(operand));
    if (!isa<RankedTensorType>(operand->get().getType()) || failed(access))
      return {};
    isWindow |= slides(*access);
    inputs.back() = {operand->get(), *access, {}};
    readThroughPadding(inputs.back());
  }
  return isWindow ? inputs : SmallVector<WindowInput>();
}

namespace {

/// Writes the body of the map.
class Unrolled {
public:
  Unrolled(OpBuilder &b, linalg::GenericOp op, ArrayRef<WindowInput> inputs)
      : b(b), loc(op.getLoc()), op(op), inputs(inputs) {}

  /// `start`: what the reduction starts from; `parallel`: the indices of its parallel loops.
  Value write(Value start, ArrayRef<Value> parallel) {
    const SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    int64_t elements = 1;
    for (auto [size, kind] : llvm::zip_equal(ranges, op.getIteratorTypesArray()))
      elements *= kind == utils::IteratorType::reduction ? size : 1;
    Value sum = start;
    for (int64_t element = 0; element < elements; ++element) {
      // The last loop is the fastest.
      SmallVector<int64_t> reduced(ranges.size(), 0);
      int64_t rest = element;
      for (size_t loop = ranges.size(); loop-- > 0;)
        if (op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction) {
          reduced[loop] = rest % ranges[loop];
          rest /= ranges[loop];
        }
      sum = combine(sum, parallel, reduced);
    }
    return sum;
  }

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

  Value combine(Value sum, ArrayRef<Value> parallel, ArrayRef<int64_t> reduced) {
    IRMapping mapping;
    Block &body = *op.getBody();
    for (auto [number, input] : llvm::enumerate(inputs))
      if (input.tensor)
        mapping.map(body.getArgument(number), read(input, parallel, reduced));
    mapping.map(body.getArguments().back(), sum);
    for (Operation &inner : body.without_terminator())
      b.clone(inner, mapping);
    return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
  }

  Value read(const WindowInput &input, ArrayRef<Value> parallel, ArrayRef<int64_t> reduced) {
    SmallVector<Value> indices;
    Value inside;
    for (size_t dim = 0; dim < input.access.coefficients.size(); ++dim) {
      Value index = indexOf(input.access, dim, parallel, reduced);
      if (input.pad && (input.pad.getStaticLow()[dim] || input.pad.getStaticHigh()[dim])) {
        // Negative indices are large ones. Beyond the ends something is read, and not used.
        Value valid = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index,
                                            input.bound(b, loc, dim));
        index = arith::SelectOp::create(b, loc, valid, index, constant(0));
        inside = inside ? arith::AndIOp::create(b, loc, inside, valid).getResult() : valid;
      }
      indices.push_back(index);
    }
    Value element = tensor::ExtractOp::create(b, loc, input.tensor, indices);
    if (!inside)
      return element;
    Operation *padding = input.pad.getConstantPaddingValue().getDefiningOp();
    return arith::SelectOp::create(b, loc, inside, element, b.clone(*padding)->getResult(0));
  }

  Value indexOf(const LinearAccess &access, size_t dim, ArrayRef<Value> parallel,
                ArrayRef<int64_t> reduced) {
    int64_t known = access.constants[dim];
    Value sum;
    for (auto [loop, coefficient] : llvm::enumerate(access.coefficients[dim])) {
      known += coefficient * reduced[loop];
      if (coefficient == 0 || !parallel[loop])
        continue;
      Value term = parallel[loop];
      if (coefficient != 1)
        term = arith::MulIOp::create(b, loc, term, constant(coefficient));
      sum = sum ? arith::AddIOp::create(b, loc, sum, term).getResult() : term;
    }
    if (!sum || known != 0)
      sum = sum ? arith::AddIOp::create(b, loc, sum, constant(known)).getResult() : constant(known);
    return sum;
  }

  OpBuilder &b;
  Location loc;
  linalg::GenericOp op;
  ArrayRef<WindowInput> inputs;
};

} // namespace

/// The map over the parallel loops that `op` is, in the order of its result's dimensions.
static void unroll(RewriterBase &rewriter, linalg::GenericOp op, ArrayRef<WindowInput> inputs) {
  Location loc = op.getLoc();
  Value init = op.getDpsInits()[0], empty;
  auto type = cast<RankedTensorType>(init.getType());
  SmallVector<Value> starts;
  Operation *fill = init.getDefiningOp();
  if (isFill(fill)) {
    empty = cast<linalg::LinalgOp>(fill).getDpsInits()[0];
  } else {
    empty = tensor::EmptyOp::create(rewriter, loc, tensor::getMixedSizes(rewriter, loc, init),
                                    type.getElementType());
    starts.push_back(init);
  }
  SmallVector<AffineMap> maps(starts.size() + 1,
                              rewriter.getMultiDimIdentityMap(unsigned(type.getRank())));
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto made =
      linalg::GenericOp::create(rewriter, loc, TypeRange(type), starts, ValueRange(empty), maps,
                                iterators, [&](OpBuilder &b, Location, ValueRange arguments) {
                                  Value start = arguments.front();
                                  if (starts.empty()) {
                                    Operation *constant = isa<linalg::FillOp>(fill)
                                                              ? fill->getOperand(0).getDefiningOp()
                                                              : cast<linalg::LinalgOp>(fill)
                                                                    .getBlock()
                                                                    ->getTerminator()
                                                                    ->getOperand(0)
                                                                    .getDefiningOp();
                                    start = b.clone(*constant)->getResult(0);
                                  }
                                  SmallVector<Value> parallel(op.getNumLoops());
                                  for (auto [dim, loop] : llvm::enumerate(out.getResults()))
                                    parallel[cast<AffineDimExpr>(loop).getPosition()] =
                                        linalg::IndexOp::create(b, loc, int64_t(dim));
                                  Value sum = Unrolled(b, op, inputs).write(start, parallel);
                                  linalg::YieldOp::create(b, loc, sum);
                                });
  rewriter.replaceOp(op, made);
}

void mlir::mp::unrollWindows(Operation *function) {
  SmallVector<linalg::GenericOp> ops;
  function->walk([&](linalg::GenericOp op) { ops.push_back(op); });
  IRRewriter rewriter(function->getContext());
  for (linalg::GenericOp op : ops) {
    if (op.getNumReductionLoops() != 0 && op.hasPureTensorSemantics() && !op->hasAttr(kMmaAttrName))
      dropUnitLoops(op);
    if (SmallVector<WindowInput> inputs = windowInputs(op); !inputs.empty()) {
      rewriter.setInsertionPoint(op);
      unroll(rewriter, op, inputs);
    }
  }
}
