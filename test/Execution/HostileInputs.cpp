// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HostileInputs.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

class Drawer {
public:
  Drawer(uint64_t seed, unsigned draw) : random(seed * 64 + draw) {}
  void fill(Array &array, const std::optional<std::pair<double, double>> &range);

private:
  enum class Kind {
    Small,
    Outlier,
    EqualRows,
    Huge,
    Largest,
    Tiny,
    Subnormal,
    Zero,
    Alternating,
    Offset,
    Infinite,
    NaN,
    OneLargeRow,
    OneLargeColumn,
    Magnitudes,
    Last = Magnitudes
  };
  unsigned below(unsigned limit) { return random() % limit; }
  double unit() { return double(random() >> 40) / (1 << 24); }
  double pick(std::initializer_list<double> from) { return *(from.begin() + below(from.size())); }
  double anything(Kind kind, int64_t row, int64_t column);
  double within(std::pair<double, double> range);
  void fillIntegers(Array &array);

  std::mt19937_64 random;
  unsigned style = 0; ///< of elements within a range
  double large = 1;   ///< what stands out
  int64_t chosen = 0; ///< which row or column does
  std::vector<double> rowValues;
};

} // namespace

double Drawer::anything(Kind kind, int64_t row, int64_t column) {
  double small = 4 * unit() - 2;
  switch (kind) {
  case Kind::Small: return small;
  case Kind::Outlier: return row + column == chosen ? large : small * 1e-3;
  case Kind::EqualRows: return rowValues[row % rowValues.size()];
  case Kind::Huge: return small * 1e30;
  case Kind::Largest: return (below(2) ? 1 : -1) * (below(2) ? 3.3e38 : 1.8e19);
  case Kind::Tiny: return small * 1e-20;
  case Kind::Subnormal: return small * 1e-40;
  case Kind::Zero: return 0;
  case Kind::Alternating: return (row + column) % 2 ? -large : large;
  case Kind::Offset: return large + below(4) * large * 0x1p-22;
  case Kind::Infinite: return below(6) ? small : (below(2) ? 1 : -1) * HUGE_VAL;
  case Kind::NaN: return below(6) ? small : std::nan("");
  case Kind::OneLargeRow: return row == chosen ? small * large : small * 1e-4;
  case Kind::OneLargeColumn: return column == chosen ? small * large : small * 1e-4;
  case Kind::Magnitudes: return (below(2) ? 1 : -1) * std::exp2(double(below(240)) - 120);
  }
  return 0;
}

double Drawer::within(std::pair<double, double> range) {
  auto [lo, hi] = range;
  switch (style) {
  case 0: return below(2) ? hi : lo;
  case 1: return hi;
  case 2: return lo;
  case 3: return lo <= 0 && hi >= 0 && below(3) ? 0 : below(2) ? hi : lo;
  case 4: return lo * (1 - 0x1p-22) + (hi - lo) * 0x1p-22;
  default: return std::min(std::max(lo + (hi - lo) * unit(), lo), hi);
  }
}

void Drawer::fillIntegers(Array &array) {
  unsigned style = below(4);
  uint64_t all = array.type.bits() >= 64 ? ~0ull : (1ull << array.type.bits()) - 1;
  for (int64_t i = 0, e = array.size(); i < e; ++i)
    array.setPattern(i, style == 0 ? 0 : style == 1 ? all : style == 2 ? all >> 1 : random() & all);
}

void Drawer::fill(Array &array, const std::optional<std::pair<double, double>> &range) {
  if (!array.type.isFloat)
    return fillIntegers(array);
  Kind kind = Kind(below(unsigned(Kind::Last) + 1));
  style = below(6);
  large = pick({1000, 1e5, 1e6, 1e10, 1e30, 60000});
  int64_t columns = array.shape.empty() ? 1 : array.shape.back();
  chosen = below(4);
  rowValues.clear();
  for (unsigned i = 0; i < 8; ++i)
    rowValues.push_back((below(2) ? 1 : -1) * pick({1e-3, 1, 1000, 1e6, 1e10, 1e30, 1e-20, 65504}));
  Array numbers(ElementType(), array.shape); // of f32
  for (int64_t i = 0, e = array.size(); i < e; ++i) {
    double value = range ? within(*range) : anything(kind, i / columns, i % columns);
    float rounded = static_cast<float>(value);
    if (range && rounded > range->second)
      rounded = std::nextafterf(rounded, -HUGE_VALF);
    if (range && rounded < range->first)
      rounded = std::nextafterf(rounded, HUGE_VALF);
    numbers.setPattern(i, llvm::bit_cast<uint32_t>(rounded));
  }
  array = llvm::cantFail(convertTo(std::move(numbers), array.type));
}

std::vector<Array> mlir::mp::test::drawHostileInputs(const Signature &signature,
                                                     int64_t dynamicSize, uint64_t seed,
                                                     unsigned draw) {
  Drawer drawer(seed, draw);
  std::mt19937_64 random(seed + draw);
  std::vector<Array> arrays;
  for (const Parameter &parameter : signature.arguments) {
    SmallVector<int64_t> shape(parameter.shape);
    for (int64_t &size : shape)
      size = size < 0 ? dynamicSize : size;
    arrays.emplace_back(parameter.type, shape);
    drawer.fill(arrays.back(), parameter.range);
    // Now and then what another argument is, or the negative of that.
    unsigned relation = random() % 8;
    for (const Array &earlier : ArrayRef(arrays).drop_back())
      if (relation < 2 && !parameter.range && earlier.type == parameter.type &&
          earlier.shape == arrays.back().shape && parameter.type.isFloat) {
        arrays.back().data = earlier.data;
        for (int64_t i = 0, e = earlier.size(); relation == 1 && i < e; ++i)
          arrays.back().setPattern(i, earlier.pattern(i) ^ (1ull << (parameter.type.bits() - 1)));
      }
  }
  return arrays;
}

std::string mlir::mp::test::literalOf(const Array &array) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << array.typeStr() << "=[";
  for (int64_t i = 0, e = array.size(); i < e; ++i) {
    os << (i ? " " : "");
    os << llvm::format("%.9g", array.value(i));
  }
  os << "]";
  return text;
}
