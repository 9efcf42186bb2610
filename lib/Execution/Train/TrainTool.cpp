// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the training that a file describes.

#include "mp/Execution/TrainTool.h"

#include "Evaluate.h"
#include "Training.h"
#include "mlir/Parser/Parser.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/Files.h"
#include "mp/Support/Version.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"

#include <cmath>
#include <unistd.h>

using namespace mlir;
using namespace mlir::mp;
using Status = support::ExitStatus;

static constexpr llvm::StringLiteral kTrainHelp =
    R"(mp-train CONFIG.json: train a step, look after it, and go on after a kill (docs/guides/WatchTraining.md)

mp-train --evaluate [--margin=0.01] [--json=R.json] A.jsonl B.jsonl [A2.jsonl B2.jsonl ...]:
compare trainings by their logs: losses, steps to a loss, fluctuation, gradient norms, skips,
alarms, rollbacks and memory of the first pair, and a verdict over all pairs that holds however
often one looks. A difference within the margin, a share of A's loss, does not matter.

Exit status: 0 all steps were made, 1 the training was given up, 2 wrong usage or input.
)";

static int fail(llvm::Error error) {
  std::string text = llvm::toString(std::move(error));
  llvm::errs() << "mp-train: error: " << text << "\n";
  std::optional<support::ErrorCode> code = support::findCode(text);
  return int(code ? support::statusOf(*code) : Status::BadInput);
}

/// Puts a new process of the same command line in the place of this one: CUDA says that a process
/// whose kernel failed has to end. Returns only where that is not possible.
static llvm::Error startAnew() {
  auto words = llvm::MemoryBuffer::getFileAsStream("/proc/self/cmdline");
  if (!words)
    return llvm::createStringError("/proc/self/cmdline: " + words.getError().message());
  std::vector<std::string> owned;
  for (StringRef rest = (*words)->getBuffer(); !rest.empty();) {
    auto [word, others] = rest.split('\0');
    owned.push_back(word.str());
    rest = others;
  }
  std::vector<char *> argv;
  for (std::string &word : owned)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  llvm::outs().flush();
  ::execv("/proc/self/exe", argv.data());
  return llvm::createStringError(std::string("starting anew: ") + strerror(errno));
}

static int evaluate(ArrayRef<StringRef> arguments) {
  support::FilesOfRun files;
  double margin = 0;
  StringRef json;
  SmallVector<StringRef> logs;
  llvm::StringSet<> given;
  for (StringRef argument : arguments) {
    StringRef option = argument.split('=').first;
    if (option.starts_with("-") && !given.insert(option).second)
      return fail(llvm::createStringError("'" + option + "' is given twice; expected it once"));
    if (argument == "--evaluate")
      continue;
    if (argument.consume_front("--json=")) {
      if (argument.empty())
        return fail(llvm::createStringError("--json=: expected the file of the report"));
      json = argument;
    } else if (argument.consume_front("--margin=")) {
      if (argument.getAsDouble(margin) || !(margin > 0) || !std::isfinite(margin))
        return fail(llvm::createStringError("--margin=" + argument +
                                            ": expected a positive share of A's loss"));
    } else if (argument.starts_with("-"))
      return fail(llvm::createStringError("unknown option '" + argument +
                                          "' of --evaluate: expected --margin=X or --json=FILE"));
    else
      logs.push_back(argument);
  }
  support::LateOutput output;
  if (llvm::Error error = output.open(json, ("--json=" + json).str()))
    return fail(std::move(error));
  auto report = evaluateRuns(logs, margin, llvm::outs());
  if (!report)
    return fail(report.takeError());
  if (json.empty())
    return 0;
  llvm::Error error = output.write([&](llvm::raw_ostream &os) {
    os << llvm::formatv("{0:2}", llvm::json::Value(std::move(*report))) << "\n";
  });
  if (!error)
    error = files.commit();
  return error ? fail(std::move(error)) : 0;
}

int mlir::mp::runTrain(ArrayRef<StringRef> arguments, DialectRegistry &registry,
                       const RunHooks &hooks) {
  if (llvm::is_contained(arguments, "--help")) {
    llvm::outs() << kTrainHelp << "\nOptions of every tool:\n" << hooks.commonHelp;
    return 0;
  }
  if (llvm::is_contained(arguments, "--version")) {
    support::printVersion(llvm::outs());
    return 0;
  }
  if (llvm::is_contained(arguments, "--evaluate"))
    return evaluate(arguments);
  for (StringRef word : arguments)
    if (word.starts_with("-"))
      return fail(llvm::createStringError("unknown option '" + word + "'; see --help"));
  if (arguments.size() != 1)
    return fail(llvm::createStringError("expected one file, CONFIG.json; see --help"));
  support::FilesOfRun files;
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
  hooks.hushRemarks(context);
  context.printOpOnDiagnostic(false);
  OwningOpRef<ModuleOp> step = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!step)
    return fail(llvm::createStringError("'" + config->step + "' is not a valid MLIR module"));
  if (llvm::Error error = hooks.checkModule(*step))
    return fail(std::move(error));
  Training training(std::move(*config), *step);
  auto outcome = training.run(llvm::outs());
  if (!outcome)
    return fail(outcome.takeError());
  if (llvm::Error error = files.commit())
    return fail(std::move(error));
  if (*outcome == Training::Outcome::Restart)
    return fail(startAnew());
  return int(*outcome == Training::Outcome::Done ? Status::Done : Status::Failed);
}
