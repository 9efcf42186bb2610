// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the promises of a conversion on random graphs: the result verifies, erases to the
// original, is the same in every run and unchanged by a second one, and survives text and bytecode.

#include "RandomGraph.h"
#include "mlir/IR/Verifier.h"
#include "mp/InitAll.h"
#include "mp/Pipelines/Promises.h"
#include "mp/Transforms/Verify/Erasure.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

struct Converter {
  explicit Converter(MLIRContext &context)
      : handler(&context, [&](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            errors += diagnostic.str() + "\n";
          return success();
        }) {}

  /// The phases one by one, each checked.
  LogicalResult convert(ModuleOp module, StringRef format) {
    PassManager manager(module.getContext());
    AssignPrecisionOptions assign;
    assign.format = *mpcore::support::findWord<ContractionFormat>(format);
    manager.addPass(createVerifyInput());
    manager.addPass(createAssignPrecision(assign));
    manager.addPass(createVerifyAssigned());
    manager.addPass(createInsertCasts());
    manager.addPass(createVerifyMaterialized());
    return manager.run(module);
  }
  std::string errors;
  ScopedDiagnosticHandler handler;
};

/// Checks one graph; empty when all holds, else what did not.
std::string checkGraph(MLIRContext &context, uint64_t seed) {
  static constexpr StringLiteral kFormats[] = {"bf16", "f16", "tf32"};
  StringRef format = kFormats[seed % 3];
  Converter converter(context);
  auto original = RandomGraph(&context, seed).build(4 + seed % 29);
  auto fail = [&](StringRef what, ModuleOp module) {
    return what.str() + "\n" + converter.errors + "original:\n" + printModule(*original) +
           "converted:\n" + printModule(module);
  };
  if (failed(verify(*original)))
    return fail("the generator made an invalid graph", *original);

  OwningOpRef<ModuleOp> byPhases = original->clone();
  if (failed(converter.convert(*byPhases, format)))
    return fail("a phase failed", *byPhases);
  if (failed(checkErasure(*original, *byPhases)))
    return fail("the phases' result does not erase to the original", *byPhases);

  MixedPrecisionOptions options;
  options.format = *mpcore::support::findWord<ContractionFormat>(format);
  options.table = false;
  CheckedConversion checked = convertAndCheck(*original, options);
  return checked.broken.empty() ? "" : fail(checked.broken, *checked.converted);
}

void checkSeeds(uint64_t begin, uint64_t end) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  for (uint64_t seed = begin; seed < end; ++seed)
    ASSERT_EQ(checkGraph(context, seed), "") << "seed " << seed;
}

TEST(RandomGraph, KeepsThePromises) { checkSeeds(0, 500); }

TEST(RandomGraph, NightlyKeepsThePromises) { checkSeeds(500, 20000); }

/// The property test means something only if graphs are varied and get narrowed.
TEST(RandomGraph, IsVariedAndGetsNarrowed) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  Converter converter(context);
  llvm::StringMap<unsigned> graphsWith;
  unsigned narrowed = 0, graphs = 200;
  for (uint64_t seed = 0; seed < graphs; ++seed) {
    auto module = RandomGraph(&context, seed).build(20);
    llvm::StringSet<llvm::MallocAllocator> names;
    module->walk([&](Operation *op) { names.insert(op->getName().getStringRef()); });
    for (auto &name : names)
      ++graphsWith[name.getKey()];
    ASSERT_TRUE(succeeded(converter.convert(*module, "bf16"))) << converter.errors;
    narrowed += module->walk([](CastOp) { return WalkResult::interrupt(); }).wasInterrupted();
  }
  for (StringRef name :
       {"linalg.matmul", "linalg.generic", "linalg.softmax", "linalg.transpose", "scf.for",
        "scf.if", "scf.while", "func.call", "cf.cond_br", "tensor.pad", "tensor.insert_slice",
        "arith.constant", "arith.truncf", "tensor.dim", "tosa.matmul", "tosa.conv2d"})
    EXPECT_GE(graphsWith.lookup(name), graphs / 20) << name.str();
  EXPECT_GE(graphsWith.size(), 40u);
  EXPECT_GE(narrowed, graphs * 3 / 4);
}

} // namespace
