// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Single ops: constants, functions, moves, bodies of structured ops.

#include "Transfer.h"
#include "Feeds.h"
#include "Integers.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::proofs;

std::optional<double> mlir::mp::proofs::rowLength(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return isa<TensorType>(type) ? std::nullopt : std::optional(1.0);
  if (tensor.getRank() == 0)
    return 1;
  int64_t length = tensor.getShape().back();
  return ShapedType::isDynamic(length) ? std::nullopt : std::optional(double(length));
}

void mlir::mp::proofs::relateNorm(Facts &facts, std::optional<double> length) {
  if (length)
    facts.norm = std::min(facts.norm, up(facts.magnitude() * up(std::sqrt(*length))));
  if (facts.low == 0 && facts.high == 0)
    facts.norm = 0;
  facts.low = std::max(facts.low, -facts.norm);
  facts.high = std::min(facts.high, facts.norm);
}

static bool isFloat(Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); }

//===-- constants -----------------------------------------------------------------------------===//

/// Scans `count` elements, `length` to a row.
template <typename Range> static Facts scan(const Range &elements, int64_t length) {
  Facts facts = Facts::empty();
  double squares = 0, worst = 0;
  int64_t at = 0;
  for (const APFloat &element : elements) {
    double value = FloatAttr::getValueAsDouble(element);
    facts = join(facts, Facts::point(value));
    squares += value * value;
    worst = std::max(worst, squares);
    if (++at % length == 0)
      squares = 0;
  }
  facts.norm = std::sqrt(worst) * (1 + double(length) * 0x1p-50);
  return facts;
}

std::optional<Facts> Transfer::constant(Value value) {
  if (auto splat = readSplat(value)) {
    Facts facts = Facts::point(*splat);
    facts.norm = kInf;
    relateNorm(facts, rowLength(value.getType()));
    return facts;
  }
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)) || !isFloat(value.getType()))
    return std::nullopt;
  int64_t length = std::max(1.0, rowLength(value.getType()).value_or(1));
  Facts facts;
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute)) {
    facts = scan(dense.getValues<APFloat>(), length);
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    auto type = cast<ShapedType>(resource.getType());
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    bool isSplat = false;
    if (!blob || !DenseElementsAttr::isValidRawBuffer(type, blob->getData(), isSplat))
      return std::nullopt;
    auto dense = DenseElementsAttr::getFromRawBuffer(type, blob->getData());
    facts = scan(dense.getValues<APFloat>(), length);
  } else {
    return std::nullopt;
  }
  relateNorm(facts, rowLength(value.getType()));
  return facts;
}

//===-- functions -----------------------------------------------------------------------------===//

std::optional<Facts> Transfer::ofSelect(Operation *op) {
  Facts joined = join(facts(op->getOperand(1)), facts(op->getOperand(2)));
  joined.norm = kInf;
  Relations relations(op->getContext(), facts);
  auto chosen = relations.choose(op);
  if (!chosen)
    return joined;
  if (chosen->first.isEmpty() && !chosen->first.mayBeNaN)
    return chosen->second;
  if (chosen->second.isEmpty() && !chosen->second.mayBeNaN)
    return chosen->first;
  Facts found = join(chosen->first, chosen->second);
  found.norm = kInf;
  return found;
}

/// By multiplications, each of which rounds.
static Facts ofIntegerPower(const Facts &x, int64_t exponent, const Format &format) {
  if (exponent == 0)
    return Facts::point(1); // of NaN as well
  double count = std::abs(double(exponent)), share = 4 * count * format.unit;
  if (share > 0.25)
    return x.withoutKnowledge();
  Facts power = slackened(apply(Function::Power, {x, Facts::point(count)}, format), share);
  return exponent > 0 ? power : slackened(apply(Function::Reciprocal, power, format), share);
}

