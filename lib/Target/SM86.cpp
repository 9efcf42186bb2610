// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sm_86 (Ampere: A40, A10, RTX 30). As sm_80 with less shared memory and token f64 products.

#include "Tables.h"

using namespace mpcore::target;

TargetModel tables::sm86() {
  TargetModel t = ampere("sm_86", 86, 71, {101376, 102400, 1536, 16});
  t.parts = {{"A40",
              84,
              696,
              6,
              37.4,
              {{"tf32", "f32", 74.8},
               {"f16", "f32", 149.7},
               {"f16", "f16", 149.7},
               {"bf16", "f32", 149.7},
               {"i8", "i32", 299}}},
             {"RTX 3090",
              82,
              936,
              6,
              35.6,
              {{"tf32", "f32", 35.6},
               {"f16", "f32", 71},
               {"f16", "f16", 142},
               {"bf16", "f32", 71},
               {"i8", "i32", 284}}}};
  return t;
}
