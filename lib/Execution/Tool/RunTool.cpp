// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the steps of mp-run in order: parse, trace, compile, run, compare, print.

#include "mp/Execution/Tool/RunTool.h"
#include "mp/Emulator/Forms.h"

#include "../Compare/ReferenceArguments.h"
#include "../VersionLog.h"
#include "PtxMode.h"
#include "Run.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mp/Execution/Files.h"
#include "mp/Execution/Host/BufferEntry.h"
#include "mp/Execution/Host/PrintRecorder.h"
#include "mp/Execution/TensorCores.h"
#include "mp/Support/Progress.h"
#include "mp/Support/Version.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"

#include <chrono>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

llvm::Expected<OwningOpRef<ModuleOp>> Run::parse(StringRef path) {
  support::setStage("reading " + path);
  auto buffer = support::readFile(path, path);
  if (!buffer)
    return buffer.takeError();
  if (llvm::Error error = hooks.checkInput((*buffer)->getMemBufferRef()))
    return std::move(error); // it says the file
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module)
    return createStringError("'" + path + "' is not a valid MLIR module");
  if (llvm::Error error = hooks.checkModule(*module))
    return std::move(error);
  if (llvm::Error error = exposeBuffers(*module, options.entry))
    return std::move(error);
  return module;
}

/// The compared values become results of both sides, in the order of `matched`.
llvm::Error Run::trace(Side &side) {
  auto function = findEntry(*side.module, options.entry);
  if (!function)
    return function.takeError();
  side.ownResults = function->getNumResults();
  auto appended = countAppended(*side.module, options.entry);
  if (!appended)
    return appended.takeError();
  side.appended = *appended;
  if (options.checkRanges || (options.perOp && !options.compare.empty()))
    side.traced = tracedValues(*function);
  return llvm::Error::success();
}

static llvm::Error returnMatched(Side &side, StringRef entry, ArrayRef<size_t> indices) {
  auto function = findEntry(*side.module, entry);
  if (!function)
    return function.takeError();
  SmallVector<Value> values;
  for (size_t index : indices)
    values.push_back(side.traced[index].value);
  return returnValues(*function, values);
}

llvm::Error Run::compile(Side &side, bool promoteToF64) {
  support::setStage(promoteToF64 ? "compiling the reference in f64" : "compiling");
  double start = now();
  ProgramOptions programOptions;
  programOptions.promoteToF64 = promoteToF64;
  programOptions.exactMath = options.exactMath && !promoteToF64; // f64 has no polynomials
  programOptions.fuse =
      options.device == "cpu" && !promoteToF64; // what those are compared with runs op by op
  std::string ir;
  if (options.emitLLVM)
    programOptions.llvmIR = &ir;
  auto function = findEntry(*side.module, options.entry);
  if (function && DistributedProgram::ranksOf(*function))
    return compileForRanks(side, programOptions);
  llvm::consumeError(function.takeError()); // compiling says it, too
  auto program = Program::compile(*side.module, options.entry, programOptions);
  if (!program)
    return program.takeError();
  if (options.emitLLVM)
    llvm::outs() << ir;
  side.program = std::move(*program);
  side.compileSeconds = now() - start;
  return llvm::Error::success();
}

/// Every process does the same; one of them tells.
llvm::Error Run::compileForRanks(Side &side, const ProgramOptions &programOptions) {
  if (programOptions.promoteToF64 || options.perOp || options.checkRanges || options.checkErrors)
    return createStringError("the function is for one of many ranks (comm.ranks); --compare=f64, "
                             "--per-op, --check-ranges and --check-errors work on the function "
                             "before mp-partition");
  double start = now();
  auto program = DistributedProgram::compile(*side.module, options.entry, programOptions);
  if (!program)
    return program.takeError();
  side.distributed = program->get();
  side.program = std::move(*program);
  if (side.distributed->process() > 0)
    if (std::FILE *nowhere = std::freopen("/dev/null", "w", stdout); !nowhere)
      return createStringError("/dev/null cannot be opened");
  side.compileSeconds = now() - start;
  return llvm::Error::success();
}

