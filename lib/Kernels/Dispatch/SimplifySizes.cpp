// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-simplify-sizes: write equal sizes as one value, and read through broadcasts that
// are none (exact).
//
//   0. reshapes    by sizes that a tensor holds: by scalars; by way of fewer dimensions: by as many
//                  as both sides share
//   1. read        an integer as a multiple of a dimension of an argument, plus a constant
//   2. write       integers that are equal so as one value, computed at the beginning
//   3. compare     those of which the outcome is known
//   4. broadcasts  elements that are read by index, each at its own place: operands with a map

#include "SizeForms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "mp/Kernels/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::mp {
#define GEN_PASS_DEF_SIMPLIFYSIZES
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {

struct SimplifySizes : mlir::mp::impl::SimplifySizesBase<SimplifySizes> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    SizeReader sizes(function);
    bool changed = lowerReshapes(function, sizes);
    changed |= keepDimensions(function, sizes);
    if (hasDynamicArgument(function)) {
      changed |= writeSizes(function, sizes);
      changed |= compareSizes(function, sizes);
    }
    changed |= readThroughBroadcasts(function, sizes);
    if (!changed)
      return;
    OpPassManager cleanup(func::FuncOp::getOperationName());
    cleanup.addPass(createCanonicalizerPass());
    cleanup.addPass(createCSEPass());
    if (failed(runPipeline(cleanup, function)))
      signalPassFailure();
  }

private:
  static bool hasDynamicArgument(func::FuncOp function) {
    return llvm::any_of(function.getArgumentTypes(), [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && !tensor.hasStaticShape();
    });
  }

  static bool lowerReshapes(func::FuncOp function, SizeReader &sizes);
  static bool keepDimensions(func::FuncOp function, SizeReader &sizes);
  static bool writeSizes(func::FuncOp function, SizeReader &sizes);
  static bool compareSizes(func::FuncOp function, SizeReader &sizes);
  static bool readThroughBroadcasts(func::FuncOp function, SizeReader &sizes);
};

} // namespace

//===-- 0. reshapes ---------------------------------------------------------------------------===//

namespace {

/// Says which neighbouring dimensions of a reshape's source are which of its result: of one group,
/// one side has one dimension.
struct ReshapeGroups {
  SmallVector<ReassociationIndices> sources, results;

  static bool isTrivial(ArrayRef<ReassociationIndices> side) {
    return llvm::all_of(side, [](ArrayRef<int64_t> group) { return group.size() == 1; });
  }
};

} // namespace

/// The first dimensions from `from` on whose product has this size; none if there are no such.
static ReassociationIndices productOf(ArrayRef<std::optional<SizeForm>> sizes, size_t from,
                                      const SizeForm &size) {
  ReassociationIndices group;
  std::optional<SizeForm> product = SizeForm::of(1);
  for (; from < sizes.size() && product; ++from) {
    product = multiply(product, sizes[from]);
    group.push_back(int64_t(from));
    if (product == size)
      return group;
  }
  return {};
}

/// Nothing where sizes do not tell.
static std::optional<ReshapeGroups> groupReshape(ArrayRef<std::optional<SizeForm>> sources,
                                                 ArrayRef<std::optional<SizeForm>> results) {
  ReshapeGroups groups;
  size_t i = 0, j = 0;
  while (i < sources.size() && j < results.size()) {
    if (!sources[i] || !results[j])
      return std::nullopt;
    ReassociationIndices many = productOf(results, j, *sources[i]), one = {int64_t(i)};
    if (many.empty()) {
      many = {int64_t(j)};
      one = productOf(sources, i, *results[j]);
    }
    if (one.empty())
      return std::nullopt;
    i += one.size();
    j += many.size();
    groups.sources.push_back(std::move(one));
    groups.results.push_back(std::move(many));
  }
  // Dimensions of size one behind the last.
  auto extend = [&](ArrayRef<std::optional<SizeForm>> sizes, size_t &next,
                    SmallVector<ReassociationIndices> &own, ArrayRef<ReassociationIndices> others) {
    while (next < sizes.size() && sizes[next] == SizeForm::of(1) && !own.empty() &&
           others.back().size() == 1)
      own.back().push_back(int64_t(next++));
  };
  extend(sources, i, groups.sources, groups.results);
  extend(results, j, groups.results, groups.sources);
  return i == sources.size() && j == results.size() ? std::optional(groups) : std::nullopt;
}

