// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sm_120 and sm_120a (Blackwell: RTX 50, RTX PRO 6000). mma.sync
// only; fp6, fp4 and block scales need sm_120a.

#include "Tables.h"

using namespace mp::target;

namespace {
constexpr auto mma = InstructionFamily::MmaSync;

TargetModel common(llvm::StringRef name) {
  TargetModel t{name, 120, 87};
  t.limits = {101376, 102400, 1536, 24};
  t.memory.ldmatrix = t.memory.cpAsync = t.memory.tma = t.memory.stmatrix = true;
  t.formats = {
      {"f64", Support::Native, mma, {"f64"}},
      {"tf32", Support::Native, mma, {"f32"}},
      {"f16", Support::Native, mma, {"f16", "f32"}},
      {"bf16", Support::Native, mma, {"f32"}},
      {"f8E4M3FN", Support::Native, mma, {"f16", "f32"}},
      {"f8E5M2", Support::Native, mma, {"f16", "f32"}},
      {"i8", Support::Native, mma, {"i32"}},
      {"i4", Support::Emulated, mma, {"i32"}},
      {"i1", Support::Emulated, mma, {"i32"}},
  };
  tables::addAmpereShapes(t, Support::Emulated, Support::Emulated);
  tables::addHopperF64Shapes(t);
  tables::addFp8MmaShapes(t, Support::Native);
  tables::addAmpereConversions(t);
  tables::addHopperConversions(t);
  tables::addFp8Conversions(t);
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
} // namespace

TargetModel tables::sm120() { return common("sm_120"); }

TargetModel tables::sm120a() {
  TargetModel t = common("sm_120a");
  t.memory.setMaxRegisters = true;
  t.formats.append({
      {"f6E2M3FN", Support::Native, mma, {"f32"}},
      {"f6E3M2FN", Support::Native, mma, {"f32"}},
      {"f4E2M1FN", Support::Native, mma, {"f32"}},
  });
  addBlackwellMmaSync(t);
  addBlackwellConversions(t, /*stochastic=*/false);
  t.parts.front().rates.append({
      {"f6E2M3FN", "f32", 419},
      {"f6E3M2FN", "f32", 419},
      {"f4E2M1FN", "f32", 1676}, // block scaled kinds
  });
  return t;
}
