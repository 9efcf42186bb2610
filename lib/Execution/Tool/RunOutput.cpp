// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints and writes the results of a run of mp-run.

#include "../Files/TrainingPage.h"
#include "Run.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Execution/Compare/BoundCheck.h"
#include "mp/Execution/Files.h"
#include "mp/Runtime/Runtime.h"
#include "mp/Support/Progress.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

/// Prints how near two trainings stayed.
void Run::printDrift() {
  double drift = loopOf(main).drift(reference.start, main.results, reference.results);
  if (!std::isnan(drift))
    llvm::outs() << llvm::format("state after %lld steps: %.3g of how far the reference moved\n",
                                 (long long)options.steps, drift);
}

void Run::printKernelReports() const {
  // Results may go to standard output as a file: reports do not stand among them.
  llvm::raw_ostream &os = llvm::is_contained(options.outputs, "-") ? llvm::errs() : llvm::outs();
  if (options.perOp) {
    if (options.device == "emulator")
      printKernels(os, main.device->kernels());
    printBuffers(os, main.device->buffers(), main.device->peakBytes());
  }
  if (!options.estimate.empty())
    printEstimates(os, estimates());
}

FunctionEstimate Run::estimates() const {
  double bytes = double(argumentBytes) + double(main.device->constantBytes());
  for (const Array &result : main.results)
    bytes += double(result.data.size());
  return estimateLaunches(main.device->launches(),
                          llvm::cantFail(performance::findPart(options.estimate)),
                          bytes * double(options.steps));
}

llvm::Error Run::writeTrace() {
  if (options.trace.empty())
    return llvm::Error::success();
  std::optional<performance::Part> part;
  if (!options.estimate.empty())
    part = llvm::cantFail(performance::findPart(options.estimate));
  return files.trace.write([&](llvm::raw_ostream &os) {
    os << llvm::formatv("{0:2}\n", traceLaunches(main.device->launches(), part ? &*part : nullptr));
  });
}

/// Ends a run whose results mean nothing.
Status Run::finishSampled() {
  if (llvm::Error error = writeJSON(/*passed=*/true))
    return reportError(Status::BadInput, std::move(error));
  return Status::Done;
}

