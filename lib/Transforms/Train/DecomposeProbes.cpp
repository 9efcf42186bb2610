// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A probe as one reduction with a result per column, another for the histogram, and a row made of
// them. Counts are integers and sums are f64 in the order of the elements: the same bits each run.

#include "../Common/TensorCode.h"
#include "DecomposeTraining.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Numerics/ProbeRecord.h"

using namespace mlir;
using namespace mlir::mp;
using arith::CmpFPredicate;

namespace {
/// The accumulators of the reduction, in its order of results.
enum Sum {
  NaNs,
  Infinities,
  Zeros,
  Negatives,
  Least,
  Largest,
  LeastMagnitude,
  LargestMagnitude,
  First,
  Second,
  Formats
};

/// Scalar code of one element: what it adds to each accumulator.
struct Element {
  OpBuilder &b;
  Location loc;
  Value x; ///< f32

  Value f32(double value) { return scalar(b, loc, b.getF32FloatAttr(value)); }
  Value f64(double value) { return scalar(b, loc, b.getF64FloatAttr(value)); }
  Value compare(CmpFPredicate predicate, Value y, Value z) {
    return arith::CmpFOp::create(b, loc, predicate, y, z);
  }
  Value both(Value y, Value z) { return arith::AndIOp::create(b, loc, y, z); }
  Value choose(Value condition, Value y, Value z) {
    return arith::SelectOp::create(b, loc, condition, y, z);
  }
  Value counted(Value condition, Value count) {
    Value one = arith::ExtUIOp::create(b, loc, b.getI64Type(), condition);
    return arith::AddIOp::create(b, loc, count, one);
  }
  Value magnitude() { return math::AbsFOp::create(b, loc, x); }
  Value isFinite(Value magnitude) {
    return compare(CmpFPredicate::OLT, magnitude, f32(std::numeric_limits<float>::infinity()));
  }

  SmallVector<Value> accumulate(ValueRange sums, Value centre, ArrayRef<numerics::Format> formats) {
    Value size = magnitude(), finite = isFinite(size), zero = f32(0);
    Value nonzero = both(finite, compare(CmpFPredicate::ONE, x, zero));
    SmallVector<Value> next(sums);
    next[NaNs] = counted(compare(CmpFPredicate::UNO, x, x), sums[NaNs]);
    next[Infinities] =
        counted(compare(CmpFPredicate::OEQ, size, f32(std::numeric_limits<float>::infinity())),
                sums[Infinities]);
    next[Zeros] = counted(compare(CmpFPredicate::OEQ, x, zero), sums[Zeros]);
    next[Negatives] = counted(both(finite, compare(CmpFPredicate::OLT, x, zero)), sums[Negatives]);
    auto extreme = [&](Sum sum, Value value, Value counts, CmpFPredicate predicate) {
      next[sum] = choose(both(counts, compare(predicate, value, sums[sum])), value, sums[sum]);
    };
    extreme(Least, x, finite, CmpFPredicate::OLT);
    extreme(Largest, x, finite, CmpFPredicate::OGT);
    extreme(LeastMagnitude, size, nonzero, CmpFPredicate::OLT);
    extreme(LargestMagnitude, size, finite, CmpFPredicate::OGT);
    Value wide = arith::ExtFOp::create(b, loc, b.getF64Type(), x);
    Value off = choose(finite, arith::SubFOp::create(b, loc, wide, centre), f64(0));
    next[First] = arith::AddFOp::create(b, loc, sums[First], off);
    next[Second] =
        arith::AddFOp::create(b, loc, sums[Second], arith::MulFOp::create(b, loc, off, off));
    for (auto [index, format] : llvm::enumerate(formats)) {
      const numerics::RangeLimits limits = numerics::rangeLimits(format);
      const unsigned at = Formats + 3 * index;
      Value above = compare(CmpFPredicate::OGE, size, f32(limits.overflowFrom));
      Value upTo = compare(CmpFPredicate::OLE, size, f32(limits.flushedUpTo));
      Value beyond = compare(CmpFPredicate::OGT, size, f32(limits.flushedUpTo));
      Value below = compare(CmpFPredicate::OLT, size, f32(limits.subnormalBelow));
      next[at] = counted(both(finite, above), sums[at]);
      next[at + 1] = counted(both(nonzero, upTo), sums[at + 1]);
      next[at + 2] = counted(both(beyond, below), sums[at + 2]);
    }
    return next;
  }

