// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fixture for scalar instructions, form by form: corner values against a function, and ptxas has
// to know the form as well.

#ifndef MP_TEST_EMULATOR_INSTRUCTIONFORMS_H
#define MP_TEST_EMULATOR_INSTRUCTIONFORMS_H

#include "MatrixSupport.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mpcore::emulator::test {

template <class T> struct Names;
template <> struct Names<uint16_t> {
  static constexpr const char *type = "u16", *bits = "b16";
  static constexpr char reg = 'h';
};
template <> struct Names<int16_t> {
  static constexpr const char *type = "s16", *bits = "b16";
  static constexpr char reg = 'h';
};
template <> struct Names<uint32_t> {
  static constexpr const char *type = "u32", *bits = "b32";
  static constexpr char reg = 'w';
};
template <> struct Names<int32_t> {
  static constexpr const char *type = "s32", *bits = "b32";
  static constexpr char reg = 'w';
};
template <> struct Names<uint64_t> {
  static constexpr const char *type = "u64", *bits = "b64";
  static constexpr char reg = 'l';
};
template <> struct Names<int64_t> {
  static constexpr const char *type = "s64", *bits = "b64";
  static constexpr char reg = 'l';
};

class InstructionForms : public testing::Test {
protected:
  using Operands = std::vector<uint64_t>;
  using Meaning = llvm::function_ref<uint64_t(uint64_t, uint64_t, uint64_t)>;

  /// The results of "form operands;" on all triples drawn from corner values.
  template <class R, class F>
  void check(const std::string &form, const std::string &operands, F want) {
    checkCorners(form + " " + operands + ";", Names<R>::reg, 8 * sizeof(R),
                 [&](uint64_t a, uint64_t b, uint64_t c) { return uint64_t(R(want(a, b, c))); });
  }
  void checkCorners(const std::string &text, char reg, unsigned bits, Meaning want) {
    forms.push_back(text);
    Operands a, b, c;
    for (size_t i = 0; i < corners.size(); ++i)
      for (size_t j = 0; j < corners.size(); ++j)
        a.push_back(corners[i]), b.push_back(corners[j]),
            c.push_back(corners[(i * 7 + j * 3) % corners.size()]);
    checkEach(text, reg, bits, a, b, c, want);
  }
  /// Compares what `text` leaves in the low `bits` bits of register d of class `reg` for each a, b,
  /// c. Neither this nor the one above is a template, which would be compiled for each form.
  void checkEach(const std::string &text, char reg, unsigned bits, const Operands &a,
                 const Operands &b, const Operands &c, Meaning want) {
    auto got = eval(text, reg, {a, b, c}, "", target);
    ASSERT_EQ(got.size(), a.size()) << text;
    const uint64_t mask = ~0ull >> (64 - bits);
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i] & mask, want(a[i], b[i], c[i]) & mask)
          << text << std::hex << " of " << a[i] << ", " << b[i] << ", " << c[i];
  }
  /// "op.type d, a, b, c" with `sources` operands of the type.
  template <class T, class F>
  void typed(const std::string &op, unsigned sources, F want, const char *type = Names<T>::type) {
    check<T>(op + "." + type, regs<T>("dabc", sources + 1),
             [&](uint64_t a, uint64_t b, uint64_t c) { return want(T(a), T(b), T(c)); });
  }
  template <class T> static std::string regs(const char *which, size_t count) {
    std::string s;
    for (size_t i = 0; i < count; ++i)
      s += (i ? ", %" : "%") + std::string(1, Names<T>::reg) + which[i];
    return s;
  }
  template <class F> static void forIntegers(F &&fn) {
    fn(uint16_t()), fn(int16_t()), fn(uint32_t()), fn(int32_t()), fn(uint64_t()), fn(int64_t());
  }
  void TearDown() override {
    auto accepted = acceptedByPtxas(forms, target);
    for (size_t i = 0; accepted && i < forms.size(); ++i)
      EXPECT_TRUE(bool((*accepted)[i])) << "ptxas does not know " << forms[i];
  }
  std::vector<uint64_t> corners = {0,
                                   1,
                                   2,
                                   5,
                                   31,
                                   32,
                                   33,
                                   0x7f,
                                   0x80,
                                   0x7fff,
                                   0x8000,
                                   0xffff,
                                   0x12345678,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x100000000,
                                   0x0123456789abcdef,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xfffffffffffffffe,
                                   0xffffffffffffffff};
  std::vector<std::string> forms;
  std::string target = "sm_90a";
};

} // namespace mpcore::emulator::test

#endif