/// Arrays as DIR/NAME-000.npy and so on.
static llvm::Error writeAll(StringRef dir, StringRef name, ArrayRef<Array> arrays) {
  if (dir.empty())
    return llvm::Error::success();
  for (auto [i, array] : llvm::enumerate(arrays)) {
    SmallString<128> path(dir);
    llvm::sys::path::append(path, llvm::formatv("{0}-{1,0+3}.npy", name, i).str());
    if (llvm::Error error = writeNpy(path, array))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error Run::writeInputs(ArrayRef<Array> arguments) {
  return writeAll(options.inputDir, "input", arguments);
}

llvm::Error Run::writeOutputs() {
  for (size_t i = 0; i < options.outputs.size(); ++i)
    if (llvm::Error error = files.writeResult(i, main.results[i]))
      return error;
  return writeAll(options.outputDir, "result", ArrayRef(main.results).take_front(main.ownResults));
}

/// Results, what was printed, and the values inside.
std::vector<Run::Pair> Run::comparedPairs() const {
  std::vector<Pair> pairs;
  for (size_t i = 0; i < main.ownResults - main.appended; ++i)
    pairs.push_back(
        {"result " + std::to_string(i), &main.results[i], &reference.results[i], true, {}});
  if (main.printed.size() > 0 || reference.printed.size() > 0)
    pairs.push_back({"printed", &main.printed, &reference.printed, true, {}});
  for (auto [i, match] : llvm::enumerate(matched))
    pairs.push_back({main.traced[match.first].label, &main.results[main.ownResults + i],
                     &reference.results[reference.ownResults + i], false,
                     main.traced[match.first].storedAs});
  return pairs;
}

/// Says that the reference has the constants of the file: what rounding them lost is no error here.
void Run::noteRoundedConstants() const {
  int64_t rounded = 0;
  ModuleOp module = *main.module;
  module.walk([&](Operation *op) {
    FloatType format = op->hasTrait<OpTrait::ConstantLike>()
                           ? getFloatFormat(op->getResult(0).getType())
                           : FloatType();
    rounded += format && format.getWidth() < 32;
  });
  if (rounded > 0 && options.compare == "f64" && support::verbosity() != support::Verbosity::Quiet)
    llvm::errs() << "mp-run: note: " << rounded
                 << (rounded == 1 ? " constant is" : " constants are")
                 << " narrow in this file: what rounding them lost is not counted; "
                    "--compare=ORIGINAL.mlir counts it\n";
}

Status Run::printComparison() {
  noteRoundedConstants();
  if (llvm::Error error = writePage())
    return reportError(Status::BadInput, std::move(error));
  bool passed = true;
  for (const Pair &pair : comparedPairs()) {
    auto compared = compareArrays(*pair.result, *pair.reference, pair.label, pair.storedAs);
    if (!compared)
      return reportError(Status::BadInput, compared.takeError());
    (pair.isOutput ? outputs : inner).push_back(*compared);
    if (!pair.isOutput)
      continue;
    printReport(llvm::outs(), *compared, *pair.result);
    if (options.maxRelative && !compared->passes(*options.maxRelative)) {
      passed = false;
      llvm::outs() << llvm::format("  FAILED    %.3g of the largest magnitude, limit %.3g\n",
                                   compared->relativeToLargest(), *options.maxRelative);
    }
  }
  if (options.steps > 1)
    printDrift();
  if (options.perOp && !inner.empty()) {
    llvm::outs() << "\n" << inner.size() << " values inside, against the reference\n";
    printTable(llvm::outs(), inner);
  }
  llvm::outs().flush(); // what is said of it comes behind
  printFlushed(llvm::errs(), inner);
  constexpr double far = 0.1;
  if (!options.perOp && support::verbosity() != support::Verbosity::Quiet &&
      llvm::any_of(outputs,
                   [](const ErrorReport &output) { return output.stats.relativeNorm() > far; }))
    llvm::errs() << "mp-run: note: far from the reference; --per-op shows where, and what narrow "
                    "formats flush to zero\n";
  if (llvm::Error error = writeJSON(passed))
    return reportError(Status::BadInput, std::move(error));
  return passed ? Status::Done : Status::Failed;
}

llvm::Error Run::writePage() {
  std::vector<TrainingCurves> trainings;
  for (const Side *side : {&main, &reference})
    if (side->program && side->trajectory.getAsObject())
      trainings.push_back({side == &main ? options.file : options.compare,
                           side->trajectory.getAsObject(), side->runSeconds,
                           side->program->peakBytes()});
  return files.html.write([&](llvm::raw_ostream &os) { os << trainingPage(trainings); });
}

llvm::Error Run::writeJSON(bool passed) {
  if (options.json.empty())
    return llvm::Error::success();
  llvm::json::Array outputList, innerList, modelList;
  for (const ErrorReport &output : outputs)
    outputList.push_back(output.toJSON());
  for (const ErrorReport &value : inner)
    innerList.push_back(value.toJSON());
  for (const std::string &model : models)
    modelList.push_back(llvm::json::fixUTF8(model));
  llvm::json::Array formatList(main.formats);
  llvm::json::Object object{{"version", 1},
                            {"tool", "mp-run"},
                            {"file", llvm::json::fixUTF8(options.file)},
                            {"formats", std::move(formatList)},
                            {"compare", llvm::json::fixUTF8(options.compare)},
                            {"numerics", options.numericsName},
                            {"models", std::move(modelList)},
                            {"device", options.device},
                            {"seed", int64_t(options.inputs.seed)},
                            {"kernel", mp_rt_kernel_name()},
                            {"compile_seconds", main.compileSeconds},
                            {"run_seconds", main.runSeconds},
                            {"least_step_seconds", main.leastStepSeconds},
                            {"peak_bytes", main.program->peakBytes()},
                            {"memory_plan", main.memoryPlan},
                            {"passed", passed},
                            {"steps", std::move(main.trajectory)},
                            {"reference_steps", std::move(reference.trajectory)},
                            {"reference_run_seconds", reference.runSeconds},
                            {"reference_least_step_seconds", reference.leastStepSeconds},
                            {"outputs", std::move(outputList)},
                            {"per_op", std::move(innerList)}};
  if (main.device) {
    const BufferSummary &plan = main.device->buffers();
    object["kernels"] = kernelsToJSON(main.device->kernels());
    if (!options.estimate.empty())
      object["estimate"] = estimatesToJSON(estimates());
    object["buffers"] = llvm::json::Object{{"planned", plan.buffers},
                                           {"planned_bytes", plan.bytes},
                                           {"live_bytes", plan.liveBytes},
                                           {"separate", plan.separate}};
  }
  return files.writeJSON(std::move(object));
}

Status Run::printBoundCheck(ArrayRef<Array> arguments) {
  auto function = findEntry(*main.module, options.entry);
  if (!function)
    return reportError(Status::BadInput, function.takeError());
  StringRef chip = options.numerics ? toString(*options.numerics) : "";
  BoundCheck check =
      options.checkErrors
          ? checkErrors(*main.module, *function, arguments, main.results, reference.results, chip)
          : checkRanges(*main.module, *function, arguments, main.results);
  check.print(llvm::outs());
  noteRoundedConstants();
  return check.violations.empty() ? Status::Done : Status::Failed;
}
