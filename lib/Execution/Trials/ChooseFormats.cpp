// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures contractions alone in each format, and assigns formats within the sum of their errors.

#include "ChooseFormats.h"
#include "../Calibration/WeightSites.h"
#include "Trials.h"
#include "mp/Assignment/Solve.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;

static constexpr StringRef kNames[] = {"codes", "bf16", "f32"};

/// The cost of a contraction in a format: of 8 bits or less where both factors are codes, else of
/// the weight's.
static int64_t costIn(FactorFormat format, const FormatTrial &trial, const WeightCodes &codes) {
  const unsigned narrow = codes.activations.bits != 0 ? 8 : codes.bits;
  const unsigned bits = format == FactorFormat::Codes  ? narrow
                        : format == FactorFormat::BF16 ? 16
                                                       : 32;
  return trial.products * bits;
}

llvm::Error mlir::mp::chooseWithin(MutableArrayRef<FormatTrial> trials, const WeightCodes &codes,
                                   double limit) {
  constexpr int64_t budget = int64_t(1) << 40;
  mpcore::assignment::Problem problem;
  problem.addType("f32"); // nothing passes from one to another
  problem.errorBudget = budget;
  std::vector<SmallVector<FactorFormat, 3>> offered;
  for (const FormatTrial &trial : trials) {
    mpcore::assignment::Node node;
    node.name = trial.function + ":" + std::to_string(trial.contraction);
    offered.emplace_back();
    for (FactorFormat format : {FactorFormat::F32, FactorFormat::BF16, FactorFormat::Codes}) {
      const double error = trial.errors[size_t(format)];
      if (!(error <= limit))
        continue;
      mpcore::assignment::Variant variant;
      variant.name = kNames[size_t(format)];
      variant.cost = costIn(format, trial, codes);
      // Errors are rounded up, so that their sum is within the limit.
      variant.error = error == 0 ? 0 : int64_t(std::ceil(error / limit * double(budget)));
      node.variants.push_back(variant);
      offered.back().push_back(format);
    }
    problem.addNode(std::move(node));
  }
  auto solution = mpcore::assignment::solve(problem);
  if (!solution)
    return solution.takeError();
  for (auto [trial, formats, label] : llvm::zip_equal(trials, offered, solution->labels))
    trial.chosen = formats[label];
  return llvm::Error::success();
}

namespace {
class FormatChooser {
public:
  FormatChooser(ModuleOp module, StringRef entry, const InputOptions &inputs,
                const WeightCodes &codes, double limit)
      : module(module), entry(entry), inputs(inputs), codes(codes) {
    choice.limit = limit;
  }

  llvm::Expected<FormatChoice> run() {
    if (llvm::Error error = findTrials())
      return std::move(error);
    if (llvm::Error error = keepReference())
      return std::move(error);
    for (FormatTrial &trial : choice.trials)
      for (FactorFormat format : {FactorFormat::Codes, FactorFormat::BF16}) {
        trial.chosen = format;
        auto error = measure();
        if (!error)
          return error.takeError();
        trial.errors[size_t(format)] = *error;
        trial.chosen = FactorFormat::F32;
      }
    if (llvm::Error error = settle())
      return std::move(error);
    if (auto rounded = convert(module, /*pins=*/true))
      choice.rounded = std::move(*rounded);
    else
      return rounded.takeError();
    return std::move(choice);
  }

private:
  llvm::Error findTrials() {
    unpackConstants(module);
    auto observed = observeFactors(module, entry);
    if (!observed)
      return observed.takeError();
    for (auto [number, place] : llvm::enumerate(observed->places))
      if (auto site = WeightSite::find(place)) {
        int64_t weights = int64_t(site->inputs() * site->outputs());
        int64_t repeats = codes.activations.bits != 0 ? site->rowCount() : 1;
        choice.trials.push_back(
            {number, place.function.getName().str(), place.factor.contraction, weights * repeats});
      }
    if (choice.trials.empty())
      return llvm::createStringError("--round-limit: expected a contraction with a constant matrix "
                                     "of f32, found none");
    return llvm::Error::success();
  }

  using Visit = llvm::function_ref<void(size_t batch, ArrayRef<Array> results)>;
  llvm::Error runAll(ModuleOp copy, Visit visit) {
    ObservedModule watched;
    watched.module = OwningOpRef<ModuleOp>(copy.clone());
    size_t batch = 0;
    auto count = runBatches(
        watched, entry, inputs, [](int64_t, ArrayRef<float>) {},
        [&](ArrayRef<Array> results) { visit(batch++, results); });
    return count ? llvm::Error::success() : count.takeError();
  }

