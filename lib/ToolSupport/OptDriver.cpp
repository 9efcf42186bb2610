// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-opt: upstream's core between our own input and output.

#include "CommandLine.h"
#include "CrashGuard.h"
#include "ForeignModel.h"
#include "InfoFlags.h"
#include "OptHelp.h"
#include "Reproducer.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mp/Support/Files.h"
#include "mp/Support/Progress.h"
#include "mp/ToolSupport/Driver.h"
#include "mp/ToolSupport/InputCheck.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mpcore::support;

/// Upstream prints a line and goes on when a plugin does not load.
static llvm::Error checkPlugins(ArrayRef<char *> arguments) {
  for (StringRef argument : arguments) {
    while (argument.consume_front("-")) {
    }
    if (argument.consume_front("load-dialect-plugin=")) {
      auto plugin = DialectPlugin::load(argument.str());
      if (!plugin)
        return plugin.takeError();
    } else if (argument.consume_front("load-pass-plugin=")) {
      auto plugin = PassPlugin::load(argument.str());
      if (!plugin)
        return plugin.takeError();
    }
  }
  return llvm::Error::success();
}

/// Gives one of upstream's flags a value, unless the user gave it. The option parses the value
/// itself, so that its type does not matter here.
static void setFlag(StringRef name, StringRef value) {
  auto option = llvm::cl::getRegisteredOptions().find(name);
  if (option != llvm::cl::getRegisteredOptions().end() && option->second->getNumOccurrences() == 0)
    option->second->addOccurrence(0, name, value);
}

/// A module printed between passes may be what a failed pass has left invalid.
static bool printsBetweenPasses() {
  return llvm::any_of(llvm::cl::getRegisteredOptions(), [](auto &entry) {
    return entry.first.starts_with("mlir-print-ir-") && entry.second->getNumOccurrences() > 0;
  });
}

/// Prints the error; its number, where it has one, decides the status.
static ExitStatus report(llvm::Error error, ExitStatus status = ExitStatus::BadInput) {
  std::string text = llvm::toString(std::move(error));
  llvm::WithColor(llvm::errs(), llvm::HighlightColor::Error) << "mp-opt: ";
  llvm::errs() << text << "\n";
  std::optional<ErrorCode> code = findCode(text);
  return code ? statusOf(*code) : status;
}

namespace {

/// Follows one run of upstream's driver from inside: what it does, and how it went wrong.
class RunObserver : public PassInstrumentation {
public:
  struct Findings {
    bool isBytecode = false;                  ///< the input
    bool hasParsed = false, hasBegun = false; ///< the module; a pass
    std::optional<ErrorCode> code;            ///< of the first numbered error
    unsigned warnings = 0;
  };

  RunObserver(Findings &findings, const CommonOptions &options)
      : findings(findings), options(options) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    if (!std::exchange(findings.hasBegun, true) && findings.isBytecode)
      if (llvm::Error error = checkTypes(topOf(op)))
        endWith(std::move(error), ErrorCode::BadInput);
    if (StringRef name = pass->getArgument(); !name.empty())
      setStage(name);
    if (llvm::Error error = checkGrown(op))
      endWith(std::move(error), ErrorCode::LimitOfSize);
  }
  void runAfterPass(Pass *pass, Operation *op) override { setStage("between passes"); }

private:
  /// Passes make operations; limits hold for these, too.
  llvm::Error checkGrown(Operation *op) {
    return isa<ModuleOp>(op) ? checkModuleSize(op, options) : llvm::Error::success();
  }
  [[noreturn]] void endWith(llvm::Error error, ErrorCode code) {
    std::string text = llvm::toString(std::move(error));
    endProcess(code, "error: " + StringRef(text).rsplit(" [MP").first.str());
  }
  static Operation *topOf(Operation *op) {
    while (Operation *parent = op->getParentOp())
      op = parent;
    return op;
  }

  Findings &findings;
  const CommonOptions &options;
};

