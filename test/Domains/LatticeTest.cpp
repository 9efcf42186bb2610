// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestUtils.h"

#include "gtest/gtest.h"

using namespace mpcore::domains;

namespace {

FloatFacts randomFacts(Random &random) {
  if (random.below(20) == 0)
    return FloatFacts::bottom();
  if (random.below(20) == 0)
    return FloatFacts::top();
  FloatFacts facts = FloatFacts::finite(random.interval(-3, 3));
  if (random.below(4) == 0)
    facts.range.hi = kInf;
  if (random.below(6) == 0)
    facts.range.lo = -kInf;
  if (random.flip())
    facts.norm2 = std::fabs(random.number(-3, 3));
  facts.mayNaN = random.flip();
  facts.mayInf = random.flip();
  facts.integerValued = random.flip();
  facts.nonZero = random.flip();
  facts.provenance = static_cast<Provenance>(random.below(3));
  facts.normalize();
  return facts;
}

TEST(Lattice, Laws) {
  Random random(3);
  for (int i = 0; i < 20000; ++i) {
    FloatFacts a = randomFacts(random), b = randomFacts(random), c = randomFacts(random);
    ASSERT_TRUE(join(a, a) == a && meet(a, a) == a) << a;
    ASSERT_TRUE(join(a, b) == join(b, a)) << a << " | " << b;
    ASSERT_TRUE(meet(a, b).sameFacts(meet(b, a))) << a << " | " << b;
    ASSERT_TRUE(join(a, join(b, c)) == join(join(a, b), c)) << a << " | " << b << " | " << c;
    ASSERT_TRUE(isAtMost(a, join(a, b)) && isAtMost(b, join(a, b))) << a << " | " << b;
    ASSERT_TRUE(isAtMost(meet(a, b), a) && isAtMost(meet(a, b), b)) << a << " | " << b;
    ASSERT_TRUE(join(a, meet(a, b)).sameFacts(a)) << a << " | " << b;
    ASSERT_TRUE(meet(a, join(a, b)).sameFacts(a)) << a << " | " << b;
    // The order and the operations say the same.
    ASSERT_EQ(isAtMost(a, b), join(a, b).sameFacts(b)) << a << " | " << b;
    if (isAtMost(a, b) && isAtMost(b, a)) {
      ASSERT_TRUE(a.sameFacts(b));
    }
    if (isAtMost(a, b) && isAtMost(b, c)) {
      ASSERT_TRUE(isAtMost(a, c));
    }
    // Least and greatest: nothing between.
    if (isAtMost(a, c) && isAtMost(b, c)) {
      ASSERT_TRUE(isAtMost(join(a, b), c)) << a << " | " << b << " | " << c;
    }
    if (isAtMost(c, a) && isAtMost(c, b)) {
      ASSERT_TRUE(isAtMost(c, meet(a, b))) << a << " | " << b << " | " << c;
    }
    ASSERT_TRUE(isAtMost(FloatFacts::bottom(), a) && isAtMost(a, FloatFacts::top()));
    if (!a.isBottom() && !b.isBottom()) {
      ASSERT_GE(meet(a, b).provenance, std::min(a.provenance, b.provenance));
      ASSERT_EQ(join(a, b).provenance, std::max(a.provenance, b.provenance));
    }
  }
}

TEST(Lattice, MeetKeepsTheStrongerPremise) {
  FloatFacts proved = FloatFacts::finite({0, 1});
  FloatFacts assumed = FloatFacts::finite({-5, 5}, Provenance::Assumed);
  EXPECT_EQ(meet(proved, assumed).provenance, Provenance::Proved);
  EXPECT_EQ(meet(FloatFacts::finite({-9, 9}), assumed).provenance, Provenance::Assumed);
  EXPECT_EQ(meet(FloatFacts::finite({0, 9}), assumed).provenance, Provenance::Assumed);
}

TEST(Lattice, Normal) {
  FloatFacts facts = FloatFacts::finite({1, 2});
  EXPECT_TRUE(facts.nonZero);
  EXPECT_FALSE(facts.mayInf);
  facts.reduce(4);
  EXPECT_EQ(facts.norm2, 4);
  FloatFacts row = FloatFacts::top();
  row.mayInf = row.mayNaN = false;
  row.norm2 = 3;
  row.reduce(std::nullopt);
  EXPECT_EQ(row.range, (Interval{-3, 3}));
  EXPECT_TRUE(FloatFacts::constant(7).integerValued);
  EXPECT_FALSE(FloatFacts::constant(0.5).integerValued);
  EXPECT_TRUE(FloatFacts::constant(kInf).mayInf);
  EXPECT_TRUE(FloatFacts::constant(NAN).mayNaN);
  EXPECT_TRUE(FloatFacts::constant(NAN).range.isEmpty());
}

TEST(Lattice, Print) {
  auto text = [](const FloatFacts &facts) {
    std::string out;
    llvm::raw_string_ostream(out) << facts;
    return out;
  };
  EXPECT_EQ(text(FloatFacts::bottom()), "unvisited");
  EXPECT_EQ(text(FloatFacts::top()), "[-inf, inf] nan inf");
  EXPECT_EQ(text(FloatFacts::constant(-8)), "[-8, -8] integer");
  FloatFacts facts = FloatFacts::finite({-0.1, 12}, Provenance::Assumed);
  facts.norm2 = 27.5;
  facts.nonZero = true;
  EXPECT_EQ(text(facts), "[-0.1, 12] norm<=27.5 nonzero (assumed)");
}

} // namespace
