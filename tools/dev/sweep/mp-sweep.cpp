// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts files and checks what conversion promises, all in one process: one line of JSON per file
// (or part of a file between `// -----` lines) and format. tools/dev/sweep/corpus-sweep.py and
// adversarial.py make tables of it.
//
//   mp-sweep [--formats=f16,bf16] [--run] [--max-work=N] [--dim=N] FILE...
//   mp-sweep --emulate=sm_80 [--max-work=N] [--dim=N] FILE...
//   mp-sweep --routes=sm_80 [--max-work=N] [--dim=N] FILE...
//   mp-sweep --proofs FILE...
//
// With --run every public function runs before and after (before in f64, if the conversion widens a
// graph that is narrow already), on seeded inputs or on those of the
// file's comment lines `// INPUT: ...`, one per argument, in the form of mp-run's --input. Before a
// file is touched its name goes to standard error, so that a crash can be blamed. With --emulate
// nothing is converted: every public function runs on the host and, as kernels for that chip, in
// the emulator. With --routes it runs there as kernels of dispatches and with a kernel for each op;
// an error of 0 means that both give the same bits. With --proofs files are only decided, for f16:
// what factors rest on is counted, and what is proved is derived again by the checker of
// lib/Proofs.

#include "Runner.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mp/InitAll.h"
#include "mp/Pipelines/Promises.h"
#include "mp/Proofs/Checker.h"
#include "mp/ToolSupport/Driver.h"
#include "mp/Transforms/Assign/Passes.h"
#include "mp/Transforms/Verify/Derivations.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::mp;

namespace {
struct Options {
  std::vector<StringRef> formats = {"f16", "bf16"};
  std::vector<StringRef> files;
  StringRef chip; ///< of the emulator
  bool routes = false;
  bool run = false;
  bool proofs = false;
  double maxWork = 2e9;
  int64_t dim = 16;
};
} // namespace

static std::optional<Options> parseOptions(int argc, char **argv) {
  Options options;
  for (StringRef argument : ArrayRef(argv + 1, argc - 1)) {
    StringRef value = argument;
    bool good = true;
    if (value.consume_front("--formats=")) {
      SmallVector<StringRef> formats;
      value.split(formats, ',');
      options.formats.assign(formats.begin(), formats.end());
    } else if (value.consume_front("--emulate=")) {
      options.chip = value;
    } else if (value.consume_front("--routes=")) {
      options.chip = value;
      options.routes = true;
    } else if (argument == "--run") {
      options.run = true;
    } else if (argument == "--proofs") {
      options.proofs = true;
    } else if (value.consume_front("--max-work=")) {
      good = !value.getAsDouble(options.maxWork);
    } else if (value.consume_front("--dim=")) {
      good = !value.getAsInteger(10, options.dim);
    } else if (value.starts_with("--")) {
      good = false;
    } else {
      options.files.push_back(argument);
    }
    if (!good) {
      llvm::errs() << "mp-sweep: '" << argument
                   << "' is no option of mp-sweep, or lacks a number\n";
      return std::nullopt;
    }
  }
  return options;
}

static llvm::json::Object describe(const Report &report) {
  int64_t contractions = 0, narrowed = 0;
  llvm::json::Object wide;
  for (const OpRow &row : report.getOps()) {
    if (row.opClass != OpClass::TensorCore)
      continue;
    ++contractions;
    narrowed += row.narrowed;
    if (!row.narrowed)
      wide[row.reason] = wide.getInteger(row.reason).value_or(0) + 1;
  }
  llvm::json::Object idioms;
  for (const IdiomRow &row : report.getIdioms())
    idioms[row.kind] = idioms.getInteger(row.kind).value_or(0) + 1;
  return llvm::json::Object{
      {"idioms", std::move(idioms)},  {"ops", int64_t(report.getOps().size())},
      {"contractions", contractions}, {"narrowed", narrowed},
      {"wide", std::move(wide)},      {"casts", int64_t(report.getCasts().size())}};
}

static llvm::json::Array describe(ArrayRef<RunOutcome> outcomes) {
  llvm::json::Array runs;
  for (const RunOutcome &outcome : outcomes) {
    llvm::json::Object run{{"entry", outcome.entry}};
    if (outcome.failed)
      run["failed"] = true;
    if (!outcome.skipped.empty())
      run["skipped"] = outcome.skipped;
    else if (std::isfinite(outcome.error))
      run["error"] = outcome.error;
    else
      run["error"] = "inf";
    runs.push_back(std::move(run));
  }
  return runs;
}

