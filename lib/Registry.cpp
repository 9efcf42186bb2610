// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers what contexts of the C API know, and has the tools as functions: the part of libMP that
// sees all rooms.

#include "CAPI/Handles.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mp/Execution/Host/Program.h"
#include "mp/Execution/Tool/RunTool.h"
#include "mp/Import/Import.h"
#include "mp/InitAll.h"
#include "mp/ToolSupport/Driver.h"
#include "mp/ToolSupport/InputCheck.h"

#include <mutex>

using namespace mlir;
using namespace mlir::mp;

/// Passes of MLIR and of mp, at the first call. A plugin host or a tool may have registered its
/// own.
static void registerPassesOnce() {
  static std::once_flag flag;
  std::call_once(flag, [] {
    mlir::registerAllPasses();
    mlir::mp::registerAllPasses();
  });
}

static void insertAll(DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  registerAllExtensions(registry);
  mlir::mp::registerAllDialects(registry);
}

const DialectRegistry &capi::contextRegistry() {
  static const DialectRegistry registry = [] {
    DialectRegistry all;
    insertAll(all);
    registerExecution(all);
    return all;
  }();
  registerPassesOnce();
  return registry;
}

static int runMain(int argc, char **argv) {
  return runTool("mp-run", argc, argv, [](ToolArguments &given) {
    DialectRegistry registry;
    insertAll(registry);
    std::optional<BytecodeWatch> watch;
    auto checkModule = [&](Operation *module) {
      bool isBytecode = watch.has_value();
      watch.reset(); // it is read
      llvm::Error wrong = isBytecode ? checkTypes(module) : llvm::Error::success();
      return wrong ? std::move(wrong) : checkModuleSize(module, given.common);
    };
    auto checkBuffer = [&](llvm::MemoryBufferRef buffer) { return checkInput(buffer, watch); };
    SmallVector<StringRef> words(given.arguments.begin(), given.arguments.end());
    return runRun(
        words, registry,
        {checkBuffer, checkModule, commonHelp(), given.common.warningsAreErrors, hushRemarks});
  });
}

static int optMain(int argc, char **argv) {
  DialectRegistry registry;
  insertAll(registry);
  registerPassesOnce();
  return runOpt(argc, argv, registry, {importText, explainLeftovers});
}

extern "C" int mp_tool_main(const char *tool, int argc, char **argv) {
  StringRef name = tool ? tool : "";
  if (argc > 0 && argv && name == "mp-opt")
    return optMain(argc, argv);
  if (argc > 0 && argv && name == "mp-run")
    return runMain(argc, argv);
  llvm::errs() << "mp_tool_main: tool is '" << name << "', expected mp-opt or mp-run, with argv\n";
  return 2;
}
