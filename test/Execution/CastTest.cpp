// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled casts are those of lib/Numerics, bit for bit.

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mp/Execution/Program.h"
#include "mp/InitAll.h"
#include "mp/Numerics/Cast.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using mlir::mp::Array;
using mlir::mp::ElementType;
using mlir::mp::Program;
namespace numerics = ::mp::numerics;
using numerics::Format;
using numerics::Overflow;
using numerics::Rounding;

namespace {

struct Conversion {
  Format to;
  Rounding rounding = Rounding::RNE;
  Overflow overflow = Overflow::IEEE;
};

} // namespace

static std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::mp::registerAllDialects(registry);
  mlir::mp::registerExecution(registry);
  return std::make_unique<MLIRContext>(registry);
}

static std::string name(Format format) { return numerics::toString(format).str(); }

/// Every pattern of narrow formats; of wide ones the neighbourhoods where roundings
/// change (all exponents, few significands) and random ones.
static std::vector<uint64_t> patternsOf(Format format, size_t random) {
  const numerics::FormatInfo &info = numerics::info(format);
  std::vector<uint64_t> patterns;
  if (info.bits <= 16) {
    for (uint64_t bits = 0; bits < uint64_t(1) << info.bits; ++bits)
      patterns.push_back(bits);
    return patterns;
  }
  std::mt19937_64 engine(7);
  uint64_t fractionMask = (uint64_t(1) << info.fractionBits) - 1;
  for (uint64_t exponent = 0; exponent < uint64_t(1) << info.exponentBits;
       exponent += info.bits == 64 ? (exponent < 800 || exponent > 1180 ? 37 : 1) : 1)
    for (unsigned top = 0; top < 16; ++top)
      for (int64_t near : {-1, 0, 1}) {
        uint64_t fraction = (uint64_t(top) << (info.fractionBits - 4)) + uint64_t(near);
        uint64_t bits = exponent << info.fractionBits | (fraction & fractionMask);
        patterns.push_back(bits | (engine() & info.signBit));
      }
  while (patterns.size() < random)
    patterns.push_back(info.bits == 64 ? engine() : engine() & 0xFFFFFFFF);
  return patterns;
}

/// One function with a result per conversion, run over `patterns`.
static void check(MLIRContext &context, Format from, ArrayRef<Conversion> conversions,
                  bool upstreamOps = false) {
  std::vector<uint64_t> patterns = patternsOf(from, 20000);
  int64_t count = int64_t(patterns.size());
  std::string source = "tensor<" + std::to_string(count) + "x" + name(from) + ">";
  std::string words = "tensor<" + std::to_string(count) + "xi32>";
  std::string body, values, types;
  for (auto [i, conversion] : llvm::enumerate(conversions)) {
    std::string target = "tensor<" + std::to_string(count) + "x" + name(conversion.to) + ">";
    bool narrowing = !numerics::holdsEveryValueOf(conversion.to, from);
    std::string result = "%" + std::to_string(i);
    bool random = conversion.rounding == Rounding::SR;
    if (upstreamOps)
      body += "  " + result + " = arith." + (numerics::info(conversion.to).bits > numerics::info(from).bits ? "extf" : "truncf") +
              " %x : " + source + " to " + target + "\n";
    else
      body += "  " + result + " = mp.cast " +
              (narrowing ? (conversion.rounding == Rounding::RNE ? "" : numerics::toString(conversion.rounding).str() + " ") +
                               numerics::toString(conversion.overflow).str() + " "
                         : "") +
              "%x" + (random ? ", %r" : "") + " : " + source + " to " + target + "\n";
    values += (i ? ", " : "") + result;
    types += (i ? ", " : "") + target;
  }
  std::string text = "func.func @main(%x: " + source + ", %r: " + words + ") -> (" + types + ") {\n" +
                     body + "  return " + values + " : " + types + "\n}\n";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module) << text.substr(0, 2000);
  auto program = Program::compile(*module, "main");
  ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());

  std::vector<Array> arguments = {Array(ElementType::floating(from), {count}),
                                  Array(ElementType::integer(32), {count})};
  std::mt19937 engine(3);
  for (int64_t i = 0; i < count; ++i) {
    arguments[0].setPattern(i, patterns[size_t(i)]);
    arguments[1].setPattern(i, engine());
  }
  auto results = (*program)->run(arguments);
  ASSERT_TRUE(bool(results)) << llvm::toString(results.takeError());
  for (auto [conversion, result] : llvm::zip(conversions, *results)) {
    int wrong = 0;
    for (int64_t i = 0; i < count && wrong < 3; ++i) {
      uint64_t expected = numerics::convert(patterns[size_t(i)], from, conversion.to, conversion.rounding,
                                            conversion.overflow, arguments[1].pattern(i));
      wrong += result.pattern(i) != expected;
      EXPECT_EQ(result.pattern(i), expected)
          << name(from) << " to " << name(conversion.to) << " "
          << numerics::toString(conversion.rounding).str() << " "
          << numerics::toString(conversion.overflow).str() << " of pattern " << patterns[size_t(i)];
    }
  }
}

static std::vector<Conversion> everyWay(Format from, ArrayRef<Format> targets) {
  std::vector<Conversion> conversions;
  for (Format to : targets) {
    if (to == from || to == Format::TF32)
      continue;
    if (numerics::holdsEveryValueOf(to, from)) {
      conversions.push_back({to});
      continue;
    }
    for (Rounding rounding : {Rounding::RNE, Rounding::RNA, Rounding::RZ, Rounding::RU, Rounding::RD, Rounding::SR})
      for (Overflow overflow : {Overflow::IEEE, Overflow::Saturate})
        conversions.push_back({to, rounding, overflow});
  }
  return conversions;
}

static std::vector<Conversion> toNearest(Format from) {
  std::vector<Conversion> conversions;
  for (Format to : numerics::allFormats())
    if (to != from && to != Format::TF32)
      conversions.push_back({to});
  return conversions;
}

TEST(Casts, FromF32EveryRoundingAndOverflow) {
  auto context = makeContext();
  check(*context, Format::F32, everyWay(Format::F32, {Format::BF16, Format::F16, Format::F8E4M3FN, Format::F8E5M2}));
}

TEST(Casts, FromF64ToNearest) {
  auto context = makeContext();
  check(*context, Format::F64, toNearest(Format::F64));
}

TEST(Casts, FromF32ToNearestIntoEveryFormat) {
  auto context = makeContext();
  check(*context, Format::F32, toNearest(Format::F32));
}

TEST(Casts, EveryPatternOfNarrowFormatsIntoEveryOther) {
  auto context = makeContext();
  for (Format from : {Format::F16, Format::F8E4M3FN, Format::F8E5M2FNUZ})
    check(*context, from, toNearest(from));
}

TEST(Casts, UpstreamCastsToo) {
  auto context = makeContext();
  check(*context, Format::F32, {{Format::BF16}, {Format::F16}, {Format::F8E4M3FN}, {Format::F64}}, true);
  check(*context, Format::BF16, {{Format::F32}, {Format::F64}, {Format::F8E5M2}}, true);
}

TEST(SlowCasts, EveryFormatIntoEveryOtherEveryWay) {
  auto context = makeContext();
  for (Format from : numerics::allFormats())
    if (from != Format::TF32)
      check(*context, from, everyWay(from, numerics::allFormats()));
}
