// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// shfl, vote, match, redux and elect, form by form, by a whole warp and by the two halves of a
// diverged one.

#include "InstructionForms.h"

#include <bit>
#include <random>

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;
using V = std::vector<uint64_t>;

namespace {
class ExchangeForms : public InstructionForms {
protected:
  /// `form` with MASK for the member mask leaves %wd. want(lane, members, a, b, c) is what each
  /// lane gets.
  template <class F> void exchange(const std::string &form, F want) {
    std::string canonical = form;
    canonical.replace(canonical.find("MASK"), 4, "-1");
    forms.push_back(canonical);
    auto with = [&](const char *mask) {
      return std::string(form).replace(form.find("MASK"), 4, mask);
    };
    const std::string halves = "{ .reg .pred half; .reg .b32 lane; mov.u32 lane, %laneid; "
                               "setp.lt.u32 half, lane, 16; @half bra LOW; { " +
                               with("0xffff0000") + " } bra END; LOW: { " + with("0x0000ffff") +
                               " } END: }";
    for (bool diverged : {false, true}) {
      V a, b, c;
      for (unsigned l = 0; l < 32; ++l)
        a.push_back(rng()), b.push_back(rng() % 3), c.push_back(rng() % 2);
      const std::string text = diverged ? halves : canonical;
      V got = eval(text, 'w', {a, b, c});
      ASSERT_EQ(got.size(), 32u) << text;
      for (unsigned l = 0; l < 32; ++l)
        ASSERT_EQ(uint32_t(got[l]), uint32_t(want(l,
                                                  !diverged ? ~0u
                                                  : l < 16  ? 0xffffu
                                                            : 0xffff0000u,
                                                  a, b, c)))
            << text << " lane " << l;
    }
  }
  std::mt19937 rng{41};
};
} // namespace

TEST_F(ExchangeForms, Shuffles) {
  // The manual's program. Segments keep each half to itself, as its members are.
  for (const char *mode : {"up", "down", "bfly", "idx"})
    for (unsigned segment : {16u, 24u, 28u})
      for (unsigned distance : {0u, 1u, 3u, 5u, 9u})
        for (bool predicate : {false, true}) {
          const unsigned clamp = mode[0] == 'u' ? 0 : 31, cOperand = segment << 8 | clamp;
          exchange(std::string("{ .reg .pred p; shfl.sync.") + mode + ".b32 %wd" +
                       (predicate ? "|p" : "") + ", %wa, " + std::to_string(distance) + ", " +
                       std::to_string(cOperand) + ", MASK;" +
                       (predicate ? " selp.u32 %wd, 1, 0, p;" : "") + " }",
                   [=](unsigned lane, uint32_t, const V &a, const V &, const V &) {
                     const int max = (lane & segment) | (clamp & ~segment), min = lane & segment;
                     int j;
                     bool p;
                     switch (mode[0]) {
                     case 'u': j = int(lane) - int(distance), p = j >= max; break;
                     case 'd': j = lane + distance, p = j <= max; break;
                     case 'b': j = lane ^ distance, p = j <= max; break;
                     default: j = min | (distance & ~segment), p = j <= max;
                     }
                     return predicate ? uint64_t(p) : a[p ? j : lane];
                   });
        }
}

TEST_F(ExchangeForms, Votes) {
  for (bool negated : {false, true}) {
    auto vote = [&](const char *mode, auto want) {
      exchange(std::string("{ .reg .pred p, q; setp.ne.u32 p, %wc, 0; vote.sync.") + mode +
                   ".pred q, " + (negated ? "!p" : "p") + ", MASK; selp.u32 %wd, 1, 0, q; }",
               [=](unsigned, uint32_t members, const V &, const V &, const V &c) {
                 unsigned yes = 0;
                 for (unsigned l = 0; l < 32; ++l)
                   yes += (members >> l & 1) && bool(c[l]) != negated;
                 return want(yes, unsigned(std::popcount(members)));
               });
    };
    vote("all", [](unsigned yes, unsigned of) { return yes == of; });
    vote("any", [](unsigned yes, unsigned) { return yes > 0; });
    vote("uni", [](unsigned yes, unsigned of) { return yes == 0 || yes == of; });
    exchange(std::string("{ .reg .pred p; setp.ne.u32 p, %wc, 0; vote.sync.ballot.b32 %wd, ") +
                 (negated ? "!p" : "p") + ", MASK; }",
             [=](unsigned, uint32_t members, const V &, const V &, const V &c) {
               uint32_t ballot = 0;
               for (unsigned l = 0; l < 32; ++l)
                 ballot |= uint32_t(bool(c[l]) != negated) << l;
               return ballot & members;
             });
  }
}

