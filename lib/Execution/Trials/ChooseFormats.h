// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Codes, bf16 or f32 for each contraction with a constant weight, within a measured error.

#ifndef MP_LIB_EXECUTION_TRIALS_CHOOSEFORMATS_H
#define MP_LIB_EXECUTION_TRIALS_CHOOSEFORMATS_H

#include "../Calibration/RoundWeights.h"

namespace mlir::mp {

enum class FactorFormat : uint8_t { Codes, BF16, F32 };

struct FormatTrial {
  size_t number; ///< of the contraction's rows among the factors observed
  std::string function;
  unsigned contraction;  ///< in walk order over the function
  int64_t products;      ///< of weights, each once where weights alone are codes
  double errors[3] = {}; ///< squared, of results, with it alone in a format
  FactorFormat chosen = FactorFormat::F32;
};

struct FormatChoice {
  std::vector<FormatTrial> trials;
  std::vector<RoundedWeight> rounded; ///< those in codes
  double limit, expected, measured;   ///< relative errors of results, root mean square
  int64_t rounds = 0;                 ///< choices that were measured
};

/// Runs `entry` with each such contraction alone in codes and in bf16, and takes the formats of
/// least cost of which the squared errors sum up to at most the limit's. What that gives is
/// measured, and where it is above the limit, less is allowed until it is not. Then weights become
/// codes as `roundWeights` does it, and others have `mp.pin` of their format.
llvm::Expected<FormatChoice> chooseFormats(ModuleOp module, StringRef entry,
                                           const InputOptions &inputs, const WeightCodes &codes,
                                           double limit);

/// Takes a format for each trial; the sum of their errors is at most `limit` (squared).
llvm::Error chooseWithin(MutableArrayRef<FormatTrial> trials, const WeightCodes &codes,
                         double limit);

void printChoice(llvm::raw_ostream &os, const FormatChoice &choice);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_TRIALS_CHOOSEFORMATS_H
