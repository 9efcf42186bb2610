// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As a reference document states them (docs/guides/Training.md has the table). DeepSpeed
// stops with an error at its smallest scale; in a graph the scale stays there.

#include "mlir/IR/Builders.h"
#include "mp/Transforms/Options.h"
#include "mp/Transforms/Train/LossScale.h"

using namespace mlir;
using namespace mlir::mp;

static constexpr Refill clean = Refill::OnClean, growth = Refill::OnGrowth;
static constexpr GrowthCounter exact = GrowthCounter::Exact;
static constexpr std::nullopt_t none = std::nullopt;

// name, initial, growth, backoff, interval, hysteresis, refill, counter, beyond, min, max
static constexpr LossScalePreset kPresets[] = {
    {"torch", 65536, 2, 0.5, 2000, 1, clean, exact, Beyond::Keep, none, none},
    {"apex", 65536, 2, 0.5, 2000, 1, clean, exact, Beyond::Keep, none, 16777216.0},
    {"apex-hysteresis", 65536, 2, 0.5, 2000, 2, clean, exact, Beyond::Keep, none, none},
    {"megatron", 4294967296.0, 2, 0.5, 1000, 2, growth, exact, Beyond::Infinity, 1.0, none},
    {"deepspeed", 65536, 2, 0.5, 1000, 2, growth, GrowthCounter::Late, Beyond::Infinity, 1.0, none},
    {"deepspeed-consecutive", 65536, 2, 0.5, 1000, 2, clean, GrowthCounter::Late, Beyond::Infinity,
     1.0, none},
    {"jmp", 32768, 2, 0.5, 2000, 1, clean, exact, Beyond::Keep, 1.0, none},
    {"tf-keras", 32768, 2, 0.5, 2000, 1, clean, GrowthCounter::AtLeast, Beyond::Keep, 1.0, none},
    {"keras", 32768, 2, 0.5, 2000, 1, clean, GrowthCounter::AtLeast, Beyond::Infinity, none, none},
};

const LossScalePreset *mlir::mp::findLossScalePreset(StringRef name) {
  const auto *it =
      llvm::find_if(kPresets, [&](const LossScalePreset &p) { return p.name == name; });
  return it == std::end(kPresets) ? nullptr : it;
}

static SmallVector<StringRef> names() {
  return llvm::map_to_vector(kPresets, [](auto &preset) -> StringRef { return preset.name; });
}

static std::optional<std::string> refuseOther(StringRef text, ArrayRef<StringRef> known) {
  if (llvm::is_contained(known, text))
    return std::nullopt;
  return support::expectedWords(text, known);
}

std::optional<std::string> LossScaleSet::refuse(StringRef text) {
  return refuseOther(text, names());
}

std::optional<std::string> LossScaleChoiceSet::refuse(StringRef text) {
  SmallVector<StringRef> known = names();
  known.append({"none", "auto"});
  return refuseOther(text, known);
}

LossScaleAttr LossScalePreset::getRule(MLIRContext *context,
                                       function_ref<InFlightDiagnostic()> emitError) const {
  Builder builder(context);
  auto bound = [&](std::optional<double> value) {
    return value ? builder.getF64FloatAttr(*value) : FloatAttr();
  };
  return LossScaleAttr::getChecked(emitError, context, builder.getF64FloatAttr(growth),
                                   builder.getF64FloatAttr(backoff), interval, hysteresis, refill,
                                   counter, beyond, bound(min), bound(max));
}
