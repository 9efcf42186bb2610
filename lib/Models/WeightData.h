// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seeded weight values: the same seed and name give the same bytes everywhere.

#ifndef MP_MODELS_WEIGHTDATA_H
#define MP_MODELS_WEIGHTDATA_H

#include "mp/Models/GraphBuilder.h"

namespace mlir::mp {

/// Appends the values of `spec` in stored order.
void appendWeightData(const WeightSpec &spec, uint64_t seed, std::vector<float> &data);

} // namespace mlir::mp

#endif // MP_MODELS_WEIGHTDATA_H
