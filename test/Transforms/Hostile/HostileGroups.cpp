// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups that types do not tell: of a reshaped tensor, with statistics that are reshaped back, and
// reductions after each other. A reshape keeps elements in order, so what meets before it meets
// behind it; a transposition between the two mixes groups of equal sizes.

#include "ClaimWriter.h"

using namespace mlir;
using namespace mlir::mp::test;
using Dims = TensorWriter::Dims;

static constexpr StringLiteral kGroups[] = {"moved before it is grouped",
                                            "reshaped back in another order",
                                            "spread along the groups",
                                            "batches reversed before",
                                            "a part of each group left out",
                                            "another tensor grouped",
                                            "groups of another size spread back",
                                            "moved behind the difference"};

namespace {
/// A tensor and how it is grouped: batch, channels = groups * channels in each, places.
struct Grouped {
  Value x, groups;
  int64_t batch, channels, places, count, size;
};
} // namespace

static Grouped group(ClaimWriter &b) {
  Grouped g;
  bool isSquare = b.breaks("spread along the groups");
  int64_t each = isSquare ? 2 : b.pick<int64_t>({1, 2, 3});
  g.batch = b.pick<int64_t>({1, 2, 3});
  g.places = isSquare ? 2 : b.pick<int64_t>({2, 3, 4});
  g.count = isSquare ? 4 : b.pick<int64_t>({2, 3});
  if (b.breaks("groups of another size spread back"))
    each = 2 * g.count;
  g.channels = g.count * each;
  g.size = each * g.places;
  g.x = b.argument({g.batch, g.channels, g.places});
  Value grouped = g.x;
  if (b.breaks("another tensor grouped"))
    grouped = b.another(grouped);
  if (b.breaks("moved before it is grouped"))
    grouped = b.transpose(grouped, {0, 2, 1});
  if (b.breaks("batches reversed before"))
    grouped = b.reverse(grouped, 0);
  g.groups = b.reshape(grouped, {g.batch, g.count, g.size});
  return g;
}

/// The statistic of each group, at each of its elements, in the shape of x.
static Value spreadBack(ClaimWriter &b, const Grouped &g, Value statistic) {
  Dims before = {g.batch, g.count, g.size};
  if (b.breaks("groups of another size spread back")) // each is for half a group, twice
    before = {g.batch * 2, g.count, g.size / 2};
  Value like = b.reshape(g.groups, before);
  if (before[0] != g.batch) {
    Dims rows =
        b.getSpelling() == Spelling::Tosa ? Dims{g.batch, g.count, 1} : Dims{g.batch, g.count};
    Value twice = b.concat({b.reshape(statistic, rows), b.reshape(statistic, rows)}, 0);
    statistic = twice;
  }
  int64_t along = b.breaks("spread along the groups") ? 1 : 2;
  if (along == 1 && b.getSpelling() == Spelling::Tosa)
    statistic = b.transpose(statistic, {0, 2, 1});
  Value spread = b.spread(statistic, like, {along});
  if (b.getSpelling() == Spelling::Tosa)
    spread = b.broadcastTo(spread, before);
  if (b.breaks("reshaped back in another order"))
    return b.transpose(b.reshape(spread, {g.batch, g.places, g.channels}), {0, 2, 1});
  return b.reshape(spread, {g.batch, g.channels, g.places});
}

/// Returns what a statistic is taken of.
static Value partOf(ClaimWriter &b, const Grouped &g, Value groups) {
  if (!b.breaks("a part of each group left out"))
    return groups;
  return b.slice(groups, {0, 0, 0}, {g.batch, g.count, std::max<int64_t>(1, g.size / 2)});
}

