// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-resize-batch: which dimensions must be of one size follows from the ops; those that agree
// with the examples take another size together.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Transforms/Train/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_RESIZEBATCH
#include "mp/Transforms/Train/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static ArrayRef<int64_t> shapeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

/// Gives each use its own: a zero that serves examples and channels does not make them agree.
static void separateUses(func::FuncOp function) {
  SmallVector<Operation *> shared;
  function.walk([&](Operation *op) {
    if (op->getNumResults() == 1 && !shapeOf(op->getResult(0)).empty() && isRemakeable(op))
      shared.push_back(op);
  });
  for (Operation *op : llvm::reverse(shared)) // fills before what they fill
    for (OpOperand &use :
         llvm::make_early_inc_range(llvm::drop_begin(op->getUses(), op->use_empty() ? 0 : 1)))
      use.set(OpBuilder(op).clone(*op)->getResult(0));
}

namespace {

/// The dimensions of a function's tensors in classes of one size.
class DimensionClasses {
public:
  explicit DimensionClasses(func::FuncOp function) {
    function.walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op); });
  }

  unsigned of(Value value, unsigned dim) {
    auto [it, isNew] = first.try_emplace(value, parent.size());
    if (isNew)
      for (size_t i = 0, e = shapeOf(value).size(); i != e; ++i)
        add();
    return root(it->second + dim);
  }
  /// The op that needs dimensions of the class to stay, or null.
  Operation *holder(unsigned dimension) const { return holders.lookup(dimension); }

private:
  unsigned add() {
    parent.push_back(parent.size());
    return parent.back();
  }
  unsigned root(unsigned dimension) {
    while (parent[dimension] != dimension)
      dimension = parent[dimension] = parent[parent[dimension]];
    return dimension;
  }
  void tie(unsigned a, unsigned b) {
    a = root(a), b = root(b);
    if (a == b)
      return;
    if (Operation *op = holders.lookup(a))
      holders.try_emplace(b, op);
    parent[a] = b;
  }
  void tie(Value a, unsigned i, Value b, unsigned j) { tie(of(a, i), of(b, j)); }
  void hold(Operation *op, unsigned dimension) { holders.try_emplace(root(dimension), op); }
  void hold(Operation *op, Value value, unsigned dim) { hold(op, of(value, dim)); }

  void visit(Operation *op) {
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      return visitStructured(structured);
    if (auto shape = dyn_cast<tensor::ExpandShapeOp>(op))
      return visitGroups(op, shape.getReassociationIndices(), shape.getResult(), shape.getSrc());
    if (auto shape = dyn_cast<tensor::CollapseShapeOp>(op))
      return visitGroups(op, shape.getReassociationIndices(), shape.getSrc(), shape.getResult());
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      return visitSlice(slice, slice.getSource(), slice.getResult(), slice.getDroppedDims());
    if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) {
      for (unsigned i = 0, e = shapeOf(slice.getResult()).size(); i != e; ++i)
        tie(slice.getDest(), i, slice.getResult(), i);
      return visitSlice(slice, slice.getDest(), slice.getSource(), slice.getDroppedDims());
    }
    if (auto pad = dyn_cast<tensor::PadOp>(op)) {
      for (auto [i, low, high] : llvm::enumerate(pad.getMixedLowPad(), pad.getMixedHighPad()))
        tieOrHold(op, pad.getSource(), i, pad.getResult(), i,
                  isConstantIntValue(low, 0) && isConstantIntValue(high, 0));
      return;
    }
    if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
      for (Value input : concat.getInputs())
        for (unsigned i = 0, e = shapeOf(input).size(); i != e; ++i)
          tieOrHold(op, input, i, concat.getResult(), i, i != concat.getDim());
      return;
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(op))
      return visitExtract(extract);
    if (isa<tensor::EmptyOp, func::ReturnOp, arith::ConstantOp>(op))
      return;
    visitOther(op);
  }

  void visitStructured(linalg::LinalgOp op) {
    SmallVector<unsigned> &loops = loopsOf[op];
    for (unsigned i = 0, e = op.getNumLoops(); i != e; ++i)
      loops.push_back(add());
    for (OpOperand &operand : op->getOpOperands())
      for (auto [dim, place] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
        if (auto loop = dyn_cast<AffineDimExpr>(place)) {
          tie(of(operand.get(), dim), loops[loop.getPosition()]);
          continue;
        }
        hold(op, operand.get(), dim);
        place.walk([&](AffineExpr part) {
          if (auto loop = dyn_cast<AffineDimExpr>(part))
            hold(op, loops[loop.getPosition()]);
        });
      }
    for (OpResult result : op->getResults())
      for (unsigned i = 0, e = shapeOf(result).size(); i != e; ++i)
        tie(result, i, op.getDpsInitOperand(result.getResultNumber())->get(), i);
  }

  /// Each dimension of `merged` is a group of those of `split`.
  void visitGroups(Operation *op, ArrayRef<ReassociationIndices> groups, Value split,
                   Value merged) {
    for (auto [i, group] : llvm::enumerate(groups)) {
      auto real =
          llvm::filter_to_vector(group, [&](int64_t dim) { return shapeOf(split)[dim] != 1; });
      for (int64_t dim : real)
        tieOrHold(op, split, dim, merged, i, real.size() == 1);
    }
  }

  /// `part` is a slice of `whole`: a dimension taken as a whole is one of both.
  void visitSlice(OffsetSizeAndStrideOpInterface op, Value whole, Value part,
                  const llvm::SmallBitVector &dropped) {
    unsigned place = 0;
    for (auto [i, offset, size, stride] :
         llvm::enumerate(op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
      if (dropped.test(i)) {
        hold(op, whole, i);
        continue;
      }
      bool all = isConstantIntValue(offset, 0) && isConstantIntValue(stride, 1) &&
                 isConstantIntValue(size, shapeOf(whole)[i]);
      tieOrHold(op, whole, i, part, place++, all);
    }
  }

  /// An element per iteration of a loop has a place in each.
  void visitExtract(tensor::ExtractOp op) {
    for (auto [dim, place] : llvm::enumerate(op.getIndices())) {
      auto index = place.getDefiningOp<linalg::IndexOp>();
      auto loops = index ? loopsOf.find(index->getParentOp()) : loopsOf.end();
      if (loops != loopsOf.end())
        tie(of(op.getTensor(), dim), loops->second[index.getDim()]);
      else
        hold(op, op.getTensor(), dim);
    }
  }

  void visitOther(Operation *op) {
    SmallVector<Value> tensors;
    auto isShaped = [](Value value) { return !shapeOf(value).empty(); };
    llvm::copy_if(op->getOperands(), std::back_inserter(tensors), isShaped);
    llvm::copy_if(op->getResults(), std::back_inserter(tensors), isShaped);
    for (Value value : tensors)
      for (unsigned i = 0, e = shapeOf(value).size(); i != e; ++i)
        tieOrHold(op, value, i, tensors.front(), i, op->hasTrait<OpTrait::Elementwise>());
  }

  void tieOrHold(Operation *op, Value a, unsigned i, Value b, unsigned j, bool same) {
    if (same)
      return tie(a, i, b, j);
    hold(op, a, i);
    hold(op, b, j);
  }

  std::vector<unsigned> parent;
  llvm::DenseMap<Value, unsigned> first; ///< dimension 0 of each tensor
  llvm::DenseMap<Operation *, SmallVector<unsigned>> loopsOf;
  llvm::DenseMap<unsigned, Operation *> holders;
};

