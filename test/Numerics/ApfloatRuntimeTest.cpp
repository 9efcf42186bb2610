// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The definition against LLVM's packaged runtime of convert-arith-to-apfloat,
// which programs compiled by that pass call.

#include "mp/Numerics/Arithmetic.h"

#include "gtest/gtest.h"

#include <dlfcn.h>

#ifndef MP_APFLOAT_RUNTIME
#define MP_APFLOAT_RUNTIME "libmlir_apfloat_wrappers.so"
#endif

using namespace mpcore::numerics;

namespace {

using ConvertFunction = uint64_t (*)(int32_t from, int32_t to, uint64_t bits);
using BinaryFunction = uint64_t (*)(int32_t semantics, uint64_t a, uint64_t b);

class ApfloatRuntime : public testing::Test {
protected:
  void *library = nullptr;
  void SetUp() override {
    library = dlopen(MP_APFLOAT_RUNTIME, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      GTEST_SKIP() << "no " MP_APFLOAT_RUNTIME ": " << dlerror();
  }

  template <typename Function> Function find(const char *name) {
    auto function = reinterpret_cast<Function>(dlsym(library, name));
    EXPECT_TRUE(function) << name;
    return function;
  }

  static int32_t semanticsOf(Format format) {
    return llvm::APFloatBase::SemanticsToEnum(*info(format).semantics);
  }
};

/// False where the runtime is known to be wrong or to have no answer: NaN of f8E8M0 becomes
/// infinity, and f4, f6 and f8E8M0 hold no NaN, infinity, zero or sign.
bool applies(uint64_t bits, Format from, Format to) {
  ValueClass kind = unpack(bits, from).kind;
  bool negative = unpack(bits, from).negative;
  bool finite = kind == ValueClass::Finite || kind == ValueClass::Zero;
  if (from == Format::F8E8M0FNU && !finite)
    return false;
  if (to == Format::F8E8M0FNU)
    return kind == ValueClass::Finite && !negative;
  return info(to).hasNaN || finite;
}

TEST_F(ApfloatRuntime, ConvertsEveryPatternTheSame) {
  auto runtime = find<ConvertFunction>("_mlir_apfloat_convert");
  ASSERT_TRUE(runtime);
  for (Format from : allFormats()) {
    if (info(from).bits > 16)
      continue;
    for (Format to : allFormats())
      for (uint64_t bits = 0; bits < (uint64_t(1) << info(from).bits); ++bits) {
        if (from == to || !applies(bits, from, to))
          continue;
        uint64_t expected = runtime(semanticsOf(from), semanticsOf(to), bits);
        uint64_t actual = convert(bits, from, to);
        if (isNaN(expected, to))
          ASSERT_TRUE(isNaN(actual, to));
        else
          ASSERT_EQ(actual, expected) << info(from).name.str() << " 0x" << std::hex << bits
                                      << " to " << info(to).name.str();
      }
  }
}

TEST_F(ApfloatRuntime, ComputesEveryFP8PairTheSame) {
  const std::pair<BinaryOp, const char *> ops[] = {{BinaryOp::Add, "_mlir_apfloat_add"},
                                                   {BinaryOp::Sub, "_mlir_apfloat_subtract"},
                                                   {BinaryOp::Mul, "_mlir_apfloat_multiply"},
                                                   {BinaryOp::Div, "_mlir_apfloat_divide"}};
  for (auto [op, name] : ops) {
    auto runtime = find<BinaryFunction>(name);
    ASSERT_TRUE(runtime);
    for (Format format : {Format::F8E4M3FN, Format::F8E5M2})
      for (uint64_t a = 0; a < 256; ++a)
        for (uint64_t b = 0; b < 256; ++b) {
          uint64_t expected = runtime(semanticsOf(format), a, b);
          uint64_t actual = arithmetic(op, a, b, format);
          if (isNaN(expected, format))
            ASSERT_TRUE(isNaN(actual, format));
          else
            ASSERT_EQ(actual, expected) << name << std::hex << " 0x" << a << " 0x" << b;
        }
  }
}

} // namespace
