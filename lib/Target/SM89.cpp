// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sm_89 (Ada: L40S, RTX 40). Adds fp8 on mma.sync, accumulating with 13 fraction bits.

#include "Tables.h"

using namespace mpcore::target;
using tables::mma;

TargetModel tables::sm89() {
  TargetModel t{"sm_89", 89, 78};
  t.limits = {101376, 102400, 1536, 24};
  t.memory.ldmatrix = t.memory.cpAsync = true;
  t.formats = {
      {"f64", Support::Native, mma, {"f64"}},
      {"tf32", Support::Native, mma, {"f32"}},
      {"f16", Support::Native, mma, {"f16", "f32"}},
      {"bf16", Support::Native, mma, {"f32"}},
      {"f8E4M3FN", Support::Native, mma, {"f16", "f32"}, 13, 128},
      {"f8E5M2", Support::Native, mma, {"f16", "f32"}, 13, 128},
      {"i8", Support::Native, mma, {"i32"}},
      {"i4", Support::Native, mma, {"i32"}},
      {"i1", Support::Native, mma, {"i32"}},
  };
  addAmpereShapes(t, Support::Native, Support::Native);
  addFp8MmaShapes(t, Support::Native);
  addAmpereConversions(t);
  addFp8Conversions(t);
  t.parts = {{"L40S",
              142,
              864,
              96,
              91.6,
              {{"tf32", "f32", 183},
               {"f16", "f32", 362},
               {"f16", "f16", 362},
               {"bf16", "f32", 362},
               {"f8E4M3FN", "f32", 733},
               {"f8E5M2", "f32", 733},
               {"i8", "i32", 733}}},
             {"RTX 4090",
              128,
              1008,
              72,
              82.6,
              {{"tf32", "f32", 82.6},
               {"f16", "f32", 165},
               {"f16", "f16", 330},
               {"bf16", "f32", 165},
               {"f8E4M3FN", "f32", 330},
               {"f8E4M3FN", "f16", 660},
               {"f8E5M2", "f32", 330},
               {"f8E5M2", "f16", 660},
               {"i8", "i32", 661}}},
             {"L4",
              58,
              300,
              48,
              30.3,
              {{"tf32", "f32", 60},
               {"f16", "f32", 121},
               {"f16", "f16", 121},
               {"bf16", "f32", 121},
               {"f8E4M3FN", "f32", 242.5},
               {"f8E5M2", "f32", 242.5},
               {"i8", "i32", 242.5}}}};
  return t;
}
