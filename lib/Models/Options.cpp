// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options of models: declaration, parsing, and errors that name the nearest valid word.

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Models/Models.h"
#include "mp/Support/Words.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mp;

OptionSpec OptionSpec::integer(StringRef name, int64_t value, StringRef help, int64_t min,
                               int64_t max) {
  return {name, Kind::Integer, std::to_string(value), help, min, max};
}

OptionSpec OptionSpec::flag(StringRef name, StringRef help) {
  return {name, Kind::Flag, "false", help, 0, 0, {"true", "false"}, "true"};
}

OptionSpec OptionSpec::choice(StringRef name, ArrayRef<StringRef> choices, StringRef help,
                              StringRef bare) {
  return {name, Kind::Choice, choices.front().str(), help, 0, 0, llvm::to_vector(choices), bare};
}

ArrayRef<OptionSpec> mlir::mp::commonModelOptions() {
  static const OptionSpec options[] = {
      OptionSpec::choice("dialect", {"linalg", "tosa"}, "what the model is written in"),
      OptionSpec::choice("weights", {"args", "constants", "resources"},
                         "where the weights are: function arguments, or seeded values inside"),
      OptionSpec::flag("resources", "the same as --weights=resources"),
      OptionSpec::integer("seed", 0, "seed of the weights", 0, INT64_MAX),
      OptionSpec::choice("softmax", {"decomposed", "named"},
                         "max, sub, exp, sum, div, or linalg.softmax"),
      OptionSpec::choice("elements", {"f32", "bf16", "f16"},
                         "what floats are, in types and constants"),
      OptionSpec::flag("dynamic", "batch and sequence sizes are dynamic (tosa: batch)"),
      OptionSpec::choice("control-flow", {"none", "for", "if", "while", "all"},
                         "layers in a loop, each behind a gate, in a loop with early exit, or "
                         "all of them",
                         "all"),
      OptionSpec::flag("calls", "layers as calls of a private function"),
      OptionSpec::choice("train", {"none", "sgd", "momentum", "adam", "adamw", "lamb"},
                         "one training step: loss, gradients and this optimizer", "adam"),
      OptionSpec::integer("loss-exponent", 0,
                          "gradients of 2^N times the loss, and rates to match: the same training "
                          "in exact arithmetic, small gradients for small N",
                          -64, 64),
      OptionSpec::flag("roles", "mark arguments with mp.role and mp.dim")};
  return options;
}

llvm::Expected<const ModelInfo *> mlir::mp::findModel(StringRef name) {
  SmallVector<StringRef> names;
  for (const ModelInfo &model : getModels()) {
    if (model.name == name)
      return &model;
    names.push_back(model.name);
  }
  return llvm::createStringError("unknown model '" + name + "'" +
                                 support::suggestWord(name, names));
}

static llvm::Error checkValue(const OptionSpec &option, StringRef value) {
  std::string written = ("--" + option.name + "=" + value).str();
  if (option.kind != OptionSpec::Kind::Integer) {
    if (llvm::is_contained(option.choices, value))
      return llvm::Error::success();
    return llvm::createStringError(written + ": expected one of " +
                                   llvm::join(option.choices, ", ") +
                                   support::didYouMean(value, option.choices));
  }
  int64_t number;
  if (value.getAsInteger(10, number))
    return llvm::createStringError(written + ": expected a whole number");
  if (number < option.min || number > option.max)
    return llvm::createStringError(written + ": expected " + Twine(option.min) + " to " +
                                   Twine(option.max) + "; the nearest is " +
                                   Twine(std::clamp(number, option.min, option.max)));
  return llvm::Error::success();
}

llvm::Expected<ModelOptions> ModelOptions::parse(const ModelInfo &model,
                                                 ArrayRef<StringRef> words) {
  ModelOptions result;
  llvm::StringMap<const OptionSpec *> known;
  SmallVector<StringRef> names;
  // A model's own option stands before a common one of the same name.
  for (ArrayRef<OptionSpec> options : {ArrayRef(model.options), commonModelOptions()})
    for (const OptionSpec &option : options) {
      if (!known.try_emplace(option.name, &option).second)
        continue;
      names.push_back(option.name);
      result.values[option.name] = option.defaultValue;
    }

  llvm::StringMap<bool> given;
  for (StringRef word : words) {
    StringRef rest = word;
    if (!rest.consume_front("--"))
      return llvm::createStringError("unexpected '" + word + "'; options are --name=value");
    auto [name, value] = rest.split('=');
    const OptionSpec *option = known.lookup(name);
    if (!option)
      return llvm::createStringError(model.name + " has no option '--" + name + "'" +
                                     support::suggestWord(name, names, "--"));
    if (!rest.contains('=')) {
      if (option->bare.empty())
        return llvm::createStringError("--" + name + " needs a value, as in --" + name + "=" +
                                       option->defaultValue);
      value = option->bare;
    }
    if (llvm::Error error = checkValue(*option, value))
      return error;
    if (!given.try_emplace(name).second)
      return llvm::createStringError("--" + name + " is given twice");
    result.values[name] = value.str();
  }
  if (result.flag("resources")) {
    if (given.contains("weights") && result.choice("weights") != "resources")
      return llvm::createStringError(
          "--resources contradicts --weights=" + result.choice("weights") + "; give one of them");
    result.values["weights"] = "resources";
  }
  return result;
}

int64_t ModelOptions::integer(StringRef name) const {
  int64_t value = 0;
  bool failed = StringRef(values.at(name)).getAsInteger(10, value);
  assert(!failed && "integers were checked when parsed");
  (void)failed;
  return value;
}

bool ModelOptions::flag(StringRef name) const { return values.at(name) == "true"; }

StringRef ModelOptions::choice(StringRef name) const { return values.at(name); }
