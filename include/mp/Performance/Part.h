// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GPU products as the performance model sees them. Sizes, bandwidths and peak rates are those of
// mp/Target; what is added here is the clock at which the data sheet's peak holds and the width of
// the second-level cache.

#ifndef MP_PERFORMANCE_PART_H
#define MP_PERFORMANCE_PART_H

#include "mp/Target/TargetModel.h"

namespace mpcore::performance {

/// The hardware that multiplies: FMA units or one of three generations of matrix instructions.
/// wmma counts as mma.sync.
enum class MatrixUnit : uint8_t { Fma, MmaSync, Wgmma, Tcgen05 };
llvm::StringRef toString(MatrixUnit unit);

struct Part {
  llvm::StringRef name;
  /// The model of the architecture with all its instructions (sm_90a), and the one without those
  /// that are specific to it (sm_90); the same where there is one only.
  const target::TargetModel *specific;
  const target::TargetModel *plain;
  const target::Part *figures;      ///< of `specific`
  const target::Part *plainFigures; ///< of `plain`; those of a sibling where the part is missing
  double clockGHz;                  ///< boost clock of the data sheet's peak
  double l2BytesPerCycle;           ///< of the whole part
  bool isL2Estimated;               ///< no published figure: scaled by multiprocessors
  /// 10^12 operations a second that long products of bf16 sustain before power limits the clock,
  /// as others measured; 0 if nobody has. `powerSource` says who.
  double sustainedBf16Tera;
  llvm::StringRef powerSource;

  unsigned multiprocessors() const { return figures->multiprocessors; }
  const target::LaunchLimits &limits() const { return specific->limits; }
  double cyclesPerSecond() const { return clockGHz * 1e9; }
  double memoryBytesPerSecond() const { return figures->memoryGBs * 1e9; }

  /// The fastest unit that multiplies `format` (bf16, tf32, f32, ...) natively; nothing if none
  /// does.
  std::optional<MatrixUnit> bestUnit(llvm::StringRef format) const;
  /// Documented dense peak of a unit, 10^12 operations a second; 0 if it lacks the format. f32 is
  /// the FMA units', whichever unit is asked.
  double peakTera(MatrixUnit unit, llvm::StringRef format) const;
  /// Multiply-adds per cycle and multiprocessor at that peak.
  double multiplyAddsPerCycle(MatrixUnit unit, llvm::StringRef format) const;
};

/// Every part that mp/Target has, by architecture.
llvm::ArrayRef<Part> allParts();

/// Finds a part by name or by the beginning of one (H100, RTX 4090, a100), in any case; the first
/// where several begin so. The error lists all names.
llvm::Expected<const Part &> findPart(llvm::StringRef name);

/// Bits of one stored element; tf32 is stored as f32. 0 for unknown formats.
unsigned storageBits(llvm::StringRef format);

} // namespace mpcore::performance

#endif // MP_PERFORMANCE_PART_H
