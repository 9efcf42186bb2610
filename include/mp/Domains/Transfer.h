// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transfer functions of the range analysis: facts about operands in, facts about the result out.
// They speak of exact real arithmetic on the operands' elements (floating-point infinities and NaN
// included); roundTo() then adds what storing or computing the result in a format does to it. So a
// caller that models a program as written calls
//
//   roundTo(add(x, y, rowLength), Format::F32)
//
// `rowLength`: number of elements of the result's innermost dimension, nullopt when unknown; it
// links ranges and row norms. Elementwise operands have the shape of the result: use reshapeRows()
// and friends first. Bottom operands give a bottom result.

#ifndef MP_DOMAINS_TRANSFER_H
#define MP_DOMAINS_TRANSFER_H

#include "mp/Domains/Elementary.h"
#include "mp/Domains/Facts.h"
#include "mp/Numerics/Cast.h"

#include <utility>

namespace mpcore::domains {

using RowLength = std::optional<int64_t>;

//===-- elementwise ---------------------------------------------------------------------------===//

FloatFacts unary(UnaryFn fn, const FloatFacts &x, RowLength rowLength);

enum class BinaryFn : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  Pow,
  Atan2,
  CopySign,
  Maximum,
  Minimum, ///< NaN if either operand is NaN
  MaxNum,
  MinNum, ///< the other operand if one is NaN
};
inline constexpr unsigned kNumBinaryFns = static_cast<unsigned>(BinaryFn::MinNum) + 1;
llvm::StringRef getName(BinaryFn fn);

FloatFacts binary(BinaryFn fn, const FloatFacts &x, const FloatFacts &y, RowLength rowLength);

/// x * y + z.
FloatFacts fma(const FloatFacts &x, const FloatFacts &y, const FloatFacts &z, RowLength rowLength);
/// x to the power of a known integer.
FloatFacts powInteger(const FloatFacts &x, int64_t exponent, RowLength rowLength);
/// Either of two values, element by element.
FloatFacts select(const FloatFacts &x, const FloatFacts &y, RowLength rowLength);
/// min(max(x, lo), hi); NaN stays unless `dropsNaN` (then a bound takes its place).
FloatFacts clamp(const FloatFacts &x, double lo, double hi, bool dropsNaN, RowLength rowLength);

//===-- shape ---------------------------------------------------------------------------------===//
// Ranges and flags stay; what a row is changes.

/// Rows of unknown relation to the old ones: transpose, gather, general reshape.
FloatFacts reshapeRows(const FloatFacts &x, RowLength rowLength);
/// Each new row consists of pieces of at most `count` old rows (concat, expand inner dims).
FloatFacts mergeRows(const FloatFacts &x, int64_t count, RowLength rowLength);
/// Each new row is part of one old row (slice, split of the innermost dimension) or a permutation
/// of one.
FloatFacts partOfRows(const FloatFacts &x, RowLength rowLength);

//===-- formats -------------------------------------------------------------------------------===//

/// The possible effects of a conversion to a format on some element.
struct CastEffects {
  bool mayOverflow = false;    ///< a finite value becomes an infinity or NaN, or is clamped
  bool mayFlushToZero = false; ///< a non-zero value becomes zero
  bool mayBeSubnormal =
      false; ///< a non-zero result below the smallest normal: absolute, not relative error
};

/// Facts after rounding every element to `format`. Source: rounding is monotone, so the ends bound
/// the result; `effects`, if given, tells what else can happen. Rounding is to nearest even unless
/// another one is given; the stochastic ones count as either neighbour.
FloatFacts castTo(const FloatFacts &x, numerics::Format format, numerics::Overflow overflow,
                  numerics::Rounding rounding, RowLength rowLength, CastEffects *effects = nullptr);

/// castTo with IEEE overflow and ties to even: the result of an operation computed in `format`.
FloatFacts roundTo(const FloatFacts &x, numerics::Format format,
                   RowLength rowLength = std::nullopt);

/// Devices may flush results below the smallest normal number of the format: returns facts that
/// hold of those that are zero, too.
FloatFacts flushSubnormals(const FloatFacts &x, numerics::Format format);

/// Every element moved by at most `radius` (an accumulated rounding error, say).
FloatFacts perturb(const FloatFacts &x, double radius, RowLength rowLength);

/// Smallest magnitude that rounds (to nearest even) to something infinite, NaN or clamped, and
/// whether that magnitude itself does: f16 65520 yes, bf16 3.3962e38 yes, f8E4M3FN 464 no.
std::pair<double, bool> overflowThreshold(numerics::Format format);

} // namespace mpcore::domains

#endif // MP_DOMAINS_TRANSFER_H
