// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-opt: upstream's core between our own input and output.

#include "CrashGuard.h"
#include "InfoFlags.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mp/ToolSupport/Driver.h"
#include "mp/ToolSupport/InputCheck.h"
#include "mp/ToolSupport/OutputFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace mlir::mp;

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

static int report(const llvm::Twine &message) {
  llvm::errs() << "mp-opt: " << message << "\n";
  return 1;
}

static int report(llvm::Error error) { return report(llvm::toString(std::move(error))); }

/// Parses, runs and writes `input`, which outlives the call.
static int processInput(llvm::MemoryBufferRef input, StringRef outputName,
                        DialectRegistry &registry, const MlirOptMainConfig &config) {
  std::optional<BytecodeWatch> watch;
  MlirOptMainConfig watched = config;
  if (isBytecode(input)) {
    // Reading takes under 10 s for a hundred megabytes. Once there are passes to run, it is over.
    watch.emplace(input, 10 + input.getBufferSize() / 10'000'000);
    watched.setPassPipelineSetupFn([&](PassManager &manager) {
      watch->end();
      return config.setupPassPipeline(manager);
    });
  } else if (llvm::Error error = checkText(input)) {
    return report(std::move(error));
  }
  auto output = OutputFile::open(outputName);
  if (!output)
    return report(output.takeError());
  auto buffer = llvm::MemoryBuffer::getMemBuffer(input);
  if (failed(MlirOptMain((*output)->os(), std::move(buffer), registry, watched)))
    return 1;
  if (llvm::Error error = (*output)->commit())
    return report(std::move(error));
  return 0;
}

static int processFile(StringRef inputName, StringRef outputName, DialectRegistry &registry,
                       const MlirOptMainConfig &config, const InputHooks &hooks, bool import) {
  if (inputName == "-" && llvm::sys::Process::FileDescriptorIsDisplayed(fileno(stdin)))
    llvm::errs() << "(processing input from stdin now, hit ctrl-c/ctrl-d to interrupt)\n";

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputName, &message);
  if (!input)
    return report(message);
  if (import) {
    auto imported = hooks.import(*input);
    if (!imported)
      return report(imported.takeError());
    return processInput(**imported, outputName, registry, config);
  }
  int status = processInput(*input, outputName, registry, config);
  if (status != 0 && hooks.explain)
    if (std::string notes = hooks.explain(*input); !notes.empty())
      llvm::errs() << notes << "\n";
  return status;
}

int mlir::mp::runOpt(int argc, char **argv, DialectRegistry &registry, const InputHooks &hooks) {
  return runTool("mp-opt", /*crashStatus=*/1, [&]() -> int {
    if (llvm::Error error = checkPlugins(llvm::ArrayRef(argv, argc).drop_front()))
      return report(std::move(error));
    llvm::cl::SetVersionPrinter(printVersion);
    hideForeignOptions();
    registerInfoFlags();
    std::optional<llvm::cl::opt<bool>> import;
    if (hooks.import)
      import.emplace("import", llvm::cl::desc("Translate what exporters and older releases of MLIR "
                                              "leave in the text before parsing it"));
    std::string header = registerCLIOptions("mp: mixed-precision compiler driver", registry);
    auto [inputName, outputName] = parseCLIOptions(argc, argv, header);
    if (std::optional<int> status = printInfo())
      return *status;
    setFlag("mlir-print-op-on-diagnostic", "false");
    MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
    // The input, and the output of each pass, is verified: not once more to be printed at the end.
    if (config.shouldVerifyOnParsing() && config.shouldVerifyPasses() && !printsBetweenPasses())
      setFlag("mlir-print-assume-verified", "true");
    if (config.shouldShowDialects() || config.shouldListPasses()) {
      // These need no file; upstream's main prints them before it opens any.
      return failed(MlirOptMain(argc, argv, inputName, outputName, registry));
    }
    return processFile(inputName, outputName, registry, config, hooks, import && *import);
  });
}
