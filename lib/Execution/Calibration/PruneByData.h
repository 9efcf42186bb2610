// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks of weights by what multiplies them: Wanda (Sun et al., arXiv 2306.11695).

#ifndef MP_LIB_EXECUTION_CALIBRATION_PRUNEBYDATA_H
#define MP_LIB_EXECUTION_CALIBRATION_PRUNEBYDATA_H

#include "Calibrate.h"

namespace mlir::mp {

struct PrunedWeight {
  std::string function;
  unsigned contraction; ///< in walk order over the function
  int64_t channels;     ///< along what is summed over; no multiple of 4: the weight stays
  bool isPruned() const { return channels % 4 == 0; }
};

/// Runs `entry` once for each batch, and lets contractions read their constant weights through an
/// inserted `mp.prune` that keeps 2 of 4 along the channels they sum over, scored by the norm that
/// each channel of the other factor had over all batches.
llvm::Expected<std::vector<PrunedWeight>> pruneByData(ModuleOp module, StringRef entry,
                                                      const InputOptions &inputs);

void printPruned(llvm::raw_ostream &os, ArrayRef<PrunedWeight> weights);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_CALIBRATION_PRUNEBYDATA_H
