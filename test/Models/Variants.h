// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small generated models in many ways, and what conversion promises of each: converted to bf16 and
// f16, verified phase by phase, erased to its original, and converted twice more: a second
// conversion gives the same bytes, one of the result changes nothing. Some are run on the CPU and
// compared with the original in f64.

#ifndef MP_TEST_MODELS_VARIANTS_H
#define MP_TEST_MODELS_VARIANTS_H

#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mp/Execution/Compare/Comparison.h"
#include "mp/Execution/Host/Program.h"
#include "mp/Execution/Inputs.h"
#include "mp/InitAll.h"
#include "mp/Models/Models.h"
#include "mp/Transforms/Verify/Erasure.h"
#include "gtest/gtest.h"

namespace mlir::mp::test {

struct Variant {
  std::string model;
  SmallVector<std::string> words;
};

struct Small {
  StringLiteral model;
  std::vector<StringLiteral> words;
};
inline const Small kSmall[] = {
    {"mlp", {"--layers=3", "--inputs=24", "--hidden=24", "--outputs=24", "--batch=4"}},
    {"bert",
     {"--layers=2", "--hidden=16", "--heads=2", "--seq=8", "--vocab=20", "--intermediate=24"}},
    {"gpt2", {"--layers=2", "--hidden=16", "--heads=2", "--seq=8", "--vocab=20"}},
    {"llama",
     {"--layers=2", "--hidden=16", "--heads=4", "--kv-heads=2", "--seq=8", "--vocab=20",
      "--intermediate=24"}},
    {"vit",
     {"--layers=2", "--hidden=16", "--heads=2", "--image=8", "--patch=4", "--intermediate=24",
      "--classes=5"}}};

/// Every small model in both dialects, in every way of `ways`, with as many seeds as make 50.
inline std::vector<Variant> makeVariants(ArrayRef<std::vector<std::string>> ways) {
  std::vector<Variant> variants;
  for (unsigned seed = 0; variants.size() < 50; ++seed)
    for (const Small &small : kSmall)
      for (StringRef dialect : {"linalg", "tosa"})
        for (const std::vector<std::string> &way : ways) {
          Variant variant{small.model.str(), {}};
          for (StringRef word : small.words)
            variant.words.push_back(word.str());
          variant.words.push_back(("--dialect=" + dialect).str());
          variant.words.push_back("--seed=" + std::to_string(seed));
          llvm::append_range(variant.words, way);
          variants.push_back(std::move(variant));
        }
  return variants;
}

class Variants : public testing::Test {
protected:
  Variants() {
    DialectRegistry registry;
    mlir::registerAllDialects(registry);
    mlir::registerAllExtensions(registry);
    mlir::mp::registerAllDialects(registry);
    registerExecution(registry);
    context.appendDialectRegistry(registry);
    other.appendDialectRegistry(registry);
  }

  OwningOpRef<ModuleOp> build(const Variant &variant) { return build(variant, context); }
  static OwningOpRef<ModuleOp> build(const Variant &variant, MLIRContext &context) {
    auto info = llvm::cantFail(findModel(variant.model));
    SmallVector<StringRef> words(variant.words.begin(), variant.words.end());
    auto options = llvm::cantFail(ModelOptions::parse(*info, words));
    return llvm::cantFail(buildModel(context, *info, options));
  }

  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    return text;
  }

  static LogicalResult convert(ModuleOp module, StringRef format) {
    PassManager manager(module.getContext());
    MixedPrecisionOptions options; // verifies every phase
    options.format = *mpcore::support::findWord<ContractionFormat>(format);
    options.table = false;
    buildMixedPrecisionPipeline(manager, options);
    return manager.run(module);
  }

