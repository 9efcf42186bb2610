// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares one builder per architecture file, and the rows that generations share.

#ifndef MP_LIB_TARGET_TABLES_H
#define MP_LIB_TARGET_TABLES_H

#include "mp/Target/TargetModel.h"

namespace mpcore::target::tables {

// Words of the rows.
inline constexpr auto mma = InstructionFamily::MmaSync, wgmma = InstructionFamily::Wgmma,
                      tcgen05 = InstructionFamily::Tcgen05;

TargetModel sm70();
TargetModel sm75();
TargetModel sm80();
TargetModel sm86();
TargetModel sm87();
TargetModel sm89();
TargetModel sm90();
TargetModel sm90a();
TargetModel sm100();
TargetModel sm100a();
TargetModel sm103();
TargetModel sm103a();
TargetModel sm110();
TargetModel sm110a();
TargetModel sm120();
TargetModel sm120a();
TargetModel sm121();
TargetModel sm121a();

// The Blackwell families: what the parts of one family share (lib/Target/Blackwell.cpp).

/// Datacentre and Jetson parts as plain sm_NNN: mma.sync only.
TargetModel datacentreBlackwell(llvm::StringRef name, unsigned computeCapability, unsigned ptx);
/// The same as sm_NNNa: tcgen05 and the formats below 8 bits. int8 products run on `int8`;
/// `stochastic` where the target has cvt.rs.
TargetModel datacentreBlackwellSpecific(llvm::StringRef name, unsigned computeCapability,
                                        unsigned ptx, InstructionFamily int8, bool stochastic);
/// Consumer parts: native fp8 on mma.sync, no tcgen05.
TargetModel consumerBlackwell(llvm::StringRef name, unsigned computeCapability, unsigned ptx);
/// The same as sm_NNNa: fp6, fp4 and block scales.
TargetModel consumerBlackwellSpecific(llvm::StringRef name, unsigned computeCapability,
                                      unsigned ptx);

/// sm_80, sm_86 and sm_87 but for their parts.
TargetModel ampere(llvm::StringRef name, unsigned computeCapability, unsigned ptx,
                   const LaunchLimits &limits);

/// mma.sync rows that every target from sm_80 on accepts. s4 and b1 lose their units with sm_90 and
/// sm_100; the callers say what became of them.
void addAmpereShapes(TargetModel &target, Support s4, Support b1);
/// mma.sync m16n8k32 on fp8: native on sm_89 and sm_120, emulated on datacentre parts from sm_90
/// on.
void addFp8MmaShapes(TargetModel &target, Support support);
/// f64 m16n8k{4,8,16} of sm_90.
void addHopperF64Shapes(TargetModel &target);
/// tcgen05 kinds f16, tf32, f8f6f4 and block scaled; `int8` where the target keeps it.
void addTcgen05(TargetModel &target, bool int8);
/// kind::f8f6f4 and block-scaled mma.sync of sm_120a.
void addBlackwellMmaSync(TargetModel &target);

void addAmpereConversions(TargetModel &target); ///< sm_80: f16, bf16, tf32
void addFp8Conversions(TargetModel &target);    ///< sm_89
void addHopperConversions(TargetModel &target); ///< sm_90: native tf32
/// Architecture-specific Blackwell: fp6, fp4, e8m0; stochastic rounding (cvt.rs) where present.
void addBlackwellConversions(TargetModel &target, bool stochastic);

} // namespace mpcore::target::tables

#endif // MP_LIB_TARGET_TABLES_H
