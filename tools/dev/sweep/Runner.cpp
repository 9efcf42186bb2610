// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runner.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "mp/Analysis/Cost/Sizes.h"
#include "mp/Execution/Compare/Comparison.h"
#include "mp/Execution/DeviceProgram.h"
#include "mp/Execution/Host/BufferEntry.h"
#include "mp/Execution/Host/PrintRecorder.h"
#include "mp/Execution/Host/Program.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

static double elements(Type type, int64_t dynamicSize) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return 1;
  double count = 1;
  for (int64_t size : shaped.getShape())
    count *= ShapedType::isDynamic(size) ? dynamicSize : size;
  return count;
}

/// Operations of one op: multiply-adds of contractions and structured ops, else elements made.
static double workOf(Operation *op, int64_t dynamicSize) {
  if (isa<linalg::LinalgOp>(op) || getOpClass(op) == OpClass::TensorCore)
    return Sizes(dynamicSize).countMultiplyAdds(op);
  double results = 0;
  for (Type type : op->getResultTypes())
    results += elements(type, dynamicSize);
  return results;
}

static double workOf(func::FuncOp function, int64_t dynamicSize) {
  double work = 0;
  function.walk([&](Operation *op) { work += workOf(op, dynamicSize); });
  return work;
}

/// A copy with the function and what it calls alone, so that files of many functions compile in
/// time linear in their number.
static OwningOpRef<ModuleOp> isolate(ModuleOp module, StringRef entry) {
  OwningOpRef<ModuleOp> copy = module.clone();
  for (auto function : copy->getOps<func::FuncOp>())
    if (function.getName() != entry)
      function.setPrivate();
  PassManager manager(module.getContext());
  manager.addPass(createSymbolDCEPass());
  (void)manager.run(*copy);
  return copy;
}

/// The same with arrays for buffers.
static llvm::Expected<OwningOpRef<ModuleOp>> callable(ModuleOp module, StringRef entry) {
  OwningOpRef<ModuleOp> copy = isolate(module, entry);
  if (llvm::Error error = exposeBuffers(*copy, entry))
    return std::move(error);
  return copy;
}

/// Runs a program; what it printed is a further result.
static llvm::Expected<std::vector<Array>> runRecorded(Executable &program,
                                                      ArrayRef<Array> arguments) {
  PrintRecorder recorder(/*quiet=*/true);
  auto results = program.run(arguments);
  if (results)
    results->push_back(recorder.numbers());
  return results;
}

/// Is it a part or another shape of a `tensor.empty`, which has no contents?
static bool isUndefined(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                      tensor::CastOp>(op))
    return isUndefined(op->getOperand(0));
  return isa_and_nonnull<tensor::EmptyOp>(op);
}

/// An op that reads what nothing has written.
static Operation *findUndefinedRead(func::FuncOp function) {
  Operation *found = nullptr;
  function.walk([&](linalg::LinalgOp op) {
    for (OpOperand &operand : op->getOpOperands())
      if (op.payloadUsesValueFromOperand(&operand) && isUndefined(operand.get()))
        found = op;
  });
  return found;
}

const Runner::Reference &Runner::reference(StringRef entry, bool inF64) {
  auto [it, isNew] = references.try_emplace({entry.str(), inF64});
  Reference &reference = it->second;
  if (!isNew)
    return reference;
  auto skip = [&](const Twine &why) -> const Reference & {
    reference.skipped = why.str();
    return reference;
  };
  auto function = findEntry(original, entry);
  if (!function)
    return skip(llvm::toString(function.takeError()));
  double work = workOf(*function, inputs.dynamicSize);
  if (work > maxWork)
    return skip(llvm::formatv("{0:e2} operations, limit {1:e2}", work, maxWork));
  if (Operation *reader = findUndefinedRead(*function))
    return skip("'" + reader->getName().getStringRef() + "' reads the contents of a tensor.empty");
  auto module = callable(original, entry);
  if (!module)
    return skip(llvm::toString(module.takeError()));
  auto signature = signatureOf(*findEntry(**module, entry));
  if (!signature)
    return skip(llvm::toString(signature.takeError()));
  std::vector<std::string> notes;
  auto arguments = makeInputs(*signature, inputs, notes);
  if (!arguments)
    return skip(llvm::toString(arguments.takeError()));
  reference.arguments = std::move(*arguments);
  ProgramOptions options;
  options.promoteToF64 = inF64;
  auto program = Program::compile(**module, entry, options);
  if (!program)
    return skip(llvm::toString(program.takeError()));
  std::vector<Array> given; // in f64, floats come in as f64
  for (auto [argument, wanted] :
       llvm::zip_equal(reference.arguments, (*program)->signature().arguments)) {
    auto converted = convertTo(argument, wanted.type);
    if (!converted)
      return skip(llvm::toString(converted.takeError()));
    given.push_back(std::move(*converted));
  }
  auto results = runRecorded(**program, given);
  if (!results)
    return skip(llvm::toString(results.takeError()));
  if (results->size() == 1 && results->front().size() == 0)
    return skip("returns, writes and prints nothing");
  // A result that the function's own type cannot hold is no error of the conversion.
  for (auto [result, wanted] : llvm::zip(*results, signature->results)) {
    auto held = convertTo(std::move(result), wanted.type);
    if (!held)
      return skip(llvm::toString(held.takeError()));
    result = std::move(*held);
  }
  reference.results = std::move(*results);
  return reference;
}