TEST_F(ExchangeForms, Matches) {
  auto same = [](unsigned lane, uint32_t members, const V &b) {
    uint32_t mask = 0;
    for (unsigned l = 0; l < 32; ++l)
      mask |= uint32_t(b[l] == b[lane]) << l;
    return mask & members;
  };
  for (bool wide : {false, true}) {
    const std::string type = wide ? ".b64 %wd" : ".b32 %wd",
                      source = wide ? ", %lb, MASK;" : ", %wb, MASK;";
    exchange("match.any.sync" + type + source,
             [&](unsigned lane, uint32_t members, const V &, const V &b, const V &) {
               return same(lane, members, b);
             });
    exchange("match.all.sync" + type + source,
             [&](unsigned lane, uint32_t members, const V &, const V &b, const V &) {
               return same(lane, members, b) == members ? members : 0;
             });
    const std::string one = wide ? "and.b64 %lb, %lb, 0; " : "and.b32 %wb, %wb, 0; ";
    exchange(one + "{ .reg .pred p; match.all.sync" + type + "|p" + source +
                 " selp.u32 %wd, %wd, 0, p; }",
             [](unsigned, uint32_t members, const V &, const V &, const V &) { return members; });
  }
}

TEST_F(ExchangeForms, Reductions) {
  auto reduce = [&](auto zero, const char *op, const char *type, auto combine) {
    using T = decltype(zero);
    exchange(std::string("redux.sync.") + op + "." + type + " %wd, %wa, MASK;",
             [=](unsigned lane, uint32_t members, const V &a, const V &, const V &) {
               T r = T(a[lane]);
               for (unsigned l = 0; l < 32; ++l)
                 if ((members >> l & 1) && l != lane)
                   r = combine(r, T(a[l]));
               return uint32_t(r);
             });
  };
  reduce(uint32_t(), "add", "u32", [](uint32_t x, uint32_t y) { return x + y; });
  reduce(uint32_t(), "add", "s32", [](uint32_t x, uint32_t y) { return x + y; });
  reduce(uint32_t(), "min", "u32", [](uint32_t x, uint32_t y) { return std::min(x, y); });
  reduce(uint32_t(), "max", "u32", [](uint32_t x, uint32_t y) { return std::max(x, y); });
  reduce(int32_t(), "min", "s32", [](int32_t x, int32_t y) { return std::min(x, y); });
  reduce(int32_t(), "max", "s32", [](int32_t x, int32_t y) { return std::max(x, y); });
  reduce(uint32_t(), "and", "b32", [](uint32_t x, uint32_t y) { return x & y; });
  reduce(uint32_t(), "or", "b32", [](uint32_t x, uint32_t y) { return x | y; });
  reduce(uint32_t(), "xor", "b32", [](uint32_t x, uint32_t y) { return x ^ y; });
}

TEST_F(ExchangeForms, Elections) {
  exchange(
      "{ .reg .pred p; elect.sync %wd|p, MASK; selp.u32 %wc, 100, 0, p; add.u32 %wd, %wd, %wc; }",
      [](unsigned lane, uint32_t members, const V &, const V &, const V &) {
        const unsigned leader = std::countr_zero(members);
        return leader + (lane == leader ? 100 : 0);
      });
  exchange("activemask.b32 %wd; and.b32 %wd, %wd, MASK;",
           [](unsigned, uint32_t members, const V &, const V &, const V &) { return members; });
}
