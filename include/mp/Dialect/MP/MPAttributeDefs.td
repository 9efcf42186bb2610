// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every attribute of the mp dialect, for the definitions and the one parser they share.

#ifndef MP_DIALECT_MP_ATTRIBUTE_DEFS
#define MP_DIALECT_MP_ATTRIBUTE_DEFS

include "mp/Dialect/MP/MPOps.td"
include "mp/Dialect/MP/ScalingAttributes.td"

#endif // MP_DIALECT_MP_ATTRIBUTE_DEFS
