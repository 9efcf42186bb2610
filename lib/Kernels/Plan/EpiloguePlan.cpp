// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows the loops of a contraction from its result through elementwise ops to all they read.

#include "EpiloguePlan.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mp/Kernels/Passes.h"

using namespace mlir;
using namespace mlir::mp;

namespace {

class EpiloguePlanner {
public:
  EpiloguePlanner(Block &body, std::string &reason) : body(body), reason(reason) {}

  FailureOr<EpiloguePlan> plan() {
    result.op = findContraction(body);
    for (auto op : body.getOps<linalg::GenericOp>())
      if (op->hasAttr(kMmaAttrName) && op != result.op)
        return refuse("it has two contractions");
    if (!result.op)
      return refuse("it has no contraction that is marked " + Twine(kMmaAttrName));
    FailureOr<Contraction> contraction = matchContraction(result.op, reason);
    if (failed(contraction))
      return failure();
    result.contraction = *contraction;
    if (failed(readSources()))
      return failure();
    SmallVector<int> dims =
        dimsOf(result.op.getMatchingIndexingMap(result.op.getDpsInitOperand(0)));
    if (failed(know(result.op.getResult(0), dims)) ||
        failed(know(result.op.getDpsInits()[0], dims)))
      return failure();
    const auto isKnown = [&](Value value) { return result.dims.contains(value); };
    for (Operation &op : body.without_terminator())
      if (&op != result.op && !isOperand(&op) && llvm::any_of(op.getOperands(), isKnown) &&
          failed(follow(&op)))
        return failure();
    if (!llvm::all_of(body.getTerminator()->getOperands(), isKnown))
      return refuse("a result does not follow from the contraction's");
    return std::move(result);
  }

private:
  LogicalResult refuse(const Twine &why) {
    reason = why.str();
    return failure();
  }

  /// Operands are arguments, or narrowed and padded from such for the contraction alone.
  LogicalResult readSources() {
    for (auto [number, operand] : llvm::enumerate(result.op.getDpsInputs())) {
      OperandSource source = readSource(operand, result.contraction.access[number]);
      if (!isa<BlockArgument>(source.tensor))
        return refuse("an operand of the contraction is computed in it");
      for (Operation *op : source.ops)
        if (!op->hasOneUse())
          return refuse("something else reads an operand that is narrowed or padded in it");
      result.sources[number] = std::move(source);
    }
    return success();
  }

  /// True for what makes an operand.
  bool isOperand(Operation *op) {
    return llvm::any_of(result.sources, [&](const OperandSource &source) {
      return llvm::is_contained(source.ops, op);
    });
  }

  /// The loops that a map's results are; -1 for the constant 0.
  static SmallVector<int> dimsOf(AffineMap map) {
    SmallVector<int> dims;
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      dims.push_back(dim ? int(dim.getPosition()) : -1);
    }
    return dims;
  }

  /// `value` has these loops; so has all that it is computed from.
  LogicalResult know(Value value, ArrayRef<int> dims) {
    Operation *op = value.getDefiningOp();
    if (op && (isa<tensor::EmptyOp>(op) || matchPattern(op, m_Constant())))
      return success(); // the same everywhere
    auto [it, isNew] = result.dims.try_emplace(value, dims);
    if (!isNew)
      return ArrayRef<int>(it->second) == dims ? success() : refuse("a tensor is read in two ways");
    return !op || op == result.op ? success() : follow(op);
  }