/// The comment lines `// INPUT: ...`.
static std::vector<std::string> findInputs(StringRef text) {
  std::vector<std::string> inputs;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines)
    if (line.consume_front("// INPUT: "))
      inputs.push_back(line.trim().str());
  return inputs;
}

static bool isPromoted(const Report &report) {
  return llvm::any_of(report.getOps(), [](const OpRow &row) { return row.promoted; });
}

/// Tells what the contractions that f16 computes rest on, and what the checker says of the proofs.
static llvm::json::Object checkProofs(ModuleOp module) {
  AssignPrecisionOptions assign;
  assign.format = ContractionFormat::F16;
  PassManager manager(module.getContext());
  manager.addPass(createAssignPrecision(assign));
  if (failed(manager.run(module)))
    return llvm::json::Object{{"broken", "not decided"}};
  Report report;
  report.collectDecisions(module);
  llvm::json::Object evidence;
  for (const OpRow &row : report.getOps())
    if (row.narrowed)
      evidence[row.evidence] = evidence.getInteger(row.evidence).value_or(0) + 1;
  proofs::CheckResult result = proofs::checkDerivation(module, deriveProofs(module));
  llvm::json::Object unknown;
  for (const auto &[name, count] : result.unknownOps)
    unknown[name] = int64_t(count);
  llvm::json::Object line = describe(report);
  line["evidence"] = std::move(evidence);
  line["claims"] = llvm::json::Object{{"confirmed", int64_t(result.confirmed)},
                                      {"not checked", int64_t(result.notChecked)},
                                      {"refused", int64_t(result.refused)}};
  line["factors"] = llvm::json::Object{{"confirmed", int64_t(result.conclusions)},
                                       {"not checked", int64_t(result.openConclusions)},
                                       {"refused", int64_t(result.refusedConclusions)}};
  line["unknown"] = std::move(unknown);
  return line;
}

/// Sweeps one of the modules that `// -----` lines part.
static void sweepModule(StringRef text, StringRef file, const Options &options,
                        const DialectRegistry &registry) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  std::string errors;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && errors.size() < 1000)
      errors += diagnostic.str() + "\n";
    return success();
  });
  auto emit = [&](llvm::json::Object line) {
    line["file"] = file;
    llvm::outs() << llvm::json::Value(std::move(line)) << "\n";
    llvm::outs().flush();
  };
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context), file);
  if (!module)
    return emit(llvm::json::Object{{"unread", errors}});
  if (options.proofs) {
    llvm::json::Object line = checkProofs(*module);
    line["format"] = "f16";
    line["errors"] = errors;
    return emit(std::move(line));
  }
  InputOptions inputs;
  inputs.inputs = findInputs(text);
  inputs.dynamicSize = options.dim;
  Runner runner(*module, inputs, options.maxWork);
  if (!options.chip.empty())
    return emit(
        llvm::json::Object{{"runs", describe(options.routes ? runner.compareRoutes(options.chip)
                                                            : runner.emulate(options.chip))}});
  for (StringRef format : options.formats) {
    MixedPrecisionOptions conversion;
    conversion.format = *mpcore::support::findWord<ContractionFormat>(format);
    conversion.table = false;
    CheckedConversion checked = convertAndCheck(*module, conversion);
    llvm::json::Object line = describe(checked.report);
    line["format"] = format;
    line["seconds"] = checked.seconds;
    if (!checked.broken.empty())
      line["broken"] = checked.broken;
    else if (options.run)
      line["runs"] = describe(runner.compare(*checked.converted, isPromoted(checked.report)));
    emit(std::move(line));
  }
}

static void sweepFile(StringRef file, const Options &options, const DialectRegistry &registry) {
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer) {
    llvm::outs() << llvm::json::Value(
                        llvm::json::Object{{"file", file}, {"unread", buffer.getError().message()}})
                 << "\n";
    return;
  }
  SmallVector<StringRef> modules;
  (*buffer)->getBuffer().split(modules, "\n// -----");
  for (StringRef text : modules)
    sweepModule(text, file, options, registry);
}

int main(int argc, char **argv) {
  return runTool("mp-sweep", argc, argv, [&](ToolArguments &) {
    std::optional<Options> options = parseOptions(argc, argv);
    if (!options)
      return 2;
    DialectRegistry registry;
    mlir::registerAllDialects(registry);
    mlir::registerAllExtensions(registry);
    mlir::mp::registerAllDialects(registry);
    registerExecution(registry);
    for (StringRef file : options->files) {
      llvm::errs() << file << "\n";
      sweepFile(file, *options, registry);
    }
    return 0;
  });
}
