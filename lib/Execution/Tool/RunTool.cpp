// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the steps of mp-run in order: prepare both sides, run, compare, print.

#include "mp/Execution/Tool/RunTool.h"
#include "mp/Emulator/Forms.h"

#include "../Compare/ReferenceArguments.h"
#include "PtxMode.h"
#include "Run.h"
#include "mlir/IR/MLIRContext.h"
#include "mp/Execution/Files.h"
#include "mp/Numerics/Threads.h"
#include "mp/Support/Progress.h"
#include "mp/Support/Version.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace mlir::mp;

/// The modes that run a program to learn something of it.
std::optional<Status> Run::search() {
  Status (Run::*mode)(ModuleOp) = options.calibrates             ? &Run::calibrateScales
                                  : options.breakOn              ? &Run::findBrokenValue
                                  : options.bisects              ? &Run::bisectContractions
                                  : options.budget.limit > 0     ? &Run::fitBudget
                                  : !options.sensitivity.empty() ? &Run::measureErrors
                                  : !options.recipeA.empty()     ? &Run::comparePolicies
                                                                 : nullptr;
  if (!mode)
    return std::nullopt;
  auto module = parse(options.file);
  return module ? (this->*mode)(**module) : reportError(Status::BadInput, module.takeError());
}

/// The arguments as given, of the program before mp appended state to it.
llvm::Expected<std::vector<Array>> Run::makeGiven(std::vector<std::string> &notes) {
  auto before = signatureBefore(*main.module, options.entry, main.program->signature());
  if (!before)
    return before.takeError();
  return makeInputs(*before, options.inputs, notes, &batches);
}

/// Gives appended state its start, and writes down what the first step gets.
llvm::Error Run::prepareArguments(std::vector<Array> &arguments) {
  // With a file of parameters, inputs are counted without those that it names: none of them is said
  // of appended state.
  const InputOptions &inputs = options.inputs;
  auto stated = [&](size_t argument) {
    return inputs.params.empty() && argument < inputs.inputs.size() &&
           inputs.inputs[argument] != "seed";
  };
  if (llvm::Error error = applyInit(*main.module, options.entry, arguments, stated))
    return error;
  if (llvm::Error error = resume(arguments))
    return error;
  for (const Array &argument : arguments)
    argumentBytes += argument.data.size();
  return writeInputs(arguments);
}

/// Runs the program, and prints what is known of the run whatever it is compared with.
Status Run::runMain(std::vector<Array> arguments) {
  // Kernels have the arithmetic of their chip; a reference has the one asked for.
  bool modelled = options.numerics.has_value() && !main.device;
  if (llvm::Error error = execute(main, std::move(arguments), modelled)) {
    const Status status = reportError(Status::Failed, std::move(error));
    if (options.sampleBlocks)
      llvm::errs() << "mp-run: note: --sample-blocks leaves values wrong, which the program may "
                      "check, index or branch by; run without it\n";
    return status;
  }
  printModels();
  if (main.distributed) {
    auto summary = main.distributed->summary();
    if (!summary)
      return reportError(Status::Failed, summary.takeError());
    llvm::outs() << *summary << "\n";
  }
  if (main.device)
    printKernelReports();
  if (llvm::Error error = writeTrace())
    return reportError(Status::BadInput, std::move(error));
  return Status::Done;
}

/// Prints the results, where nothing is compared.
Status Run::finishAlone() {
  if (options.outputs.empty() && options.outputDir.empty())
    for (size_t i = 0; i < main.ownResults; ++i)
      printArray(llvm::outs(), "result " + std::to_string(i), main.results[i]);
  if (llvm::Error error = writePage())
    return reportError(Status::BadInput, std::move(error));
  if (llvm::Error error = writeJSON(/*passed=*/true))
    return reportError(Status::BadInput, std::move(error));
  return Status::Done;
}

Status Run::runReference(ArrayRef<Array> given) {
  auto adapted = adaptArguments(
      given, main.appended,
      {*reference.module, options.entry, reference.program->signature(), reference.appended});
  if (!adapted)
    return reportError(Status::BadInput, adapted.takeError());
  bool modelled = options.numerics.has_value() && main.device;
  if (llvm::Error error = execute(reference, std::move(*adapted), modelled))
    return reportError(Status::Failed, std::move(error));
  if (main.device)
    printModels();
  return Status::Done;
}

Status Run::go() {
  if (llvm::Error error = files.open(options))
    return reportError(Status::BadInput, std::move(error));
  if (std::optional<Status> status = search())
    return *status;
  if (llvm::Error error = prepare())
    return reportError(Status::BadInput, std::move(error));
  if (options.emitLLVM)
    return Status::Done;
  std::vector<std::string> notes;
  auto given = makeGiven(notes);
  if (!given)
    return reportError(Status::BadInput, given.takeError());
  std::vector<Array> arguments = *given;
  if (llvm::Error error = prepareArguments(arguments))
    return reportError(Status::BadInput, std::move(error));
  for (const std::string &note : notes)
    if (support::verbosity() != support::Verbosity::Quiet)
      llvm::errs() << "mp-run: note: " << note << "\n";
  std::vector<Array> checked; // running may write to what it is given
  if (options.checkRanges || options.checkErrors)
    checked = arguments;
  if (Status status = runMain(std::move(arguments)); status != Status::Done)
    return status;
  if (options.sampleBlocks)
    return finishSampled();
  if (llvm::Error error = writeOutputs())
    return reportError(Status::BadInput, std::move(error));
  if (options.checkRanges)
    return printBoundCheck(checked);
  if (options.compare.empty())
    return finishAlone();
  if (Status status = runReference(*given); status != Status::Done)
    return status;
  return options.checkErrors ? printBoundCheck(checked) : printComparison();
}

Status mlir::mp::reportError(Status status, llvm::Error error) {
  std::string text = llvm::toString(std::move(error));
  llvm::errs().SetBufferSize(text.size() + 64); // one write: processes of one run share a terminal
  llvm::WithColor(llvm::errs(), llvm::HighlightColor::Error) << "mp-run: error: ";
  llvm::errs() << text << "\n";
  llvm::errs().SetUnbuffered();
  std::optional<support::ErrorCode> code = support::findCode(text);
  return code ? support::statusOf(*code) : status;
}

static Status runModule(RunOptions options, DialectRegistry &registry, const RunHooks &hooks,
                        unsigned &warnings) {
  registerExecution(registry);
  std::optional<llvm::DefaultThreadPool> pool; // outlives the context
  MLIRContext context(registry, options.threads ? MLIRContext::Threading::DISABLED
                                                : MLIRContext::Threading::ENABLED);
  if (options.threads > 1) {
    pool.emplace(llvm::hardware_concurrency(options.threads));
    context.setThreadPool(*pool);
  }
  mpcore::numerics::setThreads(options.threads);
  // Attributes of unknown dialects, which exporters leave, change nothing here.
  context.allowUnregisteredDialects();
  llvm::SourceMgr noSources;
  SourceMgrDiagnosticHandler handler(noSources, &context);
  hooks.hushRemarks(context);
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
    auto [everyday, further] = runHelp().split("\nFurther options:\n");
    if (llvm::is_contained(arguments, "--help-all"))
      llvm::outs() << runHelp() << "\nOptions of every tool:\n" << hooks.commonHelp;
    else
      llvm::outs() << everyday << further.substr(further.find("\nExit status:"));
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
