// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints, for modelled Tensor Cores, the measured errors of dot products,
// promotion and split-precision schemes with the derived bound beside each. Every
// error is |computed - exact| relative to sum |a_i b_i|, largest over the
// samples (fixed seeds). Exit status 1 if any exceeds its bound.

#include "mp/Numerics/ArrayCast.h"
#include "mp/Numerics/DotErrorBounds.h"
#include "mp/Numerics/SplitPrecision.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <random>
#include <vector>

using namespace mpcore::numerics;

namespace {

bool allWithinBounds = true;

enum class Data { Normal, Unit };

/// A and B in f32, and the exact products of their rows and columns.
struct Sample {
  size_t rows, columns, k;
  std::vector<float> a, b;
  std::vector<double> exact, magnitude;

  Sample(size_t rows, size_t columns, size_t k, Data data)
      : rows(rows), columns(columns), k(k), a(rows * k), b(k * columns) {
    std::mt19937 random(unsigned(k) * 2 + (data == Data::Unit));
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<float> unit(0, 1);
    for (std::vector<float> *matrix : {&a, &b})
      for (float &value : *matrix)
        value = data == Data::Unit ? unit(random) : normal(random);
    computeExact();
  }

  void round(Format format) {
    roundArray(a.data(), a.data(), a.size(), format);
    roundArray(b.data(), b.data(), b.size(), format);
    computeExact();
  }

