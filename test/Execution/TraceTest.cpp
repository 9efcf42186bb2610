// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function and its mixed-precision form are matched op by op.

#include "mp/Execution/Compare/Trace.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mp/InitAll.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp;

static constexpr const char *kWide = R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  %1 = arith.mulf %0, %x : tensor<4xf32>
  %2 = math.exp %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
})";

static constexpr const char *kMixed = R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %n = mp.cast ieee %x : tensor<4xf32> to tensor<4xbf16>
  %w = mp.cast %n : tensor<4xbf16> to tensor<4xf32>
  %0 = arith.addf %w, %w : tensor<4xf32>
  %1 = arith.mulf %0, %x : tensor<4xf32>
  %e = arith.negf %1 : tensor<4xf32>
  %2 = math.exp %e : tensor<4xf32>
  return %2 : tensor<4xf32>
})";

TEST(Trace, MatchesOpsAroundInsertedOnes) {
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::mp::registerAllDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> wide = parseSourceString<ModuleOp>(kWide, &context);
  OwningOpRef<ModuleOp> mixed = parseSourceString<ModuleOp>(kMixed, &context);
  ASSERT_TRUE(wide && mixed);
  auto function = *wide->getOps<func::FuncOp>().begin();
  auto left = tracedValues(*mixed->getOps<func::FuncOp>().begin());
  auto right = tracedValues(function);
  ASSERT_EQ(left.size(), 4u); // casts are not traced
  ASSERT_EQ(right.size(), 3u);
  std::vector<std::pair<size_t, size_t>> expected = {{0, 0}, {1, 1}, {3, 2}};
  EXPECT_EQ(matchTraces(left, right), expected);
  EXPECT_EQ(right[2].label, "2 math.exp");

  SmallVector<Value> values = {right[0].value};
  llvm::Error error = returnValues(function, values);
  EXPECT_FALSE(bool(error)) << llvm::toString(std::move(error));
  EXPECT_EQ(function.getNumResults(), 2u);
}
