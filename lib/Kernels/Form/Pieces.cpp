// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads each element of a concatenation from its piece.
//
//   y[i] = i < 32 ? -x[i + 32] : x[i - 32], from slices, a negation and two insertions
//   ==>  one map, y[i] = select(i < 32, -v, v), where v = x[select(i < 32, i + 32, i - 32)]
//
// Such a tensor is a map: it runs with the elementwise ops around it, and no kernel copies a piece.

#include "Pieces.h"

#include "DispatchBody.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mp/Analysis/Cost/FusionGroups.h"
#include "mp/Analysis/Pieces.h"

using namespace mlir;
using namespace mlir::mp;

/// Ops that are looked through to find what pieces are made of.
static constexpr size_t kMostThrough = 64;

/// True for elements that kernels load and store one by one.
static bool hasPlainElements(Whole &whole) {
  auto type = cast<RankedTensorType>(whole.ops.front()->getResult(0).getType());
  Type element = type.getElementType();
  return !type.getEncoding() && (element.isIndex() || element.isInteger(1) ||
                                 (element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 8));
}

/// True for an elementwise op whose result's dimensions are its loops.
static bool isPureElementwise(linalg::GenericOp op) {
  return op && op.hasPureTensorSemantics() && op.getNumReductionLoops() == 0 &&
         op->getNumResults() == 1 && isMemoryEffectFree(op) &&
         !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation() &&
         llvm::all_of(op.getDpsInputOperands(),
                      [&](OpOperand *input) {
                        return isa<RankedTensorType>(input->get().getType()) &&
                               op.getMatchingIndexingMap(input).isProjectedPermutation(
                                   /*allowZero=*/true);
                      }) &&
         llvm::all_of(op.getBody()->without_terminator(),
                      [](Operation &inner) { return inner.getNumRegions() == 0; });
}

static bool isMove(linalg::GenericOp op) { return llvm::hasSingleElement(*op.getBody()); }

/// True for what makes an element of its result from known elements of its operands.
static bool isLookedThrough(Operation *op) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return llvm::none_of(slice.getStaticOffsets(), ShapedType::isDynamic) &&
           llvm::none_of(slice.getStaticStrides(), ShapedType::isDynamic);
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return isUnitReshape(op) || (generic && isPureElementwise(generic));
}

namespace {
using Ops = llvm::SetVector<Operation *>;
} // namespace

