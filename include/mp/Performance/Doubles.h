// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prices f64 on chips that have few units for it.

#ifndef MP_PERFORMANCE_DOUBLES_H
#define MP_PERFORMANCE_DOUBLES_H

#include "mp/Performance/Part.h"

namespace mpcore::performance {

/// Instructions that a multiprocessor begins in the time that its f64 units take for one: of 128
/// lanes a cycle 32 are f64's on a V100 or an A100, 64 on an H100 or a B200, 2 elsewhere (CUDA
/// programming guide, throughput of native arithmetic instructions; of 10.3 and 11.0 *assumed*).
double instructionsOfDouble(const Part &part);

} // namespace mpcore::performance

#endif // MP_PERFORMANCE_DOUBLES_H
