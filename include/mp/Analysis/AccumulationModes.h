// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ways in which a contraction's products may be added up where it runs.

#ifndef MP_ANALYSIS_ACCUMULATIONMODES_H
#define MP_ANALYSIS_ACCUMULATIONMODES_H

#include "mlir/IR/Types.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Domains/Accumulation.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlir::mp {

/// One by one in the format of the result, or on the Tensor Cores of one of `chips` where they take
/// what `factor` stores; f32 is taken as tf32, which it may have been rounded to.
llvm::SmallVector<domains::Accumulation>
getAccumulationModes(Type factor, numerics::Format result,
                     llvm::ArrayRef<numerics::Architecture> chips);

} // namespace mlir::mp

#endif // MP_ANALYSIS_ACCUMULATIONMODES_H
