// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Norms that are taken on trust: found in every order in which factor and shift are applied, with
// the bound that exact arithmetic gives; not found where statistics are of other elements.

#include "AnalysisTest.h"
#include "mp/Analysis/Idioms/Idioms.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

using Folded = std::optional<TrustedNorms::FoldedNorm>;

struct TrustedNormsTest : testing::Test, AnalysisContext {
  /// Finds the norm that %r is, in what `body` computes of %x, %y, %g and %b.
  Folded find(const std::string &body) {
    module = parse(R"(
func.func @main(%x: tensor<4x9xf32>, %y: tensor<4x9xf32>, %g: tensor<9xf32>, %b: tensor<9xf32>) -> tensor<4x9xf32> {
  %none = arith.constant 0.0 : f32
  %count = arith.constant dense<9.0> : tensor<4xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<4xf32>
  %e = tensor.empty() : tensor<4x9xf32>
  %v = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%none : f32) outs(%v : tensor<4xf32>) -> tensor<4xf32>
  %gain = linalg.broadcast ins(%g : tensor<9xf32>) outs(%e : tensor<4x9xf32>) dimensions = [0]
  %shift = linalg.broadcast ins(%b : tensor<9xf32>) outs(%e : tensor<4x9xf32>) dimensions = [0]
  )" + body + "\n  return %r : tensor<4x9xf32>\n}");
    numbering = std::make_unique<ValueNumbering>(getMain(*module));
    return TrustedNorms(*numbering, getMain(*module)).find(getReturned(*module)[0]);
  }
  Value argument(unsigned number) { return getMain(*module).getArgument(number); }
  /// True if `value` holds the numbers of this argument, be it spread.
  bool isOf(Value value, unsigned number) {
    Value source = argument(number);
    if (auto spread = value.getDefiningOp<linalg::BroadcastOp>())
      value = spread.getInput();
    return value == source;
  }

  OwningOpRef<ModuleOp> module;
  std::unique_ptr<ValueNumbering> numbering;
};

std::string replaced(StringRef text, StringRef from, StringRef to) {
  std::string changed = text.str();
  size_t at = changed.find(from.str());
  EXPECT_NE(at, std::string::npos) << from.str();
  return changed.replace(at, from.size(), to.str());
}

/// %mb: the mean of rows of %x; %ib: the reciprocal root of their variance.
const char *const kStatistics = R"(
  %s = linalg.reduce { arith.addf } ins(%x : tensor<4x9xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  %m = arith.divf %s, %count : tensor<4xf32>
  %mb = linalg.broadcast ins(%m : tensor<4xf32>) outs(%e : tensor<4x9xf32>) dimensions = [1]
  %d = arith.subf %x, %mb : tensor<4x9xf32>
  %q = arith.mulf %d, %d : tensor<4x9xf32>
  %t = linalg.reduce { arith.addf } ins(%q : tensor<4x9xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  %w = arith.divf %t, %count : tensor<4xf32>
  %k = arith.addf %w, %eps : tensor<4xf32>
  %i = math.rsqrt %k : tensor<4xf32>
  %ib = linalg.broadcast ins(%i : tensor<4xf32>) outs(%e : tensor<4x9xf32>) dimensions = [1]
  %a = arith.mulf %ib, %gain : tensor<4x9xf32>)";

/// (x - mean) a
const char *const kScaled = "\n  %r = arith.mulf %d, %a : tensor<4x9xf32>";

/// x a + (b - mean a)
const char *const kShifted = R"(
  %xa = arith.mulf %x, %a : tensor<4x9xf32>
  %ma = arith.mulf %mb, %a : tensor<4x9xf32>
  %h = arith.subf %shift, %ma : tensor<4x9xf32>
  %r = arith.addf %xa, %h : tensor<4x9xf32>)";

std::string with(const char *end) { return std::string(kStatistics) + end; }

/// No element of nine is further from their mean than sqrt 9 standard deviations.
TEST_F(TrustedNormsTest, OfACentredRow) {
  Folded norm = find(with(kScaled));
  ASSERT_TRUE(norm);
  EXPECT_NEAR(norm->bound, 3, 1e-6);
  ASSERT_TRUE(norm->factor);
  EXPECT_TRUE(isOf(norm->factor, 2)) << "the gain";
  EXPECT_TRUE(norm->terms.empty());
}

TEST_F(TrustedNormsTest, OfARowThatIsShiftedLast) {
  Folded norm = find(with(kShifted));
  ASSERT_TRUE(norm);
  EXPECT_NEAR(norm->bound, 3, 1e-6);
  ASSERT_TRUE(norm->factor);
  EXPECT_TRUE(isOf(norm->factor, 2));
  ASSERT_EQ(norm->terms.size(), 1u);
  EXPECT_TRUE(isOf(norm->terms[0], 3)) << "the shift";
}

