// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers the dialects of modules that are asked about.

#include "Dialects.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mp/InitAll.h"

void mlir::mp::registerQueriedDialects(DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  registerAllExtensions(registry);
  mp::registerAllDialects(registry);
}
