// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker carries intervals of integers from the constants and positions that they are computed
// from. A result that leaves its type wraps around, and may be anything where that tears the
// interval apart. A value that depends on one position of a loop alone is computed at each.

#include "Integers.h"
#include "Elements.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mp::proofs;
using Int = __int128;

/// Loops with more positions are not tried one by one.
static constexpr int64_t kMostPositions = 4096;
/// Values are followed through as many ops.
static constexpr unsigned kMostIntegerSteps = 4096;
/// Tensors of integers, and arguments of bodies, that one question looks at.
static constexpr unsigned kMostValues = 256;

unsigned mlir::mp::proofs::integerWidth(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (element.isIndex())
    return 64;
  auto integer = dyn_cast<IntegerType>(element);
  return integer ? integer.getWidth() : 0;
}

static IntegerRange allOf(unsigned width) {
  return {-(Int(1) << (width - 1)), (Int(1) << (width - 1)) - 1};
}

/// `range` as it wraps around in the type; all of the type where it is torn apart.
static IntegerRange within(IntegerRange range, unsigned width) {
  IntegerRange all = allOf(width);
  Int modulus = Int(1) << width, above = range.low - all.low;
  Int turns = above / modulus - (above % modulus < 0 ? 1 : 0);
  IntegerRange wrapped = {range.low - turns * modulus, range.high - turns * modulus};
  return wrapped.high <= all.high ? wrapped : all;
}

IntegerRange mlir::mp::proofs::asUnsigned(IntegerRange range, unsigned width) {
  Int modulus = Int(1) << width;
  if (range.low >= 0)
    return range;
  if (range.high < 0)
    return {range.low + modulus, range.high + modulus};
  return {0, modulus - 1};
}

/// The signed reading of numbers without a sign.
static IntegerRange asSigned(IntegerRange range, unsigned width) {
  Int half = Int(1) << (width - 1);
  if (range.high < half)
    return range;
  if (range.low >= half)
    return {range.low - 2 * half, range.high - 2 * half};
  return allOf(width);
}

static IntegerRange hullOf(ArrayRef<Int> ends) {
  auto [low, high] = std::minmax_element(ends.begin(), ends.end());
  return {*low, *high};
}

