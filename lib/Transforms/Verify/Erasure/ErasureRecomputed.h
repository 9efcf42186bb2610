// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that compute again what another op of their block has computed.

#ifndef MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASURERECOMPUTED_H
#define MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASURERECOMPUTED_H

#include "mlir/IR/Operation.h"
#include "mp/Dialect/MP/Recomputed.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::mp {

/// Pairs the results of `op`, which is marked `mp.recomputed`, with the originals of an op before
/// it that computes the same: free of side effects, with the same attributes, regions and types, on
/// operands that have the same originals without what `strip` takes away. False if there is none,
/// or `op` is not marked.
bool pairWithFirstRun(Operation *op, llvm::DenseMap<Value, Value> &originals,
                      llvm::function_ref<Value(Value)> strip);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASURERECOMPUTED_H
