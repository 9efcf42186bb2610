// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lowering.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mp/Execution/Host/Program.h"
#include "mp/InitAll.h"
#include "mp/Numerics/Cast.h"
#include "mp/Pipelines/NVVMPipeline.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

DialectRegistry mlir::mp::test::makeRegistry() {
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::mp::registerAllDialects(registry);
  registerExecution(registry);
  return registry;
}

std::string mlir::mp::test::inlineDispatches(llvm::StringRef text) {
  MLIRContext context(makeRegistry());
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  PassManager manager(&context);
  manager.addNestedPass<func::FuncOp>(createInlineDispatches());
  if (!module || failed(manager.run(*module)))
    return "";
  std::string result;
  llvm::raw_string_ostream stream(result);
  module->print(stream);
  return result;
}

Array mlir::mp::test::drawn(numerics::Format format, llvm::ArrayRef<int64_t> sizes,
                            std::mt19937 &random) {
  Array array(ElementType::floating(format), sizes);
  for (int64_t i = 0; i < array.size(); ++i)
    array.setPattern(
        i, numerics::encode(std::uniform_real_distribution<float>(-1, 1)(random), format));
  return array;
}

Lowered::Lowered(llvm::StringRef text, llvm::StringRef target, llvm::StringRef more)
    : context(makeRegistry()) {
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      error += diagnostic.str() + "\n";
    return success();
  });
  module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module)
    return;
  if (!more.empty()) { // a module with kernels is taken as it is
    PassManager manager(&context);
    NVVMPipelineOptions asked;
    if (failed(asked.parseFromString(("target=" + target + " " + more).str()))) {
      error += ("options that mp-to-nvvm lacks: " + more).str();
      return;
    }
    buildNVVMPipeline(manager, asked);
    if (failed(manager.run(*module)))
      return;
  }
  DeviceOptions options;
  options.chip = target.str();
  options.planBuffers = false; // reads of what nobody wrote are faults
  auto compiled = DeviceProgram::compile(*module, "f", options);
  if (compiled)
    program = std::move(*compiled);
  else
    error += llvm::toString(compiled.takeError());
}

llvm::Expected<std::vector<Array>> mlir::mp::test::runInBothOrders(DeviceProgram &program,
                                                                   llvm::ArrayRef<Array> arguments,
                                                                   emulator::LaunchStats &stats) {
  std::vector<Array> results[2];
  for (bool reverse : {false, true}) {
    program.launchOptions().reverse = reverse;
    auto found = program.run(arguments);
    if (!found)
      return found.takeError();
    results[reverse] = std::move(*found);
    if (reverse)
      break;
    stats = {};
    for (const emulator::KernelCounts &kernel : program.kernels())
      stats.add(kernel.stats);
  }
  for (auto [i, forward] : llvm::enumerate(results[0]))
    if (forward.data != results[1][i].data)
      return llvm::createStringError("result " + llvm::Twine(i) +
                                     " depends on the order of the threads");
  return std::move(results[0]);
}

std::vector<Array> Lowered::run(llvm::ArrayRef<Array> arguments) {
  auto launched = [&] {
    uint64_t count = 0;
    for (const emulator::KernelCounts &kernel : program->kernels())
      count += kernel.launches;
    return count;
  };
  const uint64_t before = launched();
  auto results = runInBothOrders(*program, arguments, stats);
  launches = (launched() - before) / 2; // counts are of both runs
  if (!results) {
    error = llvm::toString(results.takeError());
    return {};
  }
  return std::move(*results);
}
