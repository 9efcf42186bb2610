// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mp/Execution/TrainTool.h"
#include "mp/InitAll.h"
#include "mp/ToolSupport/Driver.h"
#include "mp/ToolSupport/InputCheck.h"

using namespace mlir;
using namespace mlir::mp;

int main(int argc, char **argv) {
  return runTool("mp-train", argc, argv, [](ToolArguments &given) {
    DialectRegistry registry;
    mlir::registerAllDialects(registry);
    registerAllExtensions(registry);
    mp::registerAllDialects(registry);
    std::optional<BytecodeWatch> watch;
    auto checkModule = [&](Operation *module) {
      watch.reset(); // it is read
      return checkModuleSize(module, given.common);
    };
    auto checkBuffer = [&](llvm::MemoryBufferRef buffer) { return checkInput(buffer, watch); };
    SmallVector<StringRef> words(given.arguments.begin(), given.arguments.end());
    return runTrain(
        words, registry,
        {checkBuffer, checkModule, commonHelp(), given.common.warningsAreErrors, hushRemarks});
  });
}