/// Says whether a product in which every factor but constants stands twice is negative, or zero,
/// rather than positive; nothing of other products.
static std::optional<bool> signOfSquares(Elements &elements, const Element &product) {
  constexpr size_t most = 16;
  SmallVector<Element> factors = {product}, once;
  bool isNegative = false;
  for (size_t next = 0; next != factors.size(); ++next) {
    if (factors.size() > most)
      return std::nullopt;
    Element factor = factors[next];
    Unfolded unfolded = elements.unfold(factor);
    bool isApplied = unfolded.kind == Unfolded::Kind::Apply;
    if (isApplied && (unfolded.fn == Function::Mul || unfolded.fn == Function::Negate)) {
      isNegative ^= unfolded.fn == Function::Negate;
      llvm::append_range(factors, unfolded.operands);
    } else if (unfolded.kind == Unfolded::Kind::Constant) {
      isNegative ^= unfolded.constant < 0;
    } else {
      auto *twin = llvm::find_if(once, [&](const Element &other) {
        Substitution same;
        return elements.match(other, factor, same);
      });
      if (twin == once.end())
        once.push_back(factor);
      else
        once.erase(twin);
    }
  }
  return once.empty() ? std::optional(isNegative) : std::nullopt;
}

std::optional<Facts> Transfer::ofFunction(Operation *op) {
  OpFunction function = readFunction(op);
  std::optional<Format> format = formatOf(op->getResult(0).getType());
  if (!format || function.fn == Function::None || function.fn == Function::Compare)
    return std::nullopt;
  if (function.fn == Function::Select)
    return ofSelect(op);
  SmallVector<Facts, 3> x;
  for (unsigned operand : function.operands) {
    Value value = op->getOperand(operand);
    if (!isFloat(value.getType()))
      return std::nullopt;
    x.push_back(facts(value));
    // Values repeated along rows have rows of another length.
    if (rowLength(value.getType()) != rowLength(op->getResult(0).getType()))
      x.back().norm = kInf;
    if (isa<ShapedType>(value.getType()))
      relateNorm(x.back(), rowLength(op->getResult(0).getType()));
  }
  if (function.fn == Function::Clamp) {
    Facts bounded = x[0];
    bounded.low = std::clamp(bounded.low, function.low, function.high);
    bounded.high = std::clamp(bounded.high, function.low, function.high);
    if (function.dropsNaN && bounded.mayBeNaN) // gives either end
      bounded = Facts::between(function.low, function.high).restOn(bounded);
    bounded.mayBeInfinite &= !bounded.isBounded();
    bounded.norm = kInf;
    return bounded;
  }
  if (function.exponent)
    return ofIntegerPower(x[0], *function.exponent, *format);
  if (function.fn == Function::Mul) {
    Elements elements(op->getContext());
    Element generic = elements.generic(op->getResult(0));
    Unfolded outer = elements.unfold(generic);
    Substitution same;
    if (outer.operands.size() == 2 && elements.match(outer.operands[0], outer.operands[1], same))
      return apply(Function::Square, x[0], *format);
    Facts result = apply(function.fn, x, *format);
    if (std::optional<bool> isNegative = signOfSquares(elements, generic))
      (*isNegative ? result.high : result.low) =
          *isNegative ? std::min(result.high, 0.0) : std::max(result.low, 0.0);
    return result;
  }
  return apply(function.fn, x, *format);
}

std::optional<Facts> Transfer::ofInteger(Operation *op) {
  if (!isa<arith::SIToFPOp, arith::UIToFPOp, tosa::CastOp>(op))
    return std::nullopt;
  Value source = op->getOperand(0);
  std::optional<Format> format = formatOf(op->getResult(0).getType());
  Type type = getElementTypeOrSelf(source.getType());
  if (!format)
    return std::nullopt;
  if (isa<FloatType>(type))
    return rounded(facts(source), *format);
  std::optional<IntegerRange> range = boundIntegers(source);
  if (!range)
    return std::nullopt;
  if (isa<arith::UIToFPOp>(op) || (isa<tosa::CastOp>(op) && type.isInteger(1)))
    *range = asUnsigned(*range, integerWidth(type));
  auto outward = [](__int128 end, double (*away)(double)) {
    double number = static_cast<double>(end);
    return std::abs(number) < 0x1p53 ? number : away(number);
  };
  return rounded(Facts::between(outward(range->low, down), outward(range->high, up)), *format);
}