  /// The promises that need no execution. The converted module, or null. The second conversion has
  /// a context of its own, which its twin was built in, as in another process: names of resources
  /// are unique in one.
  OwningOpRef<ModuleOp> checkPromises(ModuleOp original, ModuleOp twin, StringRef format) {
    OwningOpRef<ModuleOp> converted = original.clone(), again = twin.clone();
    EXPECT_TRUE(succeeded(convert(*converted, format)));
    if (testing::Test::HasFailure())
      return {};
    EXPECT_TRUE(succeeded(verify(*converted)));
    EXPECT_TRUE(succeeded(checkErasure(original, *converted)));
    std::string text = print(*converted);
    EXPECT_TRUE(succeeded(convert(*again, format)));
    EXPECT_TRUE(print(*again) == text) << "a second conversion gives another result";
    EXPECT_TRUE(succeeded(convert(*again, format)));
    EXPECT_TRUE(print(*again) == text) << "conversion changes its own result";
    return converted;
  }

  std::vector<Array> run(ModuleOp module, ArrayRef<Array> inputs, bool inF64) {
    ProgramOptions options;
    options.promoteToF64 = inF64;
    auto program = Program::compile(module, "main", options);
    EXPECT_TRUE(bool(program)) << (program ? "" : llvm::toString(program.takeError()));
    if (!program)
      return {};
    std::vector<Array> given; // in f64 floats come in as f64
    for (auto [input, argument] : llvm::zip_equal(inputs, (*program)->signature().arguments))
      given.push_back(llvm::cantFail(convertTo(input, argument.type)));
    auto results = (*program)->run(given);
    EXPECT_TRUE(bool(results)) << (results ? "" : llvm::toString(results.takeError()));
    return results ? std::move(*results) : std::vector<Array>();
  }

  std::vector<Array> makeInputsOf(ModuleOp module) {
    auto signature = llvm::cantFail(signatureOf(llvm::cantFail(findEntry(module, "main"))));
    InputOptions options;
    options.dynamicSize = 8;
    std::vector<std::string> notes;
    return llvm::cantFail(makeInputs(signature, options, notes));
  }

  /// Largest error of any result, relative to the largest magnitude of that result.
  double errorOf(ArrayRef<Array> found, ArrayRef<Array> expected) {
    EXPECT_EQ(found.size(), expected.size());
    double worst = 0;
    for (auto [x, y] : llvm::zip(found, expected))
      worst = std::max(worst, llvm::cantFail(compareArrays(x, y, "result")).relativeToLargest());
    return worst;
  }

  /// All variants keep the promises; each `stride`-th is run, too.
  void check(ArrayRef<std::vector<std::string>> ways, unsigned stride, unsigned limit = -1u) {
    // 32 units in the last place of the narrow format, for networks of two or three layers.
    const std::pair<StringRef, double> formats[] = {{"bf16", 32.0 / 256}, {"f16", 32.0 / 2048}};
    std::vector<Variant> variants = makeVariants(ways);
    EXPECT_GE(variants.size(), 50u);
    variants.resize(std::min<size_t>(variants.size(), limit));
    unsigned ran = 0;
    for (auto [index, variant] : llvm::enumerate(variants)) {
      SCOPED_TRACE(variant.model + " " + llvm::join(variant.words, " "));
      OwningOpRef<ModuleOp> original = build(variant), twin = build(variant, other);
      std::vector<Array> inputs, expected;
      if (index % stride == 0) {
        inputs = makeInputsOf(*original);
        expected = run(*original, inputs, /*inF64=*/true);
      }
      for (auto [format, bound] : formats) {
        SCOPED_TRACE(format.str());
        OwningOpRef<ModuleOp> converted = checkPromises(*original, *twin, format);
        ASSERT_FALSE(HasFailure());
        if (inputs.empty())
          continue;
        double error = errorOf(run(*converted, inputs, /*inF64=*/false), expected);
        EXPECT_LE(error, bound);
        worst[format] = std::max(worst[format], error);
        ++ran;
      }
      ASSERT_FALSE(HasFailure());
    }
    std::printf("%zu models in bf16 and f16, %u runs; largest error bf16 %.3g, f16 %.3g\n",
                variants.size(), ran, worst["bf16"], worst["f16"]);
  }

  MLIRContext context{MLIRContext::Threading::DISABLED}, other{MLIRContext::Threading::DISABLED};
  llvm::StringMap<double> worst;
};

} // namespace mlir::mp::test

#endif // MP_TEST_MODELS_VARIANTS_H
