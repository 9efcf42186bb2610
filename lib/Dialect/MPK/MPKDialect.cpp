// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the mpk dialect.

#include "mp/Dialect/MPK/MPKDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mp::mpk;

#include "mp/Dialect/MPK/MPKDialect.cpp.inc"
#include "mp/Dialect/MPK/MPKEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "mp/Dialect/MPK/MPKAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "mp/Dialect/MPK/MPKOps.cpp.inc"

void MPKDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "mp/Dialect/MPK/MPKOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "mp/Dialect/MPK/MPKAttributes.cpp.inc"
      >();
}