/// (x - mean x) rsqrt(var x + e) over groups, in the shape of x or in that of the groups
static Value groupNorm(ClaimWriter &b) {
  Grouped g = group(b);
  bool isBehind = !b.breaks("spread along the groups") && b.oneIn(3);
  auto spreadAmong = [&](Value statistic) {
    return isBehind ? b.spread(statistic, g.groups, {2}) : spreadBack(b, g, statistic);
  };
  Value mean = b.mean(partOf(b, g, g.groups), {2});
  Value above = isBehind ? g.groups : g.x;
  Value centred = b.sub(above, spreadAmong(mean));
  Value among = centred;
  if (!isBehind && b.oneIn(2))
    among = b.reshape(centred, {g.batch, g.count, g.size});
  else if (!isBehind)
    among = b.sub(g.groups, b.spread(mean, g.groups, {2}));
  Value variance = b.mean(b.square(partOf(b, g, among)), {2});
  Value root = b.rsqrt(b.withEpsilon(variance));
  if (b.breaks("moved behind the difference") && g.batch > 1)
    centred = b.reverse(centred, 0);
  Value norm = b.mul(centred, spreadAmong(root));
  if (!isBehind)
    return b.affine(norm);
  // Asked for where it is not done: these are told of what is reshaped back.
  (void)(b.breaks("reshaped back in another order") ||
         b.breaks("groups of another size spread back"));
  return b.affine(b.reshape(norm, {g.batch, g.channels, g.places}));
}

/// e^(x - max x), |x| / (sum |x| + e) or x rsqrt(sum x^2 + e) over groups, in the shape of x
static Value groupShare(ClaimWriter &b) {
  Grouped g = group(b);
  Value groups = partOf(b, g, g.groups);
  Value x = b.breaks("moved behind the difference") && g.batch > 1 ? b.reverse(g.x, 0) : g.x;
  switch (b.below(4)) {
  case 0: return b.exp(b.sub(x, spreadBack(b, g, b.reduce(Fn::Max, groups, {2}))));
  case 1: {
    Value sum = b.add(b.reduce(Fn::Add, b.abs(groups), {2}), 1e-6);
    return b.div(b.abs(x), spreadBack(b, g, sum));
  }
  case 2: {
    Value sum = b.add(b.reduce(Fn::Add, b.square(groups), {2}), 1e-6);
    return b.mul(x, spreadBack(b, g, b.rsqrt(sum)));
  }
  default: {
    Value largest = b.add(b.reduce(Fn::Max, b.abs(groups), {2}), 1e-3);
    return b.mul(x, b.reciprocal(spreadBack(b, g, largest)));
  }
  }
}

static constexpr StringLiteral kTwice[] = {"sums of one sign added",    "the smaller of the sums",
                                           "the mean of signed values", "of another tensor",
                                           "the inner one of a part",   "columns for rows"};

/// |x| over a reduction of reductions that is at least as large
static Value reducedTwice(ClaimWriter &b) {
  int64_t n = b.pick<int64_t>({2, 3, 4});
  Value x = b.argument({n, n}), of = b.breaks("of another tensor") ? b.another(x) : x;
  int64_t first = b.below(2);
  Value inner =
      b.breaks("sums of one sign added") || b.breaks("the mean of signed values") ? of : b.abs(of);
  if (b.breaks("the inner one of a part"))
    inner = b.slice(inner, {0, 0}, first ? Dims{n, 1} : Dims{1, n});
  bool isTosa = b.getSpelling() == Spelling::Tosa;
  Value once = b.reduce(b.oneIn(2) ? Fn::Max : Fn::Add, inner, {first});
  if (b.breaks("sums of one sign added"))
    once = b.abs(b.reduce(Fn::Add, inner, {first}));
  if (b.breaks("columns for rows")) { // reduced once, and spread along the other axis
    Value along = isTosa ? b.transpose(once, {1, 0}) : once;
    return b.div(b.abs(x), b.spread(b.add(along, 1e-6), x, {1 - first}));
  }
  Fn outer = b.breaks("the smaller of the sums") ? Fn::Min : b.oneIn(2) ? Fn::Max : Fn::Add;
  Value twice = b.reduce(outer, once, {isTosa ? 1 - first : 0});
  Value whole = b.add(twice, 1e-6);
  if (b.breaks("the mean of signed values"))
    whole = b.add(b.mul(twice, 0.25), 1e-6);
  return b.div(b.abs(x), b.spread(whole, x, {0, 1}));
}

void mlir::mp::test::addGroups(std::vector<HostileFamily> &families) {
  families.push_back({"norm over groups",
                      groupNorm,
                      {kGroups, kEpsilonHypotheses, kCountHypotheses, kSumHypotheses}});
  families.push_back({"share of a group", groupShare, {kGroups}});
  families.push_back({"reduced twice", reducedTwice, {kTwice}});
}