/// The ops that put `whole` together and what moves or computes its elements alone, readers first.
static Ops collectThrough(const Whole &whole) {
  Ops through;
  through.insert(whole.ops.begin(), whole.ops.end());
  Ops pending;
  auto consider = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == whole.ops.front()->getBlock() && isLookedThrough(op))
      pending.insert(op);
  };
  for (const Piece &piece : whole.pieces)
    consider(piece.source);
  while (!pending.empty() && through.size() < kMostThrough) {
    auto last = std::max_element(pending.begin(), pending.end(),
                                 [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    Operation *op = *last;
    pending.erase(last);
    auto generic = dyn_cast<linalg::GenericOp>(op);
    const bool computes = generic && !isMove(generic);
    if (computes && (isCostlyToRepeat(op) || !llvm::all_of(op->getUsers(), [&](Operation *user) {
                       return through.contains(op->getBlock()->findAncestorOpInBlock(*user));
                     })))
      continue;
    through.insert(op);
    for (Value operand : generic ? ValueRange(generic.getInputs()) : op->getOperands().take_front())
      consider(operand);
  }
  return through;
}

namespace {

/// Writes the map that computes the elements of a whole.
class Writer {
public:
  Writer(RewriterBase &rewriter, const Whole &whole)
      : rewriter(rewriter), whole(whole), through(collectThrough(whole)),
        b(whole.ops.front()->getLoc(), rewriter) {}

  void write() {
    Operation *last = whole.ops.front();
    const auto type = cast<RankedTensorType>(last->getResult(0).getType());
    b.setInsertionPoint(last);
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(b, last->getLoc(), whole.pieces.front().source);
    sizes[whole.dim] = b.getIndexAttr(type.getDimSize(whole.dim));
    Value empty = tensor::EmptyOp::create(b, sizes, type.getElementType());
    if (empty.getType() != type)
      empty = tensor::CastOp::create(b, type, empty);
    Region region;
    Block &body = region.emplaceBlock();
    b.setInsertionPointToEnd(&body);
    for (int64_t loop = 0; loop < type.getRank(); ++loop)
      loops.push_back(linalg::IndexOp::create(b, loop));
    linalg::YieldOp::create(b, element());
    sortTopologically(&body);
    for (Value input : inputs)
      body.addArgument(getElementTypeOrSelf(input.getType()), input.getLoc());
    for (auto [stand, argument] : llvm::zip_equal(stands, body.getArguments()))
      rewriter.replaceOp(stand, argument);
    body.addArgument(type.getElementType(), last->getLoc());
    maps.push_back(b.getMultiDimIdentityMap(unsigned(type.getRank())));
    b.setInsertionPoint(last);
    SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
    auto made = linalg::GenericOp::create(b, type, inputs, empty, maps, iterators);
    made.getRegion().takeBody(region);
    rewriter.replaceOp(last, made);
    for (Operation *op : through)
      if (op != last && op->use_empty())
        rewriter.eraseOp(op);
  }

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value add(Value a, int64_t more) {
    return more == 0 ? a : arith::AddIOp::create(b, a, constant(more)).getResult();
  }

  /// Pieces of the same elements, and where the loops are in one of them.
  struct Part {
    Value source, inside, index;
  };

  void addPart(ArrayRef<Piece> pieces) {
    Part part{pieces.front().source, {}, constant(0)};
    for (const Piece &piece : pieces) {
      Value index = add(loops[whole.dim], -piece.offset); // a large one before the piece
      Value inside =
          arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, constant(piece.size));
      part.index = arith::SelectOp::create(b, inside, index, part.index);
      part.inside = part.inside ? arith::OrIOp::create(b, part.inside, inside).getResult() : inside;
    }
    parts.push_back(part);
  }

  /// The element at the loops' place.
  Value element() {
    llvm::MapVector<Value, SmallVector<Piece>> bySource;
    for (const Piece &piece : whole.pieces)
      bySource[piece.source].push_back(piece);
    for (auto &[source, pieces] : bySource)
      addPart(pieces);
    Value found;
    for (const Part &part : parts) {
      SmallVector<Value> place(loops);
      place[whole.dim] = part.index;
      inside = part.inside;
      readHere.clear();
      Value value = at(part.source, place);
      found = found ? arith::SelectOp::create(b, inside, value, found).getResult() : value;
    }
    return found;
  }

  /// The element of `tensor` at `place`, computed from what is read.
  Value at(Value tensor, ArrayRef<Value> place) {
    Operation *op = tensor.getDefiningOp();
    DenseElementsAttr dense;
    if (matchPattern(tensor, m_Constant(&dense)) && dense.isSplat())
      return arith::ConstantOp::create(b, cast<TypedAttr>(dense.getSplatValue<Attribute>()));
    if (!op || !through.contains(op))
      return read(tensor, place);
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      return inSlice(slice, place);
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      return inGeneric(generic, place);
    return inReshape(op, place);
  }

  Value inSlice(tensor::ExtractSliceOp op, ArrayRef<Value> place) {
    const llvm::SmallBitVector dropped = op.getDroppedDims();
    SmallVector<Value> source;
    for (auto [dim, offset, stride] :
         llvm::enumerate(op.getStaticOffsets(), op.getStaticStrides())) {
      Value index = dropped[dim] ? constant(0) : place.front();
      place = place.drop_front(!dropped[dim]);
      if (stride != 1)
        index = arith::MulIOp::create(b, index, constant(stride));
      source.push_back(add(index, offset));
    }
    return at(op.getSource(), source);
  }

  /// Looks through a reshape only where that leads to more: others read what it shows, too.
  Value inReshape(Operation *op, ArrayRef<Value> place) {
    Value source = op->getOperand(0);
    if (!source.getDefiningOp() || !through.contains(source.getDefiningOp()))
      return read(op->getResult(0), place);
    auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
    const auto wide =
        cast<RankedTensorType>(expand ? op->getResult(0).getType() : source.getType());
    SmallVector<Value> there;
    for (auto [dim, group] :
         llvm::enumerate(expand ? expand.getReassociationIndices()
                                : cast<tensor::CollapseShapeOp>(op).getReassociationIndices())) {
      auto *kept = llvm::find_if(group, [&](int64_t d) { return wide.getDimSize(d) != 1; });
      if (expand)
        there.push_back(kept == group.end() ? constant(0) : place[size_t(*kept)]);
      else
        for (const int64_t &d : group)
          there.push_back(&d == kept ? place[dim] : constant(0));
    }
    return at(source, there);
  }

  Value inGeneric(linalg::GenericOp op, ArrayRef<Value> place) {
    SmallVector<Value> ofLoops(op.getNumLoops());
    for (auto [dim, expr] :
         llvm::enumerate(op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults()))
      ofLoops[cast<AffineDimExpr>(expr).getPosition()] = place[dim];
    IRMapping mapping;
    for (OpOperand *input : op.getDpsInputOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(input);
      if (argument.use_empty())
        continue;
      SmallVector<Value> there;
      for (AffineExpr expr : op.getMatchingIndexingMap(input).getResults()) {
        auto loop = dyn_cast<AffineDimExpr>(expr);
        there.push_back(loop ? ofLoops[loop.getPosition()] : constant(0));
      }
      mapping.map(argument, at(input->get(), there));
    }
    for (Operation &inner : op.getBody()->without_terminator())
      if (auto index = dyn_cast<linalg::IndexOp>(inner))
        mapping.map(index.getResult(), ofLoops[index.getDim()]);
      else
        b.clone(inner, mapping);
    return mapping.lookupOrDefault(op.getBody()->getTerminator()->getOperand(0));
  }

  /// The element as an operand's where the loops alone say which it is, else read where it lies;
  /// parts that read one tensor do so once.
  Value read(Value tensor, ArrayRef<Value> place) {
    if (std::optional<AffineMap> map = asMap(place))
      return operand(tensor, *map);
    tensor::ExtractOp &known = reads[tensor];
    const bool isFirst = readHere.insert(tensor).second;
    if (!known || !isFirst)
      return known = tensor::ExtractOp::create(b, tensor, place);
    for (auto [index, other] : llvm::zip_equal(known.getIndicesMutable(), place))
      if (index.get() != other)
        index.set(arith::SelectOp::create(b, inside, other, index.get()));
    return known;
  }

  Value operand(Value tensor, AffineMap map) {
    for (auto [stand, input, known] : llvm::zip_equal(stands, inputs, maps))
      if (input == tensor && known == map)
        return stand->getResult(0);
    inputs.push_back(tensor);
    maps.push_back(map);
    // It stands for an argument, which the body gets when all are known.
    stands.push_back(UnrealizedConversionCastOp::create(b, getElementTypeOrSelf(tensor.getType()),
                                                        ValueRange()));
    return stands.back()->getResult(0);
  }

  /// The loops, each at most once, and zeros that a place is.
  std::optional<AffineMap> asMap(ArrayRef<Value> place) {
    SmallVector<AffineExpr> exprs;
    for (Value index : place) {
      auto *loop = llvm::find(loops, index);
      if (loop != loops.end())
        exprs.push_back(b.getAffineDimExpr(unsigned(loop - loops.begin())));
      else if (matchPattern(index, m_Zero()))
        exprs.push_back(b.getAffineConstantExpr(0));
      else
        return std::nullopt;
    }
    AffineMap map = AffineMap::get(unsigned(loops.size()), 0, exprs, b.getContext());
    return map.isProjectedPermutation(/*allowZero=*/true) ? std::optional(map) : std::nullopt;
  }

  RewriterBase &rewriter;
  const Whole &whole;
  Ops through;
  ImplicitLocOpBuilder b;
  SmallVector<Value> loops;
  SmallVector<Part> parts;
  Value inside;                             ///< whether the loops are in the part at work
  DenseMap<Value, tensor::ExtractOp> reads; ///< the last of each tensor
  DenseSet<Value> readHere;                 ///< tensors whose read this part has taken
  SmallVector<Operation *> stands;
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
};

} // namespace

void mlir::mp::readPieces(Operation *function) {
  SmallVector<Operation *> ops;
  function->walk([&](Operation *op) {
    if (isa<tensor::ConcatOp, tensor::InsertSliceOp, linalg::GenericOp>(op))
      ops.push_back(op);
  });
  IRRewriter rewriter(function->getContext());
  for (Operation *op : ops)
    if (std::optional<Whole> whole = readWhole(op); whole && hasPlainElements(*whole))
      Writer(rewriter, *whole).write();
}
