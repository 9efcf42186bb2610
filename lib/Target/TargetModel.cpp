// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers questions about a target's tables, and checks that the tables agree with each other.

#include "mp/Target/TargetModel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::target;
using llvm::StringRef;

StringRef mpcore::target::toString(Support support) {
  switch (support) {
  case Support::Absent: return "absent";
  case Support::Emulated: return "emulated";
  case Support::Native: return "native";
  }
  llvm_unreachable("unknown support level");
}

StringRef mpcore::target::toString(InstructionFamily family) {
  switch (family) {
  case InstructionFamily::Wmma: return "wmma";
  case InstructionFamily::MmaSync: return "mma.sync";
  case InstructionFamily::Wgmma: return "wgmma";
  case InstructionFamily::Tcgen05: return "tcgen05";
  }
  llvm_unreachable("unknown instruction family");
}

llvm::ArrayRef<KnownFormat> mpcore::target::knownFormats() {
  static constexpr KnownFormat formats[] = {
      {"f64", 64, true},     {"tf32", 19, true},  {"f16", 16, true},     {"bf16", 16, true},
      {"f8E4M3FN", 8, true}, {"f8E5M2", 8, true}, {"f6E2M3FN", 6, true}, {"f6E3M2FN", 6, true},
      {"f4E2M1FN", 4, true}, {"i8", 8, false},    {"i4", 4, false},      {"i1", 1, false},
  };
  return formats;
}

const KnownFormat *mpcore::target::findFormat(StringRef name) {
  const auto *it = llvm::find_if(knownFormats(), [&](auto &f) { return f.name == name; });
  return it == knownFormats().end() ? nullptr : it;
}

StringRef mpcore::target::canonicalFormatName(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Cases({"e4m3", "e4m3fn", "fp8"}, "f8E4M3FN")
      .Case("e5m2", "f8E5M2")
      .Case("e2m3", "f6E2M3FN")
      .Case("e3m2", "f6E3M2FN")
      .Cases({"e2m1", "fp4"}, "f4E2M1FN")
      .Case("fp16", "f16")
      .Case("fp32", "f32")
      .Default(name);
}

const OperandFormat *TargetModel::findOperand(StringRef format) const {
  const auto *it = llvm::find_if(formats, [&](auto &f) { return f.format == format; });
  return it == formats.end() ? nullptr : it;
}

Support TargetModel::formatSupport(StringRef format) const {
  const OperandFormat *operand = findOperand(format);
  return operand ? operand->support : Support::Absent;
}

const MmaShape *TargetModel::bestShape(StringRef format,
                                       std::optional<InstructionFamily> family) const {
  const MmaShape *best = nullptr;
  auto volume = [](const MmaShape &s) { return uint64_t(s.m) * s.n * s.k; };
  for (const MmaShape &shape : shapes) {
    if (shape.format != format || shape.support != Support::Native)
      continue;
    if (family && shape.family != *family)
      continue;
    if (!best || volume(shape) > volume(*best))
      best = &shape;
  }
  return best;
}

const Conversion *TargetModel::findConversion(StringRef from, StringRef to) const {
  const auto *it =
      llvm::find_if(conversions, [&](auto &c) { return c.from == from && c.to == to; });
  return it == conversions.end() ? nullptr : it;
}

double TargetModel::peakTera(StringRef format, StringRef accumulator) const {
  return parts.empty() ? 0 : peakTera(parts.front(), format, accumulator);
}

double TargetModel::peakTera(const Part &part, StringRef format, StringRef accumulator) {
  if (format == "f32")
    return part.f32Tera;
  const Rate *any = nullptr;
  for (const Rate &rate : part.rates) {
    if (rate.format != format)
      continue;
    if (rate.accumulator == accumulator || (accumulator.empty() && rate.accumulator == "f32"))
      return rate.tera;
    any = any ? any : &rate;
  }
  return accumulator.empty() && any ? any->tera : 0;
}

