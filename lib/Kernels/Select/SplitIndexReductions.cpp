// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-split-index-reductions: say where the largest element is by reductions of one
// combination each, which threads can share.

#include "IndexReduction.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Kernels/Select/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_SPLITINDEXREDUCTIONS
#include "mp/Kernels/Select/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {

/// Writes the reductions that give what one index reduction gives, bit for bit.
class Splitter {
public:
  Splitter(RewriterBase &rewriter, const IndexReduction &reduction)
      : r(reduction), op(reduction.op), b(op.getLoc(), rewriter),
        rows(op.getMatchingIndexingMap(op.getDpsInitOperand(r.value))),
        oldValue(op.getDpsInits()[r.value]), oldIndex(op.getDpsInits()[r.index]) {
    const int64_t extent = op.getStaticLoopRanges()[r.loop];
    place = ShapedType::isDynamic(extent) || extent > INT32_MAX ? b.getI64Type() : b.getI32Type();
    none = b.getIntegerAttr(place, APInt::getSignedMaxValue(place.getIntOrFloatBitWidth()));
  }

  void run(RewriterBase &rewriter) {
    elements = r.input ? op.getDpsInputs()[*r.input] : makeElements();
    if (r.nan == IndexReduction::NaN::Stops || r.nan == IndexReduction::NaN::Wins)
      firstNaN = reduce(none, arith::AtomicRMWKind::mins, {}, [&](Inner &in) {
        Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, in.element, in.element);
        return select(isNaN, in.place, constant(none));
      });
    Value best = reduce(
        worst(), r.largest ? kind(maxKinds) : kind(minKinds), known(firstNaN), [&](Inner &in) {
          return firstNaN ? select(isBefore(in), in.element, constant(worst())) : in.element;
        });
    SmallVector<Value> given = known(firstNaN);
    given.append({best, oldValue});
    Value first = reduce(none, arith::AtomicRMWKind::mins, given, [&](Inner &in) {
      Value isBest = arith::AndIOp::create(b, isEqual(in.element, in.given[in.given.size() - 2]),
                                           isBetter(in.element, in.given.back()));
      if (firstNaN)
        isBest = arith::AndIOp::create(b, isBest, isBefore(in));
      return select(isBest, in.place, constant(none));
    });
    Value chosen = r.nan == IndexReduction::NaN::Wins ? preferNaN(first) : first;
    if (!op->getResult(r.index).use_empty())
      rewriter.replaceAllUsesWith(op->getResult(r.index), indexAt(chosen));
    if (!op->getResult(r.value).use_empty())
      rewriter.replaceAllUsesWith(op->getResult(r.value),
                                  r.isSelected && isFloat() ? elementAt(chosen) : combined(best));
    rewriter.eraseOp(op);
  }

