// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sm_103 and sm_103a (Blackwell Ultra: B300).
// tcgen05 and the formats below 8 bits exist only on sm_103a; int8 and f64
// products remain as token units, int8 without tcgen05.

#include "Tables.h"

using namespace mpcore::target;

TargetModel tables::sm103() {
  TargetModel t = datacentreBlackwell("sm_103", 103, 88);
  // Rates of mma.sync on this part are not published; those of sm_90 by the ratio of
  // multiprocessors.
  t.parts = {{"B300",
              148,
              8000,
              126,
              75,
              {{"tf32", "f32", 224},
               {"f16", "f32", 448},
               {"f16", "f16", 448},
               {"bf16", "f32", 448},
               {"i8", "i32", 150}},
              "estimate"}};
  return t;
}

TargetModel tables::sm103a() {
  TargetModel t = datacentreBlackwellSpecific("sm_103a", 103, 88, InstructionFamily::MmaSync,
                                              /*stochastic=*/true);
  t.parts = {{"B300",
              148,
              8000,
              126,
              75,
              {{"tf32", "f32", 1100},
               {"f16", "f32", 2250},
               {"f16", "f16", 2250},
               {"bf16", "f32", 2250},
               {"f8E4M3FN", "f32", 4500},
               {"f8E5M2", "f32", 4500},
               {"f6E2M3FN", "f32", 4500},
               {"f6E3M2FN", "f32", 4500},
               {"f4E2M1FN", "f32", 13000}, // block scaled kinds; 4500 through f8f6f4
               {"i8", "i32", 150}}}};
  return t;
}