//===-- moves ---------------------------------------------------------------------------------===//

std::optional<Facts> Transfer::ofMove(Operation *op) {
  // The op gives elements of its float operands, and nothing else; named one by one.
  bool moves =
      isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp,
          tensor::InsertSliceOp, tensor::ConcatOp, tensor::ExtractOp, tensor::InsertOp,
          tensor::SplatOp, tensor::FromElementsOp, tensor::GatherOp, tensor::ReshapeOp,
          arith::ExtFOp, tosa::IdentityOp, tosa::ReshapeOp, tosa::TransposeOp, tosa::ReverseOp,
          tosa::SliceOp, tosa::TileOp, tosa::ConcatOp, tosa::GatherOp, tosa::MaxPool2dOp>(op);
  if (isa<tensor::EmptyOp>(op))
    return Facts(); // whatever lies there
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value filler = pad.getConstantPaddingValue();
    if (!filler)
      return std::nullopt;
    Facts padded = join(facts(pad.getSource()), facts(filler));
    padded.norm = kInf;
    return padded;
  }
  if (!moves && !isa<tosa::PadOp>(op))
    return std::nullopt;
  std::optional<Facts> all;
  double length = rowLength(op->getResult(0).getType()).value_or(kInf);
  for (Value operand : op->getOperands()) {
    if (!isFloat(operand.getType()))
      continue;
    Facts known = facts(operand);
    if (isa<arith::ExtFOp, tensor::CastOp>(op) ||
        (isa<tensor::ExtractSliceOp, tosa::SliceOp>(op) &&
         cast<ShapedType>(operand.getType()).getRank() ==
             cast<ShapedType>(op->getResult(0).getType()).getRank())) {
      // Rows are rows, or parts of rows.
    } else if (rowLength(operand.getType()) != rowLength(op->getResult(0).getType()) ||
               !isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tosa::ReshapeOp,
                    tosa::ReverseOp, tosa::IdentityOp>(op)) {
      known.norm = known.magnitude() == 0 ? 0 : up(known.magnitude() * std::sqrt(length));
    }
    all = all ? join(*all, known) : known;
  }
  // A window of nothing but NaN leaves the lowest number, which TOSA's maxima begin with.
  if (auto pool = dyn_cast<tosa::MaxPool2dOp>(op);
      pool && pool.getNanMode() == tosa::NanPropagationMode::IGNORE && all && all->mayBeNaN) {
    std::optional<Format> format = formatOf(op->getResult(0).getType());
    all = join(*all, Facts::point(format ? -format->largest : -kInf));
    all->norm = kInf;
  }
  return all;
}

//===-- bodies --------------------------------------------------------------------------------===//

std::optional<unsigned> mlir::mp::proofs::rowLoopOf(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() > 0) {
    std::optional<unsigned> reduced;
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
      if (kind != utils::IteratorType::reduction || op.getStaticLoopRanges()[loop] == 1)
        continue;
      if (reduced)
        return std::nullopt;
      reduced = loop;
    }
    return reduced;
  }
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (map.getNumResults() == 0)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(map.getResults().back());
  return dim ? std::optional(dim.getPosition()) : std::nullopt;
}

std::optional<Facts> Transfer::ofBodyArgument(BlockArgument argument) {
  auto op = cast<linalg::LinalgOp>(argument.getOwner()->getParentOp());
  OpOperand *operand = op.getMatchingOpOperand(argument);
  if (op.isDpsInit(operand) && op.getNumReductionLoops() > 0)
    return ofPartialResult(op, argument);
  Facts known = facts(operand->get());
  std::optional<unsigned> row = rowLoopOf(op);
  AffineMap map = op.getMatchingIndexingMap(operand);
  bool alongRows = row && map.getNumResults() > 0 &&
                   map.getResults().back() == getAffineDimExpr(*row, op->getContext()) &&
                   llvm::none_of(map.getResults().drop_back(),
                                 [&](AffineExpr expr) { return expr.isFunctionOfDim(*row); });
  if (!alongRows)
    known.norm = kInf;
  if (row) {
    int64_t size = op.getStaticLoopRanges()[*row];
    if (!ShapedType::isDynamic(size))
      known.norm = std::min(known.norm, up(known.magnitude() * up(std::sqrt(double(size)))));
  }
  return known;
}

