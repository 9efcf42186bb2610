// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures lib/Numerics: array conversion against copying memory and against the scalar definition,
// modelled products against the scalar definition and against OpenBLAS where that is installed.
// Ends with a table of the ratios.

#include "mp/Numerics/ArrayCast.h"
#include "mp/Numerics/ModelGemm.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace mpcore::numerics;

namespace {

// Beyond every cache, so that memory is what limits.
constexpr size_t elements = size_t(1) << 24;

std::vector<float> normalValues(size_t count) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float &value : values)
    value = normal(random);
  return values;
}

const std::vector<float> &source() {
  static const std::vector<float> values = normalValues(elements);
  return values;
}

void setBytes(benchmark::State &state, size_t perElement, size_t count) {
  state.SetBytesProcessed(int64_t(state.iterations() * count * perElement));
}

/// Reads 4 and writes `width` bytes per element, as a conversion must.
void copying(benchmark::State &state, unsigned width) {
  std::vector<char> result(elements * width);
  const char *from = reinterpret_cast<const char *>(source().data());
  for (auto _ : state) {
    if (width == 4) {
      std::memcpy(result.data(), from, result.size());
    } else { // the same traffic: reads all, writes a part
      benchmark::DoNotOptimize(from);
      uint64_t sum = 0;
      const auto *words = reinterpret_cast<const uint64_t *>(from);
      for (size_t i = 0; i < elements / 2; ++i)
        sum += words[i];
      benchmark::DoNotOptimize(sum);
      std::memset(result.data(), int(sum), result.size());
    }
    benchmark::ClobberMemory();
  }
  setBytes(state, 4 + width, elements);
}

void narrowing(benchmark::State &state, Format to, Overflow overflow) {
  std::vector<char> result(elements * storageBytes(to));
  for (auto _ : state) {
    convertArray(source().data(), Format::F32, result.data(), to, elements, Rounding::RNE,
                 overflow);
    benchmark::ClobberMemory();
  }
  setBytes(state, 4 + storageBytes(to), elements);
}

void widening(benchmark::State &state, Format from) {
  std::vector<char> narrow(elements * storageBytes(from));
  std::vector<float> result(elements);
  convertArray(source().data(), Format::F32, narrow.data(), from, elements);
  for (auto _ : state) {
    convertArray(narrow.data(), from, result.data(), Format::F32, elements);
    benchmark::ClobberMemory();
  }
  setBytes(state, 4 + storageBytes(from), elements);
}

void narrowingScalar(benchmark::State &state, Format to) {
  const size_t count = 1 << 16;
  std::vector<uint64_t> result(count);
  for (auto _ : state) {
    for (size_t i = 0; i < count; ++i) {
      uint32_t bits;
      std::memcpy(&bits, &source()[i], 4);
      result[i] = convert(bits, Format::F32, to);
    }
    benchmark::ClobberMemory();
  }
  setBytes(state, 4 + storageBytes(to), count);
}

struct Product {
  size_t m, n, k;
  std::vector<float> a, b, d;
  Product(size_t m, size_t n, size_t k, Format format)
      : m(m), n(n), k(k), a(normalValues(m * k)), b(normalValues(k * n)), d(m * n) {
    if (format != Format::F32) {
      roundArray(a.data(), a.data(), a.size(), format);
      roundArray(b.data(), b.data(), b.size(), format);
    }
  }
  void setFlops(benchmark::State &state) {
    state.counters["FLOP/s"] =
        benchmark::Counter(double(2 * m * n * k), benchmark::Counter::kIsIterationInvariantRate);
  }
};

void modelled(benchmark::State &state, TensorCoreModel model, Simd simd, unsigned threads) {
  size_t size = simd == Simd::Portable ? 128 : 768;
  Product p(128, size, size, model.operandA);
  for (auto _ : state) {
    modelGemm(model, p.m, p.n, p.k, p.a.data(), p.k, p.b.data(), p.n, nullptr, 0, p.d.data(), p.n,
              threads, simd);
    benchmark::ClobberMemory();
  }
  p.setFlops(state);
}

using Sgemm = void (*)(int, int, int, int, int, int, float, const float *, int, const float *, int,
                       float, float *, int);

