// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Harnesses of the compiler: text, bytecode, imported text, pipelines, reports, arrays, literals.

#include "../../../lib/Execution/Tool/TensorMapInput.h"
#include "../../../lib/Transforms/Assign/Replay.h"
#include "Harness.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mp/Execution/Files.h"
#include "mp/Execution/Inputs.h"
#include "mp/Import/Import.h"
#include "mp/InitAll.h"
#include "mp/Pipelines/Promises.h"
#include "mp/Proofs/Derivation.h"
#include "mp/Report/Report.h"
#include "mp/ToolSupport/InputCheck.h"
#include "mp/Transforms/Verify/Erasure.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mpcore::fuzz;

/// A context that says nothing, made anew now and then: types and attributes stay until it goes.
/// It is asked for once for each input: the one before takes with it what was read in it.
static MLIRContext &context() {
  static std::unique_ptr<MLIRContext> present;
  static unsigned uses = 0;
  if (!present || ++uses % 500 == 0) {
    DialectRegistry registry;
    mlir::registerAllDialects(registry);
    mlir::mp::registerAllDialects(registry);
    present = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
    present->getDiagEngine().registerHandler([](Diagnostic &) { return success(); });
  }
  return *present;
}

/// A module that is read prints as one that reads back, and a conversion that succeeds keeps its
/// promises.
static void checkModule(ModuleOp module) {
  MLIRContext *context = module.getContext();
  std::string text = printModule(module);
  if (text.size() > 200'000)
    return; // attributes that name each other twice over
  if (!parseSourceString<ModuleOp>(text, ParserConfig(context)))
    broken("what is printed reads back:\n" + text);
  unsigned count = 0;
  bool isConverted = false; // then casts that are marked as inserted belong to the original
  module.walk([&](Operation *op) {
    ++count;
    isConverted |= op->hasAttr("inserted");
  });
  if (count > 500 || isConverted)
    return;
  OwningOpRef<ModuleOp> converted = module.clone();
  PassManager manager(context);
  MixedPrecisionOptions options;
  options.table = false;
  buildMixedPrecisionPipeline(manager, options);
  if (failed(manager.run(*converted)))
    return;
  if (failed(verify(*converted)))
    broken("the result of a conversion verifies:\n" + text);
  if (failed(checkErasure(module, *converted)))
    broken("the result of a conversion erases to the original:\n" + text);
}

/// Parses a copy: upstream's lexer reads the 0 behind a text, which files have and libFuzzer's
/// bytes have not.
static OwningOpRef<ModuleOp> parseCopy(llvm::StringRef text) {
  const std::string ended = text.str();
  return parseSourceString<ModuleOp>(ended, ParserConfig(&context()));
}

static void fuzzText(llvm::StringRef bytes) {
  if (llvm::Error error = checkText(llvm::MemoryBufferRef(bytes, "in"), /*limit=*/256))
    return expectWords(std::move(error));
  if (auto module = parseCopy(bytes))
    checkModule(*module);
}

/// The reader is upstream's; what it crashes on, tools blame on the file (BytecodeWatch).
static void fuzzBytecode(llvm::StringRef bytes) {
  std::string whole = ("ML\xefR" + bytes).str();
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(whole);
  auto module = parseSourceString<ModuleOp>(buffer->getBuffer(), ParserConfig(&context()));
  if (!module)
    return;
  if (llvm::Error error = checkTypes(*module))
    return expectWords(std::move(error));
  checkModule(*module);
}

/// An imported text parses or is refused, and importing it again changes nothing.
static void fuzzImport(llvm::StringRef bytes) {
  if (llvm::Error error = checkText(llvm::MemoryBufferRef(bytes, "in"), /*limit=*/256))
    return expectWords(std::move(error));
  auto imported = importText(llvm::MemoryBufferRef(bytes, "in"));
  if (!imported)
    return expectWords(imported.takeError());
  (void)explainLeftovers((*imported)->getMemBufferRef());
  if (auto module = parseCopy((*imported)->getBuffer()))
    checkModule(*module);
}

static std::string pipelineText(const OpPassManager &manager) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  manager.printAsTextualPipeline(stream);
  return text;
}

/// A pipeline that is read prints as one that reads back as the same. None is run: options name
/// files.
static void fuzzPipeline(llvm::StringRef bytes) {
  static bool registered = (mlir::mp::registerAllPasses(), true);
  (void)registered;
  std::string said;
  llvm::raw_string_ostream stream(said);
  auto manager = parsePassPipeline(bytes, stream);
  if (failed(manager))
    return;
  std::string text = pipelineText(*manager);
  auto again = parsePassPipeline(text, stream);
  if (failed(again))
    broken("a pipeline that is printed reads back: " + text + "\n" + said);
  if (pipelineText(*again) != text)
    broken("a pipeline that is read again prints as it did: " + text);
}

static void fuzzReport(llvm::StringRef bytes) {
  refusedOr(Replay::read(bytes, "report.json"));
  Report report;
  if (llvm::Error error = report.addErrors(bytes))
    expectWords(std::move(error));
}

static void fuzzNpy(llvm::StringRef bytes) {
  auto array = refusedOr(parseNpy(bytes));
  if (!array)
    return;
  auto again = parseNpy(formatNpy(*array));
  if (!again)
    broken("an array that is written reads back: " + llvm::toString(again.takeError()));
  if (again->data.size() != array->data.size())
    broken("an array that is read again has as many bytes");
}

static void fuzzSafetensors(llvm::StringRef bytes) {
  auto file = refusedOr(Safetensors::parse(llvm::MemoryBuffer::getMemBufferCopy(bytes)));
  if (!file)
    return;
  for (const std::string &name : file->names()) {
    if (!file->contains(name))
      broken("a name that is listed is there");
    (void)file->get(name);
  }
}

/// A literal may take as much memory as is free; harnesses have less.
static bool isLarge(llvm::StringRef literal) {
  double elements = 1;
  llvm::SmallVector<llvm::StringRef> parts;
  literal.take_until([](char c) { return c == '=' || c == ':'; }).split(parts, 'x');
  for (llvm::StringRef part : parts) {
    double size;
    if (!part.getAsDouble(size))
      elements *= size;
  }
  return elements > 1e6;
}

static void fuzzInput(llvm::StringRef bytes) {
  if (!isLarge(bytes))
    refusedOr(parseLiteral(bytes));
  if (isTensorMapInput(bytes) && !bytes.starts_with("@"))
    refusedOr(parseTensorMapInput(bytes));
}

std::vector<Harness> mpcore::fuzz::harnesses() {
  return {{"text", fuzzText},
          {"bytecode", fuzzBytecode},
          {"import", fuzzImport},
          {"pipeline", fuzzPipeline},
          {"report", fuzzReport},
          {"npy", fuzzNpy},
          {"safetensors", fuzzSafetensors},
          {"input", fuzzInput}};
}
