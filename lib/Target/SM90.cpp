// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sm_90 and sm_90a (Hopper: H100, H200). wgmma and its fp8 exist only on sm_90a.

#include "Tables.h"

using namespace mpcore::target;
using tables::mma;
using tables::wgmma;

namespace {
/// Fills in what both names share. fp8 mma.sync is expanded into f16 products (about 25 fraction
/// bits).
TargetModel common(llvm::StringRef name, unsigned minPtx) {
  TargetModel t{name, 90, minPtx};
  t.limits = {232448, 233472, 2048, 32};
  t.limits.clusterSize = 8;
  t.memory.ldmatrix = t.memory.cpAsync = t.memory.tma = t.memory.stmatrix = true;
  tables::addAmpereShapes(t, Support::Emulated, Support::Native);
  tables::addHopperF64Shapes(t);
  tables::addFp8MmaShapes(t, Support::Emulated);
  tables::addAmpereConversions(t);
  tables::addHopperConversions(t);
  tables::addFp8Conversions(t);
  return t;
}
} // namespace

TargetModel tables::sm90() {
  TargetModel t = common("sm_90", 78);
  t.formats = {
      {"f64", Support::Native, mma, {"f64"}},
      {"tf32", Support::Native, mma, {"f32"}},
      {"f16", Support::Native, mma, {"f16", "f32"}},
      {"bf16", Support::Native, mma, {"f32"}},
      {"f8E4M3FN", Support::Emulated, mma, {"f16", "f32"}},
      {"f8E5M2", Support::Emulated, mma, {"f16", "f32"}},
      {"i8", Support::Native, mma, {"i32"}},
      {"i4", Support::Emulated, mma, {"i32"}},
      {"i1", Support::Native, mma, {"i32"}},
  };
  // mma.sync reaches about 63 % of the wgmma peak (Luo et al., "Benchmarking and Dissecting the
  // Nvidia Hopper GPU Architecture via Microbenchmarking"); kernels of this project were measured
  // on an H200 at 502 (bf16) and 854 (s8): docs/results/GpuTimes.md.
  t.parts = {{"H100 SXM",
              132,
              3350,
              50,
              67,
              {{"f64", "f64", 67},
               {"tf32", "f32", 310},
               {"f16", "f32", 620},
               {"f16", "f16", 620},
               {"bf16", "f32", 620},
               {"i8", "i32", 1240}},
              "estimate"}};
  return t;
}

TargetModel tables::sm90a() {
  TargetModel t = common("sm_90a", 80);
  t.memory.setMaxRegisters = true;
  t.formats = {
      {"f64", Support::Native, mma, {"f64"}},
      {"tf32", Support::Native, wgmma, {"f32"}},
      {"f16", Support::Native, wgmma, {"f16", "f32"}},
      {"bf16", Support::Native, wgmma, {"f32"}},
      {"f8E4M3FN", Support::Native, wgmma, {"f16", "f32"}, 13, 128},
      {"f8E5M2", Support::Native, wgmma, {"f16", "f32"}, 13, 128},
      {"i8", Support::Native, wgmma, {"i32"}},
      {"i4", Support::Emulated, mma, {"i32"}},
      {"i1", Support::Native, wgmma, {"i32"}},
  };
  t.shapes.append({
      {wgmma, "f16", 64, 256, 16, 80, Support::Native, 8},
      {wgmma, "bf16", 64, 256, 16, 80, Support::Native, 8},
      {wgmma, "tf32", 64, 256, 8, 80, Support::Native, 8},
      {wgmma, "f8E4M3FN", 64, 256, 32, 80, Support::Native, 8},
      {wgmma, "f8E5M2", 64, 256, 32, 80, Support::Native, 8},
      {wgmma, "i8", 64, 256, 32, 80, Support::Native, 16},
      {wgmma, "i1", 64, 256, 256, 80, Support::Native, 16},
  });
  Part h100{"H100 SXM",
            132,
            3350,
            50,
            67,
            {{"f64", "f64", 67},
             {"tf32", "f32", 494.5},
             {"f16", "f32", 989},
             {"f16", "f16", 989},
             {"bf16", "f32", 989},
             {"f8E4M3FN", "f32", 1979},
             {"f8E5M2", "f32", 1979},
             {"i8", "i32", 1979}}};
  Part h200 = h100;
  h200.name = "H200";
  h200.memoryGBs = 4800;
  // Data sheet of the PCIe card; 114 multiprocessors, HBM2e.
  Part pcie{"H100 PCIe",
            114,
            2039,
            50,
            51.2,
            {{"f64", "f64", 51},
             {"tf32", "f32", 378},
             {"f16", "f32", 756},
             {"f16", "f16", 756},
             {"bf16", "f32", 756},
             {"f8E4M3FN", "f32", 1513},
             {"f8E5M2", "f32", 1513},
             {"i8", "i32", 1513}}};
  t.parts = {h100, h200, pcie};
  return t;
}
