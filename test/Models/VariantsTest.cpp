// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// At least 50 generated models of each kind: control flow, calls, dynamic sizes, and graphs that
// are narrow already.

#include "Variants.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

TEST_F(Variants, KeepThePromises) {
  check({{"--control-flow=for"}}, 5, 10);
  check({{"--calls"}}, 5, 10);
}

TEST_F(Variants, SlowControlFlow) {
  check({{"--control-flow=for"}, {"--control-flow=if"}, {"--control-flow=while"}}, 6);
}
TEST_F(Variants, SlowCalls) { check({{"--calls"}}, 10); }
TEST_F(Variants, SlowDynamic) { check({{"--dynamic"}, {"--dynamic", "--control-flow=for"}}, 10); }
TEST_F(Variants, SlowNarrow) {
  check({{"--elements=bf16"}, {"--elements=f16"}, {"--elements=bf16", "--calls"}}, 10);
}

/// Widened inside, a graph of f16 errs less than it did.
TEST_F(Variants, PromotionHelps) {
  for (StringRef dialect : {"linalg", "tosa"}) {
    SCOPED_TRACE(dialect.str());
    Variant variant = {"bert",
                       {"--layers=2", "--hidden=64", "--heads=2", "--seq=32", "--vocab=20",
                        "--intermediate=128", "--elements=bf16", ("--dialect=" + dialect).str()}};
    OwningOpRef<ModuleOp> original = build(variant);
    std::vector<Array> inputs = makeInputsOf(*original);
    std::vector<Array> expected = run(*original, inputs, /*inF64=*/true);
    OwningOpRef<ModuleOp> promoted = checkPromises(*original, *build(variant, other), "bf16");
    ASSERT_TRUE(promoted);
    double before = errorOf(run(*original, inputs, false), expected);
    double after = errorOf(run(*promoted, inputs, false), expected);
    std::printf("%s: error as found %.3g, promoted %.3g\n", dialect.str().c_str(), before, after);
    EXPECT_LT(after, before);
  }
}

} // namespace
