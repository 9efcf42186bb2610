// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masters of narrow parameters. A header of its own: few files need it.

#ifndef MP_DIALECT_MP_MASTERS_H
#define MP_DIALECT_MP_MASTERS_H

#include "mp/Dialect/MP/MPDialect.h"

#define GET_OP_CLASSES
#include "mp/Dialect/MP/MasterOps.h.inc"

#endif // MP_DIALECT_MP_MASTERS_H
