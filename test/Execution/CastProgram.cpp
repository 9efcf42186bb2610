// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CastProgram.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mp/Execution/Host/Program.h"
#include "mp/InitAll.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace mpcore;
using namespace mlir::mp::test;
using mlir::mp::Array;
using mlir::mp::ElementType;
using numerics::Format;

std::unique_ptr<MLIRContext> mlir::mp::test::makeExecutionContext() {
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::mp::registerAllDialects(registry);
  mlir::mp::registerExecution(registry);
  return std::make_unique<MLIRContext>(registry);
}

static std::string name(Format format) { return numerics::toString(format).str(); }

uint64_t Conversion::expected(uint64_t bits, Format from, uint64_t randomBits) const {
  uint64_t narrow = numerics::convert(bits, from, to, rounding, overflow, randomBits);
  return kind == Round ? numerics::convert(narrow, to, from) : narrow;
}

std::string Conversion::describe(Format from) const {
  return name(from) + (kind == Round ? " rounded to " : " to ") + name(to) + " " +
         numerics::toString(rounding).str() + " " + numerics::toString(overflow).str();
}

std::vector<Conversion> mlir::mp::test::everyWay(Format from, ArrayRef<Format> targets) {
  std::vector<Conversion> conversions;
  for (Format to : targets) {
    if (to == from || to == Format::TF32)
      continue;
    if (numerics::holdsEveryValueOf(to, from)) {
      conversions.push_back({to});
      continue;
    }
    for (numerics::Rounding rounding :
         {numerics::Rounding::RNE, numerics::Rounding::RNA, numerics::Rounding::RZ,
          numerics::Rounding::RU, numerics::Rounding::RD, numerics::Rounding::SR})
      for (numerics::Overflow overflow : {numerics::Overflow::IEEE, numerics::Overflow::Saturate})
        conversions.push_back({to, rounding, overflow});
  }
  return conversions;
}

std::vector<Conversion> mlir::mp::test::toNearest(Format from) {
  std::vector<Conversion> conversions;
  for (Format to : numerics::allFormats())
    if (to != from && to != Format::TF32)
      conversions.push_back({to});
  return conversions;
}

std::vector<uint64_t> mlir::mp::test::patternsOf(Format format, size_t random) {
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

/// `%i = OP %x : SOURCE to RESULT`
static std::string line(size_t i, const Conversion &conversion, Format from,
                        const std::string &source, const std::string &result) {
  std::string text = "  %" + std::to_string(i) + " = ";
  switch (conversion.kind) {
  case Conversion::Round:
    return text + "mp.round " + name(conversion.to) + " %x : " + source + "\n";
  case Conversion::Upstream:
    text += numerics::info(conversion.to).bits > numerics::info(from).bits ? "arith.extf"
                                                                           : "arith.truncf";
    return text + " %x : " + source + " to " + result + "\n";
  case Conversion::Cast: break;
  }
  text += "mp.cast ";
  if (!numerics::holdsEveryValueOf(conversion.to, from)) {
    if (conversion.rounding != numerics::Rounding::RNE)
      text += numerics::toString(conversion.rounding).str() + " ";
    text += numerics::toString(conversion.overflow).str() + " ";
  }
  return text + "%x" + (conversion.isRandom() ? ", %r" : "") + " : " + source + " to " + result +
         "\n";
}

std::string mlir::mp::test::castProgram(Format from, ArrayRef<Conversion> conversions,
                                        int64_t count) {
  auto tensorOf = [&](const std::string &element) {
    return "tensor<" + std::to_string(count) + "x" + element + ">";
  };
  std::string body, values, types;
  for (auto [i, conversion] : llvm::enumerate(conversions)) {
    std::string result = tensorOf(name(conversion.resultFormat(from)));
    body += line(i, conversion, from, tensorOf(name(from)), result);
    values += (i ? ", %" : "%") + std::to_string(i);
    types += (i ? ", " : "") + result;
  }
  return "func.func @f(%x: " + tensorOf(name(from)) + ", %r: " + tensorOf("i32") + ") -> (" +
         types + ") {\n" + body + "  return " + values + " : " + types + "\n}\n";
}

std::vector<Array> mlir::mp::test::castArguments(Format from, ArrayRef<uint64_t> patterns) {
  auto count = int64_t(patterns.size());
  std::vector<Array> arguments = {Array(ElementType::floating(from), {count}),
                                  Array(ElementType::integer(32), {count})};
  std::mt19937 engine(3);
  for (int64_t i = 0; i < count; ++i) {
    arguments[0].setPattern(i, patterns[size_t(i)]);
    arguments[1].setPattern(i, engine());
  }
  return arguments;
}

void mlir::mp::test::expectConverted(StringRef path, Format from, ArrayRef<Conversion> conversions,
                                     ArrayRef<Array> arguments, ArrayRef<Array> results,
                                     bool exactNaN) {
  ASSERT_EQ(results.size(), conversions.size()) << path.str();
  for (auto [conversion, result] : llvm::zip_equal(conversions, results)) {
    Format to = conversion.resultFormat(from);
    int wrong = 0;
    for (int64_t i = 0; i < result.size() && wrong < 3; ++i) {
      uint64_t bits = arguments[0].pattern(i), actual = result.pattern(i);
      uint64_t expected = conversion.expected(bits, from, arguments[1].pattern(i));
      if (!exactNaN && numerics::isNaN(expected, to) && numerics::isNaN(actual, to))
        continue;
      wrong += actual != expected;
      EXPECT_EQ(actual, expected) << path.str() << ": " << conversion.describe(from)
                                  << " of pattern " << bits;
    }
  }
}
