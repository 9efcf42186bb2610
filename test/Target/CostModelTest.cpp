// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Target/CostModel.h"
#include "mp/Target/Targets.h"

#include "gtest/gtest.h"

using namespace mpcore::target;
using llvm::StringRef;

namespace {

CostModel costs(StringRef target, StringRef part = "") {
  return llvm::cantFail(CostModel::create(llvm::cantFail(lookupTarget(target)), part));
}

TEST(CostModel, LargeProductsAreBoundByArithmetic) {
  CostModel h100 = costs("sm_90a");
  uint64_t n = 4096, macs = n * n * n;
  // 2 * 4096^3 / (989e12 * 0.6) s and a launch of 2.5 us
  int64_t bf16 = *h100.contractionTime("bf16", "", macs, 3 * n * n * 2);
  EXPECT_NEAR(bf16 * 1e-6, 231.6 + 2.5, 0.1);
  // f32 on the FMA units: 67e12 * 0.7
  EXPECT_NEAR(*h100.contractionTime("f32", "", macs, 3 * n * n * 4) * 1e-6, 2930.5 + 2.5, 1);
  EXPECT_NEAR(*h100.contractionTime("bf16", "f32", macs, 0, /*parts=*/3) * 1e-6, 694.8 + 2.5, 0.3);
  EXPECT_LT(*h100.contractionTime("f8E4M3FN", "f32", macs, 0), bf16);
}

TEST(CostModel, SmallProductsAreBoundByMemory) {
  CostModel h100 = costs("sm_90a");
  // A vector times a 4096 x 4096 bf16 matrix: 33.6 MB at 3350 GB/s * 0.8
  int64_t time = *h100.contractionTime("bf16", "", 4096 * 4096, 2 * 4096 * 4096);
  EXPECT_NEAR(time * 1e-6, 12.52 + 2.5, 0.01);
  EXPECT_EQ(time, h100.launch() + h100.memoryTime(2 * 4096 * 4096));
  EXPECT_LT(costs("sm_90a", "h200").memoryTime(1000000), h100.memoryTime(1000000));
}

TEST(CostModel, CastsReadAndWrite) {
  CostModel a100 = costs("sm_80");
  EXPECT_EQ(a100.castTime(1 << 20, 32, 16), a100.launch() + a100.memoryTime(6 << 20));
  EXPECT_EQ(a100.castTime(0, 32, 16), a100.launch());
  EXPECT_EQ(a100.elementwiseTime(1, 8 << 20), a100.launch() + a100.memoryTime(8 << 20));
}

TEST(CostModel, BreakEvenIntensities) {
  EXPECT_NEAR(costs("sm_80").breakEvenFlopsPerByte("bf16"), 200, 1);
  EXPECT_NEAR(costs("sm_80", "A100 SXM 80GB").breakEvenFlopsPerByte("bf16"), 153, 1);
  EXPECT_NEAR(costs("sm_90a").breakEvenFlopsPerByte("bf16"), 295, 1);
  EXPECT_NEAR(costs("sm_90a").breakEvenFlopsPerByte("f8E4M3FN"), 590, 1);
}

TEST(CostModel, NoRateNoTime) {
  EXPECT_FALSE(costs("sm_80").contractionTime("f8E4M3FN", "", 1, 1));
  EXPECT_FALSE(costs("sm_75").contractionTime("bf16", "", 1, 1));
  EXPECT_FALSE(costs("sm_90").contractionTime("f8E4M3FN", "f32", 1, 1)); // emulated
  EXPECT_TRUE(costs("sm_70").contractionTime("f32", "", 1, 1));
}

TEST(CostModel, HugeNumbersSaturate) {
  CostModel t4 = costs("sm_75");
  int64_t time = *t4.contractionTime("f16", "", UINT64_MAX, UINT64_MAX);
  EXPECT_GT(time, 0);
  EXPECT_LE(time, int64_t(2e15));
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
