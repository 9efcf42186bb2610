// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX that nvcc makes of CUDA sources: kernels that this project did not write.

#include "TestSupport.h"
#include "mp/Numerics/Cast.h"
#include "mp/Numerics/TensorCore.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include <cmath>
#include <numeric>
#include <random>

using namespace mp;
using namespace mp::emulator;
using namespace mp::emulator::test;

namespace {
/// Inputs/kernels.cu as a module, or null where nvcc is missing.
std::unique_ptr<Module> compile() {
  std::string nvcc = MP_NVCC;
  if (!llvm::sys::fs::can_execute(nvcc))
    return nullptr;
  llvm::SmallString<128> out;
  if (llvm::sys::fs::createTemporaryFile("kernels", "ptx", out))
    return nullptr;
  std::string source = std::string(MP_SOURCE_DIR) + "/test/Emulator/Inputs/kernels.cu";
  llvm::StringRef args[] = {nvcc, "-ptx", "-arch=sm_80", source, "-o", out};
  std::string message;
  int rc = llvm::sys::ExecuteAndWait(nvcc, args, std::nullopt, {}, 0, 0, &message);
  EXPECT_EQ(rc, 0) << message;
  auto text = llvm::MemoryBuffer::getFile(out);
  llvm::sys::fs::remove(out);
  if (!text)
    return nullptr;
  auto module = loadModule((*text)->getBuffer(), "kernels.ptx");
  if (!module) {
    ADD_FAILURE() << llvm::toString(module.takeError());
    return nullptr;
  }
  return std::move(*module);
}

class Nvcc : public testing::Test {
protected:
  static void SetUpTestSuite() { module = compile(); }
  static void TearDownTestSuite() { module.reset(); }
  void SetUp() override {
    if (!module)
      GTEST_SKIP() << "no nvcc at '" << MP_NVCC << "'";
  }
  LaunchStats launch(const char *kernel, Dim3 grid, Dim3 block, std::vector<KernelArg> args, LaunchOptions options = {}) {
    auto r = device.launch(*module, kernel, grid, block, 0, args, options);
    if (!r) {
      ADD_FAILURE() << llvm::toString(r.takeError());
      return {};
    }
    return *r;
  }
  static std::unique_ptr<Module> module;
  Device device;
};
std::unique_ptr<Module> Nvcc::module;

template <class T> KernelArg arg(T v) { return KernelArg::value(v); }
} // namespace

TEST_F(Nvcc, ShuffleReduction) {
  std::vector<float> x(5000);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(i % 17);
  for (bool reverse : {false, true}) {
    LaunchOptions options;
    options.reverse = reverse;
    DevicePtr sum = upload(device, std::vector<float>{0});
    launch("reduce", {7}, {256}, {arg(upload(device, x)), arg(sum), arg(int(x.size()))}, options);
    EXPECT_EQ(download<float>(device, sum, 1)[0], std::accumulate(x.begin(), x.end(), 0.0f));
  }
}

TEST_F(Nvcc, HistogramWithAtomics) {
  std::mt19937 rng(1);
  std::vector<uint8_t> x(10000);
  std::vector<uint32_t> want(256);
  for (uint8_t &v : x)
    ++want[v = uint8_t(rng() & rng())];
  DevicePtr bins = upload(device, std::vector<uint32_t>(256));
  launch("histogram", {5}, {256}, {arg(upload(device, x)), arg(bins), arg(int(x.size()))});
  EXPECT_EQ(download<uint32_t>(device, bins, 256), want);
}

TEST_F(Nvcc, TiledWmmaGemmIsBitExact) {
  const int m = 64, n = 96, k = 128;
  std::mt19937 rng(2);
  std::normal_distribution<float> normal;
  auto half = [](float v) { return uint16_t(numerics::convert(std::bit_cast<uint32_t>(v), numerics::Format::F32, numerics::Format::F16)); };
  auto back = [](uint16_t v) { return std::bit_cast<float>(uint32_t(numerics::convert(v, numerics::Format::F16, numerics::Format::F32))); };
  std::vector<uint16_t> a(m * k), b(k * n);
  for (auto *v : {&a, &b})
    for (uint16_t &x : *v)
      x = half(normal(rng));
  DevicePtr c = take(device.alloc(m * n * 4));
  LaunchStats stats = launch("gemm_wmma", {n / 32, m / 32}, {128}, {arg(upload(device, a)), arg(upload(device, b)), arg(c), arg(n), arg(k)});
  auto got = download<float>(device, c, m * n);
  auto model = *numerics::tensorCoreModel(numerics::Architecture::SM80, numerics::Format::F16, numerics::Format::F16,
                                          numerics::Format::F32, numerics::Route::MmaSync);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      std::vector<float> row(k), column(k);
      for (int t = 0; t < k; ++t)
        row[t] = back(a[i * k + t]), column[t] = back(b[t * n + j]);
      ASSERT_EQ(got[i * n + j], numerics::modelDot(model, row.data(), column.data(), k, 0)) << i << ", " << j;
    }
  EXPECT_EQ(stats.opcodes["wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32"], uint64_t(6 * 4 * (k / 16)));
}

