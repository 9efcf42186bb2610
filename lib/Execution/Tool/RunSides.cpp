// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses, traces, compiles and executes the two sides of a run: the program and its reference.

#include "../VersionLog.h"
#include "Run.h"
#include "mlir/Parser/Parser.h"
#include "mp/Execution/Host/BufferEntry.h"
#include "mp/Execution/Host/PrintRecorder.h"
#include "mp/Execution/TensorCores.h"
#include "mp/Support/Progress.h"
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
  programOptions.calls = options.calibrates ? 0 : options.steps; // once a batch
  if (&side == &main) { // what it is compared with keeps everything
    programOptions.maxMemory = options.maxMemory;
    programOptions.storeNarrow = options.storeNarrow;
  }
  std::string ir;
  if (options.emitLLVM)
    programOptions.llvmIR = &ir;
  auto function = findEntry(*side.module, options.entry);
  if (function && DistributedProgram::ranksOf(*function))
    return compileForRanks(side, programOptions);
  int processes = DistributedProgram::launchedProcesses().value_or(1);
  if (&side == &main && processes > 1)
    return createStringError(
        llvm::formatv("a launcher started {0} processes, but the function is not for many ranks "
                      "(comm.ranks): expected the output of mp-partition, or one process",
                      processes)
            .str());
  llvm::consumeError(function.takeError()); // compiling says it, too
  auto program = Program::compile(*side.module, options.entry, programOptions);
  if (!program)
    return program.takeError();
  if (options.emitLLVM)
    llvm::outs() << ir;
  side.memoryPlan = (*program)->memoryPlan().str();
  if (!side.memoryPlan.empty())
    llvm::outs() << "memory: " << side.memoryPlan << "\n";
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
  auto program = DeviceProgram::compile(*side.module, options.entry,
                                        DeviceOptions(options.device, options.chip));
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
  const int64_t first = &side == &main ? firstStep : 0;
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
  const int64_t end = first + options.steps;
  for (int64_t step = first; step < end; ++step) {
    if (llvm::Error error = loop.feed(arguments, batches, step))
      return error;
    double begin = now();
    auto results = side.program->run(arguments);
    if (!results)
      return results.takeError();
    double took = now() - begin;
    side.leastStepSeconds = step > first ? std::min(side.leastStepSeconds, took) : took;
    side.results = std::move(*results);
    versions.record(llvm::outs(), step, side.results);
    if (options.steps > 1)
      loop.record(llvm::outs(), step, end, options.logEvery, side.results);
    if (monitor)
      if (llvm::Error error = monitor->add(step, side.results, took))
        return error;
    loop.advance(arguments, side.results);
    loop.tellMeasured(arguments, took);
  }
  if (llvm::Error error = save(side, arguments, end))
    return error;
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
