// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Performance/Part.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mpcore::performance;

namespace {

const Part &part(llvm::StringRef name) { return llvm::cantFail(findPart(name)); }

TEST(Part, IsFoundByTheBeginningOfItsName) {
  EXPECT_EQ(part("H100").name, "H100 SXM");
  EXPECT_EQ(part("h100 pcie").name, "H100 PCIe");
  EXPECT_EQ(part("a100").name, "A100 SXM 40GB");
  for (llvm::StringRef name : {"H200", "B200", "RTX 4090", "L4", "T4", "V100", "RTX 5090", "L40S"})
    EXPECT_TRUE(part(name).name.starts_with(name));
  auto unknown = findPart("H300");
  ASSERT_FALSE(unknown);
  const std::string message = llvm::toString(unknown.takeError());
  EXPECT_NE(message.find("unknown GPU 'H300'"), std::string::npos) << message;
  EXPECT_NE(message.find("H100 SXM"), std::string::npos) << message;
  auto empty = findPart("");
  EXPECT_FALSE(empty);
  llvm::consumeError(empty.takeError());
}

TEST(Part, PeaksAndClocksGiveWholePowersOfTwo) {
  // Multiply-adds of f16 per cycle and multiprocessor are a power of two on every architecture,
  // which checks the clock beside mp/Target's figures.
  for (const Part &part : allParts()) {
    const double rate = part.multiplyAddsPerCycle(*part.bestUnit("f16"), "f16");
    const double power = std::exp2(std::round(std::log2(rate)));
    EXPECT_NEAR(rate / power, 1, 0.035) << part.name.str() << ": " << rate;
  }
  EXPECT_NEAR(part("A100").multiplyAddsPerCycle(MatrixUnit::MmaSync, "bf16"), 1024, 8);
  EXPECT_NEAR(part("H100").multiplyAddsPerCycle(MatrixUnit::Wgmma, "bf16"), 2048, 8);
  EXPECT_NEAR(part("H100").multiplyAddsPerCycle(MatrixUnit::Wgmma, "e4m3"), 4096, 16);
  EXPECT_NEAR(part("B200").multiplyAddsPerCycle(MatrixUnit::Tcgen05, "bf16"), 4096, 32);
}

TEST(Part, UnitsOfOneArchitectureHaveTheirOwnPeaks) {
  const Part &h100 = part("H100");
  EXPECT_EQ(h100.bestUnit("bf16"), MatrixUnit::Wgmma);
  EXPECT_EQ(h100.bestUnit("f32"), MatrixUnit::Fma);
  EXPECT_EQ(h100.bestUnit("f64"), MatrixUnit::MmaSync);
  EXPECT_EQ(h100.bestUnit("f4E2M1FN"), std::nullopt);
  EXPECT_EQ(h100.peakTera(MatrixUnit::Wgmma, "bf16"), 989);
  EXPECT_EQ(h100.peakTera(MatrixUnit::MmaSync, "bf16"), 620);
  EXPECT_EQ(h100.peakTera(MatrixUnit::Tcgen05, "bf16"), 0);
  // The H200 is not among the parts of sm_90: the H100's rate, of as many multiprocessors.
  EXPECT_EQ(part("H200").peakTera(MatrixUnit::MmaSync, "bf16"), 620);
  EXPECT_EQ(part("T4").bestUnit("bf16"), std::nullopt);
  EXPECT_EQ(part("V100").bestUnit("f16"), MatrixUnit::MmaSync);
}

TEST(Part, StorageBits) {
  EXPECT_EQ(storageBits("tf32"), 32u);
  EXPECT_EQ(storageBits("f32"), 32u);
  EXPECT_EQ(storageBits("bf16"), 16u);
  EXPECT_EQ(storageBits("e4m3"), 8u);
  EXPECT_EQ(storageBits("i4"), 4u);
  EXPECT_EQ(storageBits("float"), 0u);
}

} // namespace
