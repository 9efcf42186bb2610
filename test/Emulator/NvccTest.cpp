// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX that nvcc makes of CUDA sources: kernels that this project did not write.

#include "TestSupport.h"
#include "mp/Numerics/Cast.h"
#include "mp/Numerics/TensorCore.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

using namespace mpcore;
using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

namespace {
struct Variant {
  const char *name, *architecture, *option;
};

/// A file of Inputs as a module, or null where nvcc is missing.
std::unique_ptr<Module> compile(llvm::StringRef file, const Variant &variant) {
  std::string nvcc = MP_NVCC;
  if (!llvm::sys::fs::can_execute(nvcc))
    return nullptr;
  llvm::SmallString<128> out;
  if (llvm::sys::fs::createTemporaryFile("kernels", "ptx", out))
    return nullptr;
  std::string source = (MP_SOURCE_DIR "/test/Emulator/Inputs/" + file).str(),
              architecture = std::string("-arch=") + variant.architecture;
  llvm::StringRef args[] = {nvcc,           "-ptx", "-std=c++17", "-w", architecture,
                            variant.option, source, "-o",         out};
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

/// Kernels of one file, as each variant compiles them; a file is compiled once for all its tests.
class NvccFile : public testing::TestWithParam<Variant> {
protected:
  void setUp(llvm::StringRef file) {
    static std::map<std::string, std::unique_ptr<Module>> modules;
    auto [it, isNew] = modules.try_emplace((file + GetParam().name).str());
    if (isNew)
      it->second = compile(file, GetParam());
    module = it->second.get();
    if (!module)
      GTEST_SKIP() << "no nvcc at '" << MP_NVCC << "', or it failed";
  }
  LaunchStats launch(const char *kernel, Dim3 grid, Dim3 block, std::vector<KernelArg> args,
                     LaunchOptions options = {}, unsigned shared = 0) {
    auto r = device.launch(*module, kernel, grid, block, shared, args, options);
    if (!r) {
      ADD_FAILURE() << llvm::toString(r.takeError());
      return {};
    }
    return *r;
  }
  Module *module = nullptr;
  Device device;
};
constexpr Variant sm80{"sm_80", "sm_80", "-O3"}, sm90{"sm_90a", "sm_90a", "-O3"},
    sm90Debug{"sm_90aDebug", "sm_90a", "-G"}, sm120{"sm_120", "sm_120", "-O3"};
auto nameOf = [](const auto &info) { return std::string(info.param.name); };

class Nvcc : public NvccFile {
  void SetUp() override { setUp("kernels.cu"); }
};
INSTANTIATE_TEST_SUITE_P(, Nvcc, testing::Values(sm80, sm90Debug, sm120), nameOf);

/// CUB, libcu++ and cooperative groups, as they come with nvcc.
class NvccLibraries : public NvccFile {
  void SetUp() override { setUp("libraries.cu"); }
};
INSTANTIATE_TEST_SUITE_P(Slow, NvccLibraries, testing::Values(sm80, sm90, sm120), nameOf);

template <class T> KernelArg arg(T v) { return KernelArg::value(v); }
} // namespace

TEST_P(Nvcc, ShuffleReduction) {
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

TEST_P(Nvcc, HistogramWithAtomics) {
  std::mt19937 rng(1);
  std::vector<uint8_t> x(10000);
  std::vector<uint32_t> want(256);
  for (uint8_t &v : x)
    ++want[v = uint8_t(rng() & rng())];
  DevicePtr bins = upload(device, std::vector<uint32_t>(256));
  launch("histogram", {5}, {256}, {arg(upload(device, x)), arg(bins), arg(int(x.size()))});
  EXPECT_EQ(download<uint32_t>(device, bins, 256), want);
}

TEST_P(Nvcc, TiledWmmaGemmIsBitExact) {
  const int m = 64, n = 96, k = 128;
  std::mt19937 rng(2);
  std::normal_distribution<float> normal;
  auto half = [](float v) {
    return uint16_t(numerics::convert(std::bit_cast<uint32_t>(v), numerics::Format::F32,
                                      numerics::Format::F16));
  };
  auto back = [](uint16_t v) {
    return std::bit_cast<float>(
        uint32_t(numerics::convert(v, numerics::Format::F16, numerics::Format::F32)));
  };
  std::vector<uint16_t> a(m * k), b(k * n);
  for (auto *v : {&a, &b})
    for (uint16_t &x : *v)
      x = half(normal(rng));
  DevicePtr c = take(device.alloc(m * n * 4));
  LaunchStats stats =
      launch("gemm_wmma", {n / 32, m / 32}, {128},
             {arg(upload(device, a)), arg(upload(device, b)), arg(c), arg(n), arg(k)});
  auto got = download<float>(device, c, m * n);
  auto model = *numerics::tensorCoreModel(*numerics::parseArchitecture(GetParam().architecture),
                                          numerics::Format::F16, numerics::Format::F16,
                                          numerics::Format::F32, numerics::Route::MmaSync);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      std::vector<float> row(k), column(k);
      for (int t = 0; t < k; ++t)
        row[t] = back(a[i * k + t]), column[t] = back(b[t * n + j]);
      ASSERT_EQ(got[i * n + j], numerics::modelDot(model, row.data(), column.data(), k, 0))
          << i << ", " << j;
    }
  EXPECT_EQ(stats.opcodes["wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32"],
            uint64_t(6 * 4 * (k / 16)));
}

TEST_P(Nvcc, CpAsyncDoubleBuffering) {
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

TEST_P(Nvcc, LibraryMathDivisionAndCalls) {
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
    double want = h * 11 + std::sin(h) + std::exp(v) + std::tanh(v) + d[i] / 3 + std::pow(v, 2.5) +
                  11 % 7 + std::erf(v) + std::log(v + 1) + std::cos(double(100000.0f * x[i]));
    EXPECT_NEAR(got[i], want, 1e-4 + 2e-6 * std::fabs(want)) << i;
  }
}

TEST_P(Nvcc, FailedAssertionNamesItsCondition) {
  DevicePtr y = upload(device, std::vector<double>(32));
  Fault f = faultOf(device.launch(*module, "math", {1}, {32}, 0, {arg(y), arg(y), arg(y), arg(0)}));
  EXPECT_EQ(f.kind, FaultKind::Trap);
  EXPECT_NE(f.message.find("'n > 0' failed"), std::string::npos) << f.message;
}

TEST_P(Nvcc, PackedHalves) {
  // f16: 2 * 2 + 1.5 and 0.5 * 0.5 + 1.5; bf16: 3 * 3 + 3 and 1 + 1.
  DevicePtr h = upload(device, std::vector<uint32_t>(32, 0x38004000)),
            b = upload(device, std::vector<uint32_t>(32, 0x3f804040));
  launch("halves", {1}, {32}, {arg(h), arg(b)});
  EXPECT_EQ(download<uint32_t>(device, h, 32)[31], 0x3f004580u);
  EXPECT_EQ(download<uint32_t>(device, b, 32)[31], 0x40004140u);
}

TEST_P(Nvcc, RecursionAndSwitch) {
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

TEST_P(Nvcc, GroupsOfAWarpAndPrintf) {
  std::vector<int> x(32, 1);
  x[20] = 50;
  DevicePtr y = take(device.alloc(128));
  launch("half_warps", {1}, {32}, {arg(upload(device, x)), arg(y)});
  auto got = download<int>(device, y, 32);
  EXPECT_EQ(got[0], 116016);
  EXPECT_EQ(got[31], 16065);
  EXPECT_EQ(launch("hello", {1}, {32}, {arg(7)}).printed, "n is 7,  1.50 text 10000000000%\n");
}

TEST_P(Nvcc, InjectedPipelineFaults) {
  std::vector<float> x(4 * 128);
  for (const char *kernel : {"missing_wait", "missing_barrier"}) {
    // Without the barrier the next copy is under way into what a slower warp still reads.
    DevicePtr y = take(device.alloc(x.size() * 4));
    Fault f = faultOf(
        device.launch(*module, kernel, {1}, {128}, 0, {arg(upload(device, x)), arg(y), arg(4)}));
    EXPECT_EQ(f.kind, FaultKind::InFlight) << kernel << ": " << f.message;
    EXPECT_EQ(f.kernel, kernel);
    EXPECT_EQ(f.space, "shared");
  }
}

TEST_P(Nvcc, FunctionPointersAndVirtualFunctions) {
  std::vector<int> x(64), pointed, virtuals;
  for (int i = 0; i < 64; ++i) {
    x[i] = i * 5 % 23;
    const int by[] = {x[i] + 9, x[i] * 9, x[i] - 9};
    pointed.push_back(by[i % 3]);
    virtuals.push_back(x[i] & 1 ? 5 * x[i] - 7 : x[i] + 3);
  }
  DevicePtr y = take(device.alloc(256)), in = upload(device, x);
  launch("pointers", {1}, {64}, {arg(in), arg(y), arg(9)});
  EXPECT_EQ(download<int>(device, y, 64), pointed);
  launch("virtuals", {1}, {64}, {arg(in), arg(y)});
  EXPECT_EQ(download<int>(device, y, 64), virtuals);
}

TEST_P(Nvcc, DistancesOfBytes) {
  std::mt19937 rng(3);
  std::vector<uint32_t> x(64), y(64), want;
  for (int i = 0; i < 64; ++i) {
    x[i] = rng(), y[i] = rng();
    uint32_t packed = 0, bytes = 0, halves = 0;
    for (int k = 0; k < 32; k += 8) {
      uint32_t distance = std::abs(int(x[i] >> k & 255) - int(y[i] >> k & 255));
      packed |= distance << k, bytes += distance;
    }
    for (int k = 0; k < 32; k += 16)
      halves += std::abs(int16_t(x[i] >> k) - int16_t(y[i] >> k));
    want.insert(want.end(), {packed, bytes, halves});
  }
  DevicePtr out = take(device.alloc(768));
  launch("distances", {1}, {64}, {arg(upload(device, x)), arg(upload(device, y)), arg(out)});
  EXPECT_EQ(download<uint32_t>(device, out, 192), want);
}

TEST_P(Nvcc, ReturnsBeforeBarriers) {
  std::vector<int> x(128);
  for (int i = 0; i < 128; ++i)
    x[i] = i * 7 % 11;
  for (int n : {128, 100, 37, 5})
    for (bool reverse : {false, true}) {
      LaunchOptions options;
      options.reverse = reverse;
      DevicePtr y = upload(device, std::vector<int>(128, -1));
      launch("early_return", {1}, {128}, {arg(upload(device, x)), arg(y), arg(n)}, options);
      auto got = download<int>(device, y, 128);
      int stay = std::count_if(x.begin(), x.begin() + n, [](int v) { return v <= 7; });
      for (int i = 0; i < 128; ++i)
        EXPECT_EQ(got[i],
                  i >= n || x[i] > 7 ? -1 : x[n - 1 - i] + x[i] * (x[i] - 1) / 2 + 1000 * stay)
            << i << " of " << n;
    }
}

TEST_P(NvccLibraries, CubSortsScansAndReduces) {
  std::vector<int> x(256), sorted, sums(256), y;
  for (int i = 0; i < 256; ++i)
    x[i] = i * 7919 % 1009 - 500;
  std::partial_sum(x.begin(), x.end(), sums.begin());
  sorted = x;
  std::sort(sorted.begin(), sorted.end());
  DevicePtr in = upload(device, x), out = take(device.alloc(1024));
  auto run = [&](const char *kernel, unsigned threads) {
    launch(kernel, {1}, {threads}, {arg(in), arg(out)});
    return download<int>(device, out, 256);
  };
  EXPECT_EQ(run("radix_sort", 64), sorted);
  EXPECT_EQ(run("scan", 128), sums);
  EXPECT_EQ(run("transpose", 64), x);
  EXPECT_EQ(run("sum", 256)[0], sums.back());
}

TEST_P(NvccLibraries, BarriersPipelinesAndGroups) {
  std::vector<int> x(256), reversed, tiles(256);
  for (int i = 0; i < 256; ++i)
    x[i] = i * 31 % 101;
  reversed.assign(x.rbegin(), x.rend());
  for (int i = 0; i < 256; ++i)
    tiles[i] = x[i / 32 * 32 + 31 - i % 32];
  for (bool reverse : {false, true}) {
    LaunchOptions options;
    options.reverse = reverse;
    DevicePtr in = upload(device, x), out = take(device.alloc(1024));
    launch("object_barrier", {1}, {256}, {arg(in), arg(out)}, options);
    EXPECT_EQ(download<int>(device, out, 256), reversed);
    launch("object_pipeline", {1}, {32}, {arg(in), arg(out), arg(8)}, options, 256);
    EXPECT_EQ(download<int>(device, out, 256), tiles);
    DevicePtr total = upload(device, std::vector<int>(2));
    launch("atomic_ref", {2}, {64}, {arg(total)}, options);
    EXPECT_EQ(download<int>(device, total, 2), (std::vector<int>{256, 127}));
    launch("labelled", {1}, {32}, {arg(in), arg(out)}, options);
    auto got = download<int>(device, out, 32);
    int odd = 0, even = 0;
    for (int i = 0; i < 32; ++i)
      (x[i] & 1 ? odd : even) += x[i];
    for (int i = 0; i < 32; ++i)
      EXPECT_EQ(got[i], x[i] & 1 ? odd : even) << i;
  }
}
