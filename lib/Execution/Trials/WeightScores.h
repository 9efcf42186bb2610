// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures how much results mind that weights are stored narrower: by noise of that size, and by
// the curvature of the loss.

#ifndef MP_LIB_EXECUTION_TRIALS_WEIGHTSCORES_H
#define MP_LIB_EXECUTION_TRIALS_WEIGHTSCORES_H

#include "Trials.h"
#include "mp/Assignment/MeasuredErrors.h"

namespace mlir::mp {

/// Returns a row for each parameter of two dimensions or more, by formats as `format=` takes them.
///
/// Noise: W becomes W * (1 + e n), with n of variance one, and e such that the noise is as large as
/// what rounding W to the format changes. What moves are the results that are no state.
///
/// Curvature, where the program is a train step whose gradients can be found: v . (g(W + hv) -
/// g(W - hv)) / 2h with v of +1 and -1, one v a draw, which is on average the trace of W's block of
/// the Hessian (Hutchinson); h is a hundredth of W's root mean square. The second-order score of a
/// format is half the mean curvature of an element times the square of what rounding changes: the
/// loss that it is expected to cost.
llvm::Expected<std::vector<assignment::MeasuredWeight>>
measureWeights(ModuleOp source, llvm::StringRef entry, const Trials &trials, const TrialData &data,
               llvm::ArrayRef<std::string> formats);

void printWeights(llvm::raw_ostream &os, llvm::ArrayRef<assignment::MeasuredWeight> weights);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_TRIALS_WEIGHTSCORES_H
