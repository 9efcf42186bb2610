// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Closed sets of words that options of several passes and pipelines take: one spelling each.

#ifndef MP_TRANSFORMS_OPTIONS_H
#define MP_TRANSFORMS_OPTIONS_H

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Numerics/Format.h"
#include "mp/Support/ClosedWords.h"
#include "mp/Target/TargetName.h"

namespace mlir::mp {

/// Says if something is done.
enum class Switch { On, Off };
inline auto wordsOf(Switch) {
  using enum Switch;
  static constexpr support::Word<Switch> all[] = {{On, "on"}, {Off, "off"}};
  return llvm::ArrayRef(all);
}

/// The aim that storage is chosen for.
enum class Objective { Time, Memory, Error };
inline auto wordsOf(Objective) {
  using enum Objective;
  static constexpr support::Word<Objective> all[] = {
      {Time, "time"}, {Memory, "memory"}, {Error, "error"}};
  return llvm::ArrayRef(all);
}

/// Says if contractions without evidence for f16 are scaled by powers of two.
enum class ScaleUnproven { Off, Auto, On };
inline auto wordsOf(ScaleUnproven) {
  using enum ScaleUnproven;
  static constexpr support::Word<ScaleUnproven> all[] = {{Off, "off"}, {Auto, "auto"}, {On, "on"}};
  return llvm::ArrayRef(all);
}

/// The narrow format of contractions: of their factors, of the parts of split products, or of what
/// is stored scaled.
enum class ContractionFormat { BF16, F16, TF32, BF16x3, BF16x6, BF16x9, TF32x3, E4M3, E5M2 };
inline auto wordsOf(ContractionFormat) {
  using enum ContractionFormat;
  static constexpr support::Word<ContractionFormat> all[] = {
      {BF16, "bf16"},     {F16, "f16"},       {TF32, "tf32"},
      {BF16x3, "bf16x3"}, {BF16x6, "bf16x6"}, {BF16x9, "bf16x9"},
      {TF32x3, "tf32x3"}, {E4M3, "e4m3"},     {E5M2, "e5m2"}};
  return llvm::ArrayRef(all);
}
constexpr llvm::StringLiteral absentWord(ContractionFormat) { return ""; }
using OptionalFormat = support::OptionalWord<ContractionFormat>;

/// One of those that need scales.
enum class ScaledFormat { E4M3, E5M2 };
inline auto wordsOf(ScaledFormat) {
  using enum ScaledFormat;
  static constexpr support::Word<ScaledFormat> all[] = {{E4M3, "e4m3"}, {E5M2, "e5m2"}};
  return llvm::ArrayRef(all);
}
constexpr llvm::StringLiteral absentWord(ScaledFormat) { return ""; }
using OptionalScaledFormat = support::OptionalWord<ScaledFormat>;

/// A format for storage alone.
enum class StoredFormat { BF16, F16 };
inline auto wordsOf(StoredFormat) {
  using enum StoredFormat;
  static constexpr support::Word<StoredFormat> all[] = {{BF16, "bf16"}, {F16, "f16"}};
  return llvm::ArrayRef(all);
}
constexpr llvm::StringLiteral absentWord(StoredFormat) { return "none"; }
using OptionalStoredFormat = support::OptionalWord<StoredFormat>;

/// Completes parameters that are stored narrow.
enum class MasterWeights { None, F32, Remainder, Stochastic };
inline auto wordsOf(MasterWeights) {
  using enum MasterWeights;
  static constexpr support::Word<MasterWeights> all[] = {
      {None, "none"}, {F32, "f32"}, {Remainder, "remainder"}, {Stochastic, "stochastic"}};
  return llvm::ArrayRef(all);
}
constexpr llvm::StringLiteral absentWord(MasterWeights) { return "keep"; }

/// The storage of an optimizer's moments.
enum class MomentStorage { BF16, BF16Stochastic, FP8, FP8Stochastic };
inline auto wordsOf(MomentStorage) {
  using enum MomentStorage;
  static constexpr support::Word<MomentStorage> all[] = {{BF16, "bf16"},
                                                         {BF16Stochastic, "bf16-stochastic"},
                                                         {FP8, "fp8"},
                                                         {FP8Stochastic, "fp8-stochastic"}};
  return llvm::ArrayRef(all);
}
constexpr llvm::StringLiteral absentWord(MomentStorage) { return "keep"; }

/// The format that is asked for, if it needs scales.
inline OptionalScaledFormat scaledFormatOf(OptionalFormat format) {
  return format == ContractionFormat::E4M3   ? OptionalScaledFormat(ScaledFormat::E4M3)
         : format == ContractionFormat::E5M2 ? OptionalScaledFormat(ScaledFormat::E5M2)
                                             : OptionalScaledFormat();
}

/// The format in which ranks send each other gradients.
enum class SentFormat { BF16, F8E4M3FN, F8E5M2 };
inline auto wordsOf(SentFormat) {
  using enum SentFormat;
  static constexpr support::Word<SentFormat> all[] = {
      {BF16, "bf16"}, {F8E4M3FN, "f8E4M3FN"}, {F8E5M2, "f8E5M2"}};
  return llvm::ArrayRef(all);
}

/// The source of the steps of fake quantisation.
enum class StepRule { Observed, Learned };
inline auto wordsOf(StepRule) {
  using enum StepRule;
  static constexpr support::Word<StepRule> all[] = {{Observed, "observed"}, {Learned, "learned"}};
  return llvm::ArrayRef(all);
}

/// Says if a mask of weights follows their magnitudes or stays as it was.
enum class PruneMask { Magnitude, Fixed };
inline auto wordsOf(PruneMask) {
  using enum PruneMask;
  static constexpr support::Word<PruneMask> all[] = {{Magnitude, "magnitude"}, {Fixed, "fixed"}};
  return llvm::ArrayRef(all);
}

/// Recipes of scaling, by name (numerics::scalingRecipes), or none.
struct RecipeSet {
  static constexpr llvm::StringLiteral kWhat = "recipe";
  static std::optional<std::string> refuse(llvm::StringRef text);
};
using RecipeName = support::CheckedWord<RecipeSet>;

/// Rules of loss scales, by name (findLossScalePreset).
struct LossScaleSet {
  static constexpr llvm::StringLiteral kWhat = "rule";
  static std::optional<std::string> refuse(llvm::StringRef text);
};
using LossScaleName = support::CheckedWord<LossScaleSet>;

/// The same, or none, or auto.
struct LossScaleChoiceSet {
  static constexpr llvm::StringLiteral kWhat = "rule|none|auto";
  static std::optional<std::string> refuse(llvm::StringRef text);
};
using LossScaleChoice = support::CheckedWord<LossScaleChoiceSet>;

/// Formats that probes count in: floats narrower than f32.
struct ProbedFormatSet {
  static constexpr llvm::StringLiteral kWhat = "format";
  static std::optional<numerics::Format> read(llvm::StringRef text);
  static std::optional<std::string> refuse(llvm::StringRef text);
};
using ProbedFormat = support::CheckedWord<ProbedFormatSet>;

/// Formats of fake quantisation, as MLIR spells them.
struct CodeSet {
  static constexpr llvm::StringLiteral kWhat = "iN|uiN|float";
  static std::optional<std::string> refuse(llvm::StringRef text);
};
using CodeName = support::CheckedWord<CodeSet>;

/// The share of a constant's elements that may be clamped: off, on, or a number.
struct SaturatedShareSet {
  static constexpr llvm::StringLiteral kWhat = "off|on|share";
  static std::optional<double> read(llvm::StringRef text);
  static std::optional<std::string> refuse(llvm::StringRef text);
};
using SaturatedShare = support::CheckedWord<SaturatedShareSet>;

} // namespace mlir::mp

#endif // MP_TRANSFORMS_OPTIONS_H
