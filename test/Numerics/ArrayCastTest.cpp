// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Numerics/ArrayCast.h"

#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

using namespace mpcore::numerics;

namespace {

const Format narrowFormats[] = {Format::TF32,       Format::BF16,       Format::F16,
                                Format::F8E5M2,     Format::F8E4M3,     Format::F8E4M3FN,
                                Format::F8E5M2FNUZ, Format::F8E4M3FNUZ, Format::F8E4M3B11FNUZ,
                                Format::F8E3M4,     Format::F8E8M0FNU,  Format::F6E3M2FN,
                                Format::F6E2M3FN,   Format::F4E2M1FN};

uint64_t element(const std::vector<uint64_t> &storage, size_t i, Format format) {
  uint64_t bits = 0;
  unsigned bytes = storageBytes(format);
  std::memcpy(&bits, reinterpret_cast<const char *>(storage.data()) + i * bytes, bytes);
  return bits;
}

/// Compares arrays of f32 patterns against the scalar definition.
void checkNarrowing(const std::vector<uint32_t> &patterns, llvm::ArrayRef<Simd> levels) {
  std::vector<uint64_t> result(patterns.size());
  for (Format to : narrowFormats)
    for (Overflow overflow : {Overflow::IEEE, Overflow::Saturate})
      for (Simd simd : levels) {
        convertArray(patterns.data(), Format::F32, result.data(), to, patterns.size(),
                     Rounding::RNE, overflow, nullptr, simd);
        for (size_t i = 0; i < patterns.size(); ++i)
          ASSERT_EQ(element(result, i, to),
                    convert(patterns[i], Format::F32, to, Rounding::RNE, overflow))
              << std::hex << "0x" << patterns[i] << " to " << info(to).name.str();
      }
}

/// Every exponent and sign with significands around all rounding boundaries of
/// formats of 2 to 11 bits, then random patterns.
std::vector<uint32_t> sampledPatterns() {
  std::vector<uint32_t> patterns;
  for (uint32_t top = 0; top < 512; ++top)
    for (uint32_t bit = 0; bit <= 23; ++bit)
      for (int32_t delta = -1; delta <= 1; ++delta)
        for (uint32_t high : {0u, 0x400000u, 0x600000u, 0x700000u, 0x7FF000u})
          patterns.push_back((top << 23) + (((1u << bit) + high + delta) & 0x7FFFFF));
  std::mt19937 random(1);
  for (int i = 0; i < 50000; ++i)
    patterns.push_back(random());
  return patterns;
}

TEST(ArrayCast, NarrowingAgreesWithScalarOnSampledF32) {
  checkNarrowing(sampledPatterns(), {Simd::Portable, bestSimd()});
}

TEST(ArrayCast, EveryRoundingAgreesWithScalarOnSampledF32) {
  std::vector<uint32_t> patterns = sampledPatterns(), draws(patterns.size());
  std::mt19937 random(4);
  for (uint32_t &draw : draws)
    draw = random();
  std::vector<uint64_t> result(patterns.size());
  for (Format to : narrowFormats)
    for (Rounding rounding : {Rounding::RNA, Rounding::RZ, Rounding::RU, Rounding::RD, Rounding::SR,
                              Rounding::SRCompare})
      for (Overflow overflow : {Overflow::IEEE, Overflow::Saturate})
        for (Simd simd : {Simd::Portable, bestSimd()}) {
          convertArray(patterns.data(), Format::F32, result.data(), to, patterns.size(), rounding,
                       overflow, draws.data(), simd);
          for (size_t i = 0; i < patterns.size(); ++i)
            ASSERT_EQ(element(result, i, to),
                      convert(patterns[i], Format::F32, to, rounding, overflow, draws[i]))
                << std::hex << "0x" << patterns[i] << " to " << info(to).name.str() << " "
                << toString(rounding).str();
        }
}

TEST(ArrayCast, WideningAgreesWithScalarOnEveryPattern) {
  for (Format from : narrowFormats) {
    uint64_t count = uint64_t(1) << info(from).bits;
    std::vector<uint64_t> source(count);
    std::vector<uint32_t> result(count);
    for (uint64_t bits = 0; bits < count; ++bits)
      std::memcpy(reinterpret_cast<char *>(source.data()) + bits * storageBytes(from), &bits,
                  storageBytes(from));
    for (Simd simd : {Simd::Portable, bestSimd()}) {
      convertArray(source.data(), from, result.data(), Format::F32, count, Rounding::RNE,
                   Overflow::IEEE, nullptr, simd);
      for (uint64_t bits = 0; bits < count; ++bits)
        ASSERT_EQ(result[bits], convert(bits, from, Format::F32))
            << info(from).name.str() << " 0x" << std::hex << bits;
    }
  }
}

TEST(ArrayCast, TailsOfEveryLengthTouchNothingElse) {
  for (Format to : {Format::BF16, Format::F8E4M3FN, Format::TF32})
    for (size_t count = 0; count <= 33; ++count) {
      std::vector<float> source(count, 1.5f);
      std::vector<uint8_t> result(count * storageBytes(to) + 16, 0xA5);
      convertArray(source.data(), Format::F32, result.data(), to, count);
      for (size_t i = 0; i < count; ++i) {
        uint64_t bits = 0;
        std::memcpy(&bits, &result[i * storageBytes(to)], storageBytes(to));
        ASSERT_EQ(bits, encode(1.5, to));
      }
      for (size_t i = count * storageBytes(to); i < result.size(); ++i)
        ASSERT_EQ(result[i], 0xA5);
    }
}

TEST(ArrayCast, OtherRoundingsAndSourcesGoThroughTheDefinition) {
  std::mt19937 random(2);
  std::vector<double> source(1000);
  std::vector<uint32_t> draws(1000);
  for (size_t i = 0; i < source.size(); ++i) {
    source[i] = std::ldexp(double(random()), int(random() % 40) - 50);
    draws[i] = random();
  }
  std::vector<uint8_t> result(source.size());
  convertArray(source.data(), Format::F64, result.data(), Format::F8E5M2, source.size(),
               Rounding::SR, Overflow::Saturate, draws.data());
  for (size_t i = 0; i < source.size(); ++i)
    ASSERT_EQ(result[i],
              encode(source[i], Format::F8E5M2, Rounding::SR, Overflow::Saturate, draws[i]));
}

TEST(ArrayCast, RoundArrayIsRoundToPerElement) {
  std::mt19937 random(3);
  std::vector<float> values(3000), rounded(3000);
  for (float &value : values)
    value = llvm::bit_cast<float>(uint32_t(random()));
  for (Format format : narrowFormats) {
    roundArray(values.data(), rounded.data(), values.size(), format);
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(llvm::bit_cast<uint32_t>(rounded[i]),
                llvm::bit_cast<uint32_t>(roundTo(values[i], format)))
          << info(format).name.str() << " " << values[i];
  }
}

TEST(ArrayCast, EveryPairOfNarrowFormatsAgreesWithScalar) {
  for (Format from : narrowFormats) {
    uint64_t count = uint64_t(1) << std::min(info(from).bits, 16u);
    std::vector<uint64_t> source(count), result(count);
    for (uint64_t bits = 0; bits < count; ++bits)
      std::memcpy(reinterpret_cast<char *>(source.data()) + bits * storageBytes(from), &bits,
                  storageBytes(from));
    for (Format to : narrowFormats)
      for (Overflow overflow : {Overflow::IEEE, Overflow::Saturate}) {
        convertArray(source.data(), from, result.data(), to, count, Rounding::RNE, overflow);
        for (uint64_t bits = 0; bits < count; ++bits)
          ASSERT_EQ(element(result, bits, to), convert(bits, from, to, Rounding::RNE, overflow))
              << info(from).name.str() << " 0x" << std::hex << bits << " to "
              << info(to).name.str();
      }
  }
}

TEST(ArrayCast, BetweenF32AndF64AgreesWithScalar) {
  std::mt19937_64 random(5);
  std::vector<uint64_t> wide, widened;
  std::vector<uint32_t> narrow = sampledPatterns();
  for (uint32_t bits : narrow) {
    uint64_t exact = convert(bits, Format::F32, Format::F64);
    wide.insert(wide.end(),
                {exact, exact + 1, exact + (1 << 28), exact ^ (random() & 0x3FFFFFFF), random()});
  }
  widened.resize(narrow.size());
  convertArray(narrow.data(), Format::F32, widened.data(), Format::F64, narrow.size());
  for (size_t i = 0; i < narrow.size(); ++i)
    ASSERT_EQ(widened[i], convert(narrow[i], Format::F32, Format::F64));
  narrow.resize(wide.size());
  convertArray(wide.data(), Format::F64, narrow.data(), Format::F32, wide.size());
  for (size_t i = 0; i < wide.size(); ++i)
    ASSERT_EQ(narrow[i], convert(wide[i], Format::F64, Format::F32)) << std::hex << wide[i];
}

// All 2^32 f32 patterns into every narrow format, both overflow rules, against
// the scalar definition (itself checked against APFloat on every boundary).
TEST(NightlyArrayCast, EveryF32Pattern) {
  std::vector<uint32_t> patterns(1 << 20);
  for (uint64_t start = 0; start < (uint64_t(1) << 32); start += 1 << 20) {
    for (uint32_t i = 0; i < patterns.size(); ++i)
      patterns[i] = uint32_t(start) + i;
    checkNarrowing(patterns, {bestSimd()});
    if (HasFatalFailure())
      return;
  }
}

} // namespace
