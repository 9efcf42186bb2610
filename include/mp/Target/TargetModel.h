// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Describes what one GPU architecture can do: tensor core formats, instructions, conversions,
// limits and documented peak rates. Plain data; the tables are in lib/Target, one file per
// architecture.
//
// Evidence: instruction and conversion rows were checked with ptxas 13.0 ("accepted") and by
// looking at the machine code it emits ("native" or "emulated"). Rates, bandwidths and sizes of
// parts are the vendors' documented figures, not measurements.

#ifndef MP_TARGET_TARGETMODEL_H
#define MP_TARGET_TARGETMODEL_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mpcore::target {

/// The hardware's support of a tensor core format or instruction. `Emulated`: ptxas accepts it and
/// expands it to other instructions. `Absent`: rejected by ptxas.
enum class Support { Absent, Emulated, Native };

/// The four generations of matrix instructions in PTX.
enum class InstructionFamily { Wmma, MmaSync, Wgmma, Tcgen05 };

llvm::StringRef toString(Support support);
llvm::StringRef toString(InstructionFamily family);

/// A format that a matrix operand may have, as MLIR spells it; tf32 is f32 storage read as tf32.
struct KnownFormat {
  llvm::StringRef name;
  unsigned bits; ///< of the significant part: 19 for tf32
  bool isFloat;
};

/// Every operand format some target knows, from wide to narrow.
llvm::ArrayRef<KnownFormat> knownFormats();
/// Null if unknown.
const KnownFormat *findFormat(llvm::StringRef name);
/// Maps short spellings used on command lines (e4m3, e5m2, fp16, ...) to MLIR's; others unchanged.
llvm::StringRef canonicalFormatName(llvm::StringRef name);

/// A tensor core operand format and the accumulators it may have.
struct OperandFormat {
  llvm::StringRef format;
  Support support;
  InstructionFamily family; ///< the fastest family that takes it
  llvm::SmallVector<llvm::StringRef, 2> accumulators;
  /// Fraction bits that an "f32" accumulator really keeps: 23, or 13 on the fp8 units of
  /// sm_89/sm_90.
  unsigned accumulatorFractionBits = 23;
  /// Products after which partial sums should move to a true f32 register; 0 if not needed.
  unsigned promoteEvery = 0;
};

/// One dense matrix instruction shape. A non-zero `nStep` means that `n` is the largest and every
/// multiple of `nStep` up to it is allowed.
struct MmaShape {
  InstructionFamily family;
  llvm::StringRef format;
  unsigned m, n, k;
  unsigned ptx; ///< PTX ISA version times ten that introduced it
  Support support = Support::Native;
  unsigned nStep = 0;
};

/// A block-scaled operand kind (MX, NVFP4): `block` elements along k share one scale.
struct BlockScaledFormat {
  llvm::StringRef kind; ///< PTX kind, e.g. mxf4nvf4
  llvm::SmallVector<llvm::StringRef, 5> elements;
  llvm::StringRef scale;
  unsigned block, k, ptx;
};

/// A conversion instruction. `lanes` values are converted at once; `saturates`: the instruction can
/// only saturate (fp8 and narrower), so IEEE overflow needs extra code.
struct Conversion {
  llvm::StringRef instruction;
  llvm::StringRef from, to;
  unsigned lanes, ptx;
  bool native = true; ///< one machine instruction
  bool saturates = false;
};

/// A documented peak of dense products of `format` into `accumulator`, in 10^12 operations a
/// second.
struct Rate {
  llvm::StringRef format, accumulator;
  double tera;
};

/// A product built on the architecture. The first part of a target stands for it in cost models.
struct Part {
  llvm::StringRef name;
  unsigned multiprocessors;
  double memoryGBs; ///< 10^9 bytes a second
  double l2MiB;
  double f32Tera; ///< plain f32 FMA units, 10^12 operations a second
  llvm::SmallVector<Rate, 10> rates;
  /// The source of the figures: "doc" (data sheet) or "estimate" (ratios of a relative).
  llvm::StringRef evidence = "doc";
};

/// Per-multiprocessor and per-block resources (CUDA programming guide, technical specifications).
struct LaunchLimits {
  unsigned sharedPerBlock; ///< bytes, with opt-in
  unsigned sharedPerMultiprocessor;
  unsigned threadsPerMultiprocessor;
  unsigned blocksPerMultiprocessor;
  unsigned registersPerMultiprocessor = 65536;
  unsigned registersPerThread = 255;
  unsigned threadsPerBlock = 1024;
  unsigned clusterSize = 1; ///< portable maximum; 1 means no clusters
};

/// Data movement that kernels choose by.
struct MemoryFeatures {
  bool ldmatrix = false, cpAsync = false, tma = false, stmatrix = false;
  bool tensorMemory = false, setMaxRegisters = false;
};

struct TargetModel {
  llvm::StringRef name;       ///< sm_90a
  unsigned computeCapability; ///< 90
  unsigned minPtx;            ///< PTX ISA times ten that knows the target
  bool assembles = true;      ///< false if ptxas 13 has dropped it (ship PTX only)
  LaunchLimits limits = {};
  MemoryFeatures memory = {};
  llvm::SmallVector<OperandFormat, 12> formats = {};
  llvm::SmallVector<MmaShape, 24> shapes = {};
  llvm::SmallVector<BlockScaledFormat, 4> blockScaled = {};
  llvm::SmallVector<Conversion, 24> conversions = {};
  llvm::SmallVector<Part, 2> parts = {};

  /// True for sm_90a and the like: code runs on this architecture only.
  bool isArchSpecific() const { return name.ends_with("a"); }

  /// Null if the target lacks the format.
  const OperandFormat *findOperand(llvm::StringRef format) const;
  Support formatSupport(llvm::StringRef format) const;

  /// The largest native shape of `format`, preferring `family` when given; nullptr if none.
  const MmaShape *bestShape(llvm::StringRef format,
                            std::optional<InstructionFamily> family = std::nullopt) const;

  /// Null if no single instruction form converts `from` into `to`.
  const Conversion *findConversion(llvm::StringRef from, llvm::StringRef to) const;

  /// Documented dense peak of the first part, 10^12 op/s; 0 if none is published. "f32" gives the
  /// FMA units. An empty accumulator takes f32, or the only one there is.
  double peakTera(llvm::StringRef format, llvm::StringRef accumulator = "") const;
  /// The same for another part.
  static double peakTera(const Part &part, llvm::StringRef format,
                         llvm::StringRef accumulator = "");

  /// The LLVM feature string for everything listed here, e.g. "+ptx84".
  std::string ptxFeature() const;

  /// Checks the tables against each other; the error lists every violation.
  llvm::Error validate() const;
};

} // namespace mpcore::target

#endif // MP_TARGET_TARGETMODEL_H
