// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All ops of the mp dialect, by family.

#ifndef MP_DIALECT_MP_OPS
#define MP_DIALECT_MP_OPS

include "mp/Dialect/MP/MPBase.td"
include "mp/Dialect/MP/MPAttributes.td"
include "mp/Dialect/MP/MPCastOps.td"
include "mp/Dialect/MP/MPTrainingOps.td"

#endif // MP_DIALECT_MP_OPS
