// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unpacks a pattern to sign, exponent and significand, and rounds it into the other format.

#include "mp/Numerics/Cast.h"

#include "llvm/ADT/bit.h"

#include <array>
#include <atomic>

using namespace mpcore::numerics;

static constexpr llvm::StringRef roundingNames[] = {"rne", "rna", "rz",        "ru",
                                                    "rd",  "sr",  "sr_compare"};
static constexpr llvm::StringRef overflowNames[] = {"ieee", "saturate"};

llvm::StringRef mpcore::numerics::toString(Rounding rounding) {
  return roundingNames[size_t(rounding)];
}

llvm::StringRef mpcore::numerics::toString(Overflow overflow) {
  return overflowNames[size_t(overflow)];
}

std::optional<Rounding> mpcore::numerics::parseRounding(llvm::StringRef spelling) {
  for (size_t i = 0; i < std::size(roundingNames); ++i)
    if (roundingNames[i] == spelling)
      return Rounding(i);
  return std::nullopt;
}

static uint64_t signOf(const FormatInfo &to, bool negative) { return negative ? to.signBit : 0; }

static uint64_t largestOf(const FormatInfo &to, bool negative) {
  return to.largest | signOf(to, negative);
}

/// The result of a value too large for `to` that is not held back by rounding.
static uint64_t beyondLargest(const FormatInfo &to, bool negative) {
  if (to.hasInf)
    return to.infinity | signOf(to, negative);
  if (to.hasNaN)
    return to.hasNegativeZero ? to.quietNaN | signOf(to, negative) : to.quietNaN;
  return largestOf(to, negative);
}

static uint64_t convertNaN(const FormatInfo &from, const Unpacked &nan, const FormatInfo &to) {
  if (!to.hasNaN)
    return to.largest;
  uint64_t result = to.quietNaN;
  if (from.hasNaNPayload && to.hasNaNPayload) {
    int shift = int(to.fractionBits) - int(from.fractionBits);
    uint64_t payload = nan.significand & ((uint64_t(1) << from.fractionBits) - 1);
    // quietNaN holds the exponent field and the quiet bit.
    result |= shift >= 0 ? payload << shift : payload >> -shift;
  }
  bool bothSigned = from.hasNegativeZero && to.hasNegativeZero;
  return bothSigned ? result | signOf(to, nan.negative) : result;
}

/// significand >> shift, rounded. `shift` > 0.
static uint64_t shiftRounded(uint64_t significand, unsigned shift, bool negative, Rounding rounding,
                             uint64_t randomBits) {
  // Significands have at most 53 bits, so past 63 everything is discarded and
  // lies below half of the result's last place.
  if (shift > 63)
    return (rounding == Rounding::RU && !negative) || (rounding == Rounding::RD && negative);
  uint64_t mask = (uint64_t(1) << shift) - 1;
  uint64_t half = uint64_t(1) << (shift - 1);
  uint64_t kept = significand >> shift;
  uint64_t discarded = significand & mask;
  switch (rounding) {
  case Rounding::RNE: return kept + (discarded > half || (discarded == half && (kept & 1)));
  case Rounding::RNA: return kept + (discarded >= half);
  case Rounding::RZ: return kept;
  case Rounding::RU: return kept + (discarded != 0 && !negative);
  case Rounding::RD: return kept + (discarded != 0 && negative);
  case Rounding::SR: return kept + ((discarded + (randomBits & mask)) >> shift);
  case Rounding::SRCompare: return kept + ((randomBits & mask) < discarded);
  }
  return kept;
}

static bool roundsBackToLargest(Rounding rounding, bool negative) {
  return rounding == Rounding::RZ || (rounding == Rounding::RU && negative) ||
         (rounding == Rounding::RD && !negative);
}

