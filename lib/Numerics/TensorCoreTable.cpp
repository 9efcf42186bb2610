// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assigns a model to each instruction.

#include "mp/Numerics/TensorCore.h"

#include "llvm/Support/raw_ostream.h"

using namespace mpcore::numerics;

static constexpr llvm::StringRef architectureNames[] = {"sm_70", "sm_75",  "sm_80", "sm_89",
                                                        "sm_90", "sm_100", "sm_120"};
static constexpr llvm::StringRef routeNames[] = {"mma.sync", "wgmma", "tcgen05"};
static constexpr llvm::StringRef sourceNames[] = {"recorded", "published", "inferred"};

llvm::StringRef mpcore::numerics::toString(Architecture architecture) {
  return architectureNames[size_t(architecture)];
}

llvm::StringRef mpcore::numerics::toString(Route route) { return routeNames[size_t(route)]; }

llvm::StringRef mpcore::numerics::toString(ModelSource source) {
  return sourceNames[size_t(source)];
}

std::optional<Architecture> mpcore::numerics::parseArchitecture(llvm::StringRef chip) {
  unsigned number;
  if (!chip.consume_front("sm_") || chip.consumeInteger(10, number))
    return std::nullopt;
  if (chip != "" && !(number >= 90 && (chip == "a" || chip == "f")))
    return std::nullopt;
  switch (number) {
  case 70:
  case 72: return Architecture::SM70;
  case 75: return Architecture::SM75;
  case 80:
  case 86: // A2, recorded, agrees with A100
  case 87:
  case 88: return Architecture::SM80;
  case 89: return Architecture::SM89;
  case 90: return Architecture::SM90;
  case 100:
  case 103:
  case 110: return Architecture::SM100;
  case 120:
  case 121: return Architecture::SM120;
  default: return std::nullopt;
  }
}

Route mpcore::numerics::nativeRoute(Architecture architecture) {
  switch (architecture) {
  case Architecture::SM90: return Route::Wgmma;
  case Architecture::SM100: return Route::Tcgen05;
  default: return Route::MmaSync;
  }
}

static bool isFP8(Format format) { return format == Format::F8E4M3FN || format == Format::F8E5M2; }

/// fp6 and fp4, which .kind::f8f6f4 mixes with fp8.
static bool isSmall(Format format) {
  return format == Format::F6E3M2FN || format == Format::F6E2M3FN || format == Format::F4E2M1FN;
}

static bool hasRoute(Architecture architecture, Route route) {
  return route == Route::MmaSync || route == nativeRoute(architecture);
}

static int alignmentBitsOf(Architecture architecture) {
  switch (architecture) {
  case Architecture::SM70: return 23;
  case Architecture::SM75:
  case Architecture::SM80:
  case Architecture::SM89: return 24;
  default: return 25;
  }
}

/// Group of 16-bit operands.
static unsigned groupOf(Architecture architecture) {
  switch (architecture) {
  case Architecture::SM70: return 4;
  case Architecture::SM75:
  case Architecture::SM80:
  case Architecture::SM89: return 8;
  default: return 16;
  }
}

static bool isRecorded(Architecture architecture) {
  return architecture != Architecture::SM75 && architecture != Architecture::SM120;
}

/// Fills in fp8; false if the architecture has none.
static bool fillFP8(TensorCoreModel &model) {
  bool toF16 = model.result == Format::F16;
  switch (model.architecture) {
  case Architecture::SM89:
    model.groupSize = 16;
    model.alignmentBits = 13;
    model.stepResult = toF16 ? StepResult::F16 : StepResult::E8M13;
    model.source = ModelSource::Recorded;
    return true;
  case Architecture::SM90:
  case Architecture::SM100:
    if (model.route == Route::MmaSync) {
      // Unpacked to f16 and run on the f16 path; the sequence is ptxas's.
      model.groupSize = 16;
      model.emulatedThroughF16 = true;
      bool recorded = model.architecture == Architecture::SM100 || toF16;
      model.source = recorded ? ModelSource::Recorded : ModelSource::Inferred;
      return true;
    }
    // Single steps of wgmma from a zero accumulator are recorded; chained ones,
    // and tcgen05, are the published model's.
    model.groupSize = 32;
    model.source = ModelSource::Published;
    if (model.route == Route::Wgmma) {
      model.alignmentBits = 13;
      model.stepResult = toF16 ? StepResult::F16 : StepResult::E8M13;
    }
    return true;
  case Architecture::SM120:
    model.groupSize = 32;
    model.source = ModelSource::Inferred;
    return true;
  default: return false;
  }
}

std::optional<TensorCoreModel> mpcore::numerics::tensorCoreModel(Architecture architecture,
                                                                 Format operandA, Format operandB,
                                                                 Format result, Route route) {
  if (!hasRoute(architecture, route))
    return std::nullopt;
  if (result != Format::F32 && result != Format::F16)
    return std::nullopt;
  auto isNarrow = [](Format format) { return isFP8(format) || isSmall(format); };
  if (operandA != operandB && !(isNarrow(operandA) && isNarrow(operandB)))
    return std::nullopt;
  if ((isSmall(operandA) || isSmall(operandB)) && architecture != Architecture::SM120)
    return std::nullopt;

  TensorCoreModel model = {};
  model.architecture = architecture;
  model.route = route;
  model.operandA = operandA;
  model.operandB = operandB;
  model.result = result;
  model.groupSize = groupOf(architecture);
  model.alignmentBits = alignmentBitsOf(architecture);
  model.stepResult = result == Format::F16 ? StepResult::F16 : StepResult::F32;
  model.source = isRecorded(architecture) ? ModelSource::Recorded : ModelSource::Inferred;
  bool sinceAmpere = architecture >= Architecture::SM80;

  switch (operandA) {
  case Format::F16: return model;
  case Format::BF16:
    if (!sinceAmpere || result != Format::F32)
      return std::nullopt;
    return model;
  case Format::TF32:
    if (!sinceAmpere || result != Format::F32)
      return std::nullopt;
    model.groupSize /= 2;
    // The records from sm_90 on are of the k4 instruction, one group of 4; k8
    // in one group is the published model's.
    if (architecture >= Architecture::SM90 && isRecorded(architecture))
      model.source = ModelSource::Published;
    return model;
  case Format::F8E4M3FN:
  case Format::F8E5M2:
  case Format::F6E3M2FN:
  case Format::F6E2M3FN:
  case Format::F4E2M1FN:
    if (!fillFP8(model))
      return std::nullopt;
    return model;
  default: return std::nullopt;
  }
}

std::string mpcore::numerics::describe(const TensorCoreModel &model) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << toString(model.architecture) << ' ' << toString(model.route) << ' '
      << toString(model.operandA);
  if (model.operandB != model.operandA)
    out << " x " << toString(model.operandB);
  out << " -> " << toString(model.result) << ": groups of " << model.groupSize << ", F "
      << model.alignmentBits;
  if (model.stepResult == StepResult::E8M13)
    out << ", e8m13 steps";
  if (model.emulatedThroughF16)
    out << ", through f16";
  if (model.promoteEvery)
    out << ", promoted every " << model.promoteEvery;
  out << " (" << toString(model.source) << ")";
  return text;
}