std::vector<RunOutcome> Runner::compareRuns(Compile compile, StringRef what, bool inF64) {
  std::vector<RunOutcome> outcomes;
  for (auto function : original.getOps<func::FuncOp>()) {
    if (function.isExternal() || function.isPrivate())
      continue;
    RunOutcome &outcome = outcomes.emplace_back();
    outcome.entry = function.getName();
    const Reference &expected = reference(outcome.entry, inF64);
    outcome.skipped = expected.skipped;
    if (!outcome.skipped.empty())
      continue;
    auto fail = [&](llvm::Error error) {
      outcome.skipped = (what + ": " + llvm::toString(std::move(error))).str();
      outcome.failed = true;
    };
    auto program = compile(outcome.entry);
    if (!program) {
      fail(program.takeError());
      continue;
    }
    auto results = runRecorded(**program, expected.arguments);
    if (!results) {
      fail(results.takeError());
      continue;
    }
    for (auto [result, wanted] : llvm::zip_equal(*results, expected.results)) {
      auto report = compareArrays(result, wanted, "result");
      if (!report) {
        fail(report.takeError());
        break;
      }
      double error = report->isFloat || report->stats.equal()
                         ? report->relativeToLargest()
                         : std::numeric_limits<double>::infinity();
      outcome.error = std::max(outcome.error, error);
    }
  }
  return outcomes;
}

std::vector<RunOutcome> Runner::compare(ModuleOp converted, bool inF64) {
  return compareRuns(
      [&](StringRef entry) -> llvm::Expected<std::unique_ptr<Executable>> {
        auto module = callable(converted, entry);
        if (!module)
          return module.takeError();
        return Program::compile(**module, entry);
      },
      "after conversion", inF64);
}

llvm::Expected<std::unique_ptr<Executable>> Runner::onEmulator(StringRef entry, StringRef chip,
                                                               std::optional<bool> dispatches) {
  auto module = callable(original, entry);
  if (!module)
    return module.takeError();
  DeviceOptions options;
  options.chip = chip.str();
  options.dispatches = dispatches;
  return DeviceProgram::compile(**module, entry, options);
}

std::vector<RunOutcome> Runner::emulate(StringRef chip) {
  return compareRuns(
      [&](StringRef entry) { return onEmulator(entry, chip, /*dispatches=*/std::nullopt); },
      "on the emulator", /*inF64=*/false);
}

std::vector<RunOutcome> Runner::compareRoutes(StringRef chip) {
  // The host says which functions have defined results, and gives inputs to run them on.
  std::vector<RunOutcome> outcomes = emulate(chip);
  for (RunOutcome &outcome : outcomes) {
    if (!outcome.skipped.empty())
      continue;
    const std::vector<Array> &arguments = reference(outcome.entry, /*inF64=*/false).arguments;
    std::vector<Array> results[2];
    for (bool dispatches : {false, true}) {
      auto program = onEmulator(outcome.entry, chip, dispatches);
      auto run = program ? runRecorded(**program, arguments) : program.takeError();
      if (!run) {
        outcome.skipped = llvm::toString(run.takeError());
        outcome.failed = true;
        break;
      }
      results[dispatches] = std::move(*run);
    }
    const bool same = llvm::equal(results[0], results[1],
                                  [](const Array &x, const Array &y) { return x.data == y.data; });
    outcome.error = same ? 0 : std::numeric_limits<double>::infinity();
  }
  return outcomes;
}
