// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker's bounds of integers hold what every op gives of every pair of i8 in the bounds of
// its operands, and bounds by position hold each position.

#include "../../lib/Proofs/Integers.h"
#include "ProofsFixture.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::proofs;
using namespace mlir::mp::test;

namespace {

class Integers : public testing::Test {
protected:
  /// The bounds of what the function returns.
  IntegerRange boundReturned(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &fixture.context);
    EXPECT_TRUE(module) << text.str();
    auto function = *module->getOps<func::FuncOp>().begin();
    return *boundIntegers(function.getBody().front().getTerminator()->getOperand(0));
  }

  ProofsFixture fixture;
  OwningOpRef<ModuleOp> module;
};

using Evaluate = std::optional<APInt> (*)(const APInt &, const APInt &);
struct Case {
  const char *op;
  Evaluate evaluate; ///< nothing where the result is undefined
};

const Case kCases[] = {
    {"addi", [](const APInt &x, const APInt &y) { return std::optional(x + y); }},
    {"subi", [](const APInt &x, const APInt &y) { return std::optional(x - y); }},
    {"muli", [](const APInt &x, const APInt &y) { return std::optional(x * y); }},
    {"divsi",
     [](const APInt &x, const APInt &y) {
       bool isUndefined = y.isZero() || (x.isMinSignedValue() && y.isAllOnes());
       return isUndefined ? std::nullopt : std::optional(x.sdiv(y));
     }},
    {"divui", [](const APInt &x,
                 const APInt &y) { return y.isZero() ? std::nullopt : std::optional(x.udiv(y)); }},
    {"remsi", [](const APInt &x,
                 const APInt &y) { return y.isZero() ? std::nullopt : std::optional(x.srem(y)); }},
    {"remui", [](const APInt &x,
                 const APInt &y) { return y.isZero() ? std::nullopt : std::optional(x.urem(y)); }},
    {"maxsi", [](const APInt &x, const APInt &y) { return std::optional(x.sgt(y) ? x : y); }},
    {"minsi", [](const APInt &x, const APInt &y) { return std::optional(x.slt(y) ? x : y); }},
    {"maxui", [](const APInt &x, const APInt &y) { return std::optional(x.ugt(y) ? x : y); }},
    {"minui", [](const APInt &x, const APInt &y) { return std::optional(x.ult(y) ? x : y); }},
    {"andi", [](const APInt &x, const APInt &y) { return std::optional(x & y); }},
    {"ori", [](const APInt &x, const APInt &y) { return std::optional(x | y); }},
    {"xori", [](const APInt &x, const APInt &y) { return std::optional(x ^ y); }},
    {"shli", [](const APInt &x,
                const APInt &y) { return y.uge(8) ? std::nullopt : std::optional(x.shl(y)); }},
    {"shrsi", [](const APInt &x,
                 const APInt &y) { return y.uge(8) ? std::nullopt : std::optional(x.ashr(y)); }},
    {"shrui", [](const APInt &x,
                 const APInt &y) { return y.uge(8) ? std::nullopt : std::optional(x.lshr(y)); }},
};

/// Operands are clamped into a range each; constants are ranges of one number.
TEST_F(Integers, HoldEveryPair) {
  const std::pair<int, int> ranges[] = {{-128, 127}, {0, 127}, {-128, -1}, {-3, 5}, {2, 2},
                                        {3, 7},      {-9, -4}, {-1, -1},   {0, 0},  {100, 127}};
  for (const Case &op : kCases)
    for (auto [xLow, xHigh] : ranges)
      for (auto [yLow, yHigh] : ranges) {
        std::string y = yLow == yHigh ? llvm::formatv("%y = arith.constant {0} : i8", yLow).str()
                                      : llvm::formatv("%yl = arith.constant {0} : i8\n"
                                                      "%yh = arith.constant {1} : i8\n"
                                                      "%yc = arith.maxsi %b, %yl : i8\n"
                                                      "%y = arith.minsi %yc, %yh : i8",
                                                      yLow, yHigh)
                                            .str();
        IntegerRange bounds = boundReturned(llvm::formatv("func.func @f(%a: i8, %b: i8) -> i8 {{\n"
                                                          "%xl = arith.constant {0} : i8\n"
                                                          "%xh = arith.constant {1} : i8\n"
                                                          "%xc = arith.maxsi %a, %xl : i8\n"
                                                          "%x = arith.minsi %xc, %xh : i8\n{2}\n"
                                                          "%r = arith.{3} %x, %y : i8\n"
                                                          "return %r : i8\n}",
                                                          xLow, xHigh, y, op.op)
                                                .str());
        IntegerRange seen{127, -128};
        for (int a = xLow; a <= xHigh; ++a)
          for (int b = yLow; b <= yHigh; ++b) {
            auto result = op.evaluate(APInt(8, a, true), APInt(8, b, true));
            if (!result)
              continue;
            seen.low = std::min<__int128>(seen.low, result->getSExtValue());
            seen.high = std::max<__int128>(seen.high, result->getSExtValue());
          }
        ASSERT_TRUE(seen.low > seen.high || (bounds.low <= seen.low && seen.high <= bounds.high))
            << op.op << " of [" << xLow << ", " << xHigh << "] and [" << yLow << ", " << yHigh
            << "] gives " << int(seen.low) << " to " << int(seen.high) << ", not within "
            << int64_t(bounds.low) << " to " << int64_t(bounds.high);
        // Arithmetic on single numbers loses nothing.
        bool isArithmetic = !llvm::is_contained({"andi", "ori", "xori"}, StringRef(op.op));
        if (isArithmetic && xLow == xHigh && yLow == yHigh && seen.low <= seen.high)
          ASSERT_TRUE(bounds.low == seen.low && bounds.high == seen.high) << op.op;
      }
}

TEST_F(Integers, AreTriedAtEachPosition) {
  const char *text = R"mlir(
func.func @f() -> tensor<7xi8> {
  %e = tensor.empty() : tensor<7xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e : tensor<7xi8>) {
  ^bb0(%out: i8):
    %i = linalg.index 0 : index
    %six = arith.constant 6 : index
    %back = arith.subi %six, %i : index
    %product = arith.muli %i, %back : index
    %small = arith.trunci %c : i32 to i8
    linalg.yield %small : i8
  } -> tensor<7xi8>
  return %r : tensor<7xi8>
})mlir";
  // i (6 - i) is at most 9; 100 i is -56 where i is 2, as i8.
  std::string product(text), wrapped(text);
  auto replace = [](std::string &in, StringRef from, StringRef to) {
    in.replace(in.find(from.str()), from.size(), to.str());
  };
  replace(product, "%small", "%c = arith.index_cast %product : index to i32\n    %small");
  IntegerRange bounds = boundReturned(product);
  EXPECT_EQ(int(bounds.low), 0);
  EXPECT_EQ(int(bounds.high), 9);
  replace(wrapped, "%small",
          "%hundred = arith.constant 100 : i32\n    %w = arith.index_cast %i : index to "
          "i32\n    %c = arith.muli %w, %hundred : i32\n    %small");
  bounds = boundReturned(wrapped);
  EXPECT_EQ(int(bounds.low), -112); // 400
  EXPECT_EQ(int(bounds.high), 100);
}

} // namespace
