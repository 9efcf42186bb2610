// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounds the elements of a constant, in slices, and measures overflow, underflow and error.

#include "mp/Analysis/ConstantRounding.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Numerics/ArrayCast.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace mlir::mp;

/// Elements converted at a time.
static constexpr size_t kChunk = 4096;

/// Elements this many bits below the largest one are noise of its computation, as the cosine of a
/// right angle is: a table of a transform of length n, written with angles up to 2 pi n^2, is off
/// by n^2 times 2^-50.
static constexpr int kNoiseBits = 32;

std::optional<ConstantRounding> mlir::mp::inspectRounding(Attribute constant, FloatType to) {
  if (auto sparse = dyn_cast<SparseElementsAttr>(constant)) { // zero elsewhere
    std::optional<ConstantRounding> written = inspectRounding(sparse.getValues(), to);
    if (written)
      written->elements = sparse.getNumElements();
    return written;
  }
  auto elements = dyn_cast<ElementsAttr>(constant);
  auto scalar = dyn_cast<FloatAttr>(constant);
  auto from = elements ? dyn_cast<FloatType>(elements.getElementType())
              : scalar ? cast<FloatType>(scalar.getType())
                       : FloatType();
  auto source = from ? numerics::formatOf(from.getFloatSemantics()) : std::nullopt;
  auto target = numerics::formatOf(to.getFloatSemantics());
  if (!source || !target)
    return std::nullopt;

  uint64_t scalarBits = scalar ? scalar.getValue().bitcastToAPInt().getZExtValue() : 0;
  unsigned width = numerics::storageBytes(*source);
  ArrayRef<char> raw(reinterpret_cast<const char *>(&scalarBits), width);
  if (elements) {
    std::optional<ArrayRef<char>> data = getRawElements(elements);
    if (!data)
      return std::nullopt;
    raw = *data;
  }

  ConstantRounding result;
  std::map<int, int64_t> flushed; // by exponent
  double errorSquares = 0, squares = 0;
  double before[kChunk], after[kChunk];
  char rounded[kChunk * sizeof(double)];
  for (size_t begin = 0, count = raw.size() / width; begin < count; begin += kChunk) {
    size_t size = std::min(kChunk, count - begin);
    const char *chunk = raw.data() + begin * width;
    numerics::convertArray(chunk, *source, before, numerics::Format::F64, size);
    numerics::convertArray(chunk, *source, rounded, *target, size);
    numerics::convertArray(rounded, *target, after, numerics::Format::F64, size);
    for (size_t i = 0; i < size; ++i) {
      double x = before[i], y = after[i];
      result.infinite += std::isinf(x);
      if (!std::isfinite(x) || x == 0)
        continue;
      ++result.nonZero;
      result.largest = std::max(result.largest, std::fabs(x));
      if (!std::isfinite(y)) {
        ++result.overflowed;
        continue;
      }
      if (y == 0)
        ++flushed[std::ilogb(x)];
      errorSquares += (x - y) * (x - y);
      squares += x * x;
    }
  }
  for (auto [exponent, count] : flushed)
    if (exponent >= std::ilogb(result.largest) - kNoiseBits)
      result.flushed += count;
  result.elements = raw.size() / width;
  result.relativeError = squares > 0 ? std::sqrt(errorSquares / squares) : 0;
  return result;
}

bool mlir::mp::hasFiniteFrom(Attribute constant, double limit) {
  auto reaches = [&](double x) { return std::isfinite(x) && std::fabs(x) >= limit; };
  if (auto number = dyn_cast<FloatAttr>(constant))
    return reaches(number.getValueAsDouble());
  auto elements = dyn_cast<DenseFPElementsAttr>(constant);
  if (elements && elements.isSplat())
    return reaches(elements.getSplatValue<FloatAttr>().getValueAsDouble());
  if (elements && elements.getElementType().isF32())
    return llvm::any_of(elements.getValues<float>(), reaches);
  auto rounding = inspectRounding(constant, Float32Type::get(constant.getContext()));
  return rounding && rounding->largest >= limit;
}

Overflow mlir::mp::overflowOfConstant(Value value, FloatType to) {
  Attribute constant = findConstant(value);
  auto rounding = constant ? inspectRounding(constant, to) : std::nullopt;
  return rounding && rounding->overflowed > 0 && rounding->infinite == 0 ? Overflow::Saturate
                                                                         : Overflow::IEEE;
}

void mlir::mp::markSaturated(Operation *op, Attribute original, FloatType to) {
  auto rounding = inspectRounding(original, to);
  if (rounding && rounding->overflowed > 0)
    op->setAttr(kSaturatedAttrName,
                Builder(op->getContext()).getI64IntegerAttr(rounding->overflowed));
}

/// An overflow that may not be clamped away.
static std::string whyNotSaturated(const ConstantRounding &rounding, FloatType to,
                                   double maxSaturated) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (maxSaturated > 0 && rounding.infinite == 0) {
    if (rounding.overflowed < maxSaturated * rounding.elements)
      return text;
    os << rounding.overflowed << " of " << rounding.elements
       << " elements of a constant would be clamped; it";
  } else {
    os << "a constant" << (maxSaturated > 0 ? " that holds infinities" : "");
  }
  os << " reaches " << llvm::format("%.4g", rounding.largest) << ", beyond the largest " << to
     << " "
     << llvm::format("%.6g", numerics::info(*numerics::formatOf(to.getFloatSemantics())).maxFinite);
  return text;
}

std::string mlir::mp::whyNotRounded(Attribute constant, FloatType to, double maxUnderflow,
                                    double maxSaturated) {
  std::optional<ConstantRounding> rounding = inspectRounding(constant, to);
  if (!rounding)
    return "";
  std::string text = rounding->overflowed > 0 ? whyNotSaturated(*rounding, to, maxSaturated) : "";
  if (!text.empty())
    return text;
  llvm::raw_string_ostream os(text);
  const auto &facts = numerics::info(*numerics::formatOf(to.getFloatSemantics()));
  if (rounding->flushed > maxUnderflow * rounding->nonZero)
    os << rounding->flushed << " of " << rounding->nonZero
       << " non-zero elements of a constant would become zero in " << to;
  else if (rounding->relativeError > 2 * facts.unitRoundoff)
    os << "a constant would lose " << llvm::format("%.1e", rounding->relativeError)
       << " of itself in " << to << ", whose smallest normal is "
       << llvm::format("%.3g", facts.minNormal);
  return text;
}
