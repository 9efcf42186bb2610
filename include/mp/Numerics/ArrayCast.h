// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion of arrays, bit for bit what Cast.h's convert() does per element.

#ifndef MP_NUMERICS_ARRAYCAST_H
#define MP_NUMERICS_ARRAYCAST_H

#include "mp/Numerics/Cast.h"
#include "mp/Numerics/Simd.h"

#include <cstddef>

namespace mpcore::numerics {

/// Bytes of one array element: 8 for f64, 4 for f32 and tf32 (the 19-bit
/// pattern in the low bits), 2 for bf16 and f16, else 1 (f6 and f4 are not
/// packed: pattern in the low bits).
unsigned storageBytes(Format format);

/// Converts `count` elements of `source` to `result`, which do not overlap.
/// `randomBits`, one word per element, is needed by the stochastic roundings
/// only. Vectorised, at memory speed: f32 to every format but f8E8M0FNU with
/// every rounding but SRCompare, all formats of up to 19 bits to f32, f64 to
/// f32, and what is made of these. Everything else goes element by element.
void convertArray(const void *source, Format from, void *result, Format to, size_t count,
                  Rounding rounding = Rounding::RNE, Overflow overflow = Overflow::IEEE,
                  const uint32_t *randomBits = nullptr, Simd simd = bestSimd());

/// Rounds f32 values to values of `format`, staying f32; `result` may be
/// `source`. What tensor-core operands look like before a modelled product.
void roundArray(const float *source, float *result, size_t count, Format format,
                Rounding rounding = Rounding::RNE, Overflow overflow = Overflow::IEEE,
                Simd simd = bestSimd());

} // namespace mpcore::numerics

#endif // MP_NUMERICS_ARRAYCAST_H
