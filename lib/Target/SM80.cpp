// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sm_80 (Ampere: A100). Adds bf16, tf32, f64 and cp.async.

#include "Tables.h"

using namespace mpcore::target;

TargetModel tables::sm80() {
  TargetModel t = ampere("sm_80", 80, 70, {166912, 167936, 2048, 32});
  Part a100{"A100 SXM 40GB",
            108,
            1555,
            40,
            19.5,
            {{"f64", "f64", 19.5},
             {"tf32", "f32", 156},
             {"f16", "f32", 312},
             {"f16", "f16", 312},
             {"bf16", "f32", 312},
             {"i8", "i32", 624},
             {"i4", "i32", 1248}}};
  Part a100Large = a100;
  a100Large.name = "A100 SXM 80GB";
  a100Large.memoryGBs = 2039;
  t.parts = {a100, a100Large};
  return t;
}
