// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables that the parts of one Blackwell family share. tcgen05, fp6, fp4 and block scales exist
// only under the architecture-specific names (sm_100a, sm_120a, ...).

#include "Tables.h"

using namespace mpcore::target;
using tables::mma;
using tables::tcgen05;

namespace {
/// Instructions that every Blackwell part has.
TargetModel blackwell(llvm::StringRef name, unsigned computeCapability, unsigned ptx,
                      Support fp8MmaSync) {
  TargetModel t{name, computeCapability, ptx};
  t.memory.ldmatrix = t.memory.cpAsync = t.memory.tma = t.memory.stmatrix = true;
  tables::addAmpereShapes(t, Support::Emulated, Support::Emulated);
  tables::addHopperF64Shapes(t);
  tables::addFp8MmaShapes(t, fp8MmaSync);
  tables::addAmpereConversions(t);
  tables::addHopperConversions(t);
  tables::addFp8Conversions(t);
  return t;
}

/// The operand formats of mma.sync.
llvm::SmallVector<OperandFormat> mmaSyncFormats(Support fp8) {
  return {
      {"f64", Support::Native, mma, {"f64"}},        {"tf32", Support::Native, mma, {"f32"}},
      {"f16", Support::Native, mma, {"f16", "f32"}}, {"bf16", Support::Native, mma, {"f32"}},
      {"f8E4M3FN", fp8, mma, {"f16", "f32"}},        {"f8E5M2", fp8, mma, {"f16", "f32"}},
      {"i8", Support::Native, mma, {"i32"}},         {"i4", Support::Emulated, mma, {"i32"}},
      {"i1", Support::Emulated, mma, {"i32"}},
  };
}
} // namespace

TargetModel tables::datacentreBlackwell(llvm::StringRef name, unsigned computeCapability,
                                        unsigned ptx) {
  TargetModel t = blackwell(name, computeCapability, ptx, Support::Emulated);
  t.formats = mmaSyncFormats(Support::Emulated);
  t.limits = {232448, 233472, 2048, 32};
  t.limits.clusterSize = 8;
  return t;
}

TargetModel tables::datacentreBlackwellSpecific(llvm::StringRef name, unsigned computeCapability,
                                                unsigned ptx, InstructionFamily int8,
                                                bool stochastic) {
  TargetModel t = datacentreBlackwell(name, computeCapability, ptx);
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
      {"i8", Support::Native, int8, {"i32"}},
      {"i4", Support::Emulated, mma, {"i32"}},
      {"i1", Support::Emulated, mma, {"i32"}},
  };
  addTcgen05(t, /*int8=*/int8 == tcgen05);
  addBlackwellConversions(t, stochastic);
  return t;
}

TargetModel tables::consumerBlackwell(llvm::StringRef name, unsigned computeCapability,
                                      unsigned ptx) {
  TargetModel t = blackwell(name, computeCapability, ptx, Support::Native);
  t.formats = mmaSyncFormats(Support::Native);
  t.limits = {101376, 102400, 1536, 24};
  return t;
}

TargetModel tables::consumerBlackwellSpecific(llvm::StringRef name, unsigned computeCapability,
                                              unsigned ptx) {
  TargetModel t = consumerBlackwell(name, computeCapability, ptx);
  t.memory.setMaxRegisters = true;
  t.formats.append({
      {"f6E2M3FN", Support::Native, mma, {"f32"}},
      {"f6E3M2FN", Support::Native, mma, {"f32"}},
      {"f4E2M1FN", Support::Native, mma, {"f32"}},
  });
  addBlackwellMmaSync(t);
  addBlackwellConversions(t, /*stochastic=*/false);
  return t;
}
