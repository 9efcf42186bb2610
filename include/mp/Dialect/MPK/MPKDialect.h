// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mpk dialect: dispatches and schedules (docs/concepts/Dispatches.md).

#ifndef MP_DIALECT_MPK_MPKDIALECT_H
#define MP_DIALECT_MPK_MPKDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "mp/Dialect/MPK/MPKDialect.h.inc"
#include "mp/Dialect/MPK/MPKEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "mp/Dialect/MPK/MPKAttributes.h.inc"

#define GET_OP_CLASSES
#include "mp/Dialect/MPK/MPKOps.h.inc"

#endif // MP_DIALECT_MPK_MPKDIALECT_H
