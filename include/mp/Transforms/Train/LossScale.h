// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules by which known frameworks move their loss scale, by name.

#ifndef MP_TRANSFORMS_TRAIN_LOSSSCALE_H
#define MP_TRANSFORMS_TRAIN_LOSSSCALE_H

#include "mp/Dialect/MP/MPDialect.h"

namespace mlir::mp {

struct LossScalePreset {
  StringLiteral name;
  double initial, growth, backoff;
  int64_t interval, hysteresis;
  Refill refill;
  GrowthCounter counter;
  Beyond beyond;
  std::optional<double> min, max;

  /// Null, after an error, if the numbers make no rule.
  LossScaleAttr getRule(MLIRContext *context, function_ref<InFlightDiagnostic()> emitError) const;
};

/// The preset called `name`, or null.
const LossScalePreset *findLossScalePreset(StringRef name);

} // namespace mlir::mp

#endif // MP_TRANSFORMS_TRAIN_LOSSSCALE_H
