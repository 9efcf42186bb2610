// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sm_110 and sm_110a (Blackwell: Jetson Thor).
// tcgen05 and the formats below 8 bits exist only on sm_110a.

#include "Tables.h"

using namespace mp::target;

namespace {
constexpr auto mma = InstructionFamily::MmaSync;
constexpr auto tcgen05 = InstructionFamily::Tcgen05;

TargetModel common(llvm::StringRef name) {
  TargetModel t{name, 110, 90};
  t.limits = {232448, 233472, 1536, 24};
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

TargetModel tables::sm110() {
  TargetModel t = common("sm_110");
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
  // Rates of mma.sync on this part are not published: a quarter of tcgen05, as on B200 by our
  // estimate.
  t.parts = {{"Jetson T5000",
              20,
              273,
              32,
              8.1,
              {{"tf32", "f32", 32},
               {"f16", "f32", 65},
               {"f16", "f16", 65},
               {"bf16", "f32", 65},
               {"i8", "i32", 129}},
              "estimate"}};
  return t;
}

TargetModel tables::sm110a() {
  TargetModel t = common("sm_110a");
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
  addBlackwellConversions(t, /*stochastic=*/false);
  // Documented: fp4 1035 dense (half of 2070 sparse). The rest by the ratios of B200.
  t.parts = {{"Jetson T5000",
              20,
              273,
              32,
              8.1,
              {{"tf32", "f32", 129},
               {"f16", "f32", 259},
               {"f16", "f16", 259},
               {"bf16", "f32", 259},
               {"f8E4M3FN", "f32", 517},
               {"f8E5M2", "f32", 517},
               {"f6E2M3FN", "f32", 517},
               {"f6E3M2FN", "f32", 517},
               {"f4E2M1FN", "f32", 1035},
               {"i8", "i32", 517}},
              "estimate"}};
  return t;
}
