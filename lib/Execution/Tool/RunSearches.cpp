// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The modes of mp-run that run a program to learn something of it.

#include "../Calibration/PruneByData.h"
#include "../Calibration/Smooth.h"
#include "../Trials/ChooseFormats.h"
#include "../Trials/Sensitivity.h"
#include "Run.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mp;

/// Writes what `convert` makes of a copy, and prints what it says.
template <typename Convert, typename Print>
static llvm::Error writeConverted(ModuleOp module, support::LateOutput &file, Convert convert,
                                  Print print) {
  auto copy = OwningOpRef<ModuleOp>(module.clone());
  auto done = convert(*copy);
  if (!done)
    return done.takeError();
  print(llvm::outs(), *done);
  return file.write([&](llvm::raw_ostream &os) { copy->print(os); });
}

llvm::Error Run::convertByData(ModuleOp module) {
  if (!options.smoothedOut.empty())
    if (llvm::Error error = writeConverted(
            module, files.smoothed,
            [&](ModuleOp copy) {
              return smoothChannels(copy, options.entry, options.inputs, options.smoothShare);
            },
            printSmoothed))
      return error;
  if (!options.prunedOut.empty())
    if (llvm::Error error = writeConverted(
            module, files.pruned,
            [&](ModuleOp copy) { return pruneByData(copy, options.entry, options.inputs); },
            printPruned))
      return error;
  if (options.roundedOut.empty())
    return llvm::Error::success();
  WeightCodes wanted = options.weightCodes;
  wanted.activations = options.activationCodes;
  wanted.ends = options.calibration;
  if (options.roundLimit)
    return writeConverted(
        module, files.rounded,
        [&](ModuleOp copy) {
          return chooseFormats(copy, options.entry, options.inputs, wanted, *options.roundLimit);
        },
        printChoice);
  return writeConverted(
      module, files.rounded,
      [&](ModuleOp copy) { return roundWeights(copy, options.entry, options.inputs, wanted); },
      printRounded);
}

Status Run::calibrateScales(ModuleOp module) {
  if (!options.json.empty()) {
    auto scales = calibrate(module, options.entry, options.inputs, options.calibration);
    if (!scales)
      return reportError(Status::BadInput, scales.takeError());
    printScales(llvm::outs(), *scales);
    if (llvm::Error error = files.writeJSON(scales->toJSON()))
      return reportError(Status::BadInput, std::move(error));
  }
  if (llvm::Error error = convertByData(module))
    return reportError(Status::BadInput, std::move(error));
  if (options.rangesOut.empty())
    return Status::Done;
  auto ranges = stateMeasuredRanges(module, options.entry, options.inputs, options.rangeMargin);
  if (!ranges)
    return reportError(Status::BadInput, ranges.takeError());
  llvm::outs() << "ranges of " << ranges->stated << " values from " << ranges->batches
               << " batches; " << ranges->left
               << " values left without: not finite, not reached, or stated already\n";
  if (llvm::Error error = files.ranges.write([&](llvm::raw_ostream &os) { module.print(os); }))
    return reportError(Status::BadInput, std::move(error));
  return Status::Done;
}

Status Run::findBrokenValue(ModuleOp module) {
  auto entry = findEntry(module, options.entry);
  if (!entry)
    return reportError(Status::BadInput, entry.takeError());
  auto signature = signatureOf(*entry);
  if (!signature)
    return reportError(Status::BadInput, signature.takeError());
  auto before = signatureBefore(module, options.entry, *signature);
  if (!before)
    return reportError(Status::BadInput, before.takeError());
  std::vector<std::string> notes;
  auto arguments = makeInputs(*before, options.inputs, notes, &batches);
  if (!arguments)
    return reportError(Status::BadInput, arguments.takeError());
  if (llvm::Error error = applyInit(module, options.entry, *arguments))
    return reportError(Status::BadInput, std::move(error));
  auto report = findBreak(module, options.entry, *options.breakOn, std::move(*arguments), batches,
                          options.steps);
  if (!report)
    return reportError(Status::Failed, report.takeError());
  report->print(llvm::outs());
  if (llvm::Error error = files.writeJSON(report->toJSON()))
    return reportError(Status::BadInput, std::move(error));
  return report->step < 0 ? Status::Done : Status::Failed;
}

