// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models what a Tensor Core computes, bit for bit. One fused step adds a group of products and the
// accumulator:
//
//   e_i = exponent(a_i) + exponent(b_i)   (subnormals: the format's smallest)
//   M   = max(e_i, exponent(c)) over terms that are not zero (that zeros do not
//         count is the one assumption no recorded result bears on)
//   s   = sum of trunc(term * 2^(F - M))  (exact integers, any order)
//   d   = s * 2^(M - F), cut or rounded to the result format
//
// Longer products chain such steps in ascending k. Architectures differ in the
// group size, in F and in the result format. Sources: Xie et al., MMA-Sim
// (arXiv 2511.10909); Khattak and Mikaitis, accurate tensor core models (arXiv
// 2512.07004), whose recorded hardware results the tests replay.

#ifndef MP_NUMERICS_TENSORCORE_H
#define MP_NUMERICS_TENSORCORE_H

#include "mp/Numerics/Format.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace mpcore::numerics {

/// Generations with distinct arithmetic.
enum class Architecture : uint8_t { SM70, SM75, SM80, SM89, SM90, SM100, SM120 };
inline constexpr Architecture allArchitectures[] = {
    Architecture::SM70, Architecture::SM75,  Architecture::SM80, Architecture::SM89,
    Architecture::SM90, Architecture::SM100, Architecture::SM120};

/// The instruction that runs the product. It matters for fp8, which mma.sync of sm_90 and sm_100
/// emulates through f16, and for tf32 on sm_90.
enum class Route : uint8_t { MmaSync, Wgmma, Tcgen05 };

/// The source of a model, by how well the model is known.
enum class ModelSource : uint8_t {
  Recorded,  ///< reproduces all recorded results of this hardware and type
  Published, ///< a published simulator's; not, or not fully, recorded here
  Inferred,  ///< carried over from a neighbouring chip or instruction
};

/// The form a fused step's sum takes.
enum class StepResult : uint8_t {
  F32,   ///< cut to 24 significant bits
  E8M13, ///< an f32 cut to 14 significant bits
  F16,   ///< rounded to nearest even
};

struct TensorCoreModel {
  Architecture architecture;
  Route route;
  Format operandA, operandB;
  Format result;      ///< F32 or F16; the accumulator's register format
  unsigned groupSize; ///< products of one fused step
  int alignmentBits;  ///< F
  StepResult stepResult;
  /// Each 32 products start from zero, in the order k%4 in {0,1} then {2,3},
  /// and are added to the accumulator with one rounding to nearest.
  bool emulatedThroughF16;
  ModelSource source;
  /// Products after which the partial sum is added to a separate f32 register
  /// (to nearest) and restarts from zero; 0 for never. A multiple of the group
  /// (of 32 when emulated). That register starts as c and becomes the result.
  unsigned promoteEvery = 0;
};

/// "sm_80", "sm_86", "sm_90a", ... to the generation whose arithmetic the chip
/// has; nullopt for chips without a model.
std::optional<Architecture> parseArchitecture(llvm::StringRef chip);
llvm::StringRef toString(Architecture architecture);
llvm::StringRef toString(Route route);
llvm::StringRef toString(ModelSource source);

/// The route that reaches an architecture's full rate.
Route nativeRoute(Architecture architecture);

/// The model of an instruction with these types, or nullopt if the hardware has
/// none (bf16 before sm_80, fp8 before sm_89, f16 results of bf16 or tf32, ...).
/// Operand formats are f16, bf16, tf32, f8E4M3FN, f8E5M2 and, on sm_120, fp6
/// and fp4; only those of 8 bits and fewer mix.
std::optional<TensorCoreModel> tensorCoreModel(Architecture architecture, Format operandA,
                                               Format operandB, Format result, Route route);

inline std::optional<TensorCoreModel> tensorCoreModel(Architecture architecture, Format operand,
                                                      Format result = Format::F32) {
  return tensorCoreModel(architecture, operand, operand, result, nativeRoute(architecture));
}

/// "sm_90 wgmma f8E4M3FN -> f32: groups of 32, F 13, e8m13 steps (recorded)"
std::string describe(const TensorCoreModel &model);

/// One fused step: c + sum a[i]*b[i], i < count <= groupSize. Operands are
/// values of the operand formats, c one of the result format; so is what is
/// returned. NaN comes back as 0x7FFFFFFF (in f16 0x7FFF, widened).
float fusedStep(const TensorCoreModel &model, const float *a, const float *b, unsigned count,
                float c);

/// A whole dot product of `k` products in the hardware's order; a shorter last
/// group is padded with zeros. An f16 result rounds c to f16 first.
float modelDot(const TensorCoreModel &model, const float *a, const float *b, size_t k, float c);

} // namespace mpcore::numerics

#endif // MP_NUMERICS_TENSORCORE_H