/// Runs where no other pass does, so that what was read is looked at.
struct NoPass : PassWrapper<NoPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NoPass)
  void runOnOperation() override { markAllAnalysesPreserved(); }
};

/// The status of a run of upstream's driver that failed.
ExitStatus statusOfFailure(const RunObserver::Findings &findings) {
  if (findings.code)
    return statusOf(*findings.code);
  return findings.hasBegun ? ExitStatus::Failed : ExitStatus::BadInput;
}

} // namespace

/// Gives an error of a pass that blames one of its options the number of such errors.
static void numberOptionError(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return;
  std::string text = diagnostic.str();
  if (llvm::Regex("^mp-[a-z-]+: options? '").match(text) && !findCode(text))
    diagnostic << tag(ErrorCode::BadOption);
}

/// True of no place in the text: a module that is not written out has line 0.
static bool isNowhere(Location loc) {
  auto line = dyn_cast<FileLineColLoc>(loc);
  return isa<UnknownLoc>(loc) || (line && line.getLine() == 0);
}

/// Prints an error or a warning that lies nowhere in the module: of an option, or of a file that an
/// option names and that has places of its own ("policy.json:1:18"). Upstream would say
/// "<unknown>:0".
static LogicalResult printWithoutPlace(Diagnostic &diagnostic) {
  const bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  if (!isNowhere(diagnostic.getLocation()) || !diagnostic.getNotes().empty() ||
      (!isError && diagnostic.getSeverity() != DiagnosticSeverity::Warning))
    return failure();
  std::string text = diagnostic.str();
  StringRef rest = text;
  SmallVector<StringRef> found;
  if (llvm::Regex("^mp-[a-z-]+: ([^ ]+:[0-9]+:[0-9]+: )").match(text, &found)) {
    llvm::errs() << found[1];
    rest = rest.drop_front(found[0].size());
  }
  (isError ? llvm::WithColor::error(llvm::errs()) : llvm::WithColor::warning(llvm::errs()))
      << rest << "\n";
  return success();
}

/// Notes what is said while passes run, and leaves most of the saying to others.
static void listen(MLIRContext *context, RunObserver::Findings &findings, bool verifies) {
  if (!verifies)
    hushRemarks(*context);
  context->getDiagEngine().registerHandler([&findings, verifies](Diagnostic &diagnostic) {
    numberOptionError(diagnostic);
    if (diagnostic.getSeverity() == DiagnosticSeverity::Warning)
      ++findings.warnings;
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && !findings.code)
      findings.code = findCode(diagnostic.str());
    return success(!verifies &&
                   succeeded(printWithoutPlace(diagnostic))); // or the next handler does
  });
}

/// Parses, runs and writes `input`, which outlives the call.
static ExitStatus processInput(llvm::MemoryBufferRef input, StringRef outputName,
                               DialectRegistry &registry, const MlirOptMainConfig &config,
                               const CommonOptions &common) {
  setStage("parsing");
  std::optional<BytecodeWatch> watch;
  RunObserver::Findings findings;
  MlirOptMainConfig watched = config;
  watched.setPassPipelineSetupFn([&](PassManager &manager) {
    if (watch)
      watch->end(); // reading is over
    findings.hasParsed = true;
    manager.addInstrumentation(std::make_unique<RunObserver>(findings, common));
    listen(manager.getContext(), findings, config.shouldVerifyDiagnostics());
    // The option's own message has been printed; upstream then reports the failure without words.
    ScopedDiagnosticHandler wordless(manager.getContext(), [](Diagnostic &diagnostic) {
      return success(diagnostic.str().empty());
    });
    if (failed(config.setupPassPipeline(manager)))
      return failure();
    std::string pipeline;
    llvm::raw_string_ostream stream(pipeline);
    manager.printAsTextualPipeline(stream);
    setReproducedPipeline(pipeline);
    const bool looksAtInput = findings.isBytecode || common.maxOps > 0 || common.maxElements > 0;
    if (looksAtInput && manager.empty())
      manager.addPass(std::make_unique<NoPass>());
    return success();
  });
  if (llvm::Error error = checkInput(input, watch))
    return report(std::move(error));
  findings.isBytecode = watch.has_value();
  auto output = OutputFile::open(outputName, ("-o " + outputName).str(), OutputFile::InPlace);
  if (!output)
    return report(output.takeError());
  auto buffer = llvm::MemoryBuffer::getMemBuffer(input);
  if (failed(MlirOptMain((*output)->os(), std::move(buffer), registry, watched)))
    return statusOfFailure(findings);
  if (common.warningsAreErrors && findings.warnings > 0)
    return report(errorOfWarnings(findings.warnings));
  setStage("writing");
  if (llvm::Error error = (*output)->commit())
    return report(std::move(error));
  return ExitStatus::Done;
}

