// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves magnitudes from activations to weights, channel by channel, by powers of two: exact.

#ifndef MP_LIB_EXECUTION_CALIBRATION_SMOOTH_H
#define MP_LIB_EXECUTION_CALIBRATION_SMOOTH_H

#include "Calibrate.h"

namespace mlir::mp {

/// Says what was done to one tensor that constant weights multiply.
struct SmoothedTensor {
  std::string function;
  unsigned contraction; ///< the first that reads it, in walk order over the function
  std::string whyNot;   ///< empty: it was smoothed
  double before, after; ///< largest over median magnitude of its channels
};

/// Runs `entry` once for each batch and smooths what it can (SmoothQuant, Xiao et al., arXiv
/// 2211.10438, with powers of two): channel j of a tensor that nothing but contractions with
/// constant weights reads is divided by 2^round(log2(max|X_j|^share / max|W_j|^(1 - share))), the
/// weights are multiplied by it. The division goes into constants that the tensor is computed from,
/// by the algebra of ScalingRule.h; where it does not reach any, as beyond a GELU, the tensor
/// stays.
llvm::Expected<std::vector<SmoothedTensor>>
smoothChannels(ModuleOp module, StringRef entry, const InputOptions &inputs, double share);

void printSmoothed(llvm::raw_ostream &os, ArrayRef<SmoothedTensor> tensors);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_CALIBRATION_SMOOTH_H