struct ResizeBatch : mlir::mp::impl::ResizeBatchBase<ResizeBatch> {
  using ResizeBatchBase::ResizeBatchBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function.isExternal() && failed(resize(function)))
      signalPassFailure();
  }

  LogicalResult resize(func::FuncOp function) {
    if (size <= 0)
      return function.emitError("mp-resize-batch: option 'size' is ")
             << int64_t(size) << ", expected a positive number";
    if (argument >= function.getNumArguments() ||
        dimension >= shapeOf(function.getArgument(argument)).size())
      return function.emitError("mp-resize-batch: has no dimension ")
             << unsigned(dimension) << " of an argument #" << unsigned(argument)
             << ", expected a tensor that holds the examples there";
    separateUses(function);
    DimensionClasses classes(function);
    unsigned batch = classes.of(function.getArgument(argument), dimension);
    if (Operation *op = classes.holder(batch)) {
      InFlightDiagnostic diag =
          op->emitError("mp-resize-batch: needs a dimension that counts examples to stay as it is");
      diag.attachNote(function.getLoc())
          << "asked for " << int64_t(size) << " examples in argument #" << unsigned(argument)
          << ", which has " << shapeOf(function.getArgument(argument))[dimension];
      return diag;
    }
    SmallVector<Value> resized;
    auto collect = [&](Value value) {
      for (unsigned i = 0, e = shapeOf(value).size(); i != e; ++i)
        if (classes.of(value, i) == batch)
          return resized.push_back(value);
    };
    llvm::for_each(function.getArguments(), collect);
    WalkResult walk = function.walk([&](Operation *op) {
      unsigned before = resized.size();
      llvm::for_each(op->getResults(), collect);
      auto constant = dyn_cast<arith::ConstantOp>(op);
      if (!constant || resized.size() == before || isa<SplatElementsAttr>(constant.getValue()))
        return WalkResult::advance();
      constant.emitError("mp-resize-batch: holds a value for each example");
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return failure();
    for (Value value : resized) {
      SmallVector<int64_t> shape(shapeOf(value));
      for (auto [i, extent] : llvm::enumerate(shape))
        if (classes.of(value, i) == batch)
          extent = size;
      auto type = cast<RankedTensorType>(value.getType());
      value.setType(type.clone(shape));
    }
    function.walk([&](Operation *op) { updateSizes(op, classes, batch); });
    Operation *terminator = function.getBody().back().getTerminator();
    function.setType(FunctionType::get(&getContext(), function.getBody().getArgumentTypes(),
                                       terminator->getOperandTypes()));
    return success();
  }

  /// Sizes that an op repeats in an attribute.
  void updateSizes(Operation *op, DimensionClasses &classes, unsigned batch) {
    Builder builder(op->getContext());
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
          splat && splat.getType() != constant.getType())
        constant.setValueAttr(splat.resizeSplat(cast<ShapedType>(constant.getType())));
    } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      expand.setStaticOutputShape(shapeOf(expand.getResult()));
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      slice.setStaticSizes(sizesOf(slice, slice.getSource(), classes, batch));
    } else if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) {
      slice.setStaticSizes(sizesOf(slice, slice.getDest(), classes, batch));
    }
  }
  SmallVector<int64_t> sizesOf(OffsetSizeAndStrideOpInterface op, Value whole,
                               DimensionClasses &classes, unsigned batch) {
    SmallVector<int64_t> sizes(op.getStaticSizes());
    for (auto [i, extent] : llvm::enumerate(sizes))
      if (classes.of(whole, i) == batch)
        extent = size;
    return sizes;
  }
};

} // namespace