Status Run::bisectContractions(ModuleOp module) {
  auto trials = Trials::create(module, options.entry, options.assign,
                               {options.inputs, options.steps, /*draws=*/1});
  if (!trials)
    return reportError(Status::BadInput, trials.takeError());
  auto report = bisect(*trials, options.entry, options.keep, options.maxRuns);
  if (!report)
    return reportError(Status::BadInput, report.takeError());
  printBisect(llvm::outs(), *trials, options.keep, *report);
  if (llvm::Error error = files.writeJSON(bisectToJSON(*trials, options.keep, *report)))
    return reportError(Status::BadInput, std::move(error));
  if (!report->search.holdsWithAll)
    return Status::Failed;
  if (llvm::Error error = files.policy.write(
          [&](llvm::raw_ostream &os) { policy::writePolicy(report->policy, os); }))
    return reportError(Status::BadInput, std::move(error));
  return Status::Done;
}

Status Run::fitBudget(ModuleOp module) {
  const TrialData data = {options.inputs, options.steps, options.draws};
  auto trials = Trials::create(module, options.entry, options.assign, data);
  if (!trials)
    return reportError(Status::BadInput, trials.takeError());
  auto report = keepBudget(*trials, module, data, options.budget);
  if (!report)
    return reportError(Status::BadInput, report.takeError());
  printBudget(llvm::outs(), *report, options.budget);
  if (llvm::Error error = files.writeJSON(budgetToJSON(*report, options.budget)))
    return reportError(Status::BadInput, std::move(error));
  if (!report->chosen)
    return Status::Failed;
  if (llvm::Error error = files.policy.write([&](llvm::raw_ostream &os) {
        os << llvm::formatv("{0:2}\n", report->rounds[*report->chosen].report);
      }))
    return reportError(Status::BadInput, std::move(error));
  return Status::Done;
}

Status Run::measureErrors(ModuleOp module) {
  std::optional<assignment::MeasuredErrors> known;
  if (llvm::sys::fs::exists(options.sensitivity)) {
    auto buffer = llvm::MemoryBuffer::getFile(options.sensitivity, /*IsText=*/true);
    if (!buffer)
      return reportError(
          Status::BadInput,
          llvm::createStringError("'" + options.sensitivity + "': " + buffer.getError().message()));
    auto parsed = assignment::MeasuredErrors::parse((*buffer)->getBuffer());
    if (!parsed)
      return reportError(Status::BadInput,
                         llvm::createStringError("'" + options.sensitivity +
                                                 "': " + llvm::toString(parsed.takeError())));
    known = std::move(*parsed);
  }
  if (llvm::Error error =
          files.sensitivity.open(options.sensitivity, "--sensitivity=" + options.sensitivity))
    return reportError(Status::BadInput, std::move(error));
  auto report = measureSensitivity(module, options.entry, options.assign,
                                   {options.inputs, options.steps, options.draws},
                                   {.formats = options.formats,
                                    .weights = options.scoresWeights,
                                    .byLayer = options.byLayer,
                                    .openAbove = options.openAbove},
                                   known ? &*known : nullptr);
  if (!report)
    return reportError(Status::BadInput, report.takeError());
  printSensitivity(llvm::outs(), *report);
  if (llvm::Error error = files.sensitivity.write(
          [&](llvm::raw_ostream &os) { os << llvm::formatv("{0:2}\n", report->errors.toJSON()); }))
    return reportError(Status::BadInput, std::move(error));
  return Status::Done;
}

Status Run::comparePolicies(ModuleOp module) {
  auto report =
      compareRecipes(module, options.entry, options.assign, options.recipeA, options.recipeB,
                     {options.inputs, options.steps, options.draws}, options.paired);
  if (!report)
    return reportError(Status::BadInput, report.takeError());
  printRecipes(llvm::outs(), *report, options.paired);
  if (llvm::Error error = files.writeJSON(recipesToJSON(*report, options.paired)))
    return reportError(Status::BadInput, std::move(error));
  return Status::Done;
}
