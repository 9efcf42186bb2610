// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Estimates of launches from counts: products of opcodes, sums over launches, what is left out.

#include "mp/Execution/KernelEstimates.h"

#include <gtest/gtest.h>

using namespace mlir::mp;
using mpcore::emulator::LaunchRecord;
using mpcore::emulator::LaunchStats;
using performance::Bound;
using performance::MatrixUnit;

static const performance::Part &part(llvm::StringRef name) {
  return llvm::cantFail(performance::findPart(name));
}

TEST(KernelEstimates, ProductsOfOpcodes) {
  struct {
    const char *opcode;
    MatrixUnit unit;
    const char *format;
    double multiplyAdds;
  } rows[] = {
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", MatrixUnit::MmaSync, "bf16", 2048},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", MatrixUnit::MmaSync, "tf32", 1024},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", MatrixUnit::MmaSync, "f8E4M3FN",
       4096},
      {"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32", MatrixUnit::MmaSync, "i8",
       4096},
      {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", MatrixUnit::MmaSync, "f64", 256},
      // Four quad pairs; half of a sparse operand is not there.
      {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", MatrixUnit::MmaSync, "f16", 1024},
      {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
       MatrixUnit::MmaSync, "f16", 2048},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e2m1."
       "f32.ue8m0",
       MatrixUnit::MmaSync, "f4E2M1FN", 4096},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", MatrixUnit::MmaSync, "f16", 4096},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32", MatrixUnit::MmaSync, "bf16",
       4096},
      // The four warps of a warpgroup count one each.
      {"wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", MatrixUnit::Wgmma, "bf16",
       64 * 128 * 16 / 4},
  };
  for (const auto &row : rows) {
    ASSERT_TRUE(isMatrixProduct(row.opcode)) << row.opcode;
    auto products = productsOf(row.opcode, 3);
    ASSERT_TRUE(products) << row.opcode;
    EXPECT_EQ(products->unit, row.unit) << row.opcode;
    EXPECT_EQ(products->format, row.format) << row.opcode;
    EXPECT_EQ(products->multiplyAdds, 3 * row.multiplyAdds) << row.opcode;
  }
  for (const char *opcode :
       {"fma.rn.f32", "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "wgmma.fence.sync.aligned",
        "wmma.load.a.sync.aligned.m16n16k16.f16"}) {
    EXPECT_FALSE(isMatrixProduct(opcode)) << opcode;
    EXPECT_FALSE(productsOf(opcode, 1)) << opcode;
  }
  EXPECT_FALSE(productsOf("mma.sync.aligned.m16n8k16.row.col.f32.x5.x5.f32", 1));
}

/// A launch that reads `sectors` sectors, half of them twice.
static LaunchRecord copyLaunch(std::string kernel, uint64_t sectors) {
  LaunchStats stats;
  stats.blocks = stats.sampledBlocks = 1320;
  stats.threads = 256;
  stats.warpInstructions = 1000;
  stats.globalSectors = sectors;
  stats.touchedSectors = sectors / 2;
  return {std::move(kernel), stats};
}

static LaunchRecord productLaunch(const char *opcode, uint64_t executed) {
  LaunchRecord launch = copyLaunch("product", 1000);
  launch.stats.opcodes[opcode] = executed;
  return launch;
}

TEST(KernelEstimates, SumsOverLaunches) {
  const performance::Part &h100 = part("H100 SXM");
  const uint64_t sectors = 100'000'000;
  auto f = estimateLaunches(
      {copyLaunch("big", sectors), copyLaunch("small", 2), copyLaunch("big", sectors)}, h100,
      6.4e9);
  ASSERT_EQ(f.kernels.size(), 2u);
  const KernelEstimate &big = f.kernels[0], &little = f.kernels[1];
  EXPECT_EQ(big.name, "big");
  EXPECT_EQ(big.launches, 2u);
  EXPECT_EQ(big.bytes, 2 * 32.0 * sectors);
  EXPECT_EQ(big.touchedBytes, 32.0 * sectors);
  // 3.2 GB of touched sectors at the bandwidth of the data sheet, 6.4 GB through L2 besides.
  EXPECT_NEAR(big.speedOfLight, 3.2e9 / h100.memoryBytesPerSecond(), 1e-9);
  EXPECT_GT(big.seconds, big.speedOfLight);
  EXPECT_LT(big.seconds, 2 * big.speedOfLight);
  EXPECT_TRUE(big.bound() == Bound::Memory || big.bound() == Bound::L2)
      << toString(big.bound()).str();
  EXPECT_EQ(little.bound(), Bound::Launch);
  EXPECT_EQ(f.launches, 3u);
  EXPECT_DOUBLE_EQ(f.seconds, big.seconds + little.seconds);
  EXPECT_EQ(f.bytes, big.bytes + 64);
  EXPECT_EQ(f.touchedBytes, big.touchedBytes + 32);
  EXPECT_TRUE(f.leftOut.empty());
}

