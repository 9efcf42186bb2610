// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Proves lemmas that exact rewrites rest on, by trying every case.
//
//   exact-rewrites          all formats of at most 16 bits; arithmetic on pairs of at most 8
//   exact-rewrites --pairs  arithmetic on all pairs of f16 and bf16, too (minutes)
//   exact-rewrites --false  claims that do not hold, of which each must be seen to fail
//
// A line of JSON for each lemma: its name, how many cases were tried, how many fail, and the first
// that does. tools/dev/numerics/exact-rewrites.py joins them to the rewrites and to what is proved
// by SMT. Exits with 1 if a case fails.

#include "mp/Numerics/ArrayCast.h"
#include "mp/Numerics/Cast.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mpcore::numerics;

namespace {

struct Lemma {
  llvm::StringRef name;
  uint64_t cases = 0, failures = 0;
  std::string first = {};

  template <typename... Words> void expect(bool holds, const char *format, Words... words) {
    ++cases;
    if (!holds && failures++ == 0)
      first = llvm::formatv(format, words...).str();
  }
  bool print() const {
    llvm::outs() << llvm::json::Value(llvm::json::Object{{"lemma", name},
                                                         {"cases", int64_t(cases)},
                                                         {"failures", int64_t(failures)},
                                                         {"first", first}})
                 << "\n";
    return failures == 0;
  }
};

std::vector<Format> narrowFormats() {
  std::vector<Format> narrow;
  for (Format format : allFormats())
    if (info(format).bits <= 16)
      narrow.push_back(format);
  return narrow;
}

/// Patterns are equal, or both are NaN.
bool isSame(uint64_t x, uint64_t y, Format format) {
  return x == y || (isNaN(x, format) && isNaN(y, format));
}

} // namespace

/// cast(cast(x : N -> W) : W -> N) is x where W holds every value of N: whatever the rounding, and
/// with either overflow unless saturation has an infinity to clamp.
static Lemma proveCastPairs(bool withClamps) {
  Lemma lemma{withClamps ? "cast pair that clamps" : "cast pair"};
  for (Format narrow : narrowFormats())
    for (Format wide : allFormats())
      for (Rounding rounding :
           {Rounding::RNE, Rounding::RNA, Rounding::RZ, Rounding::RU, Rounding::RD})
        for (Overflow overflow : {Overflow::IEEE, Overflow::Saturate}) {
          bool clamps = overflow == Overflow::Saturate && info(narrow).hasInf;
          if (!holdsEveryValueOf(wide, narrow) || clamps != withClamps)
            continue;
          for (uint64_t x = 0; x < 1u << info(narrow).bits; ++x) {
            uint64_t back = convert(convert(x, narrow, wide), wide, narrow, rounding, overflow);
            lemma.expect(isSame(x, back, narrow), "{0:x} of {1} through {2}, {3}, {4}", x,
                         toString(narrow), toString(wide), toString(rounding), toString(overflow));
          }
        }
  return lemma;
}

/// round(x : F) is x where x is a value of G, and F holds every value of G.
static Lemma proveRoundings() {
  Lemma lemma{"rounding of rounded"};
  std::vector<Format> formats = narrowFormats();
  formats.push_back(Format::TF32);
  for (Format inner : formats)
    for (Format outer : formats)
      for (uint64_t x = 0; holdsEveryValueOf(outer, inner) && x < 1u << info(inner).bits; ++x) {
        uint64_t stored = convert(x, inner, Format::F32);
        uint64_t again = convert(convert(stored, Format::F32, outer), outer, Format::F32);
        lemma.expect(isSame(stored, again, Format::F32), "{0:x} of {1} rounded to {2}", x,
                     toString(inner), toString(outer));
      }
  return lemma;
}

/// A cast between formats of at most 16 bits is one to f32 and one from it.
static Lemma proveThroughF32() {
  Lemma lemma{"through f32"};
  for (Format from : narrowFormats())
    for (Format to : narrowFormats())
      for (uint64_t x = 0; x < 1u << info(from).bits; ++x)
        lemma.expect(isSame(convert(x, from, to),
                            convert(convert(x, from, Format::F32), Format::F32, to), to),
                     "{0:x} of {1} to {2}", x, toString(from), toString(to));
  return lemma;
}

//===----------------------------------------------------------------------===//
// Arithmetic in f32, rounded: the result of one rounding
//===----------------------------------------------------------------------===//

/// f64 to f32, to odd: where f32 has not the value, the one of its two neighbours whose last bit is
/// set. Rounding that to a format two digits shorter, or with coarser subnormals, is one rounding.
static float toOdd(double x) {
  float nearest = float(x);
  if (double(nearest) == x || std::isnan(x))
    return nearest;
  uint32_t bits = llvm::bit_cast<uint32_t>(nearest);
  if (std::fabs(double(nearest)) > std::fabs(x))
    --bits; // toward zero
  return llvm::bit_cast<float>(bits | 1);
}

