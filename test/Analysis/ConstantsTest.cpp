// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks what reaches a value from constants: masks, finite numbers that a narrower format makes
// infinite, constants seen through moves; what rounding a constant does; bounds of integers; clamps
// written as choices.

#include "AnalysisTest.h"
#include "mp/Analysis/ConstantRounding.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Analysis/IntegerBounds.h"
#include "mp/Analysis/Ranges/MaskConstants.h"
#include "mp/Analysis/SelectedExtrema.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;
using domains::BinaryFn;

namespace {

struct ConstantsTest : testing::Test, AnalysisContext {
  /// Returns what `body` computes as %r, of %x (4x4, any), %b (4x4, within 1), %m (4x4 of i1), %i
  /// (4 of i32) and constants.
  Value compute(StringRef body, StringRef type = "tensor<4x4xf32>") {
    module = parse((R"(
func.func @main(%x: tensor<4x4xf32>, %b: tensor<4x4xf32> {mp.range = [-1.0, 1.0]}, %m: tensor<4x4xi1>, %i: tensor<4xi32>) -> )" +
                    type + R"( {
  %lowest = arith.constant dense<-3.40282347E+38> : tensor<4x4xf32>
  %highest = arith.constant dense<3.40282347E+38> : tensor<4x4xf32>
  %low = arith.constant -3.40282347E+38 : f32
  %vector = tensor.empty() : tensor<4xf32>
  %infinite = arith.constant dense<0xFF800000> : tensor<4x4xf32>
  %large = arith.constant dense<1.0e+5> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  )" + body +
                    "\n  return %r : " + type + "\n}")
                       .str());
    return getReturned(*module)[0];
  }
  OwningOpRef<ModuleOp> module;
};

struct Reach {
  const char *name;
  bool isMask, bf16, f16; ///< whether a mask, and what is infinite in bf16 and f16, reaches %r
  const char *body;
};