  /// The bin of the histogram, or -1.
  Value bin() {
    auto i32 = [&](int32_t value) { return scalar(b, loc, b.getI32IntegerAttr(value)); };
    Value size = magnitude();
    Value bits = arith::BitcastOp::create(b, loc, b.getI32Type(), size);
    Value biased = arith::ShRUIOp::create(b, loc, bits, i32(23));
    Value index = arith::SubIOp::create(b, loc, biased, i32(127 + numerics::kLeastBinExponent));
    index = arith::MaxSIOp::create(b, loc, index, i32(0));
    index = arith::MinSIOp::create(b, loc, index, i32(numerics::kProbeBins - 1));
    Value counts = both(isFinite(size), compare(CmpFPredicate::OGT, size, f32(0)));
    return choose(counts, index, i32(-1));
  }
};

/// Builds the row of one probe.
struct Row {
  OpBuilder &b;
  Location loc;
  Value source;
  RankedTensorType type;
  SmallVector<numerics::Format> formats;

  Value f32Element(OpBuilder &at, Value element) {
    return widen(at, loc, element, at.getF32Type());
  }

  /// The first element, if it is finite, else 0: sums around it keep the digits of the deviation.
  Value centre() {
    Value zero = scalar(b, loc, b.getF64FloatAttr(0));
    if (!type.hasStaticShape() || type.getNumElements() == 0)
      return zero;
    Value index = arith::ConstantIndexOp::create(b, loc, 0);
    Value first =
        tensor::ExtractOp::create(b, loc, source, SmallVector<Value>(type.getRank(), index));
    Element element{b, loc, f32Element(b, first)};
    Value wide = arith::ExtFOp::create(b, loc, b.getF64Type(), element.x);
    return element.choose(element.isFinite(element.magnitude()), wide, zero);
  }

  SmallVector<TypedAttr> firsts() {
    const float infinity = std::numeric_limits<float>::infinity();
    SmallVector<TypedAttr> attrs(4, b.getI64IntegerAttr(0));
    for (float first : {infinity, -infinity, infinity, 0.0f})
      attrs.push_back(b.getF32FloatAttr(first));
    attrs.append(2, b.getF64FloatAttr(0));
    attrs.append(3 * formats.size(), b.getI64IntegerAttr(0));
    return attrs;
  }

  /// All accumulators, as scalars.
  SmallVector<Value> reduce(Value centre) {
    SmallVector<Value> inits;
    for (TypedAttr first : firsts())
      inits.push_back(scalarTensor(b, loc, first));
    SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(type.getRank())};
    maps.append(inits.size(), AffineMap::get(type.getRank(), 0, b.getContext()));
    SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::reduction);
    auto generic = linalg::GenericOp::create(
        b, loc, TypeRange(ValueRange(inits)), ValueRange(source), inits, maps, iterators,
        [&](OpBuilder &inner, Location at, ValueRange elements) {
          Element element{inner, at, f32Element(inner, elements[0])};
          linalg::YieldOp::create(inner, at,
                                  element.accumulate(elements.drop_front(), centre, formats));
        });
    SmallVector<Value> sums;
    for (Value result : generic.getResults())
      sums.push_back(tensor::ExtractOp::create(b, loc, result, ValueRange()));
    return sums;
  }

  Value histogram() {
    const int64_t rank = type.getRank();
    auto bins = RankedTensorType::get({numerics::kProbeBins}, b.getI64Type());
    Value init = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(bins, b.getI64IntegerAttr(0).getValue()));
    SmallVector<AffineExpr> dims;
    for (int64_t dim = 0; dim != rank; ++dim)
      dims.push_back(b.getAffineDimExpr(dim));
    SmallVector<AffineMap> maps{
        AffineMap::get(rank + 1, 0, dims, b.getContext()),
        AffineMap::get(rank + 1, 0, b.getAffineDimExpr(rank), b.getContext())};
    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::reduction);
    iterators.push_back(utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        b, loc, TypeRange(bins), ValueRange(source), ValueRange(init), maps, iterators,
        [&](OpBuilder &inner, Location at, ValueRange elements) {
          Element element{inner, at, f32Element(inner, elements[0])};
          Value own = arith::IndexCastOp::create(inner, at, inner.getI32Type(),
                                                 linalg::IndexOp::create(inner, at, rank));
          Value hits =
              arith::CmpIOp::create(inner, at, arith::CmpIPredicate::eq, element.bin(), own);
          linalg::YieldOp::create(inner, at, element.counted(hits, elements[1]));
        });
    return buildElementwise(b, loc, generic.getResult(0), b.getF64Type(),
                            [](OpBuilder &inner, Location at, ValueRange x) -> Value {
                              return arith::UIToFPOp::create(inner, at, inner.getF64Type(), x[0]);
                            });
  }

  Value count() {
    Value size = arith::ConstantIndexOp::create(b, loc, 1);
    for (OpFoldResult dim : sizesOf(b, loc, source))
      size = arith::MulIOp::create(b, loc, size, getValueOrCreateConstantIndexOp(b, loc, dim));
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), size);
  }
};
} // namespace

