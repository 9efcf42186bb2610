// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code that tests a view is evaluated for all small numbers and held to a loop over the
// elements that the view names; where sizes are known, there is no code.

#include "mp/Analysis/ViewBounds.h"
#include "AnalysisTest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

/// Index arithmetic, carried out on numbers.
class Evaluation {
public:
  Evaluation(Block &block, ArrayRef<int64_t> arguments, int64_t dimSize) {
    for (auto [argument, number] : llvm::zip(block.getArguments(), arguments))
      numbers[argument] = number;
    for (Operation &op : block)
      if (op.getNumResults() == 1)
        numbers[op.getResult(0)] = evaluate(op, dimSize);
  }
  bool holds(Value condition) const { return numbers.lookup(condition) != 0; }

private:
  int64_t evaluate(Operation &op, int64_t dimSize) {
    auto operand = [&](unsigned i) { return numbers.lookup(op.getOperand(i)); };
    if (auto constant = dyn_cast<arith::ConstantIndexOp>(op))
      return constant.value();
    if (isa<tensor::DimOp>(op))
      return dimSize;
    if (isa<tensor::ExtractSliceOp>(op))
      return 0;
    int64_t a = operand(0), b = operand(1);
    if (isa<arith::AddIOp>(op))
      return a + b;
    if (isa<arith::SubIOp>(op))
      return a - b;
    if (isa<arith::MulIOp>(op))
      return a * b;
    if (isa<arith::AndIOp>(op))
      return a & b;
    if (isa<arith::OrIOp>(op))
      return a | b;
    if (isa<arith::MinSIOp>(op))
      return std::min(a, b);
    if (isa<arith::MaxSIOp>(op))
      return std::max(a, b);
    auto compare = cast<arith::CmpIOp>(op);
    return arith::applyCmpPredicate(compare.getPredicate(), APInt(64, a, true), APInt(64, b, true));
  }

  llvm::DenseMap<Value, int64_t> numbers;
};

struct ViewBoundsTest : testing::Test, AnalysisContext {
  ImplicitLocOpBuilder at(ModuleOp module) {
    Operation *end = getMain(module).getFunctionBody().front().getTerminator();
    return ImplicitLocOpBuilder(end->getLoc(), end);
  }
  Block &body() { return getMain(*module).getFunctionBody().front(); }

  /// Reads `slice`, "[%o] [%s] [%t]" of `whole`, and builds its test.
  Value buildFor(StringRef slice, StringRef whole, StringRef part) {
    module =
        parse((R"(
func.func @main(%x: tensor<)" +
               whole + R"(xf32>, %o: index, %s: index, %t: index) -> tensor<)" + part + R"(xf32> {
  %r = tensor.extract_slice %x)" +
               slice + " : tensor<" + whole + "xf32> to tensor<" + part + R"(xf32>
  return %r : tensor<)" +
               part + "xf32>\n}")
                  .str());
    auto op = cast<tensor::ExtractSliceOp>(findOp(*module, "tensor.extract_slice"));
    ImplicitLocOpBuilder b = at(*module);
    return buildSliceFits(b, op, op.getSource(), 0);
  }
  OwningOpRef<ModuleOp> module;
};

bool isInside(int64_t offset, int64_t size, int64_t stride, int64_t whole) {
  for (int64_t i = 0; i < size; ++i)
    if (offset + i * stride < 0 || offset + i * stride >= whole)
      return false;
  return size >= 0;
}

TEST_F(ViewBoundsTest, ASliceFitsIfEveryElementOfItIsThere) {
  Value fits = buildFor("[%o] [%s] [%t]", "?", "?");
  ASSERT_TRUE(fits);
  for (int64_t whole = 0; whole < 5; ++whole)
    for (int64_t offset = -2; offset < 6; ++offset)
      for (int64_t size = -2; size < 5; ++size)
        for (int64_t stride = -3; stride < 4; ++stride)
          EXPECT_EQ(Evaluation(body(), {0, offset, size, stride}, whole).holds(fits),
                    isInside(offset, size, stride, whole))
              << offset << " " << size << " " << stride << " of " << whole;
}

TEST_F(ViewBoundsTest, AStrideThatIsKnownSavesTheLowerEnd) {
  Value fits = buildFor("[%o] [%s] [2]", "?", "?");
  ASSERT_TRUE(fits);
  for (int64_t whole = 0; whole < 5; ++whole)
    for (int64_t offset = -2; offset < 6; ++offset)
      for (int64_t size = -2; size < 5; ++size) {
        bool empty = size == 0; // which may lie at the end, but not beyond it
        EXPECT_EQ(Evaluation(body(), {0, offset, size, 0}, whole).holds(fits),
                  empty ? offset >= 0 && offset - 2 < whole : isInside(offset, size, 2, whole))
            << offset << " " << size << " of " << whole;
      }
}

TEST_F(ViewBoundsTest, WhatIsKnownNeedsNoCode) {
  EXPECT_FALSE(buildFor("[1] [3] [1]", "4", "3"));
  EXPECT_TRUE(buildFor("[1] [3] [1]", "?", "3"));
  EXPECT_TRUE(buildFor("[%o] [3] [1]", "4", "3"));
}

/// Upstream's verifier lets a stride go below the first element.
TEST_F(ViewBoundsTest, ANegativeStrideIsLookedAt) {
  Value fits = buildFor("[0] [3] [-1]", "4", "3");
  ASSERT_TRUE(fits);
  EXPECT_FALSE(Evaluation(body(), {0, 0, 0, 0}, 4).holds(fits));
  fits = buildFor("[2] [3] [-1]", "4", "3");
  EXPECT_TRUE(!fits || Evaluation(body(), {0, 0, 0, 0}, 4).holds(fits));
}

TEST_F(ViewBoundsTest, ASplitFitsIfItsSizesMultiplyToTheWhole) {
  module = parse("func.func @main(%x: tensor<?xf32>, %a: index, %b: index) { return }");
  ImplicitLocOpBuilder b = at(*module);
  auto main = getMain(*module);
  SmallVector<OpFoldResult> parts = {OpFoldResult(main.getArgument(1)), b.getIndexAttr(2),
                                     OpFoldResult(main.getArgument(2))};
  Value fits = buildSplitFits(b, main.getArgument(0), 0, parts);
  ASSERT_TRUE(fits);
  for (int64_t whole = 0; whole < 13; ++whole)
    for (int64_t x = -3; x < 4; ++x)
      for (int64_t y = -3; y < 4; ++y)
        EXPECT_EQ(Evaluation(body(), {0, x, y}, whole).holds(fits),
                  x >= 0 && y >= 0 && x * 2 * y == whole)
            << x << " x 2 x " << y << " = " << whole << "?";
}

TEST_F(ViewBoundsTest, ASizeFitsIfItIsTheStatedOne) {
  module = parse("func.func @main(%x: tensor<?x3xf32>) { return }");
  ImplicitLocOpBuilder b = at(*module);
  Value x = getMain(*module).getArgument(0);
  auto stated = RankedTensorType::get({4, 3}, b.getF32Type());
  Value fits = buildSizeFits(b, x, stated, 0);
  ASSERT_TRUE(fits);
  EXPECT_TRUE(Evaluation(body(), {0}, 4).holds(fits));
  EXPECT_FALSE(Evaluation(body(), {0}, 5).holds(fits));
  EXPECT_FALSE(buildSizeFits(b, x, stated, 1)) << "the type says it";
  EXPECT_FALSE(buildSizeFits(b, x, cast<ShapedType>(x.getType()), 0)) << "nothing is stated";
}

} // namespace
