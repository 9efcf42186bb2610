// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts a module in several ways and compares the results with what conversion promises.

#include "mp/Pipelines/Promises.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mp/Transforms/Verify/Erasure.h"
#include "llvm/Support/MemoryBuffer.h"

#include <chrono>

using namespace mlir;
using namespace mlir::mp;

std::string mlir::mp::printModule(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().useLocalScope().assumeVerified());
  return text;
}

/// Bytecode, placed as a file is in memory: resources are aligned within it.
static std::unique_ptr<llvm::MemoryBuffer> bytecodeOf(ModuleOp module) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  (void)writeBytecodeToFile(module, stream);
  const llvm::Align page(4096);
  auto buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(bytes.size(), "bytecode", page);
  llvm::copy(bytes, buffer->getBufferStart());
  return buffer;
}

static LogicalResult runPipeline(ModuleOp module, const MixedPrecisionOptions &options,
                                 std::shared_ptr<Report> report = nullptr) {
  PassManager manager(module.getContext());
  manager.enableVerifier(false);
  buildMixedPrecisionPipeline(manager, options, std::move(report));
  return manager.run(module);
}

/// An f32 contraction without a word on why it stayed wide; empty if there is none.
static std::string findUnexplained(const Report &report) {
  for (const OpRow &row : report.getOps()) {
    bool explained = row.by != "class" || row.reason != stringifyOpClass(row.opClass);
    if (row.opClass == OpClass::TensorCore && !row.narrowed && row.compute == "f32" && !explained)
      return "no reason why " + row.op + " in @" + row.function + " (" + row.location +
             ") stays f32";
  }
  return "";
}

CheckedConversion mlir::mp::convertAndCheck(ModuleOp original,
                                            const MixedPrecisionOptions &options) {
  CheckedConversion result;
  std::string errors;
  auto note = [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && errors.size() < 2000)
      errors += "\n" + diagnostic.str();
    return success();
  };
  ScopedDiagnosticHandler handler(original.getContext(), note);
  auto broke = [&](StringRef what) {
    result.broken = what.str() + errors;
    return std::move(result);
  };

  auto report = std::make_shared<Report>();
  result.converted = original.clone();
  auto start = std::chrono::steady_clock::now();
  LogicalResult converted = runPipeline(*result.converted, options, report);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.report = *report;
  if (failed(converted))
    return broke("the pipeline failed");
  if (failed(verify(*result.converted)))
    return broke("the result does not verify");
  if (failed(checkErasure(original, *result.converted)))
    return broke("the result does not erase to the original");
  if (std::string why = findUnexplained(result.report); !why.empty())
    return broke(why);

  std::string text = printModule(*result.converted);
  OwningOpRef<ModuleOp> again = original.clone();
  if (failed(runPipeline(*again, options)) || printModule(*again) != text)
    return broke("a second conversion gives another result");
  again = result.converted->clone();
  if (failed(runPipeline(*again, options)) || printModule(*again) != text)
    return broke("the pipeline changes its own result");
  // In a context of its own, where names of resources are free.
  auto survives = [&](StringRef written) {
    MLIRContext fresh(original.getContext()->getDialectRegistry(),
                      MLIRContext::Threading::DISABLED);
    fresh.allowUnregisteredDialects(original.getContext()->allowsUnregisteredDialects());
    ScopedDiagnosticHandler handler(&fresh, note);
    OwningOpRef<ModuleOp> read = parseSourceString<ModuleOp>(written, ParserConfig(&fresh));
    return read && printModule(*read) == text;
  };
  if (!survives(text))
    return broke("text does not survive");
  if (!survives(bytecodeOf(*result.converted)->getBuffer()))
    return broke("bytecode does not survive");
  return result;
}
