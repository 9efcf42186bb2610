// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mp/InitAll.h"
#include "mp/ToolSupport/Driver.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::mp::registerAllDialects(registry);
  return mlir::mp::runTool("mp-lsp-server", argc, argv, [&](mlir::mp::ToolArguments &given) -> int {
    mlir::mp::hideForeignOptions();
    return mlir::mp::callForeignMain("mp-lsp-server", given, [&](int count, char **words) {
      return failed(mlir::MlirLspServerMain(count, words, registry));
    });
  });
}
