// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function that ranks run together, called with whole arrays.

#ifndef MP_EXECUTION_HOST_DISTRIBUTEDPROGRAM_H
#define MP_EXECUTION_HOST_DISTRIBUTEDPROGRAM_H

#include "mp/Execution/Host/Program.h"
#include "mp/Runtime/Collectives.h"

namespace mlir::mp {

/// Runs the ranks that this process hosts as threads, and meets those of other processes where an
/// MPI launcher started more than one. Every process is given the whole arguments and gets the
/// whole results.
class DistributedProgram : public Executable {
public:
  /// Counts the ranks that run the function together; nothing if it is for one (no `comm.ranks`).
  static std::optional<int64_t> ranksOf(func::FuncOp function);

  /// Counts the processes that an MPI launcher says it started; nothing without one.
  static std::optional<int> launchedProcesses();

  /// As Program::compile(), for a function with `comm.ranks`. MP_COLLECTIVE_DEADLINE in the
  /// environment says how many seconds a rank waits for the others (600).
  static llvm::Expected<std::unique_ptr<DistributedProgram>>
  compile(ModuleOp module, llvm::StringRef entry, const ProgramOptions &options = {});
  ~DistributedProgram() override;

  /// The types of whole arguments and results.
  const Signature &signature() const override { return types; }
  /// Besides the errors of Program::run(): a rank waited too long, ranks do not exchange the same,
  /// or ranks hold different values of what all hold whole.
  llvm::Expected<std::vector<Array>> run(llvm::ArrayRef<Array> arguments) override;
  /// The largest of the ranks hosted here.
  int64_t peakBytes() const override { return peak; }

  /// The number of this process among them; 0 without a launcher.
  int process() const { return transport ? transport->process : 0; }
  int processes() const { return transport ? transport->processes : 1; }
  /// The dimension along which ranks hold the argument in parts; nothing if they hold it whole.
  std::optional<int64_t> argumentDim(size_t argument) const { return argumentDims[argument]; }
  /// Gives all processes what each brings, as many bytes, in their order.
  llvm::Expected<std::string> gather(llvm::StringRef own);
  /// "4 ranks in 2 processes; ... collectives, ... bytes sent by each rank", and of stages what
  /// they sent to one another. All processes ask.
  llvm::Expected<std::string> summary();

private:
  DistributedProgram() = default;
  /// Gives all processes what one rank alone holds.
  llvm::Expected<Array> fetch(size_t result, int64_t rank,
                              llvm::ArrayRef<std::vector<Array>> outcomes) const;
  llvm::Expected<Array> assemble(size_t result, llvm::ArrayRef<std::vector<Array>> outcomes) const;
  llvm::Error compareProcesses(llvm::ArrayRef<Array> results) const;
  llvm::Error setDeadline();
  llvm::Error fail(llvm::Error error);

  std::unique_ptr<Program> program;
  Signature types;
  /// Dimensions held in parts.
  std::vector<std::optional<int64_t>> argumentDims, resultDims;
  std::vector<std::optional<int64_t>> resultRanks; ///< that alone hold a result
  int64_t ranks = 1, peak = 0;
  double deadline = 600; ///< seconds
  const mp_rt_transport *transport = nullptr;
  mp_rt_group *group = nullptr;
  bool failed = false;
};

} // namespace mlir::mp

#endif // MP_EXECUTION_HOST_DISTRIBUTEDPROGRAM_H
