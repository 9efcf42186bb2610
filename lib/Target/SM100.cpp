// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sm_100 and sm_100a (Blackwell: B200).
// tcgen05 and the formats below 8 bits exist only on sm_100a.

#include "Tables.h"

using namespace mp::target;

namespace {
constexpr auto mma = InstructionFamily::MmaSync;
constexpr auto tcgen05 = InstructionFamily::Tcgen05;

TargetModel common(llvm::StringRef name) {
  TargetModel t{name, 100, 86};
  t.limits = {232448, 233472, 2048, 32};
  t.limits.clusterSize = 8;
  t.memory.ldmatrix = t.memory.cpAsync = t.memory.tma = t.memory.stmatrix = true;
  tables::addAmpereShapes(t, Support::Emulated, Support::Emulated);
  tables::addHopperF64Shapes(t);
  tables::addFp8MmaShapes(t, Support::Emulated);
  tables::addAmpereConversions(t);
  tables::addHopperConversions(t);
  tables::addFp8Conversions(t);
  return t;
}
} // namespace

TargetModel tables::sm100() {
  TargetModel t = common("sm_100");
  t.formats = {
      {"f64", Support::Native, mma, {"f64"}},
      {"tf32", Support::Native, mma, {"f32"}},
      {"f16", Support::Native, mma, {"f16", "f32"}},
      {"bf16", Support::Native, mma, {"f32"}},
      {"f8E4M3FN", Support::Emulated, mma, {"f16", "f32"}},
      {"f8E5M2", Support::Emulated, mma, {"f16", "f32"}},
      {"i8", Support::Native, mma, {"i32"}},
      {"i4", Support::Emulated, mma, {"i32"}},
      {"i1", Support::Emulated, mma, {"i32"}},
  };
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
  TargetModel t = common("sm_100a");
  t.memory.tensorMemory = t.memory.setMaxRegisters = true;
  t.formats = {
      {"f64", Support::Native, mma, {"f64"}},
      {"tf32", Support::Native, tcgen05, {"f32"}},
      {"f16", Support::Native, tcgen05, {"f16", "f32"}},
      {"bf16", Support::Native, tcgen05, {"f32"}},
      {"f8E4M3FN", Support::Native, tcgen05, {"f16", "f32"}},
      {"f8E5M2", Support::Native, tcgen05, {"f16", "f32"}},
      {"f6E2M3FN", Support::Native, tcgen05, {"f16", "f32"}},
      {"f6E3M2FN", Support::Native, tcgen05, {"f16", "f32"}},
      {"f4E2M1FN", Support::Native, tcgen05, {"f16", "f32"}},
      {"i8", Support::Native, tcgen05, {"i32"}},
      {"i4", Support::Emulated, mma, {"i32"}},
      {"i1", Support::Emulated, mma, {"i32"}},
  };
  addTcgen05(t, /*int8=*/true);
  addBlackwellConversions(t, /*stochastic=*/true);
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
