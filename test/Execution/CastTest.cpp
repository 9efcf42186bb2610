// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Casts are those of lib/Numerics on every path: compiled for the host, folded,
// and lowered to PTX that the emulator runs. (Its own cvt instructions:
// test/Emulator/ConvertTest.cpp.)

#include "../Support/Sample.h"
#include "CastProgram.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "mp/Execution/DeviceProgram.h"
#include "mp/Execution/Host/Program.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mpcore;
using namespace mlir::mp::test;
using mlir::mp::Array;
using mlir::mp::ElementType;
using numerics::Format;

//===----------------------------------------------------------------------===//
// The paths
//===----------------------------------------------------------------------===//

static void checkCompiled(MLIRContext &context, Format from, ArrayRef<Conversion> conversions,
                          ArrayRef<uint64_t> patterns) {
  std::vector<Array> arguments = castArguments(from, patterns);
  auto module =
      parseSourceString<ModuleOp>(castProgram(from, conversions, arguments[0].size()), &context);
  ASSERT_TRUE(module);
  auto program = mlir::mp::Program::compile(*module, "f");
  ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
  auto results = (*program)->run(arguments);
  ASSERT_TRUE(bool(results)) << llvm::toString(results.takeError());
  expectConverted("compiled", from, conversions, arguments, *results);
}

/// Replaces the function's first argument by a constant and canonicalizes.
static void checkFolded(MLIRContext &context, Format from, ArrayRef<Conversion> all,
                        ArrayRef<uint64_t> patterns) {
  std::vector<Conversion> conversions; // what random bits decide is not folded
  llvm::copy_if(all, std::back_inserter(conversions), [](auto &c) { return !c.isRandom(); });
  std::vector<Array> arguments = castArguments(from, patterns);
  auto module =
      parseSourceString<ModuleOp>(castProgram(from, conversions, arguments[0].size()), &context);
  ASSERT_TRUE(module);
  auto function = module->lookupSymbol<func::FuncOp>("f");
  auto type = cast<RankedTensorType>(function.getArgumentTypes()[0]);
  auto format = cast<FloatType>(type.getElementType());
  std::vector<APFloat> values;
  for (uint64_t bits : patterns)
    values.push_back(APFloat(format.getFloatSemantics(), APInt(format.getWidth(), bits)));
  OpBuilder b(&function.front(), function.front().begin());
  Value constant =
      arith::ConstantOp::create(b, function.getLoc(), DenseElementsAttr::get(type, values));
  function.getArgument(0).replaceAllUsesWith(constant);
  PassManager passes(&context);
  passes.addPass(createCanonicalizerPass());
  ASSERT_TRUE(succeeded(passes.run(*module)));

  std::vector<Array> results;
  for (Value value : function.front().getTerminator()->getOperands()) {
    DenseElementsAttr folded;
    ASSERT_TRUE(matchPattern(value, m_Constant(&folded)))
        << "not folded: " << conversions[results.size()].describe(from);
    results.emplace_back(*ElementType::of(folded.getElementType()), arguments[0].shape);
    for (auto [i, element] : llvm::enumerate(folded.getValues<APFloat>()))
      results.back().setPattern(int64_t(i), element.bitcastToAPInt().getZExtValue());
  }
  expectConverted("folded", from, conversions, arguments, results);
}

static void checkEmulated(MLIRContext &context, StringRef target, Format from,
                          ArrayRef<Conversion> conversions, ArrayRef<uint64_t> patterns) {
  std::vector<Array> arguments = castArguments(from, patterns);
  auto module =
      parseSourceString<ModuleOp>(castProgram(from, conversions, arguments[0].size()), &context);
  ASSERT_TRUE(module);
  mlir::mp::DeviceOptions options;
  options.chip = target.str();
  auto emulated = mlir::mp::DeviceProgram::compile(*module, "f", options);
  ASSERT_TRUE(bool(emulated)) << llvm::toString(emulated.takeError());
  auto results = (*emulated)->run(arguments);
  ASSERT_TRUE(bool(results)) << llvm::toString(results.takeError());
  // The GPU's own conversions give one NaN of their own.
  expectConverted(("emulated " + target).str(), from, conversions, arguments, *results,
                  /*exactNaN=*/false);
}