static IntegerRange join(IntegerRange a, IntegerRange b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

//===-- arithmetic ----------------------------------------------------------------------------===//

static IntegerRange multiply(IntegerRange x, IntegerRange y) {
  return hullOf({x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high});
}

/// Quotients toward zero; division by zero is undefined, so that divisors are at least 1 in size.
static IntegerRange divide(IntegerRange x, IntegerRange y) {
  Int most = std::max(x.low < 0 ? -x.low : x.low, x.high < 0 ? -x.high : x.high);
  if (y.low <= 0 && y.high >= 0)
    return {-most, most};
  return hullOf({x.low / y.low, x.low / y.high, x.high / y.low, x.high / y.high});
}

/// Remainders have the sign of x, are smaller than the divisor and no larger than x.
static IntegerRange integerRemainder(IntegerRange x, IntegerRange y) {
  if (x.low == x.high && y.low == y.high && y.low != 0)
    return {x.low % y.low, x.low % y.low};
  Int divisor = std::max(y.low < 0 ? -y.low : y.low, y.high < 0 ? -y.high : y.high);
  if (x.low >= 0 && y.low > x.high)
    return x;
  Int most = std::max<Int>(divisor - 1, 0);
  return {x.low >= 0 ? 0 : std::max(-most, x.low), x.high <= 0 ? 0 : std::min(most, x.high)};
}

/// The numbers that have no more bits than either of two that are not negative.
static IntegerRange bitsOf(IntegerRange x, IntegerRange y) {
  Int most = 1;
  while (most <= std::max(x.high, y.high))
    most *= 2;
  return {0, most - 1};
}

static IntegerRange absolute(IntegerRange x) {
  Int most = std::max(-x.low, x.high);
  return {x.low > 0 ? x.low : x.high < 0 ? -x.high : 0, most};
}

static IntegerRange shiftLeft(IntegerRange x, IntegerRange by) {
  if (by.low != by.high || by.low < 0 || by.low > 62)
    return {-(Int(1) << 100), Int(1) << 100};
  return {x.low * (Int(1) << by.low), x.high * (Int(1) << by.low)};
}

static std::optional<IntegerRange> shiftRight(IntegerRange x, IntegerRange by) {
  if (by.low != by.high || by.low < 0 || by.low > 63)
    return std::nullopt;
  return IntegerRange{x.low >> by.low, x.high >> by.low};
}

/// The result of `op` of x and y, both of `width` bits, before it wraps around; nothing for ops
/// that are not known.
static std::optional<IntegerRange> combine(Operation *op, IntegerRange x, IntegerRange y,
                                           unsigned width) {
  using Result = std::optional<IntegerRange>;
  IntegerRange ux = asUnsigned(x, width), uy = asUnsigned(y, width);
  auto bits = [&](auto) -> Result {
    return x.low >= 0 && y.low >= 0 ? Result(bitsOf(x, y)) : std::nullopt;
  };
  return TypeSwitch<Operation *, Result>(op)
      .Case<arith::AddIOp, tosa::AddOp>(
          [&](auto) { return IntegerRange{x.low + y.low, x.high + y.high}; })
      .Case<arith::SubIOp, tosa::SubOp>(
          [&](auto) { return IntegerRange{x.low - y.high, x.high - y.low}; })
      .Case<arith::MulIOp, tosa::MulOp>([&](auto) { return multiply(x, y); })
      .Case<arith::DivSIOp, tosa::IntDivOp>([&](auto) { return divide(x, y); })
      .Case<arith::DivUIOp>([&](auto) {
        return asSigned(divide(ux, {std::max<Int>(uy.low, 1), std::max<Int>(uy.high, 1)}), width);
      })
      .Case<arith::RemSIOp>([&](auto) { return integerRemainder(x, y); })
      .Case<arith::RemUIOp>([&](auto) { return asSigned(integerRemainder(ux, uy), width); })
      .Case<arith::MaxSIOp, tosa::MaximumOp>(
          [&](auto) { return IntegerRange{std::max(x.low, y.low), std::max(x.high, y.high)}; })
      .Case<arith::MinSIOp, tosa::MinimumOp>(
          [&](auto) { return IntegerRange{std::min(x.low, y.low), std::min(x.high, y.high)}; })
      .Case<arith::MaxUIOp>([&](auto) {
        return asSigned({std::max(ux.low, uy.low), std::max(ux.high, uy.high)}, width);
      })
      .Case<arith::MinUIOp>([&](auto) {
        return asSigned({std::min(ux.low, uy.low), std::min(ux.high, uy.high)}, width);
      })
      .Case<arith::AndIOp, tosa::BitwiseAndOp>([&](auto) -> Result {
        if (x.low < 0 && y.low < 0)
          return std::nullopt;
        return IntegerRange{0, x.low < 0 ? y.high : y.low < 0 ? x.high : std::min(x.high, y.high)};
      })
      .Case<arith::XOrIOp>([&](auto) {
        return y.low == -1 && y.high == -1 ? Result({-1 - x.high, -1 - x.low}) : bits(op);
      })
      .Case<arith::OrIOp, tosa::BitwiseOrOp, tosa::BitwiseXorOp>(bits)
      .Case<arith::ShLIOp, tosa::LogicalLeftShiftOp>([&](auto) { return shiftLeft(x, y); })
      .Case<arith::ShRSIOp>([&](auto) { return shiftRight(x, y); })
      .Case<arith::ShRUIOp>([&](auto) -> Result {
        std::optional<IntegerRange> shifted = shiftRight(ux, y);
        return shifted ? Result(asSigned(*shifted, width)) : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

//===-- values --------------------------------------------------------------------------------===//

namespace {
/// An index op, and where it stands.
using Position = std::pair<Operation *, Int>;
/// Values bounded at all positions together, once each.
using Known = DenseMap<Value, IntegerRange>;

/// One walk from a value to what it is computed from, at one position or at all.
class Bounds {
public:
  explicit Bounds(Known &known, std::optional<Position> fixed = std::nullopt)
      : known(known), fixed(fixed) {}
  IntegerRange of(Value value);

private:
  std::optional<IntegerRange> ofConstant(Value value);
  std::optional<IntegerRange> ofOp(Operation *op, unsigned width);
  std::optional<IntegerRange> ofConversion(Operation *op, unsigned width);
  std::optional<IntegerRange> ofMove(Operation *op);
  IntegerRange ofArgument(BlockArgument argument, unsigned width);

  Known &known;
  std::optional<Position> fixed;
  unsigned steps = 0;
};
} // namespace

static IntegerRange boundAll(Value value, Known &known);

std::optional<IntegerRange> Bounds::ofConstant(Value value) {
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  auto read = [](const APInt &element) {
    Int number = element.getSExtValue();
    return IntegerRange{number, number};
  };
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return read(number.getValue());
  auto elements = dyn_cast<DenseIntElementsAttr>(attribute);
  if (!elements || elements.empty())
    return std::nullopt;
  if (elements.isSplat())
    return read(elements.getSplatValue<APInt>());
  IntegerRange all = read(*elements.begin());
  for (const APInt &element : elements)
    all = join(all, read(element));
  return all;
}

IntegerRange Bounds::ofArgument(BlockArgument argument, unsigned width) {
  auto op = enclosingStructured(argument);
  if (!op || !op.hasPureTensorSemantics())
    return allOf(width);
  OpOperand *operand = op.getMatchingOpOperand(argument);
  bool isPartial = op.isDpsInit(operand) && op.getNumReductionLoops() > 0;
  return isPartial ? allOf(width) : boundAll(operand->get(), known);
}

/// Conversions between widths, and what has no operands of its own width.
std::optional<IntegerRange> Bounds::ofConversion(Operation *op, unsigned width) {
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    if (fixed && fixed->first == op)
      return IntegerRange{fixed->second, fixed->second};
    auto structured = cast<linalg::LinalgOp>(op->getParentOp());
    int64_t size = structured.getStaticLoopRanges()[index.getDim()];
    return IntegerRange{0, ShapedType::isDynamic(size) ? allOf(width).high
                                                       : std::max<Int>(size - 1, 0)};
  }
  if (isa<tensor::DimOp>(op))
    return IntegerRange{0, allOf(width).high};
  if (isa<arith::CmpIOp, arith::CmpFOp>(op) || op->getNumOperands() != 1)
    return std::nullopt;
  Value source = op->getOperand(0);
  unsigned from = integerWidth(source.getType());
  if (from == 0 || from > 64)
    return std::nullopt;
  if (isa<arith::ExtSIOp, arith::IndexCastOp, arith::TruncIOp>(op))
    return of(source);
  if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op) || (isa<tosa::CastOp>(op) && from == 1))
    return asUnsigned(of(source), from);
  if (isa<tosa::CastOp>(op))
    return of(source);
  if (isa<math::AbsIOp, tosa::AbsOp>(op))
    return absolute(of(source));
  if (auto clamp = dyn_cast<tosa::ClampOp>(op)) {
    auto low = dyn_cast<IntegerAttr>(clamp.getMinVal()),
         high = dyn_cast<IntegerAttr>(clamp.getMaxVal());
    if (!low || !high)
      return std::nullopt;
    Int least = low.getValue().getSExtValue(), most = high.getValue().getSExtValue();
    if (least > most)
      return std::nullopt;
    IntegerRange x = of(source);
    return IntegerRange{std::clamp(x.low, least, most), std::clamp(x.high, least, most)};
  }
  return std::nullopt;
}

/// Ops that give elements of their operands of the result's type, and nothing else.
std::optional<IntegerRange> Bounds::ofMove(Operation *op) {
  bool moves = isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
                   tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ConcatOp,
                   tensor::ExtractOp, tensor::SplatOp, tensor::FromElementsOp, tosa::IdentityOp,
                   tosa::ReshapeOp, tosa::TransposeOp, tosa::ReverseOp, tosa::SliceOp, tosa::TileOp,
                   tosa::ConcatOp, arith::SelectOp, tosa::SelectOp>(op);
  if (!moves)
    return std::nullopt;
  // Conditions, and indices of places, come first or last.
  bool chooses = isa<arith::SelectOp, tosa::SelectOp>(op);
  unsigned first = chooses ? 1 : 0;
  bool takesOne = isa<tensor::ExtractOp, tensor::ExtractSliceOp, tensor::ExpandShapeOp,
                      tensor::SplatOp, tosa::ReshapeOp, tosa::SliceOp, tosa::TileOp>(op);
  unsigned last = takesOne ? 1 : isa<tensor::InsertSliceOp>(op) ? 2 : op->getNumOperands();
  std::optional<IntegerRange> all;
  for (unsigned operand = first; operand < last; ++operand) {
    IntegerRange part = of(op->getOperand(operand));
    all = all ? join(*all, part) : part;
  }
  return all;
}

std::optional<IntegerRange> Bounds::ofOp(Operation *op, unsigned width) {
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    if (structured.getNumReductionLoops() > 0 || !structured.hasPureTensorSemantics() ||
        op->getNumResults() != 1)
      return std::nullopt;
    // Nothing is written where there are no elements; then nothing is read either.
    return boundAll(structured.getBlock()->getTerminator()->getOperand(0), known);
  }
  if (auto converted = ofConversion(op, width))
    return converted;
  if (auto moved = ofMove(op))
    return moved;
  if (op->getNumOperands() < 2 || integerWidth(op->getOperand(0).getType()) != width ||
      integerWidth(op->getOperand(1).getType()) != width)
    return std::nullopt;
  // TOSA's products are shifted.
  if (isa<tosa::MulOp>(op) && !matchPattern(op->getOperand(2), m_Zero()))
    return std::nullopt;
  return combine(op, of(op->getOperand(0)), of(op->getOperand(1)), width);
}