std::optional<Facts> Transfer::ofStructured(linalg::LinalgOp op, unsigned index) {
  if (!op.hasPureTensorSemantics())
    return std::nullopt;
  if (op.getNumReductionLoops() > 0)
    return ofReduction(op, index);
  Value yielded = op.getBlock()->getTerminator()->getOperand(index);
  Facts known = facts(yielded);
  if (yielded.getParentBlock() != op.getBlock() || index != 0 || !rowLoopOf(op))
    known.norm = kInf;
  relateNorm(known, rowLength(op->getResult(index).getType()));
  // An iteration space that is empty writes nothing: what was there before stays.
  return known;
}

/// A cast of mp's: rounded in any mode, and kept within the format where it saturates.
static std::optional<Facts> castOf(CastOp op, Facts x) {
  std::optional<Format> format = formatOf(op.getResult().getType());
  if (!format)
    return std::nullopt;
  std::optional<Format> source = formatOf(op.getSource().getType());
  if (source && source->unit >= format->unit && source->largest <= format->largest)
    return x; // widening is exact
  Facts cast = rounded(x, *format);
  double more = cast.isBounded() ? 2 * format->unit * cast.magnitude() + format->normal : 0;
  cast.low = x.isNonNegative() ? std::max(cast.low - more, 0.0) : cast.low - more;
  cast.high = cast.high + more;
  cast.norm = kInf;
  bool saturates = op.getOverflow() == Overflow::Saturate;
  if (saturates) {
    cast.low = std::clamp(cast.low, -format->largest, format->largest);
    cast.high = std::clamp(cast.high, -format->largest, format->largest);
    cast.mayBeInfinite = false;
  } else if (!(std::max(-cast.low, cast.high) <= format->largest)) {
    cast.mayBeInfinite = true;
    cast.low = cast.low < -format->largest ? -kInf : cast.low;
    cast.high = cast.high > format->largest ? kInf : cast.high;
  }
  return cast;
}

/// exp(x - max x) over its sum: shares of one. Difference, exponential and quotient each round.
static Facts softmaxOf(const Facts &x) {
  Facts shares = Facts::between(0, 1 + 4 * kFunctionSlack);
  shares.mayBeNaN = x.mayBeNaN || x.mayBeInfinite;
  return shares.restOn(x);
}

std::optional<Facts> Transfer::derive(Value value) {
  if (auto known = constant(value))
    return known;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return enclosingStructured(value) ? ofBodyArgument(argument) : std::nullopt;
  Operation *op = value.getDefiningOp();
  std::optional<Facts> found;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    found = ofStructured(structured, cast<OpResult>(value).getResultNumber());
  else if (op->getNumResults() != 1)
    return std::nullopt;
  else if (auto cast = dyn_cast<CastOp>(op))
    found = castOf(cast, facts(cast.getSource()));
  else if (isa<linalg::SoftmaxOp>(op))
    found = softmaxOf(facts(op->getOperand(0)));
  else if (auto axis = readTosaAxis(op))
    found = ofTosaReduction(op, *axis);
  else if (isa<tosa::MatMulOp, tosa::Conv2DOp, tosa::DepthwiseConv2DOp, tosa::AvgPool2dOp>(op))
    found = ofTosaContraction(op);
  else if (!(found = ofFunction(op)) && !(found = ofMove(op)))
    found = ofInteger(op);
  if (found && isa<ShapedType>(value.getType()))
    relateNorm(*found, rowLength(value.getType()));
  return found;
}