llvm::Error Run::compileForDevice(Side &side) {
  if (auto function = findEntry(*side.module, options.entry); !function)
    return function.takeError();
  else if (DistributedProgram::ranksOf(*function))
    return createStringError("the function is for one of many ranks (comm.ranks), which run on the "
                             "CPU: expected --device=cpu");
  support::setStage("lowering to kernels");
  double start = now();
  DeviceOptions deviceOptions;
  deviceOptions.device = options.device;
  if (!options.chip.empty())
    deviceOptions.chip = options.chip;
  else if (options.device == "cuda")
    deviceOptions.chip = "native";
  auto program = DeviceProgram::compile(*side.module, options.entry, deviceOptions);
  if (!program)
    return program.takeError();
  side.device = program->get();
  if (options.device == "emulator")
    side.device->launchOptions().reverse = options.reverse;
  if (!options.estimate.empty()) {
    prepareForEstimates(side.device->launchOptions(), options.sampleBlocks);
    side.device->recordLaunches();
  }
  if (!options.trace.empty())
    side.device->recordLaunches();
  side.program = std::move(*program);
  side.compileSeconds = now() - start;
  return llvm::Error::success();
}

llvm::Error Run::prepare() {
  auto module = parse(options.file);
  if (!module)
    return module.takeError();
  main.module = std::move(*module);
  main.formats = narrowedFormats(*main.module);
  if (llvm::Error error = trace(main))
    return error;
  if (options.outputs.size() > main.ownResults)
    return createStringError(llvm::Twine("--output given ") + llvm::Twine(options.outputs.size()) +
                             " times, but the function has " + llvm::Twine(main.ownResults) +
                             " results");
  bool comparesFile = !options.compare.empty() && options.compare != "f64";
  if (comparesFile) {
    auto other = parse(options.compare);
    if (!other)
      return other.takeError();
    reference.module = std::move(*other);
    if (llvm::Error error = trace(reference))
      return error;
    size_t expected = main.ownResults - main.appended;
    if (expected != reference.ownResults - reference.appended)
      return createStringError(llvm::Twine("--compare: '") + options.compare + "' returns " +
                               llvm::Twine(reference.ownResults - reference.appended) +
                               " results, expected " + llvm::Twine(expected));
    matched = matchTraces(main.traced, reference.traced);
  } else {
    for (size_t i = 0; i < main.traced.size(); ++i)
      matched.push_back({i, i});
  }
  if (options.checkRanges || (options.perOp && !options.compare.empty())) {
    std::vector<size_t> left, right;
    for (auto [x, y] : matched) {
      left.push_back(x);
      right.push_back(y);
    }
    if (llvm::Error error = returnMatched(main, options.entry, left))
      return error;
    if (comparesFile)
      if (llvm::Error error = returnMatched(reference, options.entry, right))
        return error;
  }
  if (options.compare == "f64") {
    reference.module = main.module->clone();
    reference.ownResults = main.ownResults;
    reference.appended = main.appended;
  }
  bool onDevice = options.device != "cpu";
  if (llvm::Error error = onDevice ? compileForDevice(main) : compile(main, /*promoteToF64=*/false))
    return error;
  if (!options.compare.empty() && !options.emitLLVM)
    return compile(reference, options.compare == "f64");
  return llvm::Error::success();
}

/// A reference that says nothing of its state is the same step as the other.
StepLoop Run::loopOf(const Side &side) const {
  if (&side == &main)
    return StepLoop(main.program->signature(), main.ownResults);
  return StepLoop(
      withStateOf(side.program->signature(), side.ownResults, main.program->signature()),
      side.ownResults, "reference, ");
}

llvm::Expected<std::unique_ptr<Monitor>> Run::openMonitor(const Side &side) const {
  auto step = findEntry(*side.module, options.entry);
  if (!step)
    return step.takeError();
  return Monitor::open(*step, side.program->signature(), side.ownResults,
                       {options.monitor, options.html, options.file});
}