private:
  using Kinds = std::array<arith::AtomicRMWKind, 3>; ///< of floats, signed, unsigned
  static constexpr Kinds maxKinds = {arith::AtomicRMWKind::maxnumf, arith::AtomicRMWKind::maxs,
                                     arith::AtomicRMWKind::maxu};
  static constexpr Kinds minKinds = {arith::AtomicRMWKind::minnumf, arith::AtomicRMWKind::mins,
                                     arith::AtomicRMWKind::minu};

  /// Holds what the body of a reduction sees of an element.
  struct Inner {
    Value element, place;
    ValueRange given; ///< of the row
  };

  bool isFloat() const { return isa<FloatType>(r.element.getType()); }
  arith::AtomicRMWKind kind(const Kinds &kinds) const {
    return kinds[isFloat() ? 0 : r.isUnsigned ? 2 : 1];
  }
  static SmallVector<Value> known(Value value) {
    return value ? SmallVector<Value>{value} : SmallVector<Value>{};
  }
  Value constant(TypedAttr value) { return arith::ConstantOp::create(b, value); }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  /// Returns the element that is better than no other.
  TypedAttr worst() {
    Type type = r.element.getType();
    if (auto format = dyn_cast<FloatType>(type))
      return b.getFloatAttr(type, APFloat::getInf(format.getFloatSemantics(), r.largest));
    const unsigned bits = type.getIntOrFloatBitWidth();
    APInt least = r.isUnsigned ? APInt::getMinValue(bits) : APInt::getSignedMinValue(bits);
    APInt most = r.isUnsigned ? APInt::getMaxValue(bits) : APInt::getSignedMaxValue(bits);
    return b.getIntegerAttr(type, r.largest ? least : most);
  }
  Value isEqual(Value x, Value y) {
    if (isFloat())
      return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, y);
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
  }
  Value isBetter(Value x, Value y) {
    if (isFloat())
      return arith::CmpFOp::create(
          b, r.largest ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, x, y);
    using enum arith::CmpIPredicate;
    return arith::CmpIOp::create(
        b, r.isUnsigned ? (r.largest ? ugt : ult) : (r.largest ? sgt : slt), x, y);
  }
  /// The first of what is known of the row is where its first NaN is.
  Value isBefore(Inner &in) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, in.place, in.given.front());
  }
  Value isNone(Value x) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, constant(none));
  }
  Value emptyRows(Type type) {
    return tensor::EmptyOp::create(b, tensor::getMixedSizes(b, op.getLoc(), oldValue), type);
  }

  /// The elements that are compared, where they are no input but computed of some.
  Value makeElements() {
    const unsigned whole = *r.whole;
    OpOperand *shape = op.getDpsInputOperand(whole);
    elementMap = op.getMatchingIndexingMap(shape);
    Value empty = tensor::EmptyOp::create(b, tensor::getMixedSizes(b, op.getLoc(), shape->get()),
                                          r.element.getType());
    SmallVector<AffineMap> maps;
    for (OpOperand *input : op.getDpsInputOperands())
      maps.push_back(op.getMatchingIndexingMap(input));
    maps.push_back(elementMap);
    SmallVector<utils::IteratorType> loops(op.getNumLoops(), utils::IteratorType::parallel);
    auto made =
        linalg::GenericOp::create(b, empty.getType(), op.getDpsInputs(), empty, maps, loops);
    IRMapping mapping;
    Block &block = made.getRegion().emplaceBlock();
    for (BlockArgument argument : op.getBody()->getArguments().take_front(op.getNumDpsInputs()))
      mapping.map(argument, block.addArgument(argument.getType(), argument.getLoc()));
    block.addArgument(r.element.getType(), op.getLoc());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&block);
    for (Operation *inner : r.elementOps)
      b.clone(*inner, mapping);
    linalg::YieldOp::create(b, mapping.lookupOrDefault(r.element));
    return made.getResult(0);
  }

  /// A reduction of what `make` makes of each element, and of `init`.
  Value reduce(TypedAttr init, arith::AtomicRMWKind kind, ValueRange given,
               function_ref<Value(Inner &)> make) {
    Value filled =
        linalg::FillOp::create(b, constant(init), emptyRows(init.getType())).getResult(0);
    SmallVector<Value> inputs{elements};
    llvm::append_range(inputs, given);
    SmallVector<AffineMap> maps{r.input ? op.getMatchingIndexingMap(op.getDpsInputOperand(*r.input))
                                        : elementMap};
    maps.append(given.size() + 1, rows);
    auto body = [&](OpBuilder &inner, Location, ValueRange arguments) {
      OpBuilder::InsertionGuard guard(b);
      b.restoreInsertionPoint(inner.saveInsertionPoint());
      Value index = linalg::IndexOp::create(b, r.loop);
      Inner in{arguments.front(), arith::IndexCastOp::create(b, place, index),
               arguments.drop_front().drop_back()};
      Value made = make(in);
      linalg::YieldOp::create(b,
                              arith::getReductionOp(kind, b, op.getLoc(), made, arguments.back()));
    };
    return linalg::GenericOp::create(b, filled.getType(), inputs, filled, maps,
                                     op.getIteratorTypesArray(), body)
        .getResult(0);
  }

  /// A map over rows.
  Value map(Type type, ValueRange inputs, function_ref<Value(ValueRange)> make) {
    const unsigned rank = cast<RankedTensorType>(oldValue.getType()).getRank();
    SmallVector<AffineMap> maps(inputs.size() + 1, b.getMultiDimIdentityMap(rank));
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    Value empty = emptyRows(type);
    auto body = [&](OpBuilder &inner, Location, ValueRange arguments) {
      OpBuilder::InsertionGuard guard(b);
      b.restoreInsertionPoint(inner.saveInsertionPoint());
      linalg::YieldOp::create(b, make(arguments.drop_back()));
    };
    return linalg::GenericOp::create(b, empty.getType(), inputs, empty, maps, loops, body)
        .getResult(0);
  }

  /// A NaN is taken unless the destination held one.
  Value preferNaN(Value first) {
    return map(place, {first, firstNaN, oldValue}, [&](ValueRange in) {
      Value takes = arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, in[2], in[2]);
      takes = select(takes, in[1], constant(none));
      return select(isNone(takes), in[0], takes);
    });
  }

  Value indexAt(Value chosen) {
    Type type = getElementTypeOrSelf(oldIndex.getType());
    return map(type, {chosen, oldIndex}, [&](ValueRange in) -> Value {
      Value cast = in[0];
      if (type.isIndex())
        cast = arith::IndexCastOp::create(b, type, cast);
      else if (type.getIntOrFloatBitWidth() > place.getIntOrFloatBitWidth())
        cast = arith::ExtSIOp::create(b, type, cast);
      else if (type.getIntOrFloatBitWidth() < place.getIntOrFloatBitWidth())
        cast = arith::TruncIOp::create(b, type, cast);
      return select(isNone(in[0]), in[1], cast);
    });
  }

  /// The bits of the element at the place chosen, or what the destination held.
  Value elementAt(Value chosen) {
    Type type = r.element.getType(), bits = b.getIntegerType(type.getIntOrFloatBitWidth());
    TypedAttr zero = b.getIntegerAttr(bits, 0);
    Value found = reduce(zero, arith::AtomicRMWKind::ori, chosen, [&](Inner &in) {
      Value isIt = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, in.place, in.given.front());
      return select(isIt, arith::BitcastOp::create(b, bits, in.element), constant(zero));
    });
    return map(type, {chosen, found, oldValue}, [&](ValueRange in) {
      return select(isNone(in[0]), in[2], arith::BitcastOp::create(b, type, in[1]));
    });
  }

  /// The value where it is the best of all and of what the destination held. Elements behind a NaN
  /// make no difference.
  Value combined(Value best) {
    using enum arith::AtomicRMWKind;
    const arith::AtomicRMWKind own = isFloat()   ? (r.largest ? maximumf : minimumf)
                                     : r.largest ? kind(maxKinds)
                                                 : kind(minKinds);
    if (firstNaN)
      best = reduce(worst(), own, firstNaN, [&](Inner &in) {
        Value counts = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, in.place, in.given[0]);
        return select(counts, in.element, constant(worst()));
      });
    return map(r.element.getType(), {best, oldValue}, [&](ValueRange in) {
      return arith::getReductionOp(own, b, op.getLoc(), in[0], in[1]);
    });
  }

  const IndexReduction &r;
  linalg::GenericOp op;
  ImplicitLocOpBuilder b;
  AffineMap rows, elementMap;
  Value oldValue, oldIndex;
  Type place; ///< of places along the row
  TypedAttr none;
  Value elements, firstNaN;
};

struct SplitIndexReductions : mlir::mp::impl::SplitIndexReductionsBase<SplitIndexReductions> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<linalg::GenericOp> found;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op->getNumResults() > 1 && op.getNumReductionLoops() != 0 && op.hasIndexSemantics() &&
          op.hasPureTensorSemantics())
        found.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : found) {
      std::string reason;
      FailureOr<IndexReduction> reduction = readIndexReduction(op, reason);
      if (failed(reduction)) {
        remark::missed(op.getLoc(), remarks::kIndexReductionKept)
            << "a reduction with indices is one thread's work for each row: " + reason;
        continue;
      }
      // Exporters write the maximum of a softmax so; what is left of it is a plain reduction.
      if (op->getResult(reduction->index).use_empty())
        continue;
      rewriter.setInsertionPoint(op);
      Splitter(rewriter, *reduction).run(rewriter);
    }
  }
};

} // namespace