/// Every `step`-th pattern, the first and the last ones.
static std::vector<uint64_t> thinned(std::vector<uint64_t> patterns, size_t step) {
  std::vector<uint64_t> kept;
  for (size_t i = 0; i < patterns.size(); ++i)
    if (i % step == 0 || i < 8 || i + 8 >= patterns.size())
      kept.push_back(patterns[i]);
  return kept;
}

static std::vector<Conversion> roundings(Format from) {
  std::vector<Conversion> conversions;
  for (Format to : numerics::allFormats())
    if (to != from && numerics::holdsEveryValueOf(from, to))
      conversions.push_back(
          {to, numerics::Rounding::RNE, numerics::Overflow::IEEE, Conversion::Round});
  return conversions;
}

/// All paths, on the same patterns.
static void checkEveryPath(Format from, ArrayRef<Conversion> conversions,
                           ArrayRef<uint64_t> patterns) {
  auto context = makeExecutionContext();
  checkCompiled(*context, from, conversions, patterns);
  checkFolded(*context, from, conversions, patterns);
  checkEmulated(*context, "sm_80", from, conversions, patterns);
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

TEST(Casts, FromF32EveryRoundingAndOverflow) {
  auto context = makeExecutionContext();
  checkCompiled(
      *context, Format::F32,
      everyWay(Format::F32, {Format::BF16, Format::F16, Format::F8E4M3FN, Format::F8E5M2}),
      patternsOf(Format::F32, 20000));
}

TEST(Casts, FromF64ToNearest) {
  auto context = makeExecutionContext();
  checkCompiled(*context, Format::F64, toNearest(Format::F64), patternsOf(Format::F64, 20000));
}

TEST(Casts, FromF32ToNearestIntoEveryFormat) {
  auto context = makeExecutionContext();
  checkCompiled(*context, Format::F32, toNearest(Format::F32), patternsOf(Format::F32, 20000));
}

TEST(Casts, EveryPatternOfNarrowFormatsIntoEveryOther) {
  auto context = makeExecutionContext();
  for (Format from : {Format::F16, Format::F8E4M3FN, Format::F8E5M2FNUZ})
    checkCompiled(*context, from, toNearest(from), patternsOf(from, 0));
}

TEST(Casts, UpstreamCastsToo) {
  auto context = makeExecutionContext();
  auto upstream = [](std::initializer_list<Format> targets) {
    std::vector<Conversion> conversions;
    for (Format to : targets)
      conversions.push_back(
          {to, numerics::Rounding::RNE, numerics::Overflow::IEEE, Conversion::Upstream});
    return conversions;
  };
  for (auto [from, targets] :
       {std::pair{Format::F32,
                  upstream({Format::BF16, Format::F16, Format::F8E4M3FN, Format::F64})},
        std::pair{Format::BF16, upstream({Format::F32, Format::F64, Format::F8E5M2})}}) {
    checkCompiled(*context, from, targets, patternsOf(from, 20000));
    checkEmulated(*context, "sm_90", from, targets, thinned(patternsOf(from, 0), 16));
  }
}

TEST(Casts, EveryPathRoundsF32Alike) {
  std::vector<Conversion> conversions = roundings(Format::F32);
  for (Format to : {Format::BF16, Format::F8E4M3FN})
    llvm::append_range(conversions, everyWay(Format::F32, to));
  checkEveryPath(Format::F32, conversions, thinned(patternsOf(Format::F32, 0), 7));
}

TEST(SlowCasts, EveryFormatIntoEveryOtherEveryWay) {
  auto context = makeExecutionContext();
  Sample some(3);
  for (Format from : numerics::allFormats())
    if (from != Format::TF32 && some.takes())
      checkCompiled(*context, from, everyWay(from, numerics::allFormats()),
                    patternsOf(from, 20000));
}

TEST(SlowCasts, EveryPathAgreesOnEveryConversionFromF32AndF16) {
  for (Format from : {Format::F32, Format::F16})
    checkEveryPath(from, everyWay(from, numerics::allFormats()), thinned(patternsOf(from, 0), 97));
}

TEST(NightlyCasts, EveryPathAgreesOnEveryConversionAndPattern) {
  for (Format from : numerics::allFormats()) {
    if (from == Format::TF32)
      continue;
    std::vector<Conversion> conversions = everyWay(from, numerics::allFormats());
    llvm::append_range(conversions, roundings(from));
    checkEveryPath(from, conversions, patternsOf(from, 20000));
  }
}
