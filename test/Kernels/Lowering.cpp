// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lowering.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Pipelines/NVVMPipeline.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<MPDialect>();
  registerKernelsTranslations(registry);
  return registry;
}

Lowered::Lowered(llvm::StringRef text, llvm::StringRef target) : context(makeRegistry()) {
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      error += diagnostic.str() + "\n";
    return success();
  });
  module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module)
    return;
  PassManager pm(&context);
  NVVMPipelineOptions options;
  options.target = target.str();
  buildNVVMPipeline(pm, options);
  if (failed(pm.run(*module)) && error.empty())
    error = "the pipeline failed";
}

llvm::Expected<std::vector<Array>>
mlir::mp::test::runInBothOrders(ModuleOp module, llvm::StringRef function, llvm::ArrayRef<Array> arguments,
                                ::mp::emulator::LaunchStats &stats) {
  std::vector<Array> results[2];
  for (bool reverse : {false, true}) {
    ::mp::emulator::LaunchOptions options;
    options.reverse = reverse;
    auto loaded = EmulatedModule::create(module, options);
    if (!loaded)
      return loaded.takeError();
    auto found = (*loaded)->run(function, arguments);
    if (!found)
      return found.takeError();
    results[reverse] = std::move(*found);
    stats = (*loaded)->stats();
  }
  for (auto [i, forward] : llvm::enumerate(results[0]))
    if (forward.data != results[1][i].data)
      return llvm::createStringError("result " + llvm::Twine(i) + " depends on the order of the threads");
  return std::move(results[0]);
}

std::vector<Array> Lowered::run(llvm::ArrayRef<Array> arguments) {
  auto results = runInBothOrders(*module, "f", arguments, stats);
  if (!results) {
    error = llvm::toString(results.takeError());
    return {};
  }
  return std::move(*results);
}
