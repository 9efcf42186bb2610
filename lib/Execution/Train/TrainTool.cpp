// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the training that a file describes.

#include "mp/Execution/TrainTool.h"

#include "Training.h"
#include "mlir/Parser/Parser.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/Files.h"
#include "mp/Support/Version.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::mp;
using Status = support::ExitStatus;

static constexpr llvm::StringLiteral kHelp =
    R"(mp-train CONFIG.json: train a step, look after it, and go on after a kill (docs/guides/WatchTraining.md)

Exit status: 0 all steps were made, 1 the training was given up, 2 wrong usage or input.
)";

static int fail(llvm::Error error) {
  std::string text = llvm::toString(std::move(error));
  llvm::errs() << "mp-train: error: " << text << "\n";
  std::optional<support::ErrorCode> code = support::findCode(text);
  return int(code ? support::statusOf(*code) : Status::BadInput);
}

int mlir::mp::runTrain(ArrayRef<StringRef> arguments, DialectRegistry &registry,
                       const RunHooks &hooks) {
  if (llvm::is_contained(arguments, "--help")) {
    llvm::outs() << kHelp << "\nOptions of every tool:\n" << hooks.commonHelp;
    return 0;
  }
  if (llvm::is_contained(arguments, "--version")) {
    support::printVersion(llvm::outs());
    return 0;
  }
  if (arguments.size() != 1)
    return fail(llvm::createStringError("expected one file, CONFIG.json; see --help"));
  auto config = TrainConfig::read(arguments.front());
  if (!config)
    return fail(config.takeError());
  registerExecution(registry);
  MLIRContext context(registry);
  context.allowUnregisteredDialects();
  auto buffer = support::readFile(config->step, config->step);
  if (!buffer)
    return fail(buffer.takeError());
  if (llvm::Error error = hooks.checkInput((*buffer)->getMemBufferRef()))
    return fail(std::move(error));
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  context.printOpOnDiagnostic(false);
  OwningOpRef<ModuleOp> step = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!step)
    return fail(llvm::createStringError("'" + config->step + "' is not a valid MLIR module"));
  if (llvm::Error error = hooks.checkModule(*step))
    return fail(std::move(error));
  Training training(std::move(*config), *step);
  auto trained = training.run(llvm::outs());
  if (!trained)
    return fail(trained.takeError());
  return int(*trained ? Status::Done : Status::Failed);
}
