// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Laws of views and assumptions on small instances: composition is that of functions, operands meet
// where each is read, elements follow a reshape and no other move, and what is assumed of a join is
// assumed of neither side alone. Locations name what a person can find.

#include "mp/Analysis/Values/View.h"
#include "AnalysisTest.h"
#include "mp/Analysis/FunctionWalk.h"
#include "mp/Analysis/Locations.h"
#include "mp/Analysis/Ranges/Assumption.h"
#include "mp/Analysis/Values/ValueNumbering.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

struct ViewTest : testing::Test, AnalysisContext {
  AffineExpr d(unsigned dim) { return getAffineDimExpr(dim, &context); }
  AffineMap map(unsigned dims, ArrayRef<AffineExpr> results) {
    return AffineMap::get(dims, 0, results, &context);
  }
  View seen(ValueNumbering &values, ModuleOp module, unsigned result = 0) {
    return values.lookup(getReturned(module)[result]);
  }
};

TEST_F(ViewTest, ComposesAsFunctionsDo) {
  AffineMap turn = map(2, {d(1), d(0)}), roll = map(3, {d(2), d(0)}),
            identity = map(2, {d(0), d(1)});
  EXPECT_FALSE(canonicalMap(identity)) << "the identity has one spelling";
  EXPECT_FALSE(canonicalMap(AffineMap()));
  View inner{7, turn}, outer{3, roll};
  EXPECT_EQ(composeViews(outer, inner, false), (View{7, map(3, {d(0), d(2)})}));
  EXPECT_EQ(composeViews({3, {}}, inner, false), inner);
  EXPECT_EQ(composeViews(outer, {7, {}}, false), (View{7, roll}));
  EXPECT_EQ(composeViews({3, turn}, {7, turn}, false), (View{7, {}})) << "turned twice";
  EXPECT_EQ(composeViews(outer, inner, true), (View{7, {}})) << "a number is the same everywhere";
}

TEST_F(ViewTest, KnowsPermutations) {
  EXPECT_EQ(permutationOf(AffineMap(), 2), (SmallVector<unsigned, 4>{0, 1}));
  EXPECT_EQ(permutationOf(map(2, {d(1), d(0)}), 2), (SmallVector<unsigned, 4>{1, 0}));
  EXPECT_FALSE(permutationOf(map(2, {d(0), d(0)}), 2)) << "a diagonal";
  EXPECT_FALSE(permutationOf(map(2, {d(0) + d(1)}), 2)) << "a window";
  EXPECT_FALSE(permutationOf(map(1, {3 - d(0)}), 1)) << "reversed";
}

/// The operands keep their distance from each other: seen from the space, each is where it was.
TEST_F(ViewTest, MeetsWhereOperandsAreRead) {
  SmallVector<int64_t> square = {4, 4}, row = {4};
  auto sizesOf = [&](NodeId id) { return ArrayRef<int64_t>(id == 1 ? square : row); };
  SmallVector<View> operands = {{1, map(2, {d(1), d(0)})}, {2, map(2, {d(0)})}};
  SmallVector<View> before = operands;
  MeetingSpace space = meet(operands, {4, 4}, sizesOf, &context);
  EXPECT_EQ(space.sizes, (SmallVector<int64_t, 4>{4, 4}));
  for (auto [is, was] : llvm::zip_equal(operands, before))
    EXPECT_EQ(composeViews({9, space.place}, is, false), was);
}