static ExitStatus processFile(StringRef inputName, StringRef outputName, DialectRegistry &registry,
                              const MlirOptMainConfig &config, const InputHooks &hooks, bool import,
                              const CommonOptions &common) {
  if (inputName == "-" && verbosity() != Verbosity::Quiet &&
      llvm::sys::Process::FileDescriptorIsDisplayed(fileno(stdin)))
    llvm::errs() << "(processing input from stdin now, hit ctrl-c/ctrl-d to interrupt)\n";

  FilesOfRun files;
  if (llvm::Error error = noteInput(inputName, inputName, /*mayBeReplaced=*/true))
    return report(std::move(error));
  std::string message;
  setStage("reading " + inputName.str());
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputName, &message);
  if (!input)
    return report(error(ErrorCode::CannotRead, message));
  if (inputName == "-")
    setReproducedInput(input->getBuffer());
  auto model = readForeignModel(inputName);
  if (!model)
    return report(model.takeError());
  ExitStatus status;
  if (*model) {
    status = processInput(**model, outputName, registry, config, common);
  } else if (import) {
    auto imported = hooks.import(*input);
    if (!imported)
      return report(imported.takeError());
    status = processInput(**imported, outputName, registry, config, common);
  } else {
    status = processInput(*input, outputName, registry, config, common);
    if (status != ExitStatus::Done && hooks.explain)
      if (std::string notes = hooks.explain(*input); !notes.empty())
        llvm::errs() << notes << "\n";
  }
  if (status == ExitStatus::Done)
    if (llvm::Error error = files.commit())
      return report(std::move(error));
  return status;
}

int mlir::mp::runOpt(int argc, char **argv, DialectRegistry &registry, const InputHooks &hooks) {
  return runTool("mp-opt", argc, argv, [&](ToolArguments &given) -> int {
    if (llvm::Error error = checkPlugins(given.arguments))
      return int(report(std::move(error)));
    if (std::optional<int> status = answerHelp(given))
      return *status;
    hideForeignOptions();
    registerInfoFlags();
    std::optional<llvm::cl::opt<bool>> import;
    if (hooks.import)
      import.emplace("import", llvm::cl::desc("Translate what exporters and older releases of MLIR "
                                              "leave in the text before parsing it"));
    std::string header = registerCLIOptions("mp: mixed-precision compiler driver", registry);
    OptArguments files;
    if (llvm::Error error = parseArguments("mp-opt", given, header, files))
      return int(report(std::move(error)));
    if (std::optional<int> status = printInfo())
      return *status;
    setFlag("mlir-print-op-on-diagnostic", "false");
    MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
    // The input, and the output of each pass, is verified: not once more to be printed at the end.
    if (config.shouldVerifyOnParsing() && config.shouldVerifyPasses() && !printsBetweenPasses())
      setFlag("mlir-print-assume-verified", "true");
    if (config.shouldShowDialects() || config.shouldListPasses()) {
      // These need no file; upstream's main prints them before it opens any.
      return failed(MlirOptMain(argc, argv, files.input, files.output, registry));
    }
    return int(processFile(files.input, files.output, registry, config, hooks, import && *import,
                           given.common));
  });
}
