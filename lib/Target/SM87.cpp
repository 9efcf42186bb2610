// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sm_87 (Ampere: Jetson AGX Orin). As sm_86 with the shared memory of sm_80.

#include "Tables.h"

using namespace mpcore::target;

TargetModel tables::sm87() {
  TargetModel t = ampere("sm_87", 87, 74, {166912, 167936, 1536, 16});
  // Dense int8 is documented (half of 170 sparse); the rest follows by the ratios of sm_86.
  t.parts = {{"Jetson AGX Orin 64GB",
              16,
              204.8,
              4,
              5.3,
              {{"tf32", "f32", 21},
               {"f16", "f32", 42.5},
               {"f16", "f16", 42.5},
               {"bf16", "f32", 42.5},
               {"i8", "i32", 85}},
              "estimate"}};
  return t;
}