struct Miss {
  const char *why, *from, *to;
};

TEST_F(TrustedNormsTest, NotWhereOneStatisticIsOfAnother) {
  const Miss misses[] = {
      {"the variance of another tensor", "addf } ins(%q", "addf } ins(%y"},
      {"cubes", "%q = arith.mulf %d, %d : tensor<4x9xf32>",
       "%p = arith.mulf %d, %d : tensor<4x9xf32>\n %q = arith.mulf %p, %d : tensor<4x9xf32>"},
      {"no root", "%i = math.rsqrt %k", "%i = arith.divf %eps, %k"},
      {"the root of the sum", "math.rsqrt %k", "math.rsqrt %s"},
  };
  for (const char *end : {kScaled, kShifted})
    for (const Miss &miss : misses)
      EXPECT_FALSE(find(replaced(with(end), miss.from, miss.to))) << miss.why << end;
  std::string byAnother = "addf } ins(%y";
  EXPECT_FALSE(find(replaced(with(kShifted), "addf } ins(%x", byAnother))) << "the mean of y";
}

/// Whatever was subtracted, a row over the root of its own mean square is such a norm.
TEST_F(TrustedNormsTest, OfARowShiftedByAnythingOverItsMeanSquare) {
  Folded norm = find(replaced(with(kScaled), "addf } ins(%x", "addf } ins(%y"));
  ASSERT_TRUE(norm);
  EXPECT_NEAR(norm->bound, 3, 1e-6);
}

TEST_F(TrustedNormsTest, NotWhereWhatIsScaledIsNotCentred) {
  EXPECT_FALSE(find(with("\n  %r = arith.mulf %x, %a : tensor<4x9xf32>")));
  EXPECT_FALSE(find(with("\n  %n = arith.addf %x, %mb : tensor<4x9xf32>"
                         "\n  %r = arith.mulf %n, %a : tensor<4x9xf32>")));
  EXPECT_FALSE(find(with("\n  %n = arith.subf %y, %mb : tensor<4x9xf32>"
                         "\n  %r = arith.mulf %n, %a : tensor<4x9xf32>")));
  EXPECT_FALSE(find(replaced(with(kShifted), "subf %shift, %ma", "addf %shift, %ma")));
  EXPECT_FALSE(find(replaced(with(kShifted), "mulf %mb, %a", "mulf %mb, %ib")))
      << "the mean by another factor";
}

/// A count that is not that of the row gives another bound, not a false one.
TEST_F(TrustedNormsTest, BoundsByTheCountThatDivides) {
  std::string body =
      replaced(with(kScaled), "%w = arith.divf %t, %count",
               "%six = arith.constant dense<36.0> : tensor<4xf32>\n  %w = arith.divf %t, %six");
  if (Folded norm = find(body))
    EXPECT_GE(norm->bound, 6 - 1e-6); // variance / 4, so up to sqrt(9) * 2
}

/// Exchanged axes of equal size go unnoticed by types.
TEST_F(TrustedNormsTest, NotAlongTheOtherAxis) {
  auto square = [](StringRef text) {
    std::string changed = text.str();
    for (size_t at; (at = changed.find("4x9")) != std::string::npos;)
      changed.replace(at, 3, "9x9");
    return changed;
  };
  auto text = [&](const char *axis) {
    std::string body = square(with(kScaled));
    body = replaced(body, "outs(%f : tensor<4xf32>) dimensions = [1]\n  %w",
                    std::string("outs(%f : tensor<4xf32>) dimensions = [") + axis + "]\n  %w");
    for (size_t at; (at = body.find("tensor<4xf32>")) != std::string::npos;)
      body.replace(at, 13, "tensor<9xf32>");
    return R"(
func.func @main(%x: tensor<9x9xf32>, %g: tensor<9xf32>) -> tensor<9x9xf32> {
  %none = arith.constant 0.0 : f32
  %count = arith.constant dense<9.0> : tensor<9xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<9xf32>
  %e = tensor.empty() : tensor<9x9xf32>
  %v = tensor.empty() : tensor<9xf32>
  %f = linalg.fill ins(%none : f32) outs(%v : tensor<9xf32>) -> tensor<9xf32>
  %gain = linalg.broadcast ins(%g : tensor<9xf32>) outs(%e : tensor<9x9xf32>) dimensions = [0]
)" + body + "\n  return %r : tensor<9x9xf32>\n}";
  };
  for (bool isSame : {true, false}) {
    module = parse(text(isSame ? "1" : "0"));
    numbering = std::make_unique<ValueNumbering>(getMain(*module));
    TrustedNorms norms(*numbering, getMain(*module));
    EXPECT_EQ(norms.find(getReturned(*module)[0]).has_value(), isSame);
  }
}

} // namespace
