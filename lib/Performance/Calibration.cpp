// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds the constants that were fitted, and to what.

#include "mp/Performance/Calibration.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <mutex>

using namespace mpcore::performance;
namespace target = mpcore::target;
using llvm::StringRef;

StringRef mpcore::performance::toString(Constant constant) {
  switch (constant) {
  case Constant::Launch: return "launch";
  case Constant::TensorShare: return "tensor-share";
  case Constant::L2Share: return "l2-share";
  case Constant::StoreBytesPerCycle: return "store-bytes-per-cycle";
  case Constant::ExposedStores: return "exposed-stores";
  case Constant::MemoryShare: return "memory-share";
  case Constant::SplitMicroseconds: return "split-microseconds";
  case Constant::ExposedSoftmax: return "exposed-softmax";
  case Constant::AttentionCycles: return "attention-cycles";
  }
  llvm_unreachable("unknown constant");
}

std::string Evidence::text() const {
  if (!points)
    return "peaks only";
  const std::string what = std::to_string(points) + " points of " + source.str();
  return carriedFrom.empty() ? "fitted on " + what
                             : "carried over from " + carriedFrom.str() + " (" + what + ")";
}

Prior mpcore::performance::priorOf(Constant constant) {
  switch (constant) {
  case Constant::Launch: return {4.7, 0.3};
  case Constant::TensorShare: return {0.88, 0.15};
  case Constant::L2Share: return {1.0, 0.4};
  case Constant::StoreBytesPerCycle: return {16, 0.7};
  case Constant::ExposedStores: return {0.5, 0.7};
  case Constant::MemoryShare: return {0.87, 0.1};
  case Constant::SplitMicroseconds: return {1.0, 0.7};
  case Constant::ExposedSoftmax: return {0.9, 0.3};
  case Constant::AttentionCycles: return {3000, 0.7};
  }
  llvm_unreachable("unknown constant");
}

namespace {
/// A row of constants as tools/dev/kernels/fit-model prints it.
struct Row {
  StringRef part;
  MatrixUnit unit;
  StringRef formats; ///< separated by spaces; empty: kernels without matrix products
  StringRef name;    ///< of the first format
  std::array<double, kConstants> values;
  Evidence evidence, attention = {};
};
} // namespace

// Times of matrix products by cuBLAS as XLA found them: a random half of the shapes of
// xla/service/gpu/model/default_matmul_perf_table.txtpb, fitted with
//   fit-model matmul-times.csv
// Bandwidth by size of xla/service/gpu/model/gpu_dot_fusion_cost_model.cc and attention of
// FlashAttention-3 (arXiv:2407.08608), fitted with
//   fit-model tools/dev/kernels/fit-model/published.csv
// Errors are those of five folds.
static constexpr StringRef kProducts = "openxla/xla's table of matrix products";
static constexpr StringRef kAttention = "FlashAttention-3's figures";
static constexpr Evidence kHopperAttention = {26, kAttention, 0.031, ""};
static constexpr Row kRows[] = {
    {"H100 SXM",
     MatrixUnit::Wgmma,
     "bf16 f16",
     "bf16",
     {4.718, 0.9525, 0.9819, 11.57, 0.5181, 0.9388, 1.428, 0.921, 5008},
     {187, kProducts, 0.028, ""},
     kHopperAttention},
    {"H100 SXM",
     MatrixUnit::Wgmma,
     "tf32",
     "tf32",
     {5.451, 0.8642, 0.4982, 10.57, 0.2253, 0.8492, 0.9076, 0.9, 3000},
     {187, kProducts, 0.118, ""}},
    {"H100 SXM",
     MatrixUnit::MmaSync,
     "bf16 f16",
     "bf16",
     {5.826, 0.8968, 0.8511, 4.971, 0.507, 0.8698, 1.02, 0.9, 3000},
     {45, "own kernels on an H200", 0.08, ""}},
    {"H100 SXM",
     MatrixUnit::Fma,
     "",
     "",
     {4.854, 0.88, 1, 16, 0.5, 0.8694, 1, 0.9, 3000},
     {18, "openxla/xla's table of bandwidths", 0.057, ""}},
    {"B200",
     MatrixUnit::Tcgen05,
     "bf16 f16",
     "bf16",
     {4.686, 0.8259, 1.168, 19.46, 0.6963, 0.8731, 0.6997, 0.9, 3000},
     {187, kProducts, 0.039, ""}},
    {"B200",
     MatrixUnit::Tcgen05,
     "tf32",
     "tf32",
     {5.494, 0.8697, 1.259, 18.06, 0.3523, 0.8756, 0.9245, 0.9, 3000},
     {187, kProducts, 0.049, ""}},
    {"B200",
     MatrixUnit::Tcgen05,
     "f8E4M3FN f8E5M2",
     "f8E4M3FN",
     {4.952, 0.8941, 1.235, 19.99, 0.6001, 0.8621, 0.708, 0.9, 3000},
     {374, kProducts, 0.055, ""}},
};

/// Parts whose multiprocessors are those of a measured one, with another number, clock or memory.
static StringRef measuredSibling(StringRef part) {
  if (part == "H200" || part == "H100 PCIe")
    return "H100 SXM";
  return part == "B300" ? "B200" : part;
}

static const Row *findRow(StringRef part, MatrixUnit unit, StringRef format) {
  for (const Row &row : kRows) {
    llvm::SmallVector<StringRef, 4> formats;
    row.formats.split(formats, ' ');
    if (row.part == part && row.unit == unit && llvm::is_contained(formats, format))
      return &row;
  }
  return nullptr;
}

static Calibration priors() {
  Calibration c;
  for (unsigned k = 0; k < kConstants; ++k)
    c.values[k] = priorOf(Constant(k)).value;
  return c;
}

/// Calibrations that were asked for, kept for good.
static const Calibration &keep(const Row &row, bool isOwn) {
  static std::mutex mutex;
  static std::map<std::pair<const Row *, bool>, Calibration> kept;
  std::lock_guard lock(mutex);
  auto [it, isNew] = kept.try_emplace({&row, isOwn});
  if (isNew) {
    Calibration &c = it->second;
    c = {row.values, row.evidence, row.attention};
    if (!isOwn) {
      static std::map<const Row *, std::string> names;
      std::string &name = names[&row];
      name = (row.part + (row.name.empty() ? "" : " ") + row.name).str();
      c.evidence.carriedFrom = name;
      if (c.attention.points)
        c.attention.carriedFrom = name;
    }
  }
  return it->second;
}

const Calibration &mpcore::performance::calibrationFor(const Part &part, MatrixUnit unit,
                                                       StringRef format) {
  static const Calibration unknown = priors();
  if (!format.empty())
    format = target::canonicalFormatName(format);
  const StringRef measured = measuredSibling(part.name);
  if (const Row *row = findRow(measured, unit, format))
    return keep(*row, measured == part.name && format == row->name);
  if (format.empty() || format == "f32")
    return unknown;
  // Formats nobody measured on the unit behave most like those of 16 bits.
  const Row *row = findRow(measured, unit, "bf16");
  return row ? keep(*row, /*isOwn=*/false) : unknown;
}
