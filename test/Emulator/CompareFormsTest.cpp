// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// setp and set, form by form: every comparison of every type, alone and combined with a predicate.

#include "InstructionForms.h"

#include <bit>
#include <cmath>

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

namespace {
/// -1, 0, 1, or 2 when a NaN is among them.
template <class T> int order(T a, T b) { return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2; }

struct Comparison {
  const char *name;
  bool (*holds)(int order);
};
const Comparison equalities[] = {{"eq", [](int o) { return o == 0; }},
                                 {"ne", [](int o) { return o == -1 || o == 1; }}};
const Comparison orders[] = {{"lt", [](int o) { return o == -1; }},
                             {"le", [](int o) { return o == -1 || o == 0; }},
                             {"gt", [](int o) { return o == 1; }},
                             {"ge", [](int o) { return o == 1 || o == 0; }}};
const Comparison unsignedNames[] = {{"lo", [](int o) { return o == -1; }},
                                    {"ls", [](int o) { return o < 1; }},
                                    {"hi", [](int o) { return o == 1; }},
                                    {"hs", [](int o) { return o > -1; }}};
const Comparison unordered[] = {{"equ", [](int o) { return o == 0 || o == 2; }},
                                {"neu", [](int o) { return o != 0; }},
                                {"ltu", [](int o) { return o == -1 || o == 2; }},
                                {"leu", [](int o) { return o != 1; }},
                                {"gtu", [](int o) { return o > 0; }},
                                {"geu", [](int o) { return o > -1; }},
                                {"num", [](int o) { return o != 2; }},
                                {"nan", [](int o) { return o == 2; }}};

class CompareForms : public InstructionForms {
protected:
  CompareForms() {
    for (uint64_t v :
         {0x3f800000ull, 0x7f800000ull, 0xff800000ull, 0x807fffffull, 0x7ff0000000000000ull,
          0x8000000000000001ull, 0x7c00ull, 0xfc01ull, 0x7f80ull})
      corners.push_back(v);
  }
  /// One comparison of operands in registers of the letter, as setp with each combination, and as
  /// set with `results`.
  template <class F>
  void compare(const Comparison &c, const std::string &type, char letter, F orderOf,
               std::initializer_list<const char *> results) {
    const std::string operands = std::string("%") + letter + "a, %" + letter + "b";
    auto holds = [&](uint64_t a, uint64_t b) { return c.holds(orderOf(a, b)); };
    check<uint32_t>("setp." + std::string(c.name) + type + " %pd, " + operands + "; selp.u32",
                    "%wd, 1, 0, %pd",
                    [&](uint64_t a, uint64_t b, uint64_t) { return holds(a, b); });
    const bool two =
        letter != 'h' || !llvm::StringRef(type).contains('f'); // results; of halves one
    const char *combinations[] = {"and", "or", "xor"};
    for (unsigned k = 0; k < 3; ++k)
      for (bool negated : {false, true})
        check<uint32_t>(
            std::string("{ .reg .pred r, s; and.b32 %wc, %wc, 1; setp.ne.u32 r, %wc, 0; setp.") +
                c.name + "." + combinations[k] + type + (two ? " %pd|s, " : " %pd, ") + operands +
                (negated ? ", !r" : ", r") + "; selp.u32 %wd, 1, 0, %pd; " +
                (two ? "selp.u32 %wc, 2, 0, s; add.u32 %wd, %wd, %wc; " : "") + "} mov.u32",
            "%wd, %wd", [&](uint64_t a, uint64_t b, uint64_t third) {
              const bool p = holds(a, b), q = bool(third & 1) != negated;
              auto combined = [&](bool x) { return k == 0 ? x && q : k == 1 ? x || q : x != q; };
              return combined(p) + (two ? 2 * combined(!p) : 0);
            });
    for (const char *result : results)
      check<uint32_t>("set." + std::string(c.name) + "." + result + type, "%wd, " + operands,
                      [&](uint64_t a, uint64_t b, uint64_t) {
                        return holds(a, b) ? (result[0] == 'f' ? 0x3f800000u : ~0u) : 0u;
                      });
  }
  template <class T> void integers(bool isUnsigned) {
    auto orderOf = [](uint64_t a, uint64_t b) { return order(T(a), T(b)); };
    const std::string type = std::string(".") + Names<T>::type;
    for (const Comparison &c : equalities) {
      compare(c, type, Names<T>::reg, orderOf, {"u32", "s32", "f32"});
      if (isUnsigned)
        compare(c, std::string(".") + Names<T>::bits, Names<T>::reg, orderOf,
                {"u32", "s32", "f32"});
    }
    for (const Comparison &c : orders)
      compare(c, type, Names<T>::reg, orderOf, {"u32", "s32", "f32"});
    if (isUnsigned)
      for (const Comparison &c : unsignedNames)
        compare(c, type, Names<T>::reg, orderOf, {"u32", "s32", "f32"});
  }
  template <class F>
  void floats(const std::string &type, char letter, F valueOf,
              std::initializer_list<const char *> results) {
    auto orderOf = [=](uint64_t a, uint64_t b) { return order(valueOf(a), valueOf(b)); };
    for (llvm::ArrayRef<Comparison> list :
         {llvm::ArrayRef(equalities), llvm::ArrayRef(orders), llvm::ArrayRef(unordered)})
      for (const Comparison &c : list)
        compare(c, type, letter, orderOf, results);
  }
};
} // namespace

TEST_F(CompareForms, Integers) {
  integers<uint16_t>(true), integers<int16_t>(false);
  integers<uint32_t>(true), integers<int32_t>(false);
  integers<uint64_t>(true), integers<int64_t>(false);
}

TEST_F(CompareForms, Floats) {
  auto single = [](uint64_t v) { return std::bit_cast<float>(uint32_t(v)); };
  floats(".f32", 'w', single, {"u32", "s32", "f32"});
  floats(".ftz.f32", 'w',
         [=](uint64_t v) {
           float x = single(v);
           return std::fpclassify(x) == FP_SUBNORMAL ? 0 : x;
         },
         {});
  floats(".f64", 'l', [](uint64_t v) { return std::bit_cast<double>(v); }, {"u32", "s32", "f32"});
  floats(".f16", 'h', [](uint64_t v) { return decode(Kind::F16, v & 0xffff); }, {"u32", "s32"});
  floats(".ftz.f16", 'h',
         [](uint64_t v) { return v & 0x7c00 ? decode(Kind::F16, v & 0xffff) : 0.0; },
         {"u32", "s32"});
  floats(".bf16", 'h', [](uint64_t v) { return decode(Kind::BF16, v & 0xffff); }, {"u32", "s32"});
}
