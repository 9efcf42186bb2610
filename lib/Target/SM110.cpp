// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sm_110 and sm_110a (Blackwell: Jetson Thor).
// tcgen05 and the formats below 8 bits exist only on sm_110a.

#include "Tables.h"

using namespace mpcore::target;

static void restrictResidency(TargetModel &t) {
  t.limits.threadsPerMultiprocessor = 1536;
  t.limits.blocksPerMultiprocessor = 24;
}

TargetModel tables::sm110() {
  TargetModel t = datacentreBlackwell("sm_110", 110, 90);
  restrictResidency(t);
  // Rates of mma.sync on this part are not published: a quarter of tcgen05, as on B200 by our
  // estimate.
  t.parts = {{"Jetson T5000",
              20,
              273,
              32,
              8.1,
              {{"tf32", "f32", 32},
               {"f16", "f32", 65},
               {"f16", "f16", 65},
               {"bf16", "f32", 65},
               {"i8", "i32", 129}},
              "estimate"}};
  return t;
}

TargetModel tables::sm110a() {
  TargetModel t = datacentreBlackwellSpecific("sm_110a", 110, 90, InstructionFamily::Tcgen05,
                                              /*stochastic=*/false);
  restrictResidency(t);
  // Documented: fp4 1035 dense (half of 2070 sparse). The rest by the ratios of B200.
  t.parts = {{"Jetson T5000",
              20,
              273,
              32,
              8.1,
              {{"tf32", "f32", 129},
               {"f16", "f32", 259},
               {"f16", "f16", 259},
               {"bf16", "f32", 259},
               {"f8E4M3FN", "f32", 517},
               {"f8E5M2", "f32", 517},
               {"f6E2M3FN", "f32", 517},
               {"f6E3M2FN", "f32", 517},
               {"f4E2M1FN", "f32", 1035},
               {"i8", "i32", 517}},
              "estimate"}};
  return t;
}