constexpr StringLiteral kReshaped = R"(
func.func @main(%x: tensor<4x4xf32>) -> (tensor<2x8xf32>, tensor<4x4xf32>, tensor<2x8xf32>, tensor<4x4xf32>) {
  %e = tensor.empty() : tensor<4x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %line = tensor.collapse_shape %x [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
  %a = tensor.expand_shape %line [[0, 1]] output_shape [2, 8] : tensor<16xf32> into tensor<2x8xf32>
  %again = tensor.collapse_shape %a [[0, 1]] : tensor<2x8xf32> into tensor<16xf32>
  %back = tensor.expand_shape %again [[0, 1]] output_shape [4, 4] : tensor<16xf32> into tensor<4x4xf32>
  %turned = tensor.collapse_shape %t [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
  %b = tensor.expand_shape %turned [[0, 1]] output_shape [2, 8] : tensor<16xf32> into tensor<2x8xf32>
  %n = arith.negf %x : tensor<4x4xf32>
  return %a, %back, %b, %n : tensor<2x8xf32>, tensor<4x4xf32>, tensor<2x8xf32>, tensor<4x4xf32>
})";

TEST_F(ViewTest, FollowsReshapesThereAndBack) {
  auto module = parse(kReshaped);
  ValueNumbering values(getMain(*module));
  View x = values.lookup(getMain(*module).getArgument(0));
  View grouped = seen(values, *module), back = seen(values, *module, 1);
  View turned = seen(values, *module, 2), negated = seen(values, *module, 3);
  EXPECT_TRUE(values.areEqual(x, back)) << "reshaped to what it was";
  EXPECT_FALSE(values.areEqual(grouped, turned)) << "transposed between";
  // Seen behind the way from 2x8 to 4x4, x is what its reshape is before that.
  ValueNode way;
  way.kind = ValueNode::Kind::Moved;
  way.isWhole = true;
  way.sizes = {4, 4};
  way.from = {2, 8};
  EXPECT_EQ(values.beforeReshape(way, x), grouped);
  EXPECT_EQ(values.beforeReshape(way, {x.node, map(2, {d(1), d(0)})}), turned);
  EXPECT_FALSE(values.beforeReshape(way, negated)) << "nothing computes -x in groups";
  way.from = {8, 2};
  EXPECT_FALSE(values.beforeReshape(way, x)) << "nothing has these groups";
  way.sizes = {16};
  EXPECT_FALSE(values.beforeReshape(way, x)) << "x is not seen there";
}

TEST(Assumption, OfAJoinIsTheWeaker) {
  Assumption small, large, none = Assumption::lost("math.exp");
  small.range = {-1, 1}, small.growth = 1, small.parameter = true;
  large.range = {0, 8}, large.growth = 4;
  Assumption both = join(small, large);
  EXPECT_TRUE(both.range.lo <= -1 && both.range.hi >= 8);
  EXPECT_EQ(both.growth, 1) << "what is bounded counts as 1 at most";
  large.range = domains::Interval::top();
  both = join(small, large);
  EXPECT_EQ(both.growth, 4);
  EXPECT_EQ(both.range, large.range);
  EXPECT_FALSE(both.parameter);
  EXPECT_TRUE(both.isAssumed());
  EXPECT_FALSE(join(small, none).isAssumed()) << "one side is not";
  EXPECT_EQ(join(small, none).lostAt, "math.exp");
  Assumption same = join(Assumption::nothing(), small);
  EXPECT_EQ(same.growth, small.growth);
  EXPECT_EQ(same.range, small.range);
}

TEST_F(ViewTest, WalksFunctionsAndNotWhatIsInside) {
  auto module = parse(R"(
module {
  func.func @a() { return }
  module { func.func @main() { return } }
})");
  SmallVector<std::string> names;
  walkFunctions(*module,
                [&](FunctionOpInterface function) { names.push_back(function.getName().str()); });
  EXPECT_EQ(names, (SmallVector<std::string>{"a", "main"}));
}

TEST_F(ViewTest, NamesLocations) {
  Location line = FileLineColLoc::get(&context, "model.mlir", 3, 5);
  EXPECT_NE(describeLocation(line).find("model.mlir:3"), std::string::npos);
  Location named = NameLoc::get(StringAttr::get(&context, "layer1"), line);
  EXPECT_TRUE(llvm::is_contained(namesIn(named), "layer1"));
  EXPECT_TRUE(namesIn(line).empty());
}

} // namespace
