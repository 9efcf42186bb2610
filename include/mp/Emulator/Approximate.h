// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions whose result the hardware only approximates. The emulator returns the correctly
// rounded value (computed in f64 by the host's libm, then rounded once), which lies within the
// manual's bound; the hardware's bits may differ.

#ifndef MP_EMULATOR_APPROXIMATE_H
#define MP_EMULATOR_APPROXIMATE_H

namespace mpcore::emulator {

/// While one lives, instructions with a relative bound in f32 (div.full, rcp, rsqrt, ex2, tanh)
/// return on every device of the process what is as far above, or below, the exact value as the
/// bound allows: for tests of what is built upon the bounds.
class SkewedApproximations {
public:
  enum class Toward { Zero, Infinity };
  explicit SkewedApproximations(Toward toward);
  ~SkewedApproximations();
  SkewedApproximations(const SkewedApproximations &) = delete;
  SkewedApproximations &operator=(const SkewedApproximations &) = delete;
};

} // namespace mpcore::emulator

#endif