Value mlir::mp::expand(OpBuilder &b, ProbeOp probe) {
  Location loc = probe.getLoc();
  Type f64 = b.getF64Type();
  Row row{b, loc, probe.getSource(), cast<RankedTensorType>(probe.getSource().getType()),
          *probeFormats(probe.getFormatsAttr())};
  Value centre = row.centre();
  SmallVector<Value> sums = row.reduce(centre);
  auto wide = [&](Value value) -> Value {
    if (isa<IntegerType>(value.getType()))
      return arith::UIToFPOp::create(b, loc, f64, value);
    return value.getType() == f64 ? value : arith::ExtFOp::create(b, loc, f64, value);
  };
  auto times = [&](Value x, Value y) -> Value { return arith::MulFOp::create(b, loc, x, y); };
  Value one = scalar(b, loc, b.getF64FloatAttr(1)), inverse = one;
  if (Value scale = probe.getScale())
    inverse = arith::DivFOp::create(b, loc, one,
                                    wide(tensor::ExtractOp::create(b, loc, scale, ValueRange())));
  Value elements = row.count();
  Value finite = arith::SubIOp::create(b, loc, elements,
                                       arith::AddIOp::create(b, loc, sums[NaNs], sums[Infinities]));
  // An empty sum is divided by one.
  Value divisor =
      wide(arith::MaxUIOp::create(b, loc, finite, scalar(b, loc, b.getI64IntegerAttr(1))));
  Value offset = arith::DivFOp::create(b, loc, sums[First], divisor);
  Value zero = scalar(b, loc, b.getF64FloatAttr(0));
  Value any = arith::CmpFOp::create(b, loc, CmpFPredicate::OGT, wide(finite), zero);
  Value mean =
      arith::SelectOp::create(b, loc, any, arith::AddFOp::create(b, loc, centre, offset), zero);
  // The sum of squares around the mean, which rounding may leave below zero.
  Value squares = arith::MaximumFOp::create(
      b, loc, zero, arith::SubFOp::create(b, loc, sums[Second], times(sums[First], offset)));
  SmallVector<Value> columns{wide(elements)};
  for (Sum sum : {NaNs, Infinities, Zeros, Negatives})
    columns.push_back(wide(sums[sum]));
  for (Sum sum : {Least, Largest, LeastMagnitude, LargestMagnitude})
    columns.push_back(times(wide(sums[sum]), inverse));
  columns.push_back(times(mean, inverse));
  columns.push_back(times(squares, times(inverse, inverse)));
  for (Value sum : ArrayRef(sums).drop_front(Formats))
    columns.push_back(wide(sum));
  Value head = tensor::FromElementsOp::create(b, loc, columns);
  if (!probe.getHistogram())
    return head;
  auto record = cast<RankedTensorType>(probe.getRecord().getType());
  Value whole = tensor::EmptyOp::create(b, loc, record.getShape(), f64);
  auto insert = [&](Value part, int64_t at) {
    const int64_t size = cast<RankedTensorType>(part.getType()).getDimSize(0);
    whole = tensor::InsertSliceOp::create(
        b, loc, part, whole, ArrayRef<OpFoldResult>(b.getIndexAttr(at)),
        ArrayRef<OpFoldResult>(b.getIndexAttr(size)), ArrayRef<OpFoldResult>(b.getIndexAttr(1)));
  };
  insert(head, 0);
  insert(row.histogram(), int64_t(columns.size()));
  return whole;
}
