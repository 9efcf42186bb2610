// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows shared by generations: mma.sync shapes, tcgen05 kinds and conversions (ptxas 13.0
// acceptance, SASS of one-instruction kernels).

#include "Tables.h"

using namespace mpcore::target;
using tables::mma;
using tables::tcgen05;

namespace {
constexpr auto native = Support::Native;
constexpr auto emulated = Support::Emulated;

void add(TargetModel &target, std::initializer_list<MmaShape> rows) {
  target.shapes.append(rows.begin(), rows.end());
}
void add(TargetModel &target, std::initializer_list<Conversion> rows) {
  target.conversions.append(rows.begin(), rows.end());
}
} // namespace

TargetModel tables::ampere(llvm::StringRef name, unsigned computeCapability, unsigned ptx,
                           const LaunchLimits &limits) {
  TargetModel t{name, computeCapability, ptx};
  t.limits = limits;
  t.memory.ldmatrix = t.memory.cpAsync = true;
  t.formats = {
      {"f64", native, mma, {"f64"}},        {"tf32", native, mma, {"f32"}},
      {"f16", native, mma, {"f16", "f32"}}, {"bf16", native, mma, {"f32"}},
      {"i8", native, mma, {"i32"}},         {"i4", native, mma, {"i32"}},
      {"i1", native, mma, {"i32"}},
  };
  addAmpereShapes(t, native, native);
  addAmpereConversions(t);
  return t;
}

void tables::addAmpereShapes(TargetModel &target, Support s4, Support b1) {
  add(target, {
                  {mma, "f16", 8, 8, 4, 64, emulated}, // Volta's shape: FFMA and HADD2 since sm_80
                  {mma, "f16", 16, 8, 8, 65},
                  {mma, "f16", 16, 8, 16, 70},
                  {mma, "bf16", 16, 8, 8, 70},
                  {mma, "bf16", 16, 8, 16, 70},
                  {mma, "tf32", 16, 8, 4, 70},
                  {mma, "tf32", 16, 8, 8, 70},
                  {mma, "f64", 8, 8, 4, 70},
                  {mma, "i8", 8, 8, 16, 65},
                  {mma, "i8", 16, 8, 16, 70},
                  {mma, "i8", 16, 8, 32, 70},
                  {mma, "i4", 8, 8, 32, 65, s4},
                  {mma, "i4", 16, 8, 32, 70, s4},
                  {mma, "i4", 16, 8, 64, 70, s4},
                  {mma, "i1", 16, 8, 128, 70, b1},
                  {mma, "i1", 16, 8, 256, 70, b1},
              });
}

void tables::addFp8MmaShapes(TargetModel &target, Support support) {
  add(target, {
                  {mma, "f8E4M3FN", 16, 8, 16, 87, support},
                  {mma, "f8E4M3FN", 16, 8, 32, 84, support},
                  {mma, "f8E5M2", 16, 8, 16, 87, support},
                  {mma, "f8E5M2", 16, 8, 32, 84, support},
              });
}

void tables::addHopperF64Shapes(TargetModel &target) {
  add(target, {
                  {mma, "f64", 16, 8, 4, 78},
                  {mma, "f64", 16, 8, 8, 78},
                  {mma, "f64", 16, 8, 16, 78},
              });
}

