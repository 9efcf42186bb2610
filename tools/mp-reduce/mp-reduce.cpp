// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mp/InitAll.h"
#include "mp/ToolSupport/Driver.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  mlir::mp::registerAllDialects(registry);
  mlir::mp::registerAllPasses();
  return mlir::mp::runReduce(argc, argv, registry);
}
