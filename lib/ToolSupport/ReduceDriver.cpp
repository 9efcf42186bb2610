// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-reduce: reads, runs the reduction passes that the command line names, and writes.

#include "CommandLine.h"
#include "ReduceOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Reducer/Passes.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/Files.h"
#include "mp/Support/Progress.h"
#include "mp/ToolSupport/InputCheck.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mpcore::support;

/// An error where a program that is asked of each candidate cannot run.
static llvm::Error checkProgram(StringRef program) {
  if (program.empty())
    return error(ErrorCode::BadOption,
                 "test= names no program: expected one that ends with 1 on a file that fails");
  if (std::error_code code = llvm::sys::fs::access(program, llvm::sys::fs::AccessMode::Execute))
    return error(ErrorCode::CannotRead, "test=" + program + ": cannot run it: " + code.message());
  return llvm::Error::success();
}

/// Reduction passes would end the process there.
static llvm::Error checkPrograms(PassManager &manager) {
  std::string text;
  llvm::raw_string_ostream os(text);
  manager.printAsTextualPipeline(os);
  for (StringRef rest = text; rest.contains("test=");) {
    rest = rest.split("test=").second;
    StringRef program = rest.take_until([](char c) { return c == ' ' || c == '}' || c == ','; });
    if (llvm::Error failed = checkProgram(program))
      return failed;
  }
  return llvm::Error::success();
}

/// Runs the passes. What is wrong with candidates that do not verify is nobody's error; an error is
/// the last that was said.
static llvm::Error runPasses(PassManager &manager, ModuleOp module) {
  std::string last;
  ScopedDiagnosticHandler quiet(module.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      last = diagnostic.str();
    return success();
  });
  if (succeeded(manager.run(module)))
    return llvm::Error::success();
  return llvm::createStringError(
      last.empty() ? "nothing was reduced: expected the program of test= to end with 1 on the "
                     "module as it is"
                   : last);
}

/// Reduces the file of `files` in place of its output.
static llvm::Expected<ExitStatus> reduce(const OptArguments &files, MLIRContext &context,
                                         const PassPipelineCLParser &passes,
                                         const CommonOptions &common, const std::string *test) {
  setStage("reading");
  FilesOfRun run;
  auto text = readFile(files.input, files.input);
  if (!text)
    return text.takeError();
  std::optional<BytecodeWatch> watch;
  if (llvm::Error error = checkInput(**text, watch))
    return std::move(error);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*text), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  auto output = OutputFile::open(files.output, "-o " + files.output);
  if (!output)
    return output.takeError();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module)
    return error(ErrorCode::BadInput, "'" + files.input + "' is not a valid MLIR module");
  bool isBytecode = watch.has_value();
  watch.reset();
  if (llvm::Error error = isBytecode ? checkTypes(*module) : llvm::Error::success())
    return std::move(error);
  if (llvm::Error error = checkModuleSize(*module, common))
    return std::move(error);
  if (test) {
    if (llvm::Error failed = checkProgram(*test))
      return std::move(failed);
    setStage("reducing");
    if (llvm::Error failed = reduceOps(module, *test))
      return std::move(failed);
  }
  PassManager manager(&context, ModuleOp::getOperationName());
  std::string message;
  if (failed(passes.addToPipeline(manager, [&](const llvm::Twine &text) {
        message = text.str();
        return failure();
      })))
    return error(ErrorCode::BadOption, message);
  if (manager.empty() && !test)
    return error(ErrorCode::BadOption,
                 "nothing says how to reduce: expected --test=PROGRAM, or --reduction-tree");
  if (llvm::Error error = checkPrograms(manager))
    return std::move(error);
  setStage("reducing");
  if (llvm::Error failed = runPasses(manager, *module)) {
    llvm::errs() << "mp-reduce: error: " << llvm::toString(std::move(failed)) << "\n";
    return ExitStatus::Failed;
  }
  setStage("writing");
  module->print((*output)->os());
  (*output)->os() << "\n";
  if (llvm::Error error = (*output)->commit())
    return std::move(error);
  if (llvm::Error error = run.commit())
    return std::move(error);
  return ExitStatus::Done;
}

int mlir::mp::runReduce(int argc, char **argv, DialectRegistry &registry) {
  return runTool("mp-reduce", argc, argv, [&](ToolArguments &given) -> int {
    hideForeignOptions();
    registerReducerPasses();
    PassPipelineCLParser passes("", "Reduction passes to run");
    llvm::cl::opt<std::string> test(
        "test", llvm::cl::value_desc("PROGRAM"),
        llvm::cl::desc("Take ops away, halves first, as long as PROGRAM FILE ends with 1"));
    OptArguments files;
    llvm::Error wrong =
        parseArguments("mp-reduce", given, "mp: makes a module that fails smaller\n", files);
    if (!wrong) {
      MLIRContext context(registry);
      auto status = reduce(files, context, passes, given.common,
                           test.getNumOccurrences() > 0 ? &test.getValue() : nullptr);
      if (status)
        return int(*status);
      wrong = status.takeError();
    }
    std::string text = llvm::toString(std::move(wrong));
    llvm::errs() << "mp-reduce: " << text << "\n";
    std::optional<ErrorCode> code = findCode(text);
    return int(code ? statusOf(*code) : ExitStatus::BadInput);
  });
}