void openblas(benchmark::State &state, Sgemm sgemm) {
  Product p(128, 768, 768, Format::F32);
  const int rowMajor = 101, noTranspose = 111;
  for (auto _ : state) {
    sgemm(rowMajor, noTranspose, noTranspose, int(p.m), int(p.n), int(p.k), 1, p.a.data(), int(p.k),
          p.b.data(), int(p.n), 0, p.d.data(), int(p.n));
    benchmark::ClobberMemory();
  }
  p.setFlops(state);
}

/// Prints as usual and remembers each rate.
class Ratios : public benchmark::ConsoleReporter {
public:
  void ReportRuns(const std::vector<Run> &runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run &run : runs)
      for (const auto &[name, counter] : run.counters)
        rates[run.benchmark_name()] = counter.value;
  }

  void print(const std::string &name, const std::string &base) {
    auto x = rates.find(name), y = rates.find(base);
    if (x != rates.end() && y != rates.end())
      std::printf("%-44s %8.2f x %s\n", name.c_str(), x->second / y->second, base.c_str());
  }

  std::map<std::string, double> rates;
};

} // namespace

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 2;
  std::vector<std::pair<std::string, std::string>> ratios;
  auto add = [&](const std::string &name, auto function, const std::vector<std::string> &bases) {
    for (const std::string &base : bases)
      ratios.push_back({name, base});
    return benchmark::RegisterBenchmark(name.c_str(), function);
  };

  for (unsigned width : {1u, 2u, 4u})
    add("copy/4to" + std::to_string(width), [=](benchmark::State &state) { copying(state, width); },
        {});
  for (Format format :
       {Format::BF16, Format::F16, Format::TF32, Format::F8E4M3FN, Format::F8E5M2}) {
    std::string name = info(format).name.str();
    std::string copy = "copy/4to" + std::to_string(storageBytes(format));
    add("scalar/f32to" + name, [=](benchmark::State &state) { narrowingScalar(state, format); },
        {});
    add("array/f32to" + name,
        [=](benchmark::State &state) { narrowing(state, format, Overflow::IEEE); },
        {copy, "scalar/f32to" + name});
    add("array/f32to" + name + "/saturate",
        [=](benchmark::State &state) { narrowing(state, format, Overflow::Saturate); }, {copy});
    add("array/" + name + "tof32", [=](benchmark::State &state) { widening(state, format); },
        {copy});
  }

  void *library = dlopen("libopenblas.so.0", RTLD_NOW);
  std::vector<std::string> bases;
  if (library) {
    auto sgemm = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
    auto setThreads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
    if (sgemm && setThreads) {
      setThreads(1);
      add("gemm/openblas", [=](benchmark::State &state) { openblas(state, sgemm); }, {});
      bases.push_back("gemm/openblas");
    }
  } else {
    std::printf("OpenBLAS is not installed; no comparison with it.\n");
  }
  const std::pair<Architecture, Format> models[] = {{Architecture::SM70, Format::F16},
                                                    {Architecture::SM80, Format::BF16},
                                                    {Architecture::SM80, Format::TF32},
                                                    {Architecture::SM90, Format::BF16},
                                                    {Architecture::SM90, Format::F8E4M3FN}};
  for (auto [architecture, format] : models) {
    TensorCoreModel model = *tensorCoreModel(architecture, format);
    std::string name = "gemm/" + toString(architecture).str() + "/" + info(format).name.str();
    add(name + "/scalar",
        [=](benchmark::State &state) { modelled(state, model, Simd::Portable, 1); }, {});
    std::vector<std::string> against = {name + "/scalar"};
    against.insert(against.end(), bases.begin(), bases.end());
    add(
        name + "/1thread", [=](benchmark::State &state) { modelled(state, model, bestSimd(), 1); },
        against);
    add(name + "/allthreads",
        [=](benchmark::State &state) { modelled(state, model, bestSimd(), 0); }, {})
        ->UseRealTime();
  }

  Ratios reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  std::printf("\nRatios of rates, per processor second of one thread\n");
  for (const auto &[name, base] : ratios)
    reporter.print(name, base);
  benchmark::Shutdown();
  return 0;
}