  /// Gives loops to the operands and results of `op` by those of one that has some.
  LogicalResult follow(Operation *op) {
    if (!followed.insert(op).second)
      return success();
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      return followReshape(op);
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || linalgOp.getNumReductionLoops() != 0 || linalgOp.hasIndexSemantics())
      return refuse("it has a " + op->getName().getStringRef() + ", which is not elementwise");
    const bool gathers = linalgOp.getBlock()
                             ->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
                             .wasInterrupted();
    if (gathers)
      return refuse("its elementwise part gathers elements");
    SmallVector<int> loops(linalgOp.getNumLoops(), kUnknown);
    auto learn = [&](Value value, AffineMap map) {
      auto known = result.dims.find(value);
      if (known == result.dims.end())
        return;
      for (auto [expr, dim] : llvm::zip_equal(map.getResults(), known->second))
        if (auto position = dyn_cast<AffineDimExpr>(expr))
          loops[position.getPosition()] = dim;
    };
    for (OpOperand &operand : op->getOpOperands())
      if (isa<TensorType>(operand.get().getType()))
        learn(operand.get(), linalgOp.getMatchingIndexingMap(&operand));
    for (auto [number, value] : llvm::enumerate(op->getResults()))
      learn(value, linalgOp.getIndexingMapMatchingResult(op->getResult(number)));
    for (auto [loop, size] : llvm::zip_equal(loops, linalgOp.getStaticLoopRanges()))
      if (loop == kUnknown) {
        if (size != 1)
          return refuse("a tensor has a dimension that the contraction's result has not");
        loop = -1;
      }
    auto pass = [&](Value value, AffineMap map) -> LogicalResult {
      if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
        return refuse("a tensor is not read by plain loops");
      SmallVector<int> dims = dimsOf(map);
      for (int &dim : dims)
        if (dim >= 0)
          dim = loops[dim];
      return know(value, dims);
    };
    for (OpOperand &operand : op->getOpOperands())
      if (isa<TensorType>(operand.get().getType()) &&
          failed(pass(operand.get(), linalgOp.getMatchingIndexingMap(&operand))))
        return failure();
    for (Value value : op->getResults())
      if (failed(pass(value, linalgOp.getIndexingMapMatchingResult(cast<OpResult>(value)))))
        return failure();
    return success();
  }

  /// Reshapes that only add or drop dimensions of size one.
  LogicalResult followReshape(Operation *op) {
    auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
    const SmallVector<ReassociationIndices> groups =
        expand ? expand.getReassociationIndices()
               : cast<tensor::CollapseShapeOp>(op).getReassociationIndices();
    Value wide = expand ? op->getResult(0) : op->getOperand(0);
    Value thin = expand ? op->getOperand(0) : op->getResult(0);
    ArrayRef<int64_t> shape = cast<RankedTensorType>(wide.getType()).getShape();
    SmallVector<int> wideDims(shape.size(), -1), thinDims(groups.size(), -1);
    const bool knowsWide = result.dims.contains(wide);
    for (auto [position, group] : llvm::enumerate(groups)) {
      SmallVector<int64_t> real(group.begin(), group.end());
      llvm::erase_if(real, [&](int64_t dim) { return shape[dim] == 1; });
      if (real.size() > 1)
        return refuse("a reshape in it splits a dimension");
      if (real.empty())
        continue;
      const int loop = knowsWide ? result.dims.at(wide)[real[0]] : result.dims.at(thin)[position];
      wideDims[real[0]] = thinDims[position] = loop;
    }
    keepUnits(wide, wideDims);
    keepUnits(thin, thinDims);
    return success(succeeded(know(wide, wideDims)) && succeeded(know(thin, thinDims)));
  }

  /// Dimensions of size one may be loops of one iteration, too, as those of a batch of one are.
  void keepUnits(Value value, SmallVectorImpl<int> &dims) {
    if (auto known = result.dims.find(value); known != result.dims.end())
      for (auto [dim, loop] : llvm::zip_equal(dims, known->second))
        dim = dim < 0 ? loop : dim;
  }

  static constexpr int kUnknown = -2;
  Block &body;
  std::string &reason;
  EpiloguePlan result;
  DenseSet<Operation *> followed;
};

} // namespace

linalg::GenericOp mlir::mp::findContraction(Block &body) {
  for (auto op : body.getOps<linalg::GenericOp>())
    if (op->hasAttr(kMmaAttrName))
      return op;
  return {};
}

FailureOr<EpiloguePlan> mlir::mp::planEpilogue(Block &body, std::string &reason) {
  return EpiloguePlanner(body, reason).plan();
}
