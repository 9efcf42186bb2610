// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sm_70 (Volta: V100). f16 only, through wmma or mma.m8n8k4; CUDA 13 has dropped it.

#include "Tables.h"

using namespace mpcore::target;

TargetModel tables::sm70() {
  TargetModel t{"sm_70", 70, 60};
  t.assembles = false;
  t.limits = {98304, 98304, 2048, 32};
  t.formats = {{"f16", Support::Native, InstructionFamily::Wmma, {"f16", "f32"}}};
  t.shapes = {
      {InstructionFamily::Wmma, "f16", 16, 16, 16, 60},
      {InstructionFamily::Wmma, "f16", 32, 8, 16, 61},
      {InstructionFamily::Wmma, "f16", 8, 32, 16, 61},
      {InstructionFamily::MmaSync, "f16", 8, 8, 4, 64},
  };
  t.conversions = {{"cvt.rn.f16.f32", "f32", "f16", 1, 60}};
  t.parts = {{"V100 SXM2", 80, 900, 6, 15.7, {{"f16", "f32", 125}, {"f16", "f16", 125}}}};
  return t;
}