/// Splits and merges dimensions of which one is known to be the product of the others; null where
/// more is asked for, or that leaves less than `leastRank` dimensions between the two.
static Value reshapeByGroups(Location loc, Value value, RankedTensorType result,
                             ArrayRef<OpFoldResult> sizes, size_t leastRank, SizeReader &reader,
                             IRRewriter &rewriter) {
  SmallVector<std::optional<SizeForm>> before, after;
  for (int64_t dim = 0; dim < cast<RankedTensorType>(value.getType()).getRank(); ++dim)
    before.push_back(reader.readDim(value, dim));
  for (OpFoldResult size : sizes)
    after.push_back(reader.read(size));
  std::optional<ReshapeGroups> groups = groupReshape(before, after);
  if (!groups || groups->sources.size() < leastRank)
    return {};
  if (!ReshapeGroups::isTrivial(groups->sources))
    value = tensor::CollapseShapeOp::create(rewriter, loc, value, groups->sources);
  // A size that one side alone knows would have to be cast.
  auto merged = cast<RankedTensorType>(value.getType());
  for (auto [dim, group] : llvm::enumerate(groups->results))
    if (merged.isDynamicDim(unsigned(dim)) !=
        llvm::any_of(group, [&](int64_t of) { return result.isDynamicDim(unsigned(of)); }))
      return {};
  if (!ReshapeGroups::isTrivial(groups->results))
    value = tensor::ExpandShapeOp::create(rewriter, loc, result, value, groups->results, sizes);
  return value;
}

/// A reshape by sizes that lie in a tensor becomes one by scalars: as a buffer they would lie on
/// the device, and it is the host that lays out views.
static void lowerReshape(tensor::ReshapeOp op, SizeReader &reader, IRRewriter &rewriter) {
  auto source = dyn_cast<RankedTensorType>(op.getSource().getType());
  auto result = dyn_cast<RankedTensorType>(op.getType());
  if (!source || !result || source.getRank() == 0 || result.getRank() == 0)
    return;
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, size] : llvm::enumerate(result.getShape())) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(rewriter.getIndexAttr(size));
      continue;
    }
    Value place = arith::ConstantIndexOp::create(rewriter, loc, dim);
    Value read = rewriter.createOrFold<tensor::ExtractOp>(loc, op.getShape(), ValueRange(place));
    sizes.push_back(rewriter.createOrFold<arith::IndexCastOp>(loc, rewriter.getIndexType(), read));
  }
  if (Value view = reshapeByGroups(loc, op.getSource(), result, sizes, 0, reader, rewriter))
    return rewriter.replaceOp(op, view);
  auto all = [](int64_t rank) {
    return SmallVector<ReassociationIndices>{llvm::to_vector(llvm::seq<int64_t>(0, rank))};
  };
  Value line = op.getSource();
  if (source.getRank() > 1)
    line = tensor::CollapseShapeOp::create(rewriter, loc, line, all(source.getRank()));
  // Sizes that one side knows are the other's.
  const int64_t known = result.hasStaticShape() ? result.getNumElements() : ShapedType::kDynamic;
  auto lineType = RankedTensorType::get({known}, result.getElementType());
  if (line.getType() != lineType)
    line = tensor::CastOp::create(rewriter, loc, lineType, line);
  if (result.getRank() > 1)
    line = tensor::ExpandShapeOp::create(rewriter, loc, result, line, all(result.getRank()), sizes);
  else if (line.getType() != result)
    line = tensor::CastOp::create(rewriter, loc, result, line);
  rewriter.replaceOp(op, line);
}

bool SimplifySizes::lowerReshapes(func::FuncOp function, SizeReader &sizes) {
  SmallVector<tensor::ReshapeOp> ops;
  function.walk([&](tensor::ReshapeOp op) { ops.push_back(op); });
  IRRewriter rewriter(function.getContext());
  for (tensor::ReshapeOp op : ops) {
    rewriter.setInsertionPoint(op);
    lowerReshape(op, sizes, rewriter);
  }
  return !ops.empty();
}

/// Lets reshapes of what was merged split and merge no more than they must: loops of ops on both
/// sides are the same then.
bool SimplifySizes::keepDimensions(func::FuncOp function, SizeReader &sizes) {
  bool changed = false;
  IRRewriter rewriter(function.getContext());
  function.walk([&](tensor::ExpandShapeOp op) {
    auto merged = op.getSrc().getDefiningOp<tensor::CollapseShapeOp>();
    if (!merged)
      return;
    rewriter.setInsertionPoint(op);
    const size_t leastRank = size_t(merged.getResultType().getRank()) + 1;
    Value view = reshapeByGroups(op.getLoc(), merged.getSrc(), op.getResultType(),
                                 op.getMixedOutputShape(), leastRank, sizes, rewriter);
    if (!view)
      return;
    rewriter.replaceOp(op, view);
    changed = true;
  });
  return changed;
}

//===-- 2. write ------------------------------------------------------------------------------===//

/// The value of a size, in the type that is wanted, at the builder's place.
static Value build(OpBuilder &b, Location loc, const SizeForm &size, Type type) {
  Value value = arith::ConstantIndexOp::create(b, loc, size.constant);
  if (size.factor != 0) {
    Value whole = tensor::DimOp::create(b, loc, size.argument, size.dim);
    if (size.factor != 1)
      whole =
          arith::MulIOp::create(b, loc, whole, arith::ConstantIndexOp::create(b, loc, size.factor));
    value = size.constant ? arith::AddIOp::create(b, loc, whole, value).getResult() : whole;
  }
  return type.isIndex() ? value : arith::IndexCastOp::create(b, loc, type, value).getResult();
}