  double worst(const std::vector<float> &d) const {
    double largest = 0;
    for (size_t i = 0; i < d.size(); ++i)
      largest = std::max(largest, std::fabs(d[i] - exact[i]) / magnitude[i]);
    return largest;
  }

private:
  // Products of f32 are exact in f64, whose sums are off by 2^-53 a step: far
  // below anything printed here.
  void computeExact() {
    exact.assign(rows * columns, 0);
    magnitude.assign(rows * columns, 0);
    for (size_t i = 0; i < rows; ++i)
      for (size_t l = 0; l < k; ++l)
        for (size_t j = 0; j < columns; ++j) {
          double product = double(a[i * k + l]) * b[l * columns + j];
          exact[i * columns + j] += product;
          magnitude[i * columns + j] += std::fabs(product);
        }
  }
};

std::vector<float> runModel(const TensorCoreModel &model, const Sample &s) {
  std::vector<float> d(s.rows * s.columns);
  modelGemm(model, s.rows, s.columns, s.k, s.a.data(), s.k, s.b.data(), s.columns, nullptr, 0,
            d.data(), s.columns);
  return d;
}

std::vector<float> runSplit(const TensorCoreModel &model, SplitScheme scheme, const Sample &s) {
  std::vector<float> d(s.rows * s.columns);
  modelGemmSplit(model, scheme, s.rows, s.columns, s.k, s.a.data(), s.k, s.b.data(), s.columns,
                 nullptr, 0, d.data(), s.columns);
  return d;
}

std::vector<float> runFmaChain(const Sample &s) {
  std::vector<float> d(s.rows * s.columns);
  for (size_t i = 0; i < s.rows; ++i)
    for (size_t l = 0; l < s.k; ++l)
      for (size_t j = 0; j < s.columns; ++j)
        d[i * s.columns + j] =
            std::fmaf(s.a[i * s.k + l], s.b[l * s.columns + j], d[i * s.columns + j]);
  return d;
}

void cell(double measured, double bound) {
  bool within = measured <= bound;
  allWithinBounds &= within;
  llvm::outs() << llvm::format("%9.2e <= %8.2e%s", measured, bound, within ? "  " : " !");
}

void left(llvm::StringRef text, unsigned width) { llvm::outs() << llvm::left_justify(text, width); }

TensorCoreModel model(Architecture architecture, Format operand, unsigned promoteEvery = 0) {
  TensorCoreModel result = *tensorCoreModel(architecture, operand);
  result.promoteEvery = promoteEvery;
  return result;
}

void printConstants() {
  llvm::outs() << "Dot product constants: |error| <= C K 2^-24 sum|ab|, "
                  "largest C seen at K of 16 to 1024\n";
  const std::pair<Architecture, Format> units[] = {
      {Architecture::SM70, Format::F16},  {Architecture::SM75, Format::F16},
      {Architecture::SM80, Format::F16},  {Architecture::SM80, Format::BF16},
      {Architecture::SM80, Format::TF32}, {Architecture::SM90, Format::F16},
      {Architecture::SM90, Format::BF16}, {Architecture::SM90, Format::TF32}};
  for (auto [architecture, format] : units) {
    TensorCoreModel m = model(architecture, format);
    double seen = 0;
    for (Data data : {Data::Normal, Data::Unit})
      for (size_t k : {16, 64, 256, 1024}) {
        Sample s(64, 64, k, data);
        s.round(format);
        seen = std::max(seen, s.worst(runModel(m, s)) / (double(k) * 0x1p-24));
      }
    double constant = errorConstant(m);
    allWithinBounds &= seen <= constant;
    left(describe(m), 62);
    llvm::outs() << llvm::format("C %.4f   seen %.3f\n", constant, seen);
  }
}

void printFP8() {
  llvm::outs() << "\nsm_90 wgmma f8E4M3FN, error of accumulation <= bound\n";
  left("", 26);
  const size_t lengths[] = {128, 512, 1024, 4096, 16384};
  for (size_t k : lengths)
    llvm::outs() << llvm::format("K = %-20zu", k);
  llvm::outs() << '\n';
  for (Data data : {Data::Unit, Data::Normal})
    for (unsigned every : {0u, 128u}) {
      TensorCoreModel m = model(Architecture::SM90, Format::F8E4M3FN, every);
      left(std::string(data == Data::Unit ? "U[0,1)" : "N(0,1)") +
               (every ? ", promote 128" : ", no promotion"),
           26);
      for (size_t k : lengths) {
        Sample s(8, 16, k, data);
        s.round(Format::F8E4M3FN);
        cell(s.worst(runModel(m, s)), dotErrorBound(m, k));
      }
      llvm::outs() << '\n';
    }
}

void printSchemes() {
  llvm::outs() << "\nSplit-precision schemes on sm_90, K = 8, U[0,1) in f32, "
                  "error <= bound (of which dropped parts)\n";
  const size_t k = 8;
  Sample s(64, 64, k, Data::Unit);
  for (int i = 0; i <= int(SplitScheme::TF32x3); ++i) {
    SplitScheme scheme = SplitScheme(i);
    TensorCoreModel m = model(Architecture::SM90, partFormat(scheme));
    left(toString(scheme), 26);
    cell(s.worst(runSplit(m, scheme, s)), splitErrorBound(m, scheme, k));
    llvm::outs() << llvm::format("  (%.2e)\n", droppedPartsBound(scheme));
  }
  // Cuts f32 operands as the hardware does when nobody rounded them.
  Sample cut = s;
  for (std::vector<float> *matrix : {&cut.a, &cut.b})
    roundArray(matrix->data(), matrix->data(), matrix->size(), Format::TF32, Rounding::RZ);
  TensorCoreModel tf32 = model(Architecture::SM90, Format::TF32);
  double u = 2 * info(Format::TF32).unitRoundoff;
  double operands = 2 * u + u * u;
  left("tf32x1, operands cut", 26);
  cell(s.worst(runModel(tf32, cut)), operands + (1 + operands) * dotErrorBound(tf32, k));
  llvm::outs() << llvm::format("  (%.2e)\n", operands);
  left("f32 FMA chain", 26);
  cell(s.worst(runFmaChain(s)), std::expm1(k * std::log1p(0x1p-24)));
  llvm::outs() << '\n';
}

void printLongReductions() {
  const size_t k = 4096;
  llvm::outs() << "\nLong reductions on sm_90, K = 4096, error <= bound\n";
  left("", 26);
  llvm::outs() << "N(0,1)                  U[0,1)\n";
  Sample normal(8, 16, k, Data::Normal), unit(8, 16, k, Data::Unit);
  auto row = [&](const std::string &name, auto compute, double bound) {
    left(name, 26);
    for (const Sample *s : {&normal, &unit})
      cell(s->worst(compute(*s)), bound);
    llvm::outs() << '\n';
  };
  row("f32 FMA chain", runFmaChain, std::expm1(k * std::log1p(0x1p-24)));
  for (SplitScheme scheme :
       {SplitScheme::BF16x1, SplitScheme::BF16x3, SplitScheme::BF16x6, SplitScheme::TF32x3})
    for (unsigned every : {0u, 256u, 128u, 64u}) {
      if (scheme == SplitScheme::BF16x1 && every)
        continue;
      TensorCoreModel m = model(Architecture::SM90, partFormat(scheme), every);
      row(
          toString(scheme).str() +
              (every ? ", promote " + std::to_string(every) : std::string(", no promotion")),
          [&](const Sample &s) { return runSplit(m, scheme, s); }, splitErrorBound(m, scheme, k));
    }
}

} // namespace

int main() {
  printConstants();
  printFP8();
  printSchemes();
  printLongReductions();
  llvm::outs() << (allWithinBounds ? "\nEvery error is within its bound.\n"
                                   : "\nSome error exceeds its bound (!).\n");
  return allWithinBounds ? 0 : 1;
}
