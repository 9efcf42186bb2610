// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sm_120 and sm_120a (Blackwell: RTX 50, RTX PRO 6000). mma.sync
// only; fp6, fp4 and block scales need sm_120a.

#include "Tables.h"

using namespace mpcore::target;

static TargetModel withPartsOfSM120(TargetModel t) {
  t.parts = {{"RTX 5090",
              170,
              1792,
              96,
              104.8,
              {{"tf32", "f32", 104.8},
               {"f16", "f32", 209.5},
               {"f16", "f16", 419},
               {"bf16", "f32", 209.5},
               {"f8E4M3FN", "f32", 419},
               {"f8E4M3FN", "f16", 838},
               {"f8E5M2", "f32", 419},
               {"f8E5M2", "f16", 838},
               {"i8", "i32", 838}}}};
  return t;
}

TargetModel tables::sm120() { return withPartsOfSM120(consumerBlackwell("sm_120", 120, 87)); }

TargetModel tables::sm120a() {
  TargetModel t = withPartsOfSM120(consumerBlackwellSpecific("sm_120a", 120, 87));
  t.parts.front().rates.append({
      {"f6E2M3FN", "f32", 419},
      {"f6E3M2FN", "f32", 419},
      {"f4E2M1FN", "f32", 1676}, // block scaled kinds
  });
  return t;
}
