// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs mp-train-step and mp-insert-probes on a copy of the step, and compiles what comes out.

#include "Version.h"

#include "mlir/Pass/PassManager.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Execution/DeviceProgram.h"
#include "mp/Execution/Host/Program.h"
#include "mp/Pipelines/Pipelines.h"
#include "mp/Support/OptionWords.h"
#include "mp/Transforms/Annotate/Passes.h"
#include "mp/Transforms/Train/Passes.h"

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

/// Converts by the strategy, with probes of gradients if `isWatched`.
static LogicalResult convert(ModuleOp module, StringRef entry, const Strategy &strategy,
                             bool isWatched) {
  PassManager manager(module->getContext());
  if (strategy.assign.empty()) {
    if (!isWatched)
      return success();
    AnnotateRolesOptions annotate;
    annotate.function = entry.str();
    manager.addPass(createAnnotateRoles(annotate));
    InsertProbesOptions probes;
    probes.function = entry.str();
    probes.select = {"gradients"};
    manager.addPass(createInsertProbes(probes));
    return manager.run(module);
  }
  TrainStepOptions options;
  if (failed(options.parseFromString(strategy.assign + " table=false", llvm::errs())))
    return failure();
  options.function = entry.str();
  options.probeGradients = isWatched;
  buildTrainStepPipeline(manager, options);
  return manager.run(module);
}

/// Returns the GPU that times are modelled for: the one of the place, of the strategy, or the
/// default.
static StringRef targetOf(const Strategy &strategy, const Place &place) {
  if (!place.chip.empty() && place.chip != "native")
    return place.chip;
  SmallVector<StringRef> words;
  StringRef(strategy.assign).split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words)
    if (word.consume_front("target="))
      return word;
  return "sm_80";
}

/// Counts the costs of the converted step, as a training without watching has it.
static llvm::Expected<StepCosts> costsOf(ModuleOp step, StringRef entry, const Strategy &strategy,
                                         const Place &place) {
  OwningOpRef<ModuleOp> module = step.clone();
  // The conversion that is run says what there is to say.
  ScopedDiagnosticHandler quiet(step.getContext(), [](Diagnostic &) { return success(); });
  if (failed(convert(*module, entry, strategy, /*isWatched=*/false)))
    return createStringError("strategy '" + strategy.name +
                             "': the step was not converted without probes");
  return countStepCosts(*module, targetOf(strategy, place));
}

/// Compiles the step for the host, or its kernels for a device.
static llvm::Expected<std::unique_ptr<Executable>>
compileVersion(ModuleOp module, StringRef entry, const Place &place, int64_t steps) {
  if (place.device == "cpu") {
    ProgramOptions options;
    options.fuse = true;
    options.calls = steps;
    auto program = Program::compile(module, entry, options);
    if (!program)
      return program.takeError();
    return std::move(*program);
  }
  auto program = DeviceProgram::compile(module, entry, DeviceOptions(place.device, place.chip));
  if (!program)
    return program.takeError();
  mp_rt_device_facts facts;
  if (mp_rt_query_device(&facts) != 0)
    return createStringError(mp_rt_device_error());
  return std::move(*program);
}

llvm::Expected<std::unique_ptr<Version>> Version::create(ModuleOp step, StringRef entry,
                                                         const Strategy &strategy,
                                                         const Place &place, int64_t steps) {
  std::unique_ptr<Version> version(new Version);
  version->name = strategy.name;
  version->entry = entry.str();
  version->module = step.clone();
  auto given = findEntry(step, entry);
  if (!given)
    return given.takeError();
  auto original = signatureOf(*given);
  if (!original)
    return original.takeError();
  if (StepLoop(*original, original->results.size()).stateArguments().empty())
    return createStringError("the step '@" + (*given).getName() +
                             "' trains nothing: no result replaces an argument; expected "
                             "parameters with 'mp.state', or as the first arguments and results");
  if (llvm::Error error =
          support::checkOptionsOnce(strategy.assign, "strategy '" + strategy.name + "'"))
    return std::move(error);
  if (failed(convert(*version->module, (*given).getName(), strategy, /*isWatched=*/true)))
    return createStringError("strategy '" + strategy.name + "': the step was not converted with '" +
                             strategy.assign + "'");
  auto costs = costsOf(step, (*given).getName(), strategy, place);
  if (!costs)
    return costs.takeError();
  version->costs = std::move(*costs);
  auto program = compileVersion(*version->module, entry, place, steps);
  if (!program)
    return program.takeError();
  version->program = std::move(*program);
  const Signature &signature = version->program->signature();
  version->own = original->arguments.size();
  for (size_t i = 0; i < version->own; ++i)
    if (signature.arguments[i].typeStr() != original->arguments[i].typeStr())
      return createStringError("strategy '" + strategy.name + "' stores argument " + Twine(i) +
                               " as " + signature.arguments[i].typeStr() + ", expected " +
                               original->arguments[i].typeStr() +
                               ": strategies share the state of the step, so leave out master=, "
                               "moments= and policies that narrow parameters");
  auto function = findEntry(*version->module, entry);
  if (!function)
    return function.takeError();
  version->loop.emplace(signature, signature.results.size());
  version->reader.emplace(*function, signature, signature.results.size());
  StepReader::readScaleRule(*function, version->rules);
  return version;
}

llvm::Expected<std::vector<Array>>
Version::makeArguments(const InputOptions &inputs, std::vector<BatchedInput> &batches) const {
  std::vector<std::string> notes;
  auto arguments = makeInputs(program->signature(), inputs, notes, &batches);
  if (!arguments)
    return arguments;
  if (llvm::Error error = applyInit(*module, entry, *arguments))
    return std::move(error);
  return arguments;
}

llvm::Expected<std::vector<Array>> Version::takeOver(ArrayRef<Array> arguments,
                                                     std::optional<double> scale) const {
  const auto &expected = program->signature().arguments;
  std::vector<Array> taken(arguments.take_front(own));
  for (size_t i = own; i < expected.size(); ++i)
    taken.push_back(Array(expected[i].type, expected[i].shape));
  if (llvm::Error error = applyInit(*module, entry, taken))
    return std::move(error);
  for (size_t i = own; scale && i < expected.size(); ++i)
    if (expected[i].role == kRoleLossScale) {
      auto converted =
          convertTo(uniformArray(ElementType::floating(numerics::Format::F64), {}, 0, 0, *scale),
                    expected[i].type);
      if (!converted)
        return converted.takeError();
      taken[i] = std::move(*converted);
    }
  return taken;
}

std::optional<double> Version::scaleOf(ArrayRef<Array> arguments) const {
  const auto &expected = program->signature().arguments;
  for (size_t i = own; i < expected.size(); ++i)
    if (expected[i].role == kRoleLossScale)
      return arguments[i].value(0);
  return std::nullopt;
}
