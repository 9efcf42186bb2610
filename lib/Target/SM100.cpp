// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sm_100 and sm_100a (Blackwell: B200).
// tcgen05 and the formats below 8 bits exist only on sm_100a.

#include "Tables.h"

using namespace mpcore::target;

TargetModel tables::sm100() {
  TargetModel t = datacentreBlackwell("sm_100", 100, 86);
  // Rates of mma.sync on this part are not published; those of sm_90 by the ratio of
  // multiprocessors.
  t.parts = {{"B200",
              148,
              7700,
              126,
              75,
              {{"f64", "f64", 40},
               {"tf32", "f32", 224},
               {"f16", "f32", 448},
               {"f16", "f16", 448},
               {"bf16", "f32", 448},
               {"i8", "i32", 896}},
              "estimate"}};
  return t;
}

TargetModel tables::sm100a() {
  TargetModel t = datacentreBlackwellSpecific("sm_100a", 100, 86, InstructionFamily::Tcgen05,
                                              /*stochastic=*/true);
  t.parts = {{"B200",
              148,
              7700,
              126,
              75,
              {{"f64", "f64", 40},
               {"tf32", "f32", 1100},
               {"f16", "f32", 2250},
               {"f16", "f16", 2250},
               {"bf16", "f32", 2250},
               {"f8E4M3FN", "f32", 4500},
               {"f8E5M2", "f32", 4500},
               {"f6E2M3FN", "f32", 4500},
               {"f6E3M2FN", "f32", 4500},
               {"f4E2M1FN", "f32", 9000}, // block scaled kinds; 4500 through f8f6f4
               {"i8", "i32", 4500}}}};
  return t;
}