bool SimplifySizes::writeSizes(func::FuncOp function, SizeReader &sizes) {
  llvm::MapVector<Operation *, SizeForm> known;
  function.walk([&](Operation *op) {
    if (op->getNumResults() != 1 || op->hasTrait<OpTrait::ConstantLike>() ||
        !isa<IndexType, IntegerType>(op->getResult(0).getType()))
      return;
    Type type = op->getResult(0).getType();
    if (std::optional<SizeForm> size = sizes.read(op->getResult(0));
        size && (type.isIndex() || type.isInteger(64)))
      known.insert({op, *size});
  });
  OpBuilder b = OpBuilder::atBlockBegin(&function.front());
  SmallVector<std::tuple<SizeForm, Type, Value>> written;
  for (auto &[op, size] : known) {
    Type type = op->getResult(0).getType();
    auto same = llvm::find_if(written, [&, size = size](auto &one) {
      return std::get<0>(one) == size && std::get<1>(one) == type;
    });
    if (same == written.end()) {
      written.push_back({size, type, build(b, op->getLoc(), size, type)});
      same = std::prev(written.end());
    }
    op->getResult(0).replaceAllUsesWith(std::get<2>(*same));
  }
  return !known.empty();
}

//===-- 3. compare ----------------------------------------------------------------------------===//

bool SimplifySizes::compareSizes(func::FuncOp function, SizeReader &sizes) {
  bool changed = false;
  function.walk([&](arith::CmpIOp op) {
    std::optional<bool> outcome = sizes.compare(op);
    if (!outcome)
      return;
    OpBuilder b(op);
    op.replaceAllUsesWith(
        arith::ConstantOp::create(b, op.getLoc(), b.getBoolAttr(*outcome)).getResult());
    changed = true;
  });
  return changed;
}

//===-- 4. broadcasts -------------------------------------------------------------------------===//

/// The loop that `index` is in a dimension of this size, also where it is 0 if the size is one;
/// nothing if it is another.
static std::optional<unsigned> findLoop(Value index, const SizeForm &size, SizeReader &sizes) {
  if (auto select = index.getDefiningOp<arith::SelectOp>()) {
    auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
        sizes.read(compare.getLhs()) != size || !matchPattern(compare.getRhs(), m_One()) ||
        !matchPattern(select.getTrueValue(), m_Zero()))
      return std::nullopt;
    index = select.getFalseValue();
  }
  auto loop = index.getDefiningOp<linalg::IndexOp>();
  return loop ? std::optional<unsigned>(loop.getDim()) : std::nullopt;
}

/// The map by which an extraction within `op` reads its tensor: of dimensions as large as the loops
/// there is an element at each index, so that the first is meant where there is one.
static std::optional<AffineMap> mapOf(linalg::GenericOp op, tensor::ExtractOp extract,
                                      SizeReader &sizes) {
  SmallVector<AffineExpr> places;
  Builder b(op.getContext());
  for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
    std::optional<SizeForm> size = sizes.readDim(extract.getTensor(), int64_t(dim));
    if (!size)
      return std::nullopt;
    if (matchPattern(index, m_Zero()) && *size == SizeForm::of(1)) {
      places.push_back(b.getAffineConstantExpr(0));
      continue;
    }
    std::optional<unsigned> loop = findLoop(index, *size, sizes);
    if (!loop || sizes.readDim(op.getDpsInits()[0], *loop) != size)
      return std::nullopt;
    places.push_back(b.getAffineDimExpr(*loop));
  }
  return AffineMap::get(op.getNumLoops(), 0, places, op.getContext());
}

/// The op with another input, which is read where an element was extracted.
static void addInput(linalg::GenericOp op, tensor::ExtractOp extract, AffineMap map) {
  const unsigned place = unsigned(op.getNumDpsInputs());
  SmallVector<Value> inputs = op.getDpsInputs();
  inputs.push_back(extract.getTensor());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.insert(maps.begin() + place, map);
  OpBuilder b(op);
  auto made = linalg::GenericOp::create(b, op.getLoc(), op.getResultTypes(), inputs,
                                        op.getDpsInits(), maps, op.getIteratorTypesArray());
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  made.getRegion().takeBody(op.getRegion());
  extract.replaceAllUsesWith(
      made.getBody()->insertArgument(place, extract.getType(), extract.getLoc()));
  extract.erase();
  op.replaceAllUsesWith(made.getResults());
  op.erase();
}

bool SimplifySizes::readThroughBroadcasts(func::FuncOp function, SizeReader &sizes) {
  SmallVector<linalg::GenericOp> ops;
  function.walk([&](linalg::GenericOp op) {
    if (op.hasPureTensorSemantics() && op.getNumDpsInits() == 1 && op.getNumReductionLoops() == 0 &&
        op.getIndexingMapsArray().back().isIdentity())
      ops.push_back(op);
  });
  bool changed = false;
  for (linalg::GenericOp op : ops)
    for (auto extract : op.getBody()->getOps<tensor::ExtractOp>()) {
      if (op->isAncestor(extract.getTensor().getParentRegion()->getParentOp()))
        continue;
      std::optional<AffineMap> map = mapOf(op, extract, sizes);
      if (!map)
        continue;
      addInput(op, extract, *map);
      changed = true;
      break; // another one is for the next
    }
  return changed;
}