TEST(KernelEstimates, ProductsBindAtThePeak) {
  const performance::Part &a100 = part("A100");
  // 2^40 operations of bf16: 3.5 ms at 312 10^12 a second.
  auto f = estimateLaunches(
      {productLaunch("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", uint64_t(1) << 28)},
      a100, 0);
  EXPECT_EQ(f.kernels[0].bound(), Bound::Tensor);
  EXPECT_NEAR(f.speedOfLight, 1.0995e12 / a100.peakTera(MatrixUnit::MmaSync, "bf16") / 1e12, 1e-6);
  EXPECT_GT(f.seconds, f.speedOfLight);
  EXPECT_LT(f.seconds, 1.5 * f.speedOfLight);
}

TEST(KernelEstimates, DoublesWaitForTheirUnits) {
  auto seconds = [](llvm::StringRef gpu, const char *opcode) {
    LaunchRecord launch = productLaunch(opcode, 1'000'000'000);
    launch.stats.warpInstructions = 1'000'000'000;
    auto f = estimateLaunches({launch}, part(gpu), 0);
    EXPECT_EQ(f.kernels[0].bound(), Bound::Issue) << gpu.str() << " " << opcode;
    return f.seconds;
  };
  // An A100 has f64 units for a quarter of its lanes, an H100 for half, an RTX 4090 for two.
  EXPECT_NEAR(seconds("A100", "fma.rn.f64") / seconds("A100", "fma.rn.f32"), 4, 0.1);
  EXPECT_NEAR(seconds("H100 SXM", "fma.rn.f64") / seconds("H100 SXM", "fma.rn.f32"), 2, 0.1);
  const double f32 = seconds("RTX 4090", "fma.rn.f32");
  for (const char *opcode : {"fma.rn.f64", "setp.lt.f64", "cvt.f64.f32", "cvt.rn.f32.f64"})
    EXPECT_NEAR(seconds("RTX 4090", opcode) / f32, 64, 1.5) << opcode;
  for (const char *opcode : {"ld.global.f64", "mov.f64", "selp.f64", "atom.global.add.f64"})
    EXPECT_EQ(seconds("RTX 4090", opcode), f32) << opcode;
}

TEST(KernelEstimates, SaysWhatItLeavesOut) {
  LaunchRecord large = copyLaunch("large", 2);
  large.stats.sharedBytes = 200 << 10;
  auto f = estimateLaunches(
      {productLaunch("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", 100),
       productLaunch("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 100), large, large},
      part("A100"), 0);
  ASSERT_EQ(f.leftOut.size(), 3u); // each once
  EXPECT_NE(f.leftOut[0].find("no rate for wgmma.mma_async"), std::string::npos) << f.leftOut[0];
  EXPECT_NE(f.leftOut[1].find("no rate for mma.sync"), std::string::npos) << f.leftOut[1];
  EXPECT_NE(f.leftOut[2].find("204800 bytes of shared memory"), std::string::npos) << f.leftOut[2];
  std::string text;
  llvm::raw_string_ostream os(text);
  printEstimates(os, f);
  for (const std::string &sentence : f.leftOut)
    EXPECT_NE(text.find("left out: " + sentence), std::string::npos) << text;
}

TEST(KernelEstimates, TextSaysModelledAndSampled) {
  LaunchRecord launch = copyLaunch("copy", 1000);
  launch.stats.sampledBlocks = 12;
  auto f = estimateLaunches({launch}, part("H100 SXM"), 0);
  std::string text;
  llvm::raw_string_ostream os(text);
  printEstimates(os, f);
  EXPECT_NE(
      text.find("modelled for H100 SXM from counts of PTX instructions, never measured; 12 of "
                "1320 blocks ran, counts are scaled"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("modelled us"), std::string::npos) << text;
  EXPECT_EQ(text.find("arguments, constants"), std::string::npos) << "unknown here:\n" << text;
}
