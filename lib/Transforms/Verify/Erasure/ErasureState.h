// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State that scaling appends to a function: histories, the scales of the next step, random seeds.
// The erasure checker knows it by its place at the end of arguments and results, and by what alone
// may read it.

#ifndef MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASURESTATE_H
#define MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASURESTATE_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::mp {

/// The number of arguments and results that `converted` has more than `original`.
struct AppendedScaling {
  unsigned arguments = 0, results = 0;
  /// Ops that compute the state and random bits, and that nothing else reads.
  llvm::DenseSet<Operation *> ops;
};

/// Reads it off a function of one block. Fails, with an error, where an argument or result that the
/// original has not is no state of scaling.
FailureOr<AppendedScaling> readAppendedScaling(FunctionOpInterface original,
                                               FunctionOpInterface converted);

/// True for a function that only returns the first values of such state: constants.
bool isInitOfScaling(FunctionOpInterface function);

/// True if both are arguments that every step replaces by the two scales of one `mp.compute_scale`,
/// and begin as reciprocal constants.
bool areThreadedScales(Value encode, Value decode);
/// True if both are constants and one the other's reciprocal, to within two roundings.
bool areReciprocalConstants(Value encode, Value decode);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASURESTATE_H