/// x and what is left of the exact result: its neighbour to odd. Of f64, whose last bit is far
/// below all that counts.
static double toOdd(double x, double rest) {
  uint64_t bits = llvm::bit_cast<uint64_t>(x);
  if (rest == 0 || !std::isfinite(x) || bits & 1)
    return x;
  bits += (rest > 0) == (x > 0) ? 1 : -1;
  return llvm::bit_cast<double>(bits);
}

namespace {
struct Arithmetic {
  llvm::StringRef name;
  float (*inF32)(float, float);
  double (*exactly)(double, double); ///< in f64, to odd
};
} // namespace

static double addExactly(double x, double y) {
  double sum = x + y, part = sum - x;
  return toOdd(sum, (x - (sum - part)) + (y - part)); // Knuth's two-sum
}
static double divideExactly(double x, double y) {
  double quotient = x / y, rest = std::fma(-quotient, y, x);
  return toOdd(quotient, std::isfinite(rest) && y < 0 ? -rest : rest);
}

static const Arithmetic kArithmetic[] = {
    {"addition", [](float x, float y) { return x + y; }, addExactly},
    {"product", [](float x, float y) { return x * y; }, [](double x, double y) { return x * y; }},
    {"quotient", [](float x, float y) { return x / y; }, divideExactly}};

/// For each pair: in f32, perhaps to a format between, and rounded; and rounded once. A difference
/// x - y is a sum of x and -y.
static Lemma proveArithmetic(const Arithmetic &arithmetic, llvm::ArrayRef<Format> formats,
                             llvm::StringRef name, Format between = Format::F32) {
  Lemma lemma{name};
  for (Format format : formats) {
    size_t count = size_t(1) << info(format).bits;
    std::vector<float> values(count), twice(count), once(count);
    for (size_t i = 0; i < count; ++i)
      values[i] = decode(i, format);
    std::vector<uint16_t> ofTwice(count), ofOnce(count);
    for (size_t x = 0; x < count; ++x) {
      for (size_t y = 0; y < count; ++y) {
        twice[y] = arithmetic.inF32(values[x], values[y]);
        once[y] = toOdd(arithmetic.exactly(values[x], values[y]));
      }
      if (between != Format::F32)
        roundArray(twice.data(), twice.data(), count, between);
      roundArray(twice.data(), twice.data(), count, format);
      roundArray(once.data(), once.data(), count, format);
      for (size_t y = 0; y < count; ++y) {
        bool isNaN = std::isnan(twice[y]) && std::isnan(once[y]);
        lemma.expect(isNaN ||
                         llvm::bit_cast<uint32_t>(twice[y]) == llvm::bit_cast<uint32_t>(once[y]),
                     "{0} of {1} and {2} in {3}: {4} for {5}", arithmetic.name, values[x],
                     values[y], toString(format), twice[y], once[y]);
      }
    }
  }
  return lemma;
}

/// States what is not so: a check that lets one of these pass is none.
static bool refuteFalsehoods() {
  Lemma falsehoods[] = {
      proveCastPairs(/*withClamps=*/true),
      proveArithmetic(kArithmetic[0], Format::F8E4M3FN, "addition of f8E4M3FN in bf16",
                      Format::BF16),
      proveArithmetic(kArithmetic[1], Format::F8E3M4, "product of f8E3M4 in bf16", Format::BF16)};
  bool allFail = true;
  for (const Lemma &lemma : falsehoods)
    allFail &= !lemma.print();
  return allFail;
}

int main(int argc, char **argv) {
  llvm::StringRef word = argc == 2 ? argv[1] : "";
  if (argc > 2 || (argc == 2 && word != "--pairs" && word != "--false")) {
    llvm::errs() << "usage: exact-rewrites [--pairs|--false]\n";
    return 2;
  }
  if (word == "--false")
    return !refuteFalsehoods();
  bool hold = proveCastPairs(/*withClamps=*/false).print();
  hold &= proveRoundings().print();
  hold &= proveThroughF32().print();
  std::vector<Format> bytes;
  for (Format format : narrowFormats())
    if (info(format).bits <= 8)
      bytes.push_back(format);
  for (const Arithmetic &arithmetic : kArithmetic) {
    hold &= proveArithmetic(arithmetic, bytes, (arithmetic.name + ", 8 bits").str()).print();
    for (Format format : {Format::F16, Format::BF16})
      if (word == "--pairs")
        hold &=
            proveArithmetic(arithmetic, format, (arithmetic.name + ", " + toString(format)).str())
                .print();
  }
  return !hold;
}
