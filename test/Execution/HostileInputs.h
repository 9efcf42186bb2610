// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments that break proofs, if anything does.

#ifndef MP_TEST_EXECUTION_HOSTILEINPUTS_H
#define MP_TEST_EXECUTION_HOSTILEINPUTS_H

#include "mp/Execution/Executable.h"

namespace mlir::mp::test {

/// One array for each argument: huge and tiny, equal within rows, with one outlier, cancelling,
/// zero, infinite, NaN, the same or the negative of an earlier one. Where the argument has a range,
/// numbers of it, its ends above all. Equal draws give equal arrays.
std::vector<Array> drawHostileInputs(const Signature &signature, int64_t dynamicSize, uint64_t seed,
                                     unsigned draw);

/// "2x3xf32=[1 -inf nan][4 5 6]", as mp-run's --input takes it.
std::string literalOf(const Array &array);

} // namespace mlir::mp::test

#endif // MP_TEST_EXECUTION_HOSTILEINPUTS_H
