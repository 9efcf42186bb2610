// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sm_121 and sm_121a (Blackwell: GB10, DGX Spark). mma.sync
// only; fp6, fp4 and block scales need sm_121a.

#include "Tables.h"

using namespace mpcore::target;

static TargetModel withPartsOfSM121(TargetModel t) {
  // Documented: fp4 500 dense (half of 1000 sparse). The rest by the ratios of RTX 5090.
  t.parts = {{"GB10",
              48,
              273,
              24,
              31,
              {{"tf32", "f32", 31},
               {"f16", "f32", 62},
               {"f16", "f16", 125},
               {"bf16", "f32", 62},
               {"f8E4M3FN", "f32", 125},
               {"f8E4M3FN", "f16", 250},
               {"f8E5M2", "f32", 125},
               {"f8E5M2", "f16", 250},
               {"i8", "i32", 250}},
              "estimate"}};
  return t;
}

TargetModel tables::sm121() { return withPartsOfSM121(consumerBlackwell("sm_121", 121, 88)); }

TargetModel tables::sm121a() {
  TargetModel t = withPartsOfSM121(consumerBlackwellSpecific("sm_121a", 121, 88));
  t.parts.front().rates.append({
      {"f6E2M3FN", "f32", 125},
      {"f6E3M2FN", "f32", 125},
      {"f4E2M1FN", "f32", 500}, // block scaled kinds
  });
  return t;
}
