// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules and suggestions as data. A suggestion names an option, a rewrite, or the command that finds
// what to rewrite.

#include "mp/Watch/Rules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mpcore;
using namespace mpcore::watch;

static constexpr Suggestion kNonFinite[] = {
    {"trace", "mp-run --break-on=nan,inf names the first op that makes one, to be kept wide by a "
              "rule of a policy"},
    {"bisect", "mp-run --bisect --keep=finite finds the contractions to keep wide"},
    {"loss-scale", "loss-scale=torch skips steps whose gradients overflow"}};
static constexpr Suggestion kLossShift[] = {
    {"rate", "lower the learning rate"},
    {"clip", "clip-norm=1"},
    {"bisect", "if the same steps in f32 are calm, mp-run --bisect finds what to keep wide"}};
static constexpr Suggestion kGradientShift[] = {{"clip", "clip-norm=1"},
                                                {"rate", "lower the learning rate"}};
static constexpr Suggestion kSpike[] = {
    {"batch", "look at the batch of this step, and leave it out if the spike comes with it"}};
static constexpr Suggestion kOverflowing[] = {
    {"name", "name-overflows=true says whose gradient overflows: keep its contractions wide by a "
             "rule of a policy"},
    {"bf16", "format=bf16, which has the range of f32"}};
static constexpr Suggestion kVanishes[] = {
    {"rate", "if activations have died or saturated, lower the learning rate"},
    {"loss-scale", "if gradients are flushed, scale the loss (loss-scale=torch, or a larger "
                   "initial-scale=)"}};
static constexpr Suggestion kFlushed[] = {
    {"loss-scale", "if it is a gradient, scale the loss (loss-scale=torch, or a larger "
                   "initial-scale=)"},
    {"bf16", "format=bf16, which has the range of f32"},
    {"wide", "keep the value wide (mp.pin = f32, or a rule of a policy)"},
    {"scale-unproven", "scale-unproven=on with a policy of \"evidence\": \"proved\""}};
static constexpr Suggestion kOverflow[] = {
    {"proved", "a policy with \"evidence\": \"proved\", which keeps wide what is not proved"},
    {"clamp", "clamp-unproven=true with such a policy"},
    {"scale-unproven", "scale-unproven=on with such a policy"},
    {"bf16", "format=bf16, which has the range of f32"}};
static constexpr Suggestion kMemory[] = {
    {"state", "give state that grows from step to step a fixed size"}};
static constexpr Suggestion kMemoryNear[] = {
    {"moments", "moments=fp8 keeps the state of the optimizer in a quarter of its bytes"}};
static constexpr Suggestion kStall[] = {{"load", "look for other work on the machine"}};

static constexpr Rule kRules[] = {
    {"non-finite", Grade::Alarm,
     "loss, norm, gradient or state is infinite or NaN in a step that was not skipped; at once",
     kNonFinite},
    {"loss-shift", Grade::Alarm,
     "of the logarithms, 5 of the last 8 lie above 3 robust deviations of the 128 before, and the "
     "median of 16 is above 1.5 times its least",
     kLossShift},
    {"gradient-shift", Grade::Alarm, "the same of the norm of the gradients", kGradientShift},
    {"skips", Grade::Alarm,
     "more steps were skipped, in the last 100, 200, 500 or 1000, than chance explains with "
     "probability 1e-6; or 8 in a row",
     kOverflowing},
    {"scale-floor", Grade::Alarm,
     "an overflow with the loss scale at its least value, or a scale below one for 100 steps",
     kOverflowing},
    {"layer-vanishes", Grade::Alarm,
     "a gradient that has moved is all zero for 8 steps, or its share of the norm is 2^-6 of what "
     "it was in steps 50 to 250",
     kVanishes},
    {"flushed", Grade::Alarm,
     "a value loses more than 5 % of its elements to zero in a format that it is rounded to, "
     "twice what it did in steps 50 to 250, and with them more than 1 % of its norm",
     kFlushed},
    {"overflow", Grade::Alarm,
     "a value overflows a format that it is rounded to, where nothing scales it", kOverflow},
    {"memory", Grade::Alarm,
     "the process grows, by the 99 % interval of the slope of 64 steps, and passes what there is "
     "within 1000 steps",
     kMemory},
    {"loss-spike", Grade::Note, "one loss above 6 deviations and twice the median", kSpike},
    {"gradient-spike", Grade::Note, "the same of the norm of the gradients", kSpike},
    {"memory-near", Grade::Note,
     "the process holds more than 80 % of the memory that there is, between two steps",
     kMemoryNear},
    {"stall", Grade::Note, "5 of the last 8 steps took three times the median", kStall}};

llvm::StringRef watch::toString(Grade grade) { return grade == Grade::Alarm ? "alarm" : "note"; }

llvm::ArrayRef<Rule> watch::rules() { return kRules; }

std::string watch::adviceOf(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> ids) {
  const Rule *rule = llvm::find_if(kRules, [&](const Rule &known) { return known.name == name; });
  if (rule == std::end(kRules))
    llvm_unreachable("an alert of a rule that is not in the table");
  std::string text;
  auto add = [&](const Suggestion &suggestion) {
    text += (text.empty() ? "" : "; ") + suggestion.text.str();
  };
  if (ids.empty())
    llvm::for_each(rule->suggestions, add);
  for (llvm::StringRef id : ids)
    add(*llvm::find_if(rule->suggestions, [&](const Suggestion &known) { return known.id == id; }));
  return text;
}

llvm::json::Array watch::rulesToJSON() {
  llvm::json::Array list;
  for (const Rule &rule : kRules) {
    llvm::json::Array suggestions;
    for (const Suggestion &suggestion : rule.suggestions)
      suggestions.push_back(llvm::json::Object{{"id", suggestion.id}, {"text", suggestion.text}});
    list.push_back(llvm::json::Object{{"rule", rule.name},
                                      {"grade", toString(rule.grade)},
                                      {"fires", rule.fires},
                                      {"suggestions", std::move(suggestions)}});
  }
  return list;
}