llvm::Error Run::execute(Side &side, std::vector<Array> arguments, bool tensorCores) {
  support::setStage(&side == &main ? "running" : "running the reference");
  StepLoop loop = loopOf(side);
  double start = now();
  std::optional<TensorCoreScope> scope;
  if (tensorCores)
    scope.emplace(*options.numerics);
  std::optional<PrintRecorder> recorder;
  if (!options.compare.empty())
    recorder.emplace(/*quiet=*/&side == &reference);
  if (options.steps > 1)
    side.start = arguments;
  std::unique_ptr<Monitor> monitor;
  if (!options.monitor.empty()) {
    auto opened = openMonitor(side);
    if (!opened)
      return opened.takeError();
    monitor = std::move(*opened);
  }
  auto function = findEntry(*side.module, options.entry);
  if (!function)
    return function.takeError();
  VersionLog versions(*function, side.program->signature());
  for (int64_t step = 0; step < options.steps; ++step) {
    if (llvm::Error error = loop.feed(arguments, batches, step))
      return error;
    double begin = now();
    auto results = side.program->run(arguments);
    if (!results)
      return results.takeError();
    double took = now() - begin;
    side.leastStepSeconds = step ? std::min(side.leastStepSeconds, took) : took;
    side.results = std::move(*results);
    versions.record(llvm::outs(), step, side.results);
    if (options.steps > 1)
      loop.record(llvm::outs(), step, options.steps, options.logEvery, side.results);
    if (monitor)
      if (llvm::Error error = monitor->add(step, side.results, took))
        return error;
    loop.advance(arguments, side.results);
  }
  if (options.steps > 1)
    side.trajectory = loop.toJSON();
  if (monitor)
    if (llvm::Error error = monitor->finish(llvm::outs(), side.program->peakBytes()))
      return error;
  if (recorder)
    side.printed = recorder->numbers();
  if (scope)
    models = scope->used();
  side.runSeconds = now() - start;
  return llvm::Error::success();
}

Status Run::go() {
  if (llvm::Error error = files.open(options))
    return reportError(Status::BadInput, std::move(error));
  if (options.calibrates)
    return calibrateScales();
  if (options.breakOn)
    return findBrokenValue();
  if (options.bisects)
    return bisectContractions();
  if (options.budget.limit > 0)
    return fitBudget();
  if (!options.sensitivity.empty())
    return measureErrors();
  if (!options.recipeA.empty())
    return comparePolicies();
  if (llvm::Error error = prepare())
    return reportError(Status::BadInput, std::move(error));
  if (options.emitLLVM)
    return Status::Done;
  std::vector<std::string> notes;
  auto before = signatureBefore(*main.module, options.entry, main.program->signature());
  if (!before)
    return reportError(Status::BadInput, before.takeError());
  auto given = makeInputs(*before, options.inputs, notes, &batches);
  if (!given)
    return reportError(Status::BadInput, given.takeError());
  std::vector<Array> arguments = *given;
  // With a file of parameters, inputs are counted without those that it names: none of them is said
  // of appended state.
  const InputOptions &inputs = options.inputs;
  auto stated = [&](size_t argument) {
    return inputs.params.empty() && argument < inputs.inputs.size() &&
           inputs.inputs[argument] != "seed";
  };
  if (llvm::Error error = applyInit(*main.module, options.entry, arguments, stated))
    return reportError(Status::BadInput, std::move(error));
  if (llvm::Error error = writeInputs(arguments))
    return reportError(Status::BadInput, std::move(error));
  for (const std::string &note : notes)
    if (support::verbosity() != support::Verbosity::Quiet)
      llvm::errs() << "mp-run: note: " << note << "\n";

  for (const Array &argument : arguments)
    argumentBytes += argument.data.size();
  // Kernels have the arithmetic of their chip; a reference has the one asked for.
  bool modelled = options.numerics.has_value();
  std::vector<Array> checked; // running may write to what it is given
  if (options.checkRanges || options.checkErrors)
    checked = arguments;
  if (llvm::Error error = execute(main, std::move(arguments), modelled && !main.device)) {
    const Status status = reportError(Status::Failed, std::move(error));
    if (options.sampleBlocks)
      llvm::errs() << "mp-run: note: --sample-blocks leaves values wrong, which the program may "
                      "check, index or branch by; run without it\n";
    return status;
  }
  printModels();
  if (main.distributed)
    llvm::outs() << main.distributed->summary() << "\n";
  if (main.device)
    printKernelReports();
  if (llvm::Error error = writeTrace())
    return reportError(Status::BadInput, std::move(error));
  if (options.sampleBlocks)
    return finishSampled();
  if (llvm::Error error = writeOutputs())
    return reportError(Status::BadInput, std::move(error));
  if (options.checkRanges)
    return printRangeCheck(checked);
  if (options.compare.empty()) {
    if (options.outputs.empty() && options.outputDir.empty())
      for (size_t i = 0; i < main.ownResults; ++i)
        printArray(llvm::outs(), "result " + std::to_string(i), main.results[i]);
    if (llvm::Error error = writePage())
      return reportError(Status::BadInput, std::move(error));
    if (!options.json.empty())
      if (llvm::Error error = writeJSON(/*passed=*/true))
        return reportError(Status::BadInput, std::move(error));
    return Status::Done;
  }
  auto adapted = adaptArguments(
      *given, main.appended,
      {*reference.module, options.entry, reference.program->signature(), reference.appended});
  if (!adapted)
    return reportError(Status::BadInput, adapted.takeError());
  if (llvm::Error error = execute(reference, std::move(*adapted), modelled && main.device))
    return reportError(Status::Failed, std::move(error));
  if (main.device)
    printModels();
  return options.checkErrors ? printErrorCheck(checked) : printComparison();
}