static llvm::SmallVector<BlockScaledFormat, 4> blockScaledFrom(unsigned ptx) {
  return {{"mxf8f6f4",
           {"f8E4M3FN", "f8E5M2", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN"},
           "f8E8M0FNU",
           32,
           32,
           ptx},
          {"mxf4", {"f4E2M1FN"}, "f8E8M0FNU", 32, 64, ptx},
          {"mxf4nvf4", {"f4E2M1FN"}, "f8E4M3FN", 16, 64, ptx}};
}

void tables::addTcgen05(TargetModel &target, bool int8) {
  add(target, {
                  {tcgen05, "f16", 128, 256, 16, 86, native, 16},
                  {tcgen05, "bf16", 128, 256, 16, 86, native, 16},
                  {tcgen05, "tf32", 128, 256, 8, 86, native, 16},
                  {tcgen05, "f8E4M3FN", 128, 256, 32, 86, native, 16},
                  {tcgen05, "f8E5M2", 128, 256, 32, 86, native, 16},
                  {tcgen05, "f6E2M3FN", 128, 256, 32, 86, native, 16},
                  {tcgen05, "f6E3M2FN", 128, 256, 32, 86, native, 16},
                  {tcgen05, "f4E2M1FN", 128, 256, 32, 86, native, 16},
              });
  if (int8)
    add(target, {{tcgen05, "i8", 128, 256, 32, 86, native, 16}});
  target.blockScaled = blockScaledFrom(86);
}

void tables::addBlackwellMmaSync(TargetModel &target) {
  add(target, {
                  {mma, "f6E2M3FN", 16, 8, 32, 87},
                  {mma, "f6E3M2FN", 16, 8, 32, 87},
                  {mma, "f4E2M1FN", 16, 8, 32, 87},
              });
  target.blockScaled = blockScaledFrom(87);
}

void tables::addAmpereConversions(TargetModel &target) {
  bool tf32Native = target.computeCapability >= 90;
  add(target, {
                  {"cvt.rn.f16x2.f32", "f32", "f16", 2, 70},
                  {"cvt.rn.bf16x2.f32", "f32", "bf16", 2, 70},
              });
  if (!tf32Native) // three or four machine instructions
    add(target, {{"cvt.rna.tf32.f32", "f32", "tf32", 1, 70, false}});
}

void tables::addFp8Conversions(TargetModel &target) {
  unsigned ptx = target.computeCapability >= 90 ? 78 : 81;
  add(target, {
                  {"cvt.rn.satfinite.e4m3x2.f32", "f32", "f8E4M3FN", 2, ptx, true, true},
                  {"cvt.rn.satfinite.e5m2x2.f32", "f32", "f8E5M2", 2, ptx, true, true},
                  {"cvt.rn.satfinite.e4m3x2.f16x2", "f16", "f8E4M3FN", 2, ptx, true, true},
                  {"cvt.rn.satfinite.e5m2x2.f16x2", "f16", "f8E5M2", 2, ptx, true, true},
                  {"cvt.rn.f16x2.e4m3x2", "f8E4M3FN", "f16", 2, ptx},
                  {"cvt.rn.f16x2.e5m2x2", "f8E5M2", "f16", 2, ptx},
              });
}

void tables::addHopperConversions(TargetModel &target) {
  add(target, {
                  {"cvt.rn.tf32.f32", "f32", "tf32", 1, 78},
                  {"cvt.rna.tf32.f32", "f32", "tf32", 1, 70, false},
              });
}

void tables::addBlackwellConversions(TargetModel &target, bool stochastic) {
  add(target, {
                  {"cvt.rn.satfinite.e2m3x2.f32", "f32", "f6E2M3FN", 2, 86, true, true},
                  {"cvt.rn.satfinite.e3m2x2.f32", "f32", "f6E3M2FN", 2, 86, true, true},
                  {"cvt.rn.satfinite.e2m1x2.f32", "f32", "f4E2M1FN", 2, 86, true, true},
                  {"cvt.rn.f16x2.e2m3x2", "f6E2M3FN", "f16", 2, 86},
                  {"cvt.rn.f16x2.e3m2x2", "f6E3M2FN", "f16", 2, 86},
                  {"cvt.rn.f16x2.e2m1x2", "f4E2M1FN", "f16", 2, 86},
                  {"cvt.rp.satfinite.ue8m0x2.f32", "f32", "f8E8M0FNU", 2, 86, true, true},
                  {"cvt.rn.bf16x2.ue8m0x2", "f8E8M0FNU", "bf16", 2, 86},
              });
  if (stochastic)
    add(target, {
                    {"cvt.rs.f16x2.f32", "f32", "f16", 2, 87},
                    {"cvt.rs.bf16x2.f32", "f32", "bf16", 2, 87},
                    {"cvt.rs.satfinite.e4m3x4.f32", "f32", "f8E4M3FN", 4, 87, true, true},
                    {"cvt.rs.satfinite.e5m2x4.f32", "f32", "f8E5M2", 4, 87, true, true},
                    {"cvt.rs.satfinite.e2m1x4.f32", "f32", "f4E2M1FN", 4, 87, true, true},
                });
}
