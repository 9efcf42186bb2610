// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mp/Execution/RunTool.h"
#include "mp/InitAll.h"
#include "mp/ToolSupport/Driver.h"
#include "mp/ToolSupport/InputCheck.h"

int main(int argc, char **argv) {
  return mlir::mp::runTool("mp-run", /*crashStatus=*/2, [&] {
    mlir::DialectRegistry registry;
    mlir::registerAllDialects(registry);
    mlir::registerAllExtensions(registry);
    mlir::mp::registerAllDialects(registry);
    return mlir::mp::runRun(argc, argv, registry,
                            [](llvm::MemoryBufferRef text) { return mlir::mp::checkText(text); });
  });
}
