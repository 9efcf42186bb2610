// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joins the parts of mp/Target with clocks and cache widths.

#include "mp/Performance/Doubles.h"
#include "mp/Target/Targets.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mpcore::performance;
namespace target = mpcore::target;
using llvm::StringRef;

StringRef mpcore::performance::toString(MatrixUnit unit) {
  switch (unit) {
  case MatrixUnit::Fma: return "fma";
  case MatrixUnit::MmaSync: return "mma.sync";
  case MatrixUnit::Wgmma: return "wgmma";
  case MatrixUnit::Tcgen05: return "tcgen05";
  }
  llvm_unreachable("unknown matrix unit");
}

namespace {
/// Facts that mp/Target does not have of a part. Clocks are the boost clocks of the data sheets, or
/// where the peak was computed with another one, that.
struct Addition {
  StringRef part;
  double clockGHz;
  double l2BytesPerCycle; ///< 0: not published
  double sustainedBf16Tera = 0;
  StringRef powerSource = {};
};
} // namespace

// L2 widths: V100 and A100 from the A100 whitepaper (2048 and 5120 bytes per clock); those of H100
// and H200 are taken as the A100's, per multiprocessor. Sustained rates: MAMF, the "maximum
// achievable matmul FLOPS" of stas00/ml-engineering (compute/accelerator/README.md), best of many
// shapes under PyTorch; H100: pranjalssh/fast.cu, its own kernel at 8192^3.
static constexpr double kL2BytesPerCycleAndMultiprocessor = 5120.0 / 108;
static constexpr StringRef kMamf = "MAMF of stas00/ml-engineering";
static constexpr Addition kAdditions[] = {
    {"V100 SXM2", 1.53, 2048},
    {"T4", 1.59, 0},
    {"A100 SXM 40GB", 1.41, 5120, 271, kMamf},
    {"A100 SXM 80GB", 1.41, 5120, 271, kMamf},
    {"A40", 1.74, 0},
    {"RTX 3090", 1.695, 0},
    {"Jetson AGX Orin 64GB", 1.3, 0},
    {"L40S", 2.52, 0},
    {"RTX 4090", 2.52, 0},
    {"L4", 2.04, 0},
    {"H100 SXM", 1.83, 0, 808, "pranjalssh/fast.cu"},
    {"H200", 1.83, 0, 794.5, kMamf},
    {"H100 PCIe", 1.62, 0},
    {"B200", 1.85, 0, 1745, kMamf},
    {"B300", 1.85, 0, 1769, kMamf},
    {"Jetson T5000", 1.57, 0},
    {"RTX 5090", 2.407, 0},
    {"GB10", 2.5, 0},
};

/// The figures of a part in a model, or of its first part.
static const target::Part *figuresIn(const target::TargetModel &model, StringRef name) {
  for (const target::Part &part : model.parts)
    if (part.name == name)
      return &part;
  return &model.parts.front();
}

static std::vector<Part> collectParts() {
  std::vector<Part> parts;
  for (const target::TargetModel *model : target::allTargets())
    for (const target::Part &figures : model->parts) {
      auto known = llvm::find_if(parts, [&](const Part &p) { return p.name == figures.name; });
      if (known != parts.end()) { // the list of targets has sm_90a behind sm_90
        known->specific = model;
        known->figures = &figures;
        continue;
      }
      const target::TargetModel *plain = model;
      for (const target::TargetModel *other : target::allTargets())
        if (other->computeCapability == model->computeCapability && !other->isArchSpecific())
          plain = other;
      const Addition *more =
          llvm::find_if(kAdditions, [&](const Addition &a) { return a.part == figures.name; });
      assert(more != std::end(kAdditions) && "a part without a clock");
      const bool estimated = more->l2BytesPerCycle == 0;
      const double width = estimated ? kL2BytesPerCycleAndMultiprocessor * figures.multiprocessors
                                     : more->l2BytesPerCycle;
      parts.push_back({figures.name, model, plain, &figures, figuresIn(*plain, figures.name),
                       more->clockGHz, width, estimated, more->sustainedBf16Tera,
                       more->powerSource});
    }
  return parts;
}

llvm::ArrayRef<Part> mpcore::performance::allParts() {
  static const std::vector<Part> parts = collectParts();
  return parts;
}

llvm::Expected<const Part &> mpcore::performance::findPart(StringRef name) {
  for (const Part &part : allParts())
    if (part.name.equals_insensitive(name))
      return part;
  for (const Part &part : allParts())
    if (!name.empty() && part.name.starts_with_insensitive(name))
      return part;
  auto names = llvm::map_range(allParts(), [](const Part &p) { return p.name; });
  return llvm::createStringError("unknown GPU '" + name + "'; known are " +
                                 llvm::join(names, ", "));
}

unsigned mpcore::performance::storageBits(StringRef format) {
  if (format == "f32" || format == "tf32" || format == "i32")
    return 32;
  const target::KnownFormat *info = target::findFormat(target::canonicalFormatName(format));
  return info ? info->bits : 0;
}

static MatrixUnit unitOf(target::InstructionFamily family) {
  using target::InstructionFamily;
  switch (family) {
  case InstructionFamily::Wmma:
  case InstructionFamily::MmaSync: return MatrixUnit::MmaSync;
  case InstructionFamily::Wgmma: return MatrixUnit::Wgmma;
  case InstructionFamily::Tcgen05: return MatrixUnit::Tcgen05;
  }
  llvm_unreachable("unknown instruction family");
}

std::optional<MatrixUnit> Part::bestUnit(StringRef format) const {
  if (format == "f32")
    return MatrixUnit::Fma;
  const target::OperandFormat *operand = specific->findOperand(target::canonicalFormatName(format));
  if (!operand || operand->support != target::Support::Native)
    return std::nullopt;
  return unitOf(operand->family);
}

double Part::peakTera(MatrixUnit unit, StringRef format) const {
  if (format == "f32" || unit == MatrixUnit::Fma)
    return figures->f32Tera;
  format = target::canonicalFormatName(format);
  if (bestUnit(format) == unit)
    return target::TargetModel::peakTera(*figures, format);
  const target::OperandFormat *operand = plain->findOperand(format);
  if (!operand || operand->support != target::Support::Native || unitOf(operand->family) != unit)
    return 0;
  // A sibling's rate stands in by size where the plain model does not have the part.
  const double tera = target::TargetModel::peakTera(*plainFigures, format);
  return tera * figures->multiprocessors / plainFigures->multiprocessors;
}

double Part::multiplyAddsPerCycle(MatrixUnit unit, StringRef format) const {
  return peakTera(unit, format) * 1e12 / 2 / multiprocessors() / cyclesPerSecond();
}

double mpcore::performance::instructionsOfDouble(const Part &part) {
  switch (part.specific->computeCapability) {
  case 70:
  case 80: return 4;
  case 90:
  case 100: return 2;
  default: return 64;
  }
}