  llvm::Error keepReference() {
    return runAll(module, [&](size_t, ArrayRef<Array> results) {
      reference.emplace_back(results.begin(), results.end());
    });
  }

  /// Converts as chosen now: to codes, and others with factors rounded to bf16 or with pins.
  llvm::Expected<std::vector<RoundedWeight>> convert(ModuleOp copy, bool pins) {
    std::set<size_t> inCodes;
    for (const FormatTrial &trial : choice.trials)
      if (trial.chosen == FactorFormat::Codes)
        inCodes.insert(trial.number);
    std::vector<RoundedWeight> rounded;
    if (!inCodes.empty()) {
      auto done = roundWeights(copy, entry, inputs, codes, &inCodes);
      if (!done)
        return done.takeError();
      rounded = std::move(*done);
    }
    auto observed = observeFactors(copy, entry);
    if (!observed)
      return observed.takeError();
    OpBuilder builder(copy.getContext());
    for (const FormatTrial &trial : choice.trials) {
      Operation *op = observed->places[trial.number].factor.op;
      bool isNarrow = trial.chosen == FactorFormat::BF16;
      Type format = isNarrow ? Type(builder.getBF16Type()) : Type(builder.getF32Type());
      if (pins && trial.chosen != FactorFormat::Codes)
        op->setAttr(kPinAttrName, TypeAttr::get(format));
      if (pins || !isNarrow)
        continue;
      builder.setInsertionPoint(op);
      for (unsigned factor : {0, 1}) { // of linalg ops, the inputs
        Value value = op->getOperand(factor);
        op->setOperand(factor, RoundOp::create(builder, op->getLoc(), value.getType(),
                                               TypeAttr::get(format), value, UnitAttr()));
      }
    }
    return rounded;
  }

  /// The mean over the batches of the squared error of the results as chosen now.
  llvm::Expected<double> measure() {
    OwningOpRef<ModuleOp> copy(module.clone());
    if (auto done = convert(*copy, /*pins=*/false); !done)
      return done.takeError();
    double total = 0;
    llvm::Error error = runAll(*copy, [&](size_t batch, ArrayRef<Array> results) {
      total += meanSquareError(results, reference[batch]) / double(reference.size());
    });
    if (error)
      return std::move(error);
    return total;
  }

  /// Chooses until what is chosen keeps the limit; what is all f32 does.
  llvm::Error settle() {
    const double limit = choice.limit * choice.limit;
    double allowed = limit;
    for (;; ++choice.rounds) {
      if (llvm::Error error = chooseWithin(choice.trials, codes, allowed))
        return error;
      double expected = 0;
      for (const FormatTrial &trial : choice.trials)
        expected += trial.errors[size_t(trial.chosen)];
      auto measured = measure();
      if (!measured)
        return measured.takeError();
      choice.expected = std::sqrt(expected);
      choice.measured = std::sqrt(*measured);
      if (*measured <= limit)
        break;
      allowed = std::min(allowed, expected) * std::min(0.9, limit / *measured);
    }
    ++choice.rounds;
    return llvm::Error::success();
  }

  ModuleOp module;
  StringRef entry;
  const InputOptions &inputs;
  const WeightCodes &codes;
  std::vector<std::vector<Array>> reference; ///< results in f32, by batch
  FormatChoice choice;
};
} // namespace

llvm::Expected<FormatChoice> mlir::mp::chooseFormats(ModuleOp module, StringRef entry,
                                                     const InputOptions &inputs,
                                                     const WeightCodes &codes, double limit) {
  return FormatChooser(module, entry, inputs, codes, limit).run();
}

void mlir::mp::printChoice(llvm::raw_ostream &os, const FormatChoice &choice) {
  size_t counts[3] = {};
  for (const FormatTrial &trial : choice.trials) {
    ++counts[size_t(trial.chosen)];
    os << "@" << trial.function << ", contraction " << trial.contraction
       << ": alone moves results by " << llvm::format("%.2e", std::sqrt(trial.errors[0]))
       << " in codes, " << llvm::format("%.2e", std::sqrt(trial.errors[1]))
       << " in bf16: " << kNames[size_t(trial.chosen)] << "\n";
  }
  printRounded(os, choice.rounded);
  os << "results move by " << llvm::format("%.2e", choice.measured) << " of at most "
     << llvm::format("%.2e", choice.limit)
     << " (each alone, added up: " << llvm::format("%.2e", choice.expected)
     << "; choices measured: " << choice.rounds << "); contractions in codes " << counts[0]
     << ", in bf16 " << counts[1] << ", in f32 " << counts[2] << "\n";
}
