// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 1 / sqrt(x) in kernels against correctly rounded root and quotient.

#include "../../lib/Kernels/Lower/ReciprocalRoot.h"
#include "Lowering.h"
#include "mp/Emulator/Approximate.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

using namespace mlir::mp;
using namespace mlir::mp::test;
using emulator::SkewedApproximations;

namespace {

/// f32 arithmetic of the host.
struct HostMath {
  float c(double value) const { return float(value); }
  float neg(float x) const { return -x; }
  float mul(float x, float y) const { return x * y; }
  float fma(float x, float y, float z) const { return std::fma(x, y, z); }
};

/// Calls `visit` with all that rsqrt.approx may return for x, by the manual's bound of 2^-22.9.
template <class Visit> void allowedReturns(float x, Visit visit) {
  const double exact = 1 / std::sqrt(double(x)), bound = std::exp2(-22.9) * exact;
  for (float y = std::nextafter(float(exact - bound), 0.0f); y <= exact + bound;
       y = std::nextafter(y, INFINITY))
    if (std::abs(y - exact) <= bound)
      visit(y);
}

/// All significands of even and of odd exponents: what follows is the same for each exponent.
TEST(ReciprocalRoot, IsRightForAllThatTheManualAllows) {
  HostMath m;
  int64_t tried = 0, wrong = 0, wrongByOneStep = 0;
  for (uint32_t bits = 0x3f800000; bits < 0x40800000; ++bits) {
    const float x = llvm::bit_cast<float>(bits), root = std::sqrt(x), exact = 1 / root;
    allowedReturns(x, [&](float y) {
      ++tried;
      wrong += refineReciprocalRoot(m, x, y) != exact;
      wrongByOneStep += std::fma(std::fma(-root, y, 1.0f), y, y) != exact;
    });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(wrongByOneStep, 0); // a step less would show
  EXPECT_GT(tried, int64_t(2) << 24);
  std::printf("%lld returns tried, %lld would be wrong after one step\n", (long long)tried,
              (long long)wrongByOneStep);
}

/// The whole kernel, with zeros, subnormals, infinities, negative numbers and NaN, on every target
/// that has its own way of selecting.
TEST(ReciprocalRoot, HasTheBitsOfRootAndQuotient) {
  const char *text = R"(
#m = affine_map<(i) -> (i)>
func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = math.rsqrt %a : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
})";
  std::vector<float> values{0.0f,
                            -0.0f,
                            INFINITY,
                            -INFINITY,
                            NAN,
                            -1.0f,
                            0x1p-149f,
                            -0x1p-149f,
                            0x1p-126f,
                            0x1p-96f,
                            std::nextafter(0x1p-96f, 0.0f),
                            3.4028235e38f};
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 16381)
    values.push_back(llvm::bit_cast<float>(uint32_t(bits)));
  Array x(ElementType::floating(numerics::Format::F32), {int64_t(values.size())});
  std::memcpy(x.data.data(), values.data(), 4 * values.size());
  auto check = [&](Lowered &lowered, const char *skew) {
    std::vector<Array> found = lowered.run({x});
    ASSERT_EQ(lowered.error, "");
    std::vector<float> results(values.size());
    std::memcpy(results.data(), found[0].data.data(), 4 * values.size());
    int failures = 0;
    for (size_t i = 0; i < values.size() && failures < 5; ++i) {
      const float exact = 1 / std::sqrt(values[i]);
      const bool same =
          std::isnan(exact) ? std::isnan(results[i]) : std::memcmp(&exact, &results[i], 4) == 0;
      failures += !same;
      EXPECT_TRUE(same) << skew << ": of " << values[i] << " is " << results[i] << ", not "
                        << exact;
    }
  };
  for (const char *target : {"sm_75", "sm_80"}) {
    Lowered lowered(text, target, "math=exact");
    ASSERT_EQ(lowered.error, "");
    check(lowered, "correctly rounded");
    {
      SkewedApproximations low(SkewedApproximations::Toward::Zero);
      check(lowered, "toward zero");
    }
    SkewedApproximations high(SkewedApproximations::Toward::Infinity);
    check(lowered, "away from zero");
  }
}

} // namespace
