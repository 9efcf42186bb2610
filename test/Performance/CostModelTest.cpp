// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the times of decisions against the performance model that they are taken from.

#include "mp/Performance/CostModel.h"
#include "mp/Performance/Estimate.h"
#include "mp/Target/Targets.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mpcore::performance;
using llvm::StringRef;
using mpcore::target::lookupTarget;

namespace {

CostModel costs(StringRef target, StringRef part = "") {
  return llvm::cantFail(CostModel::create(llvm::cantFail(lookupTarget(target)), part));
}

MatmulProblem product(StringRef format, int64_t m, int64_t n, int64_t k) {
  return {.m = m, .n = n, .k = k, .format = format.str(), .result = "f32"};
}

TEST(CostModel, ProductsAreTheFastestOfWhatIsWritten) {
  CostModel h100 = costs("sm_90a");
  for (int64_t size : {64, 512, 4096}) {
    const MatmulProblem bf16 = product("bf16", size, size, size);
    double least = HUGE_VAL;
    for (const Schedule &schedule : writtenMenu(bf16, h100.part())) {
      EXPECT_EQ(std::get<MatmulSchedule>(schedule).unit, MatrixUnit::MmaSync);
      least = std::min(least, llvm::cantFail(estimate(bf16, schedule, h100.part())).seconds);
    }
    EXPECT_NEAR(double(*h100.productTime(bf16)), least * 1e12, 1);
    EXPECT_EQ(*h100.productTime(bf16), *h100.productTime(bf16)) << "kept";
    if (size > 64) // there it is launches
      EXPECT_LT(*h100.productTime(bf16), *h100.productTime(product("f32", size, size, size)));
  }
}

TEST(CostModel, EightBitsWithoutAnInstructionAreCast) {
  const int64_t size = 4096, elements = size * size;
  CostModel h100 = costs("sm_90a"); // wgmma has e4m3, mma.sync has not
  EXPECT_EQ(*h100.productTime(product("f8E4M3FN", size, size, size)),
            *h100.productTime(product("f16", size, size, size)) +
                2 * h100.castTime(elements, 8, 16));
  CostModel ada = costs("sm_89");
  EXPECT_LT(*ada.productTime(product("f8E4M3FN", size, size, size)),
            *ada.productTime(product("f16", size, size, size)));
}

TEST(CostModel, ProductsOfF32AreTilesOfTheScalarUnits) {
  CostModel h100 = costs("sm_90a");
  const MatmulProblem f32 = product("f32", 512, 768, 768);
  for (const Schedule &schedule : writtenMenu(f32, h100.part())) {
    EXPECT_EQ(std::get<MatmulSchedule>(schedule).unit, MatrixUnit::Fma);
    EXPECT_EQ(std::get<MatmulSchedule>(schedule).splitK, 1u);
  }
  EXPECT_LT(*h100.productTime(f32), h100.productInLoops(f32));
  const double peak = 512. * 768 * 768 * 2 / (66.9 * 1e12) * 1e12;
  EXPECT_GT(double(*h100.productTime(f32)), 2 * peak) << "multiplications and additions apart";
}

TEST(CostModel, WideFactorsAreReadAsTheyLie) {
  CostModel h100 = costs("sm_90a");
  MatmulProblem narrow = product("bf16", 128, 4096, 4096), wide = narrow;
  wide.bBits = 32;
  const int64_t more = *h100.productTime(wide) - *h100.productTime(narrow);
  EXPECT_GT(more, 0);
  EXPECT_LT(more, h100.castTime(4096 * 4096, 32, 16)) << "than a cast of its own";
}

TEST(CostModel, LoopsAreBoundByWhatTheyRead) {
  CostModel h100 = costs("sm_90a");
  // 20 bytes for each of 128 * 768 * 768 / 4 multiply-adds over the width of L2, and a launch for
  // the product and one for what fills its sums: 37.9 us by what the emulator counts of the kernel.
  const int64_t time = h100.productInLoops(product("f32", 128, 768, 768));
  EXPECT_NEAR(double(time - h100.launch()) * 1e-6, 37.9, 0.5);
  EXPECT_EQ(h100.productInLoops(product("f32", 0, 768, 768)), 2 * h100.launch());
}

TEST(CostModel, CastsReadAndWrite) {
  CostModel a100 = costs("sm_80");
  EXPECT_NEAR(double(a100.castTime(1 << 20, 32, 16)),
              double(a100.launch() + a100.memoryTime(6 << 20)), 1);
  EXPECT_EQ(a100.castTime(0, 32, 16), a100.launch());
  EXPECT_EQ(a100.elementwiseTime(1, 8 << 20), a100.launch() + a100.memoryTime(8 << 20));
  EXPECT_LT(costs("sm_90a", "h200").memoryTime(1000000), costs("sm_90a").memoryTime(1000000));
  const Calibration &streams = calibrationFor(a100.part(), MatrixUnit::Fma, "");
  EXPECT_NEAR(double(a100.launch()), streams[Constant::Launch] * 1e6, 1);
}

TEST(CostModel, NoRateNoTime) {
  auto has = [](StringRef target, StringRef format) {
    CostModel model = costs(target);
    EXPECT_EQ(model.hasProducts(format),
              model.productTime(product(format, 64, 64, 64)).has_value());
    return model.hasProducts(format);
  };
  EXPECT_FALSE(has("sm_80", "f8E4M3FN"));
  EXPECT_FALSE(has("sm_75", "bf16"));
  EXPECT_FALSE(has("sm_90", "f8E4M3FN")); // emulated
  EXPECT_TRUE(has("sm_90a", "f8E4M3FN"));
  EXPECT_TRUE(has("sm_75", "f16"));
  EXPECT_TRUE(has("sm_70", "f32"));
}

TEST(CostModel, HugeNumbersSaturate) {
  CostModel t4 = costs("sm_75");
  const int64_t huge = int64_t(1) << 40;
  for (StringRef format : {"f16", "f32"}) {
    int64_t time = *t4.productTime(product(format, huge, huge, huge));
    EXPECT_GT(time, 0);
    EXPECT_LE(time, int64_t(2e15));
  }
  EXPECT_EQ(t4.memoryTime(0), 0);
}

TEST(CostModel, MeasuredTimes) {
  CostModel model = costs("sm_90a");
  EXPECT_FALSE(model.measured("gemm"));
  EXPECT_FALSE(llvm::errorToBool(model.readMeasured(
      R"({"schema": "mp-measured-costs", "version": 1, "target": "sm_90a",
          "picoseconds": {"gemm": 123}})")));
  EXPECT_EQ(model.measured("gemm"), 123);
  auto complaint = [&](StringRef text) { return llvm::toString(model.readMeasured(text)); };
  EXPECT_NE(complaint("[]").find("schema"), std::string::npos);
  EXPECT_EQ(complaint(R"({"schema": "mp-measured-costs", "version": 1, "target": "sm_80"})"),
            "times were measured on 'sm_80', expected 'sm_90a'");
  EXPECT_NE(complaint(R"({"schema": "mp-measured-costs", "version": 1, "target": "sm_90a",
                          "picoseconds": {"x": -1}})")
                .find("time of 'x'"),
            std::string::npos);
  EXPECT_EQ(model.measured("gemm"), 123); // kept
}

TEST(CostModel, UnknownPartListsTheParts) {
  auto model = CostModel::create(llvm::cantFail(lookupTarget("sm_90a")), "B200");
  ASSERT_FALSE(bool(model));
  EXPECT_EQ(llvm::toString(model.takeError()),
            "target sm_90a has no part 'B200'; it has H100 SXM, H200, H100 PCIe");
}

} // namespace
