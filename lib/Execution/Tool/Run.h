// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares one run of mp-run, from parsing to comparison.

#ifndef MP_LIB_EXECUTION_TOOL_RUN_H
#define MP_LIB_EXECUTION_TOOL_RUN_H

#include "../Files/ShardedState.h"
#include "../Steps.h"
#include "../Watch/Monitor.h"
#include "RunFiles.h"
#include "RunOptions.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Execution/Compare/Comparison.h"
#include "mp/Execution/Compare/Trace.h"
#include "mp/Execution/DeviceProgram.h"
#include "mp/Execution/Host/DistributedProgram.h"
#include "mp/Execution/KernelEstimates.h"
#include "mp/Execution/Tool/RunTool.h"
#include "mp/Support/ErrorCode.h"
#include "llvm/Support/MemoryBuffer.h"

#include <set>

namespace mlir::mp {

/// Says how a step of the run ended.
using Status = support::ExitStatus;

/// Prints the error; its number, where it has one, decides the status.
Status reportError(Status status, llvm::Error error);

/// One file, or one precision of it: parsed, traced, compiled.
struct Side {
  OwningOpRef<ModuleOp> module;
  std::vector<TracedValue> traced;
  std::vector<std::string> formats; ///< that the module narrows to
  size_t ownResults = 0;
  size_t appended = 0;      ///< arguments, and results, of state that mp added to a train step
  std::vector<Array> start; ///< arguments of the first step
  std::unique_ptr<Executable> program;
  DeviceProgram *device = nullptr;           ///< `program`, where that runs kernels
  DistributedProgram *distributed = nullptr; ///< `program`, where ranks run it
  std::vector<Array> results;
  std::string memoryPlan; ///< where memory is limited
  Array printed;          ///< numbers, where two sides are compared
  llvm::json::Value trajectory = llvm::json::Object();
  double compileSeconds = 0, runSeconds = 0;
  double leastStepSeconds = 0; ///< of the step that other work on the machine held up least
};

/// One run of mp-run on a module.
class Run {
public:
  Run(RunOptions options, MLIRContext &context, const RunHooks &hooks)
      : options(std::move(options)), context(context), hooks(hooks) {}

  Status go();

private:
  llvm::Expected<OwningOpRef<ModuleOp>> parse(StringRef path);
  llvm::Error prepare();
  std::optional<Status> search();
  llvm::Expected<std::vector<Array>> makeGiven(std::vector<std::string> &notes);
  llvm::Error prepareArguments(std::vector<Array> &arguments);
  Status runMain(std::vector<Array> arguments);
  Status finishAlone();
  Status runReference(ArrayRef<Array> given);
  llvm::Error trace(Side &side);
  llvm::Error compile(Side &side, bool promoteToF64);
  llvm::Error compileForDevice(Side &side);
  llvm::Error compileForRanks(Side &side, const ProgramOptions &programOptions);
  Status calibrateScales(ModuleOp module);
  /// Writes the modules that data improve: smoothed, pruned, rounded.
  llvm::Error convertByData(ModuleOp module);
  Status findBrokenValue(ModuleOp module);
  Status bisectContractions(ModuleOp module);
  Status fitBudget(ModuleOp module);
  Status measureErrors(ModuleOp module);
  Status comparePolicies(ModuleOp module);
  /// The state among the arguments, as it is written and read.
  std::vector<StateArray> stateOf(const Side &side, llvm::ArrayRef<Array> arguments) const;
  /// Replaces the state among the arguments by a saved one, and goes on from its step.
  llvm::Error resume(std::vector<Array> &arguments);
  llvm::Error save(const Side &side, llvm::ArrayRef<Array> arguments, int64_t step) const;
  llvm::Error execute(Side &side, std::vector<Array> arguments, bool tensorCores);
  StepLoop loopOf(const Side &side) const;
  llvm::Expected<std::unique_ptr<Monitor>> openMonitor(const Side &side) const;
  void printDrift();
  void printModels() {
    for (const std::string &model : models)
      llvm::outs() << "arithmetic: " << model << "\n";
  }
  void printKernelReports() const;
  FunctionEstimate estimates() const;
  Status finishSampled();
  llvm::Error writeInputs(ArrayRef<Array> arguments);
  llvm::Error writeOutputs();
  struct Pair {
    std::string label;
    const Array *result, *reference;
    bool isOutput;
    std::optional<numerics::Format> storedAs;
  };
  std::vector<Pair> comparedPairs() const;
  void noteRoundedConstants() const;
  Status printComparison();
  llvm::Error writeTrace();
  llvm::Error writePage();
  Status printBoundCheck(ArrayRef<Array> arguments);
  llvm::Error writeJSON(bool passed);

  RunOptions options;
  RunFiles files;
  MLIRContext &context;
  const RunHooks &hooks;
  Side main, reference;
  std::vector<std::pair<size_t, size_t>> matched;
  std::vector<ErrorReport> outputs, inner;
  std::set<std::string> models; ///< of Tensor Cores, that the CPU followed
  std::vector<BatchedInput> batches;
  uint64_t argumentBytes = 0; ///< of one step
  int64_t firstStep = 0;      ///< of the program; not 0 where it goes on
};

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_TOOL_RUN_H