IntegerRange Bounds::of(Value value) {
  unsigned width = integerWidth(value.getType());
  if (auto constant = ofConstant(value))
    return *constant;
  if (++steps > kMostIntegerSteps)
    return allOf(width);
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofArgument(argument, width);
  std::optional<IntegerRange> found = ofOp(value.getDefiningOp(), width);
  return found ? within(*found, width) : allOf(width);
}

/// The index ops of the body that `value` is computed from.
static SmallVector<linalg::IndexOp> indicesOf(Value value) {
  SmallVector<linalg::IndexOp> indices;
  SmallVector<Value> pending = {value};
  DenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    Operation *maker = next.getDefiningOp();
    if (!maker || !seen.insert(next).second || maker->getBlock() != value.getParentBlock())
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(maker))
      indices.push_back(index);
    llvm::append_range(pending, maker->getOperands());
  }
  return indices;
}

static IntegerRange boundAll(Value value, Known &known) {
  unsigned width = integerWidth(value.getType());
  // Taken for unknown while it is followed, and where there are too many.
  auto [entry, isNew] = known.try_emplace(value, allOf(width));
  if (!isNew || known.size() > kMostValues)
    return entry->second;
  linalg::LinalgOp op = enclosingStructured(value);
  SmallVector<linalg::IndexOp> indices = op ? indicesOf(value) : SmallVector<linalg::IndexOp>();
  int64_t size = indices.size() == 1 ? op.getStaticLoopRanges()[indices[0].getDim()] : 0;
  std::optional<IntegerRange> all;
  if (size > kMostPositions || size < 1)
    all = Bounds(known).of(value);
  else
    for (int64_t at = 0; at < size; ++at) {
      IntegerRange here = Bounds(known, Position(indices[0], at)).of(value);
      all = all ? join(*all, here) : here;
    }
  known[value] = *all;
  return *all;
}

std::optional<IntegerRange> mlir::mp::proofs::boundIntegers(Value value) {
  unsigned width = integerWidth(value.getType());
  if (width == 0 || width > 64)
    return std::nullopt;
  Known known;
  return boundAll(value, known);
}
