// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A probe as reductions that kernels of rows take up where the value is made.
//
//   1. lines     counts, extremes and the sum of each line along the last dimension
//   2. squares   the sum of squared distances to the line's own mean
//   3. whole     both of all lines: squares of lines add up around the whole mean by the distance
//                of the line's mean (Chan, Golub and LeVeque 1979)
//   4. record    a column each, with the scale taken out
//
// Counts are integers and sums are f64, so that no digit of a deviation is lost to the mean.

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
/// Names what is reduced, in the order of results.
enum Sum {
  NaNs,
  Infinities,
  Zeros,
  Negatives,
  Finite,
  Least,
  Largest,
  LeastMagnitude,
  LargestMagnitude,
  Total,
  Formats
};

/// Scalar code of one element: what it adds to each sum.
struct Element {
  OpBuilder &b;
  Location loc;
  Value x; ///< f32

  Value f32(double value) { return scalar(b, loc, b.getF32FloatAttr(value)); }
  Value compare(CmpFPredicate predicate, Value y, Value z) {
    return arith::CmpFOp::create(b, loc, predicate, y, z);
  }
  Value both(Value y, Value z) { return arith::AndIOp::create(b, loc, y, z); }
  Value choose(Value condition, Value y, Value z) {
    return arith::SelectOp::create(b, loc, condition, y, z);
  }
  Value counted(Value condition) {
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), condition);
  }
  Value magnitude() { return math::AbsFOp::create(b, loc, x); }
  Value isFinite(Value magnitude) {
    return compare(CmpFPredicate::OLT, magnitude, f32(std::numeric_limits<float>::infinity()));
  }
  Value inF64() { return arith::ExtFOp::create(b, loc, b.getF64Type(), x); }

  SmallVector<Value> parts(ArrayRef<numerics::Format> formats) {
    const double infinity = std::numeric_limits<float>::infinity();
    Value size = magnitude(), finite = isFinite(size), zero = f32(0);
    Value nonzero = both(finite, compare(CmpFPredicate::ONE, x, zero));
    SmallVector<Value> parts(Formats);
    parts[NaNs] = counted(compare(CmpFPredicate::UNO, x, x));
    parts[Infinities] = counted(compare(CmpFPredicate::OEQ, size, f32(infinity)));
    parts[Zeros] = counted(compare(CmpFPredicate::OEQ, x, zero));
    parts[Negatives] = counted(both(finite, compare(CmpFPredicate::OLT, x, zero)));
    parts[Finite] = counted(finite);
    parts[Least] = choose(finite, x, f32(infinity));
    parts[Largest] = choose(finite, x, f32(-infinity));
    parts[LeastMagnitude] = choose(nonzero, size, f32(infinity));
    parts[LargestMagnitude] = choose(finite, size, zero);
    parts[Total] = choose(finite, inF64(), scalar(b, loc, b.getF64FloatAttr(0)));
    for (numerics::Format format : formats) {
      const numerics::RangeLimits limits = numerics::rangeLimits(format);
      Value above = compare(CmpFPredicate::OGE, size, f32(limits.overflowFrom));
      Value upTo = compare(CmpFPredicate::OLE, size, f32(limits.flushedUpTo));
      Value beyond = compare(CmpFPredicate::OGT, size, f32(limits.flushedUpTo));
      Value below = compare(CmpFPredicate::OLT, size, f32(limits.subnormalBelow));
      parts.append({counted(both(finite, above)), counted(both(nonzero, upTo)),
                    counted(both(beyond, below))});
    }
    return parts;
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

  /// Returns what sums start from.
  SmallVector<TypedAttr> firsts() {
    const float infinity = std::numeric_limits<float>::infinity();
    SmallVector<TypedAttr> attrs(Least, b.getI64IntegerAttr(0));
    for (float first : {infinity, -infinity, infinity, 0.0f})
      attrs.push_back(b.getF32FloatAttr(first));
    attrs.push_back(b.getF64FloatAttr(0));
    attrs.append(3 * formats.size(), b.getI64IntegerAttr(0));
    return attrs;
  }

  static Value combine(OpBuilder &at, Location loc, unsigned sum, Value x, Value y) {
    if (sum == Least || sum == LeastMagnitude)
      return arith::MinNumFOp::create(at, loc, x, y);
    if (sum == Largest || sum == LargestMagnitude)
      return arith::MaxNumFOp::create(at, loc, x, y);
    return sum == Total ? arith::AddFOp::create(at, loc, x, y).getResult()
                        : arith::AddIOp::create(at, loc, x, y).getResult();
  }

  /// Reduces what `code` makes of elements along dimensions of the first operand from `from` on;
  /// the others have that shape, or that of the result.
  ValueRange reduce(ValueRange operands, unsigned from, ArrayRef<TypedAttr> firsts,
                    function_ref<SmallVector<Value>(OpBuilder &, ValueRange)> code,
                    function_ref<Value(OpBuilder &, unsigned, Value, Value)> combine) {
    const unsigned rank = cast<RankedTensorType>(operands[0].getType()).getRank();
    SmallVector<OpFoldResult> sizes = sizesOf(b, loc, operands[0]);
    SmallVector<Value> inits;
    for (TypedAttr first : firsts) {
      if (from == 0) {
        inits.push_back(scalarTensor(b, loc, first));
        continue;
      }
      Value empty =
          tensor::EmptyOp::create(b, loc, ArrayRef(sizes).take_front(from), first.getType());
      inits.push_back(linalg::FillOp::create(b, loc, scalar(b, loc, first), empty).getResult(0));
    }
    AffineMap whole = b.getMultiDimIdentityMap(rank);
    AffineMap line = AffineMap::get(rank, 0, whole.getResults().take_front(from), b.getContext());
    SmallVector<AffineMap> maps;
    for (Value operand : operands)
      maps.push_back(cast<RankedTensorType>(operand.getType()).getRank() == int64_t(rank) ? whole
                                                                                          : line);
    maps.append(inits.size(), line);
    SmallVector<utils::IteratorType> iterators(from, utils::IteratorType::parallel);
    iterators.append(rank - from, utils::IteratorType::reduction);
    return linalg::GenericOp::create(
               b, loc, TypeRange(ValueRange(inits)), operands, inits, maps, iterators,
               [&](OpBuilder &inner, Location at, ValueRange elements) {
                 SmallVector<Value> next;
                 for (auto [i, part] :
                      llvm::enumerate(code(inner, elements.take_front(operands.size()))))
                   next.push_back(combine(inner, unsigned(i), elements[operands.size() + i], part));
                 linalg::YieldOp::create(inner, at, next);
               })
        .getResults();
  }

  /// The mean of what sums are of; zero where there is none.
  Value means(ValueRange sums) {
    return buildElementwise(b, loc, {sums[Total], sums[Finite]}, b.getF64Type(),
                            [](OpBuilder &at, Location loc, ValueRange x) -> Value {
                              Value one = scalar(at, loc, at.getI64IntegerAttr(1));
                              Value count = arith::MaxUIOp::create(at, loc, x[1], one);
                              count = arith::UIToFPOp::create(at, loc, at.getF64Type(), count);
                              return arith::DivFOp::create(at, loc, x[0], count);
                            });
  }

  static Value addSums(OpBuilder &at, unsigned, Value x, Value y) {
    return arith::AddFOp::create(at, x.getLoc(), x, y);
  }
  Value squareOfDistance(OpBuilder &at, Value x, Value mean) {
    Value distance = arith::SubFOp::create(at, loc, x, mean);
    return arith::MulFOp::create(at, loc, distance, distance);
  }

  /// Sums of lines along the last dimension, the squares last.
  SmallVector<Value> reduceLines() {
    const unsigned from = unsigned(std::max<int64_t>(type.getRank() - 1, 0));
    auto combined = [&](OpBuilder &at, unsigned sum, Value x, Value y) {
      return combine(at, loc, sum, x, y);
    };
    ValueRange found = reduce(
        source, from, firsts(),
        [&](OpBuilder &at, ValueRange x) {
          return Element{at, loc, f32Element(at, x[0])}.parts(formats);
        },
        combined);
    SmallVector<Value> sums(found);
    ValueRange squares = reduce(
        {source, means(found)}, from, {b.getF64FloatAttr(0)},
        [&](OpBuilder &at, ValueRange x) -> SmallVector<Value> {
          Element element{at, loc, f32Element(at, x[0])};
          return {element.choose(element.isFinite(element.magnitude()),
                                 squareOfDistance(at, element.inF64(), x[1]),
                                 scalar(at, loc, at.getF64FloatAttr(0)))};
        },
        addSums);
    sums.push_back(squares.front());
    return sums;
  }

  /// The same of all lines.
  SmallVector<Value> reduceWhole(SmallVector<Value> lines) {
    if (type.getRank() < 2)
      return lines;
    ArrayRef<Value> ofLines = ArrayRef(lines).drop_back();
    ValueRange found = reduce(
        ofLines, 0, firsts(), [](OpBuilder &, ValueRange x) { return SmallVector<Value>(x); },
        [&](OpBuilder &at, unsigned sum, Value x, Value y) { return combine(at, loc, sum, x, y); });
    ValueRange squares = reduce(
        {lines.back(), means(ofLines), lines[Finite], means(found)}, 0, {b.getF64FloatAttr(0)},
        [&](OpBuilder &at, ValueRange x) -> SmallVector<Value> {
          Value count = arith::UIToFPOp::create(at, loc, at.getF64Type(), x[2]);
          Value apart = arith::MulFOp::create(at, loc, count, squareOfDistance(at, x[1], x[3]));
          return {arith::AddFOp::create(at, loc, x[0], apart)};
        },
        addSums);
    SmallVector<Value> sums(found);
    sums.push_back(squares.front());
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
          linalg::YieldOp::create(
              inner, at,
              ValueRange(arith::AddIOp::create(inner, at, element.counted(hits), elements[1])));
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

  /// The columns before the histogram.
  Value columns(ArrayRef<Value> sums, Value scale) {
    Value elements = count();
    const unsigned size = numerics::probeRecordSize(formats.size(), /*hasHistogram=*/false);
    Value out = tensor::EmptyOp::create(b, loc, ArrayRef<int64_t>(size), b.getF64Type());
    SmallVector<Value> operands(sums);
    operands.push_back(means(sums));
    if (scale)
      operands.push_back(scale);
    SmallVector<AffineMap> maps(operands.size(), AffineMap::get(1, 0, b.getContext()));
    return buildElementwise(b, loc, operands, maps, out, b.getF64Type(),
                            [&](OpBuilder &at, Location loc, ValueRange x) -> Value {
                              Value column = linalg::IndexOp::create(at, loc, 0);
                              SmallVector<Value> all = columnsOf(at, elements, x, scale != nullptr);
                              Value chosen = all.back();
                              for (unsigned i = unsigned(all.size()) - 1; i-- > 0;) {
                                Value here = arith::CmpIOp::create(
                                    at, loc, arith::CmpIPredicate::eq, column,
                                    arith::ConstantIndexOp::create(at, loc, i));
                                chosen = arith::SelectOp::create(at, loc, here, all[i], chosen);
                              }
                              return chosen;
                            });
  }

private:
  /// Scalar code of the columns; `x` has the sums, the squares, the mean and perhaps the scale.
  SmallVector<Value> columnsOf(OpBuilder &at, Value elements, ValueRange x, bool isScaled) {
    Type f64 = at.getF64Type();
    auto wide = [&](Value value) -> Value {
      if (isa<IntegerType>(value.getType()))
        return arith::UIToFPOp::create(at, loc, f64, value);
      return value.getType() == f64 ? value : arith::ExtFOp::create(at, loc, f64, value);
    };
    auto times = [&](Value y, Value z) -> Value { return arith::MulFOp::create(at, loc, y, z); };
    const unsigned squares = Formats + 3 * unsigned(formats.size());
    Value inverse = scalar(at, loc, at.getF64FloatAttr(1));
    if (isScaled)
      inverse = arith::DivFOp::create(at, loc, inverse, wide(x[squares + 2]));
    SmallVector<Value> columns{wide(elements)};
    for (Sum sum : {NaNs, Infinities, Zeros, Negatives})
      columns.push_back(wide(x[sum]));
    for (Sum sum : {Least, Largest, LeastMagnitude, LargestMagnitude})
      columns.push_back(times(wide(x[sum]), inverse));
    columns.push_back(times(x[squares + 1], inverse));
    columns.push_back(times(x[squares], times(inverse, inverse)));
    for (unsigned sum = Formats; sum < squares; ++sum)
      columns.push_back(wide(x[sum]));
    return columns;
  }
};
} // namespace

Value mlir::mp::expand(OpBuilder &b, ProbeOp probe) {
  Location loc = probe.getLoc();
  Row row{b, loc, probe.getSource(), cast<RankedTensorType>(probe.getSource().getType()),
          *probeFormats(probe.getFormatsAttr())};
  Value head = row.columns(row.reduceWhole(row.reduceLines()), probe.getScale());
  if (!probe.getHistogram())
    return head;
  auto record = cast<RankedTensorType>(probe.getRecord().getType());
  Value whole = tensor::EmptyOp::create(b, loc, record.getShape(), b.getF64Type());
  auto insert = [&](Value part, int64_t at) {
    const int64_t size = cast<RankedTensorType>(part.getType()).getDimSize(0);
    whole = tensor::InsertSliceOp::create(
        b, loc, part, whole, ArrayRef<OpFoldResult>(b.getIndexAttr(at)),
        ArrayRef<OpFoldResult>(b.getIndexAttr(size)), ArrayRef<OpFoldResult>(b.getIndexAttr(1)));
  };
  insert(head, 0);
  insert(row.histogram(), cast<RankedTensorType>(head.getType()).getDimSize(0));
  return whole;
}