Status mlir::mp::reportError(Status status, llvm::Error error) {
  std::string text = llvm::toString(std::move(error));
  llvm::errs() << "mp-run: error: " << text << "\n";
  std::optional<support::ErrorCode> code = support::findCode(text);
  return code ? support::statusOf(*code) : status;
}

static Status runModule(RunOptions options, DialectRegistry &registry, const RunHooks &hooks,
                        unsigned &warnings) {
  registerExecution(registry);
  MLIRContext context(registry);
  // Attributes of unknown dialects, which exporters leave, change nothing here.
  context.allowUnregisteredDialects();
  llvm::SourceMgr noSources;
  SourceMgrDiagnosticHandler handler(noSources, &context);
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    warnings += diagnostic.getSeverity() == DiagnosticSeverity::Warning;
    return failure(); // the handler before prints it
  });
  context.printOpOnDiagnostic(false);
  return Run(std::move(options), context, hooks).go();
}

int mlir::mp::runRun(ArrayRef<StringRef> arguments, DialectRegistry &registry,
                     const RunHooks &hooks) {
  auto options = parseRunOptions(arguments);
  if (!options)
    return int(reportError(Status::BadInput, options.takeError()));
  if (options->help) {
    llvm::outs() << runHelp() << "\nOptions of every tool:\n" << hooks.commonHelp;
    return 0;
  }
  if (options->version) {
    support::printVersion(llvm::outs());
    return 0;
  }
  if (options->refusedPtx) {
    emulator::printRefusedForms(llvm::outs());
    return 0;
  }
  if (options->alarmRules) {
    llvm::outs() << llvm::json::Value(watch::rulesToJSON()) << "\n";
    return 0;
  }
  support::FilesOfRun files;
  unsigned warnings = 0;
  Status status = StringRef(options->file).ends_with(".ptx")
                      ? runPtx(*options)
                      : runModule(std::move(*options), registry, hooks, warnings);
  if (hooks.warningsAreErrors && warnings > 0 && status == Status::Done)
    return int(reportError(Status::Failed, support::errorOfWarnings(warnings)));
  // A comparison that failed has results, too.
  if (status == Status::Done || status == Status::Failed)
    if (llvm::Error error = files.commit())
      return int(reportError(Status::BadInput, std::move(error)));
  return int(status);
}
