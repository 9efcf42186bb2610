// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Equal values have equal views, and values that only look alike have not: pairs of results of one
// function, most of them of square tensors, whose types tell nothing.

#include "mp/Analysis/Values/ValueNumbering.h"
#include "AnalysisTest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

struct Pair {
  const char *name;
  bool areEqual;
  const char *body; ///< defines %a and %b, 4x4, of %x and %y
};

constexpr const char *kTranspose = R"(
  %e = tensor.empty() : tensor<4x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
)";

const Pair kPairs[] = {
    {"the_same_op_twice", true, R"(
  %a = math.exp %x : tensor<4x4xf32>
  %b = math.exp %x : tensor<4x4xf32>)"},
    {"of_other_operands", false, R"(
  %a = math.exp %x : tensor<4x4xf32>
  %b = math.exp %y : tensor<4x4xf32>)"},
    {"sums_commute", true, R"(
  %a = arith.addf %x, %y : tensor<4x4xf32>
  %b = arith.addf %y, %x : tensor<4x4xf32>)"},
    {"differences_do_not", false, R"(
  %a = arith.subf %x, %y : tensor<4x4xf32>
  %b = arith.subf %y, %x : tensor<4x4xf32>)"},
    {"sums_do_not_associate", false, R"(
  %s = arith.addf %x, %y : tensor<4x4xf32>
  %a = arith.addf %s, %x : tensor<4x4xf32>
  %d = arith.addf %x, %x : tensor<4x4xf32>
  %b = arith.addf %d, %y : tensor<4x4xf32>)"},
    {"a_body_and_a_named_op", true, R"(
  %e = tensor.empty() : tensor<4x4xf32>
  %a = math.exp %x : tensor<4x4xf32>
  %b = linalg.exp ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>)"},
    {"linalg_and_tosa", true, R"(
  %e = tensor.empty() : tensor<4x4xf32>
  %a = linalg.exp ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = tosa.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>)"},
    {"rounded_and_not", false, R"(
  %r = arith.truncf %x : tensor<4x4xf32> to tensor<4x4xbf16>
  %a = arith.extf %r : tensor<4x4xbf16> to tensor<4x4xf32>
  %b = arith.addf %x, %y : tensor<4x4xf32>)"},
    {"reversed", false, R"(
  %e = tensor.empty() : tensor<4x4xf32>
  %a = math.exp %x : tensor<4x4xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, 3 - j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = math.exp %p : f32
    linalg.yield %q : f32
  } -> tensor<4x4xf32>)"},
    {"slices_at_other_places", false, R"(
  %c = tensor.concat dim(0) %x, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %a = tensor.extract_slice %c[0, 0] [4, 4] [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
  %b = tensor.extract_slice %c[2, 0] [4, 4] [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>)"},
    {"unknown_calls", false, R"(
  %a = func.call @f(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = func.call @f(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>)"},
    {"new_tensors", false, R"(
  %a = tensor.empty() : tensor<4x4xf32>
  %b = tensor.empty() : tensor<4x4xf32>)"},
    {"squares", true, R"(
  %a = arith.mulf %x, %x : tensor<4x4xf32>
  %c2 = arith.constant 2 : i32
  %e = tensor.empty() : tensor<4x4xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = arith.mulf %p, %p : f32
    linalg.yield %q : f32
  } -> tensor<4x4xf32>)"},
    {"reshaped_there_and_back", true, R"(
  %f = tensor.collapse_shape %x [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
  %a = tensor.expand_shape %f [[0, 1]] output_shape [4, 4] : tensor<16xf32> into tensor<4x4xf32>
  %b = tensor.cast %x : tensor<4x4xf32> to tensor<4x4xf32>)"},
};

/// Pairs behind a transposition of %x.
const Pair kTransposed[] = {
    {"transposed", false, R"(
  %a = math.exp %x : tensor<4x4xf32>
  %b = math.exp %t : tensor<4x4xf32>)"},
    {"transposed_twice", true, R"(
  %s = math.exp %t : tensor<4x4xf32>
  %a = linalg.transpose ins(%s : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %b = math.exp %x : tensor<4x4xf32>)"},
    {"read_through_maps", true, R"(
  %a = arith.addf %t, %y : tensor<4x4xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.addf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>)"},
    {"maxima_of_rows_and_columns", false, R"(
  %l = arith.constant 0xFF800000 : f32
  %v = tensor.empty() : tensor<4xf32>
  %i = linalg.fill ins(%l : f32) outs(%v : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<4x4xf32>) outs(%i : tensor<4xf32>) dimensions = [1]
  %n = linalg.reduce { arith.maximumf } ins(%t : tensor<4x4xf32>) outs(%i : tensor<4xf32>) dimensions = [1]
  %a = linalg.broadcast ins(%m : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [0]
  %b = linalg.broadcast ins(%n : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [0])"},
    {"maxima_of_rows_as_columns", true, R"(
  %l = arith.constant 0xFF800000 : f32
  %v = tensor.empty() : tensor<4xf32>
  %i = linalg.fill ins(%l : f32) outs(%v : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<4x4xf32>) outs(%i : tensor<4xf32>) dimensions = [1]
  %n = linalg.reduce { arith.maximumf } ins(%t : tensor<4x4xf32>) outs(%i : tensor<4xf32>) dimensions = [0]
  %a = linalg.broadcast ins(%m : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [0]
  %b = linalg.broadcast ins(%n : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [0])"},
    {"broadcast_along_other_dimensions", false, R"(
  %l = arith.constant 0xFF800000 : f32
  %v = tensor.empty() : tensor<4xf32>
  %i = linalg.fill ins(%l : f32) outs(%v : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<4x4xf32>) outs(%i : tensor<4xf32>) dimensions = [1]
  %a = linalg.broadcast ins(%m : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [0]
  %b = linalg.broadcast ins(%m : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [1])"},
};

std::string textOf(const Pair &pair, StringRef prelude) {
  return ("func.func private @f(tensor<4x4xf32>) -> tensor<4x4xf32>\n"
          "func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, "
          "tensor<4x4xf32>) {" +
          prelude + pair.body + "\n  return %a, %b : tensor<4x4xf32>, tensor<4x4xf32>\n}\n")
      .str();
}

struct ValueNumberingTest : testing::Test, AnalysisContext {
  void check(const Pair &pair, StringRef prelude) {
    std::string text = textOf(pair, prelude);
    auto module = parse(text);
    ASSERT_TRUE(module);
    ValueNumbering values(getMain(*module));
    auto returned = getReturned(*module);
    EXPECT_EQ(values.areEqual(values.lookup(returned[0]), values.lookup(returned[1])),
              pair.areEqual)
        << pair.name << text;
  }
};

TEST_F(ValueNumberingTest, TellsEqualValuesFromOthers) {
  for (const Pair &pair : kPairs)
    check(pair, "");
  for (const Pair &pair : kTransposed)
    check(pair, kTranspose);
}

/// A statement on all elements of a part holds of no more than the part.
TEST_F(ValueNumberingTest, KnowsWhatCoversANode) {
  auto module = parse(R"(
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x2xf32>) {
  %e = tensor.empty() : tensor<4x2xf32>
  %a = math.exp %x : tensor<4x4xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, 2 * j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x2xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<4x2xf32>
  return %a, %b : tensor<4x4xf32>, tensor<4x2xf32>
}
)");
  ValueNumbering values(getMain(*module));
  EXPECT_TRUE(values.coversNode(getReturned(*module)[0]));
  View strided = values.lookup(getReturned(*module)[1]);
  EXPECT_TRUE(!strided || !values.coversNode(getReturned(*module)[1]));
}

} // namespace
