// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entry points that let any mlir-opt load libMP.so with --load-dialect-plugin.

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mp/InitAll.h"
#include "llvm/Config/llvm-config.h"

#define MP_PLUGIN_VERSION "0.1"

extern "C" LLVM_ATTRIBUTE_WEAK
    __attribute__((visibility("default"))) ::mlir::DialectPluginLibraryInfo
    mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "MP", MP_PLUGIN_VERSION, [](::mlir::DialectRegistry *registry) {
            ::mlir::mp::registerAllDialects(*registry);
            ::mlir::mp::registerAllPasses();
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) ::mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "MP", MP_PLUGIN_VERSION,
          [] { ::mlir::mp::registerAllPasses(); }};
}
