// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the first value of a run that is no number, or that a cast flushes, and how it came about.

#ifndef MP_LIB_EXECUTION_WATCH_BREAKON_H
#define MP_LIB_EXECUTION_WATCH_BREAKON_H

#include "mp/Execution/Inputs.h"
#include "llvm/Support/JSON.h"

namespace mlir::mp {

/// The conditions at which a run stops.
struct BreakCondition {
  bool nan = false, infinity = false;
  std::optional<double> underflow; ///< share of the elements that are not zero and become it

  /// Parses "nan,inf,underflow:0.1", any of them.
  static llvm::Expected<BreakCondition> parse(llvm::StringRef text);
};

/// Sums up what was seen of a value.
struct ValueSummary {
  int64_t elements = 0, nans = 0, infinities = 0, zeros = 0;
  double leastMagnitude = 0, largestMagnitude = 0; ///< finite, not zero; 0 for none

  void print(llvm::raw_ostream &os) const;
};

/// One value of the story: the one that was met first, then back along its operands.
struct BreakFrame {
  std::string op, location, name, type;
  ValueSummary summary;
};

struct BreakReport {
  int64_t step = -1;                ///< -1: nothing was met
  std::string reason;               ///< what was met, with its number
  std::vector<BreakFrame> story;    ///< the value itself first, what it was made of behind
  std::vector<BreakFrame> operands; ///< of the op that made it

  void print(llvm::raw_ostream &os) const;
  llvm::json::Object toJSON() const;
};

/// Runs `steps` steps of a copy of the module on the host in which every float tensor is looked at
/// when it is computed, in loops and called functions, too, and ends behind the first step in which
/// the condition was met. What is looked at is not fused: values are those of --math=libm, op by
/// op.
llvm::Expected<BreakReport> findBreak(ModuleOp module, llvm::StringRef entry,
                                      const BreakCondition &condition, std::vector<Array> arguments,
                                      llvm::ArrayRef<BatchedInput> batches, int64_t steps);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_WATCH_BREAKON_H