TEST_F(Nvcc, CpAsyncDoubleBuffering) {
  const int tiles = 9;
  std::vector<float> x(tiles * 128), want(x.size());
  std::iota(x.begin(), x.end(), 0.0f);
  for (size_t i = 0; i < x.size(); ++i)
    want[i] = 2 * x[i / 128 * 128 + 127 - i % 128];
  for (bool reverse : {false, true}) {
    LaunchOptions options;
    options.reverse = reverse;
    DevicePtr y = take(device.alloc(x.size() * 4));
    launch("double_buffer", {1}, {128}, {arg(upload(device, x)), arg(y), arg(tiles)}, options);
    EXPECT_EQ(download<float>(device, y, x.size()), want);
  }
}

TEST_F(Nvcc, LibraryMathDivisionAndCalls) {
  std::vector<float> x(96);
  std::vector<double> d(96);
  for (int i = 0; i < 96; ++i)
    x[i] = 0.03f * i, d[i] = 1.7 * i - 20;
  DevicePtr y = take(device.alloc(96 * 4));
  launch("math", {1}, {96}, {arg(upload(device, x)), arg(y), arg(upload(device, d)), arg(11)});
  auto got = download<float>(device, y, 96);
  const int modulus[] = {7, 8, 9};
  for (int i = 0; i < 96; ++i) {
    double v = x[i], h = 3.0f * modulus[i % 3];
    double want = h * 11 + std::sin(h) + std::exp(v) + std::tanh(v) + d[i] / 3 + std::pow(v, 2.5) + 11 % 7 + std::erf(v) +
                  std::log(v + 1) + std::cos(double(100000.0f * x[i]));
    EXPECT_NEAR(got[i], want, 1e-4 + 2e-6 * std::fabs(want)) << i;
  }
}

TEST_F(Nvcc, FailedAssertionNamesItsCondition) {
  DevicePtr y = upload(device, std::vector<double>(32));
  Fault f = faultOf(device.launch(*module, "math", {1}, {32}, 0, {arg(y), arg(y), arg(y), arg(0)}));
  EXPECT_EQ(f.kind, FaultKind::Trap);
  EXPECT_NE(f.message.find("'n > 0' failed"), std::string::npos) << f.message;
}

TEST_F(Nvcc, PackedHalves) {
  // f16: 2 * 2 + 1.5 and 0.5 * 0.5 + 1.5; bf16: 3 * 3 + 3 and 1 + 1.
  DevicePtr h = upload(device, std::vector<uint32_t>(32, 0x38004000)), b = upload(device, std::vector<uint32_t>(32, 0x3f804040));
  launch("halves", {1}, {32}, {arg(h), arg(b)});
  EXPECT_EQ(download<uint32_t>(device, h, 32)[31], 0x3f004580u);
  EXPECT_EQ(download<uint32_t>(device, b, 32)[31], 0x40004140u);
}

TEST_F(Nvcc, RecursionAndSwitch) {
  DevicePtr y = take(device.alloc(128));
  launch("recursion", {1}, {32}, {arg(y)});
  auto got = download<int>(device, y, 32);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(got[i], 2 * (i % 4) + 3);
  std::vector<int> x(33);
  for (int i = 0; i < 33; ++i)
    x[i] = i % 9;
  launch("choose", {1}, {32}, {arg(upload(device, x)), arg(y)});
  got = download<int>(device, y, 32);
  const int want[] = {11, 6, 17, -4, 23, 2 ^ 77, 31, -1, -1};
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(got[i], want[i % 9]) << i;
}

TEST_F(Nvcc, GroupsOfAWarpAndPrintf) {
  std::vector<int> x(32, 1);
  x[20] = 50;
  DevicePtr y = take(device.alloc(128));
  launch("half_warps", {1}, {32}, {arg(upload(device, x)), arg(y)});
  auto got = download<int>(device, y, 32);
  EXPECT_EQ(got[0], 116016);
  EXPECT_EQ(got[31], 16065);
  EXPECT_EQ(launch("hello", {1}, {32}, {arg(7)}).printed, "n is 7,  1.50 text 10000000000%\n");
}

TEST_F(Nvcc, InjectedPipelineFaults) {
  std::vector<float> x(4 * 128);
  for (const char *kernel : {"missing_wait", "missing_barrier"}) {
    // Without the barrier the next copy is under way into what a slower warp still reads.
    DevicePtr y = take(device.alloc(x.size() * 4));
    Fault f = faultOf(device.launch(*module, kernel, {1}, {128}, 0, {arg(upload(device, x)), arg(y), arg(4)}));
    EXPECT_EQ(f.kind, FaultKind::InFlight) << kernel << ": " << f.message;
    EXPECT_EQ(f.kernel, kernel);
    EXPECT_EQ(f.space, "shared");
  }
}