std::string TargetModel::ptxFeature() const {
  unsigned ptx = minPtx;
  for (const MmaShape &shape : shapes)
    if (shape.support == Support::Native)
      ptx = std::max(ptx, shape.ptx);
  for (const BlockScaledFormat &scaled : blockScaled)
    ptx = std::max(ptx, scaled.ptx);
  for (const Conversion &conversion : conversions)
    ptx = std::max(ptx, conversion.ptx);
  return "+ptx" + std::to_string(ptx);
}

namespace {
/// Collects violations of one target's tables.
struct Checker {
  const TargetModel &target;
  std::string text;

  void require(bool holds, const llvm::Twine &what) {
    if (!holds)
      text += (target.name + ": " + what + "\n").str();
  }

  void checkIdentity() {
    std::string number = "sm_" + std::to_string(target.computeCapability);
    require(target.name == number || target.name == number + "a",
            "name does not match compute capability " + llvm::Twine(target.computeCapability));
    require(target.minPtx >= 60 && target.minPtx <= 90, "minimum PTX version out of range");
    const LaunchLimits &l = target.limits;
    require(l.sharedPerBlock > 0 && l.sharedPerBlock <= l.sharedPerMultiprocessor,
            "shared memory of a block exceeds that of a multiprocessor");
    require(l.threadsPerBlock <= l.threadsPerMultiprocessor, "a full block does not fit");
    require(l.registersPerThread <= 255, "more than 255 registers per thread");
  }

  void checkFormats() {
    require(!target.formats.empty(), "no operand formats");
    for (const OperandFormat &operand : target.formats) {
      StringRef format = operand.format;
      require(findFormat(format), "unknown format " + format);
      require(llvm::count_if(target.formats, [&](auto &f) { return f.format == format; }) == 1,
              "format " + format + " listed twice");
      require(operand.support != Support::Absent, "format " + format + " listed as absent");
      require(!operand.accumulators.empty(), "format " + format + " has no accumulator");
      bool shapeAgrees = llvm::any_of(target.shapes, [&](auto &s) {
        return s.format == format && s.family == operand.family && s.support == operand.support;
      });
      require(shapeAgrees, "format " + format + " has no " + toString(operand.support) + " " +
                               toString(operand.family) + " shape");
      require(operand.accumulatorFractionBits == 23 || operand.promoteEvery > 0,
              "format " + format + " accumulates narrowly but asks for no promotion");
    }
  }

  void checkShapes() {
    for (const MmaShape &shape : target.shapes) {
      const OperandFormat *operand = target.findOperand(shape.format);
      require(operand, "shape of unlisted format " + shape.format);
      require(shape.nStep == 0 || shape.n % shape.nStep == 0,
              "largest n is no multiple of its step");
      require(shape.support != Support::Absent, "absent shape listed");
      if (operand && operand->support == Support::Emulated)
        require(shape.support == Support::Emulated,
                "native shape of emulated format " + shape.format);
    }
    for (const BlockScaledFormat &scaled : target.blockScaled) {
      require(scaled.k % scaled.block == 0, scaled.kind + " has ragged scale blocks");
      for (StringRef element : scaled.elements)
        require(target.formatSupport(element) == Support::Native,
                scaled.kind + " takes " + element + ", which is not native");
    }
  }

  void checkParts() {
    require(!target.parts.empty(), "no part");
    for (const Part &part : target.parts) {
      require(part.multiprocessors > 0 && part.memoryGBs > 0 && part.l2MiB > 0 && part.f32Tera > 0,
              part.name + " has an empty figure");
      for (const Rate &rate : part.rates) {
        const OperandFormat *operand = target.findOperand(rate.format);
        require(operand && operand->support == Support::Native,
                part.name + " has a rate for " + rate.format + ", which is not native");
        require(rate.tera > 0, part.name + " has a rate of zero for " + rate.format);
        require(operand && llvm::is_contained(operand->accumulators, rate.accumulator),
                part.name + " has a rate into " + rate.accumulator + ", not an accumulator of " +
                    rate.format);
      }
    }
  }
};
} // namespace

llvm::Error TargetModel::validate() const {
  Checker checker{*this, {}};
  checker.checkIdentity();
  checker.checkFormats();
  checker.checkShapes();
  checker.checkParts();
  if (checker.text.empty())
    return llvm::Error::success();
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "%s", checker.text.c_str());
}