const Reach kReaches[] = {
    {"chosen", true, true, true,
     "%r = arith.select %m, %x, %lowest : tensor<4x4xi1>, tensor<4x4xf32>"},
    {"chosen_infinity", true, false, false,
     "%r = arith.select %m, %x, %infinite : tensor<4x4xi1>, tensor<4x4xf32>"},
    {"added", true, true, true, "%r = arith.addf %x, %lowest : tensor<4x4xf32>"},
    {"negated", true, true, true, "%r = arith.negf %lowest : tensor<4x4xf32>"},
    {"lower_bound", false, false, false, "%r = arith.maximumf %x, %lowest : tensor<4x4xf32>"},
    {"large_in_f16_alone", false, false, true,
     "%r = arith.select %m, %x, %large : tensor<4x4xi1>, tensor<4x4xf32>"},
    {"modest", false, false, false,
     "%r = arith.select %m, %x, %one : tensor<4x4xi1>, tensor<4x4xf32>"},
    {"behind_an_exponential", false, false, false, R"(
  %0 = arith.addf %x, %lowest : tensor<4x4xf32>
  %r = math.exp %0 : tensor<4x4xf32>)"},
    {"clamped_again", true, false, false, R"(
  %0 = arith.select %m, %x, %lowest : tensor<4x4xi1>, tensor<4x4xf32>
  %1 = arith.maximumf %0, %one : tensor<4x4xf32>
  %r = arith.minimumf %1, %one : tensor<4x4xf32>)"},
    {"sparse", true, true, true, R"(
  %s = arith.constant sparse<[[0, 1]], [3.40282347E+38]> : tensor<4x4xf32>
  %r = arith.addf %x, %s : tensor<4x4xf32>)"},
    {"sparse_and_modest", false, false, false, R"(
  %s = arith.constant sparse<[[0, 1]], [4.0]> : tensor<4x4xf32>
  %r = arith.addf %x, %s : tensor<4x4xf32>)"},
    {"part_of_a_complex_number", true, true, true, R"(
  %c = complex.constant [1.0 : f32, -3.40282347E+38 : f32] : complex<f32>
  %0 = complex.im %c : complex<f32>
  %r = tensor.splat %0 : tensor<4x4xf32>)"},
    {"part_of_complex_numbers", true, true, true, R"(
  %c = arith.constant dense<(1.0, 3.40282347E+38)> : tensor<4xcomplex<f32>>
  %i0 = arith.constant 0 : index
  %0 = tensor.extract %c[%i0] : tensor<4xcomplex<f32>>
  %1 = complex.neg %0 : complex<f32>
  %2 = complex.re %1 : complex<f32>
  %r = tensor.splat %2 : tensor<4x4xf32>)"},
    {"part_of_a_modest_complex_number", false, false, false, R"(
  %c = complex.constant [1.0 : f32, 2.0 : f32] : complex<f32>
  %0 = complex.im %c : complex<f32>
  %r = tensor.splat %0 : tensor<4x4xf32>)"},
    // Dropping a NaN, maxnum gives the other operand; maximum gives NaN.
    {"lower_bound_of_nan", false, true, true, "%r = arith.maxnumf %x, %lowest : tensor<4x4xf32>"},
    {"lower_bound_of_numbers", false, false, false,
     "%r = arith.maxnumf %b, %lowest : tensor<4x4xf32>"},
    {"clamp_of_nan", false, true, true,
     "%r = tosa.clamp %x {min_val = -3.40282347E+38 : f32, max_val = 3.40282347E+38 : f32, "
     "nan_mode = "
     "IGNORE} : (tensor<4x4xf32>) -> tensor<4x4xf32>"},
    {"clamp_that_keeps_nan", false, false, false,
     "%r = tosa.clamp %x {min_val = -3.40282347E+38 : f32, max_val = 3.40282347E+38 : f32, "
     "nan_mode = "
     "PROPAGATE} : (tensor<4x4xf32>) -> tensor<4x4xf32>"},
    // A bound that wins is the value: a maximum with the largest number, a minimum with the lowest.
    {"upper_bound_that_wins", true, true, true,
     "%r = arith.minimumf %x, %lowest : tensor<4x4xf32>"},
    {"upper_bound_that_never_wins", false, false, false,
     "%r = arith.minimumf %x, %highest : tensor<4x4xf32>"},
    {"lower_bound_that_wins", true, true, true,
     "%r = arith.maximumf %x, %highest : tensor<4x4xf32>"},
    {"minimum_from_the_lowest", false, true, true, R"(
  %0 = linalg.fill ins(%low : f32) outs(%vector : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.reduce { arith.minimumf } ins(%b : tensor<4x4xf32>) outs(%0 : tensor<4xf32>) dimensions = [1]
  %r = linalg.broadcast ins(%1 : tensor<4xf32>) outs(%x : tensor<4x4xf32>) dimensions = [1])"},
    {"maximum_from_the_lowest", false, false, false, R"(
  %0 = linalg.fill ins(%low : f32) outs(%vector : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.reduce { arith.maximumf } ins(%b : tensor<4x4xf32>) outs(%0 : tensor<4xf32>) dimensions = [1]
  %r = linalg.broadcast ins(%1 : tensor<4xf32>) outs(%x : tensor<4x4xf32>) dimensions = [1])"},
    {"clamp_that_lets_it_through", false, true, true, R"(
  %0 = arith.select %m, %x, %lowest : tensor<4x4xi1>, tensor<4x4xf32>
  %r = tosa.clamp %0 {min_val = -3.40282347E+38 : f32, max_val = 3.40282347E+38 : f32} : (tensor<4x4xf32>) -> tensor<4x4xf32>)"},
    {"clamp_that_stops_it", false, false, false, R"(
  %0 = arith.select %m, %x, %lowest : tensor<4x4xi1>, tensor<4x4xf32>
  %r = tosa.clamp %0 {min_val = -6.0 : f32, max_val = 6.0 : f32} : (tensor<4x4xf32>) -> tensor<4x4xf32>)"},
    {"clamp_to_huge_numbers", false, true, true,
     "%r = tosa.clamp %x {min_val = 3.0E+38 : f32, max_val = 3.40282347E+38 : f32} : "
     "(tensor<4x4xf32>) -> tensor<4x4xf32>"},
    {"made_by_a_body", true, true, true, R"(
  %r = tensor.generate {
  ^bb0(%k: index, %j: index):
    %0 = arith.negf %low : f32
    tensor.yield %0 : f32
  } : tensor<4x4xf32>)"},
    {"padded_with_what_is_computed", true, true, true, R"(
  %0 = tensor.extract_slice %x[0, 0] [4, 3] [1, 1] : tensor<4x4xf32> to tensor<4x3xf32>
  %r = tensor.pad %0 low[0, 1] high[0, 0] {
  ^bb0(%k: index, %j: index):
    %1 = arith.negf %low : f32
    tensor.yield %1 : f32
  } : tensor<4x3xf32> to tensor<4x4xf32>)"},
    {"bounds_of_an_op_without_meaning", true, true, true,
     "%r = math.clampf %x to [%highest, %highest] : tensor<4x4xf32>"},
    {"a_power", true, true, true, "%r = math.powf %highest, %one : tensor<4x4xf32>"},
    {"rounded_to_integers", true, true, true, R"(
  %0 = arith.select %m, %x, %lowest : tensor<4x4xi1>, tensor<4x4xf32>
  %r = math.floor %0 : tensor<4x4xf32>)"},
    {"behind_a_tanh", false, false, false, R"(
  %0 = arith.select %m, %x, %lowest : tensor<4x4xi1>, tensor<4x4xf32>
  %r = math.tanh %0 : tensor<4x4xf32>)"},
    {"through_a_loop", true, true, true, R"(
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %c1 step %c1 iter_args(%s = %lowest) -> tensor<4x4xf32> {
    %0 = arith.addf %s, %x : tensor<4x4xf32>
    scf.yield %0 : tensor<4x4xf32>
  })"},
    {"through_a_branch", true, true, true, R"(
  %c0 = arith.constant 0 : index
  %t = tensor.extract %m[%c0, %c0] : tensor<4x4xi1>
  %r = scf.if %t -> tensor<4x4xf32> {
    scf.yield %x : tensor<4x4xf32>
  } else {
    scf.yield %lowest : tensor<4x4xf32>
  })"},
};

TEST_F(ConstantsTest, ReachWhatTheyMayBecomeAnElementOf) {
  for (const Reach &tried : kReaches) {
    Value value = compute(tried.body);
    EXPECT_EQ(findMaskConstant(value) != nullptr, tried.isMask) << tried.name;
    ModuleRanges ranges(*module);
    OverflowingConstants bf16(*module, ranges, BFloat16Type::get(&context)),
        f16(*module, ranges, Float16Type::get(&context));
    EXPECT_EQ(bf16.find(value) != nullptr, tried.bf16) << tried.name;
    EXPECT_EQ(f16.find(value) != nullptr, tried.f16) << tried.name;
  }
}

/// A module is searched only where a number reaches the limit: starts of maxima do not,
/// not, bounds of clamps do.
TEST_F(ConstantsTest, AreLookedForWhereANumberIsHuge) {
  auto reaches = [&](StringRef body, StringRef beside = "") {
    module = parse(("func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {\n" + body +
                    "\n  return %r : tensor<4x4xf32>\n}\n" + beside)
                       .str());
    Value result = getMain(*module)->getRegion(0).front().getTerminator()->getOperand(0);
    ModuleRanges ranges(*module);
    return OverflowingConstants(*module, ranges, BFloat16Type::get(&context)).find(result) !=
           nullptr;
  };
  EXPECT_TRUE(reaches("  %r = tosa.clamp %x {min_val = 3.39E+38 : f32, max_val = 3.4E+38 : f32} : "
                      "(tensor<4x4xf32>) -> tensor<4x4xf32>"));
  EXPECT_FALSE(reaches("  %r = tosa.clamp %x {min_val = 0.0 : f32, max_val = 3.4E+38 : f32} : "
                       "(tensor<4x4xf32>) -> tensor<4x4xf32>"));
  // A number that the search does not follow may be any value that nothing bounds.
  auto called = [&](StringRef number) {
    return reaches(
        R"(
  %f = func.constant @given : () -> tensor<4x4xf32>
  %r = func.call_indirect %f() : () -> tensor<4x4xf32>)",
        ("func.func private @given() -> tensor<4x4xf32> {\n  %c = arith.constant dense<" + number +
         "> : tensor<4x4xf32>\n  return %c : tensor<4x4xf32>\n}")
            .str());
  };
  EXPECT_TRUE(called("3.4E+38"));
  EXPECT_FALSE(called("1.0"));
  auto global = [&](StringRef number) {
    return reaches("  %r = arith.negf %x : tensor<4x4xf32>",
                   ("memref.global constant @given : memref<4xf32> = dense<" + number + ">").str());
  };
  EXPECT_TRUE(global("3.4E+38"));
  EXPECT_FALSE(global("1.0"));
  auto converted = [&](StringRef type) {
    return reaches(("  %i = arith.fptoui %x : tensor<4x4xf32> to tensor<4x4x" + type +
                    ">\n  %r = arith.uitofp %i : tensor<4x4x" + type + "> to tensor<4x4xf32>")
                       .str());
  };
  EXPECT_TRUE(converted("i128"));
  EXPECT_FALSE(converted("i64"));
  auto extremum = [](StringRef combiner, StringRef more) {
    return (R"(
  %low = arith.constant -3.40282347E+38 : f32
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.fill ins(%low : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.reduce { arith.)" +
            combiner + R"( } ins(%x : tensor<4x4xf32>) outs(%0 : tensor<4xf32>) dimensions = [1]
)" + more + R"(
  %r = linalg.broadcast ins(%2 : tensor<4xf32>) outs(%x : tensor<4x4xf32>) dimensions = [1])")
        .str();
  };
  StringRef alone = "  %2 = arith.negf %1 : tensor<4xf32>",
            other = "  %2 = arith.addf %1, %0 : tensor<4xf32>";
  EXPECT_FALSE(reaches(extremum("maximumf", alone)));
  EXPECT_TRUE(reaches(extremum("maximumf", other))) << "the start is read by another op, too";
  EXPECT_TRUE(reaches(extremum("minimumf", alone))) << "a minimum is its start";
  // A second result of the same op, which in the first step reads the start of the first.
  auto beside = [](StringRef read) {
    return (R"(
  %low = arith.constant -3.40282347E+38 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.fill ins(%low : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %2:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x4xf32>) outs(%0, %1 : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %m: f32, %s: f32):
    %n = arith.maximumf %m, %a : f32
    %t = arith.addf %s, )" +
            read + R"( : f32
    linalg.yield %n, %t : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  %r = linalg.broadcast ins(%2#1 : tensor<4xf32>) outs(%x : tensor<4x4xf32>) dimensions = [1])")
        .str();
  };
  EXPECT_TRUE(reaches(beside("%m")));
  EXPECT_FALSE(reaches(beside("%n")));
}

TEST_F(ConstantsTest, AreSeenThroughWhatMovesEveryElement) {
  EXPECT_TRUE(findConstant(compute("%r = tensor.cast %one : tensor<4x4xf32> to tensor<4x4xf32>")));
  EXPECT_TRUE(findConstant(compute(R"(%e = tensor.empty() : tensor<4x4xf32>
  %r = linalg.transpose ins(%one : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0])")));
  EXPECT_FALSE(findConstant(compute("%r = arith.negf %one : tensor<4x4xf32>")));
  EXPECT_FALSE(findConstant(compute("%r = tensor.cast %x : tensor<4x4xf32> to tensor<4x4xf32>")));
  // A slice is moved, but not every element.
  Value slice = compute("%r = tensor.extract_slice %one[0, 0] [2, 2] [1, 1] : tensor<4x4xf32> to "
                        "tensor<2x2xf32>",
                        "tensor<2x2xf32>");
  EXPECT_FALSE(movesEveryElement(slice.getDefiningOp()));
}

TEST_F(ConstantsTest, LoseWhatRoundingToNearestEvenLoses) {
  Builder builder(&context);
  auto type = RankedTensorType::get({5}, builder.getF32Type());
  auto constant =
      DenseElementsAttr::get(type, ArrayRef<float>{1.0f, 65519.0f, 65520.0f, 1e-9f,
                                                   -std::numeric_limits<float>::infinity()});
  auto found = inspectRounding(constant, builder.getF16Type());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->elements, 5);
  EXPECT_EQ(found->overflowed, 1) << "65520 is the first that f16 rounds to infinity";
  EXPECT_EQ(found->infinite, 1);
  EXPECT_EQ(found->flushed, 0) << "1e-9 is noise beside 65520";
  auto small = DenseElementsAttr::get(RankedTensorType::get({2}, builder.getF32Type()),
                                      ArrayRef<float>{1e-6f, 1e-9f});
  EXPECT_EQ(inspectRounding(small, builder.getF16Type())->flushed, 1);
  EXPECT_EQ(found->largest, 65520);
  EXPECT_EQ(inspectRounding(constant, builder.getBF16Type())->overflowed, 0);
  EXPECT_EQ(whyNotRounded(builder.getF32FloatAttr(1), builder.getF16Type(), 0), "");
  EXPECT_NE(whyNotRounded(constant, builder.getF16Type(), 1), "");
  EXPECT_FALSE(inspectRounding(builder.getI32IntegerAttr(1), builder.getF16Type()));
}

TEST_F(ConstantsTest, BoundIntegersBecomeFloats) {
  auto bound = [&](StringRef body, StringRef type, bool isSigned) {
    return boundInteger(compute(body, type), isSigned);
  };
  using domains::Interval;
  const char *indices = R"(%e = tensor.empty() : tensor<4xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<4xi32>) {
  ^bb0(%o: i32):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i32
    linalg.yield %1 : i32
  } -> tensor<4xi32>)";
  EXPECT_EQ(bound(indices, "tensor<4xi32>", true), Interval(0, 3));
  // A true i1 is 1, or -1 where its bit is a sign.
  EXPECT_EQ(
      bound("%r = tensor.cast %m : tensor<4x4xi1> to tensor<4x4xi1>", "tensor<4x4xi1>", false),
      Interval(0, 1));
  EXPECT_EQ(bound("%r = tensor.cast %m : tensor<4x4xi1> to tensor<4x4xi1>", "tensor<4x4xi1>", true),
            Interval(-1, 0));
  Interval any =
      bound("%r = tensor.cast %i : tensor<4xi32> to tensor<4xi32>", "tensor<4xi32>", true);
  EXPECT_EQ(any, Interval(-2147483648.0, 2147483647.0));
  auto wide = [&](StringRef type, bool isSigned) {
    return bound(("%r = arith.fptosi %x : tensor<4x4xf32> to " + type).str(), type, isSigned);
  };
  EXPECT_EQ(wide("tensor<4x4xi64>", true), Interval(-0x1p63, 0x1p63));
  EXPECT_EQ(wide("tensor<4x4xi65>", true), Interval(-0x1p64, 0x1p64));
  EXPECT_EQ(wide("tensor<4x4xi128>", true), Interval(-0x1p127, 0x1p127));
  EXPECT_EQ(wide("tensor<4x4xi128>", false), Interval(0, 0x1p128));
  EXPECT_EQ(
      bound("%r = tensor.cast %x : tensor<4x4xf32> to tensor<4x4xf32>", "tensor<4x4xf32>", true),
      Interval::top());
}

TEST_F(ConstantsTest, OfAClampAreComparedWithWhatIsChosen) {
  auto found = [&](StringRef predicate, StringRef yes, StringRef no) {
    std::string body =
        ("%c = arith.cmpf " + predicate + ", %x, %one : tensor<4x4xf32>\n" +
         "  %r = arith.select %c, " + yes + ", " + no + " : tensor<4x4xi1>, tensor<4x4xf32>")
            .str();
    return getSelectedExtremum(compute(body).getDefiningOp());
  };
  EXPECT_EQ(found("ogt", "%x", "%one"), BinaryFn::MaxNum);
  EXPECT_EQ(found("ogt", "%one", "%x"), BinaryFn::MinNum);
  EXPECT_EQ(found("ule", "%x", "%one"), BinaryFn::MinNum);
  EXPECT_EQ(found("oeq", "%x", "%one"), std::nullopt);
  EXPECT_EQ(found("ogt", "%b", "%one"), std::nullopt) << "another value is compared";
  EXPECT_EQ(found("ogt", "%x", "%large"), std::nullopt) << "another bound is chosen";
}

} // namespace