static uint64_t convertFinite(const Unpacked &value, const FormatInfo &to, Rounding rounding,
                              Overflow overflow, uint64_t randomBits) {
  bool negative = value.negative && to.hasSign;
  int fractionBits = int(to.fractionBits);
  int msb = 63 - llvm::countl_zero(value.significand);
  int exponent = msb + value.exponent;
  int lastPlace = std::max(exponent, to.minExponent) - fractionBits;
  int shift = lastPlace - value.exponent;
  int topLastPlace = to.maxExponent - fractionBits;

  uint64_t kept = 0;
  bool tooLarge = lastPlace > topLastPlace;
  if (!tooLarge) {
    kept = shift <= 0
               ? value.significand << -shift
               : shiftRounded(value.significand, unsigned(shift), negative, rounding, randomBits);
    uint64_t hidden = uint64_t(1) << fractionBits;
    uint64_t largestKept = (to.largest & (hidden - 1)) | hidden;
    tooLarge = lastPlace == topLastPlace && kept > largestKept;
  }
  if (tooLarge) {
    if (overflow == Overflow::Saturate || roundsBackToLargest(rounding, negative))
      return largestOf(to, negative);
    return beyondLargest(to, negative);
  }
  if (kept == 0)
    return to.hasNegativeZero ? signOf(to, negative) : 0;

  // Adding the significand, hidden bit included, to the exponent field below
  // makes a subnormal, a normal, or carries into the next binade.
  uint64_t field = uint64_t(lastPlace + fractionBits + to.bias - 1);
  if (!to.hasZero) // a lone hidden bit is the field itself
    return field + kept;
  return ((field << fractionBits) + kept) | signOf(to, negative);
}

uint64_t mpcore::numerics::convert(uint64_t bits, Format from, Format to, Rounding rounding,
                                   Overflow overflow, uint64_t randomBits) {
  if (from == to)
    return bits;
  const FormatInfo &source = info(from), &target = info(to);
  Unpacked value = unpack(bits, from);
  switch (value.kind) {
  case ValueClass::NaN: return convertNaN(source, value, target);
  case ValueClass::Infinity: {
    bool negative = value.negative && target.hasSign;
    return overflow == Overflow::Saturate ? largestOf(target, negative)
                                          : beyondLargest(target, negative);
  }
  case ValueClass::Zero: return target.hasNegativeZero ? signOf(target, value.negative) : 0;
  case ValueClass::Finite: return convertFinite(value, target, rounding, overflow, randomBits);
  }
  return 0;
}

double mpcore::numerics::decode(uint64_t bits, Format format) {
  return llvm::bit_cast<double>(convert(bits, format, Format::F64));
}

uint64_t mpcore::numerics::encode(double value, Format format, Rounding rounding, Overflow overflow,
                                  uint64_t randomBits) {
  return convert(llvm::bit_cast<uint64_t>(value), Format::F64, format, rounding, overflow,
                 randomBits);
}

float mpcore::numerics::roundTo(float value, Format format, Rounding rounding, Overflow overflow,
                                uint64_t randomBits) {
  uint64_t narrow =
      convert(llvm::bit_cast<uint32_t>(value), Format::F32, format, rounding, overflow, randomBits);
  return llvm::bit_cast<float>(uint32_t(convert(narrow, format, Format::F32)));
}

//===----------------------------------------------------------------------===//
// Lossless questions
//===----------------------------------------------------------------------===//

static bool enumerateHolds(Format wide, Format narrow) {
  uint64_t count = uint64_t(1) << info(narrow).bits;
  for (uint64_t bits = 0; bits < count; ++bits) {
    uint64_t there = convert(bits, narrow, wide);
    if (isNaN(bits, narrow)) {
      if (!isNaN(there, wide))
        return false;
      continue;
    }
    // Compared as f64 patterns: values and signs of zero, both exact.
    if (convert(there, wide, Format::F64) != convert(bits, narrow, Format::F64))
      return false;
  }
  return true;
}

static bool computeHolds(Format wide, Format narrow) {
  const FormatInfo &w = info(wide), &n = info(narrow);
  if (wide == narrow)
    return true;
  // Cheap necessary conditions; they also keep f64 and f32 from enumeration.
  if (w.precision < n.precision || w.bits < n.bits)
    return false;
  if (n.bits <= 19)
    return enumerateHolds(wide, narrow);
  // f32 into f64, the only pair left: both IEEE formats, so ranges decide.
  return w.hasNaNPayload && n.hasNaNPayload && w.maxExponent >= n.maxExponent &&
         w.minExponent - int(w.precision) <= n.minExponent - int(n.precision);
}

bool mpcore::numerics::holdsEveryValueOf(Format wide, Format narrow) {
  // Filled on demand; two threads asking at once store the same answer.
  enum : uint8_t { Unknown, No, Yes };
  constexpr size_t count = size_t(Format::F4E2M1FN) + 1;
  static std::array<std::atomic<uint8_t>, count * count> answers;
  std::atomic<uint8_t> &slot = answers[size_t(wide) * count + size_t(narrow)];
  uint8_t answer = slot.load(std::memory_order_relaxed);
  if (answer == Unknown) {
    answer = computeHolds(wide, narrow) ? Yes : No;
    slot.store(answer, std::memory_order_relaxed);
  }
  return answer == Yes;
}
