// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared between the integer and the float files: opcodes like add and min that have forms of both
// kinds.

#ifndef MP_LIB_EMULATOR_SCALAR_ARITHMETIC_H
#define MP_LIB_EMULATOR_SCALAR_ARITHMETIC_H

#include "../Decode/Decoder.h"
#include "../State/Lanes.h"
#include <bit>

namespace mpcore::emulator {

/// .ftz: subnormals are zeros of their sign.
inline float flush(float v) {
  uint32_t bits = std::bit_cast<uint32_t>(v);
  return std::bit_cast<float>((bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits);
}
/// The NaN that instructions on f32 give.
inline constexpr uint32_t kCanonicalNaN = 0x7fffffff;
inline float canonical(float v) { return v != v ? std::bit_cast<float>(kCanonicalNaN) : v; }

enum class FloatOp : uint8_t { Add, Sub, Mul, Div, Fma };

// Each looks at the modifiers: false and nothing taken when the type is no float, else true
// (perhaps with a failure).
bool decodeFloatAddSubMul(Decoder &d, FloatOp op);
bool decodeFloatFma(Decoder &d);
bool decodeFloatDiv(Decoder &d);
bool decodeFloatMinMax(Decoder &d, bool max);
bool decodeFloatSign(Decoder &d, bool abs);

/// The type among the modifiers without taking it.
Type peekType(Decoder &d);
inline bool isFloat32Or64(Type t) { return t == Type::F32 || t == Type::F64; }
inline bool isHalf(Type t) { return t >= Type::F16 && t <= Type::BF16x2; }
bool decodeHalfAddSubMul(Decoder &d, FloatOp op, Type type);
bool decodeHalfFma(Decoder &d, Type type);
bool decodeHalfMinMax(Decoder &d, bool max, Type type);
bool decodeHalfSign(Decoder &d, bool abs, Type type);

/// The same opcodes on .f32x2.
bool decodePackedF32AddSubMul(Decoder &d, FloatOp op);
bool decodePackedF32Fma(Decoder &d);

/// cvt with packed or special formats.
void decodePackedConvert(Decoder &d, Type to, Type from, bool rz, bool rna, bool relu,
                         bool satfinite);

/// cvt.pack, without these two words.
void decodePack(Decoder &d);

/// Directed rounding of one f32 or f64 operation, by APFloat.
enum class Rounding : uint8_t { Nearest, Zero, Down, Up };
/// cvt of pairs of fp6, fp4 and ue8m0; `rounding` is what .rn, .rz or .rp says.
bool isSmallPair(Type type);
void decodeSmallConvert(Decoder &d, Type to, Type from, Rounding rounding, bool relu,
                        bool satfinite);

llvm::APFloat::roundingMode apMode(Rounding rounding);
/// One operation rounded once as said, of f32 or f64; `c` counts for Fma only.
float roundedOp(FloatOp op, Rounding rounding, float a, float b, float c);
double roundedOp(FloatOp op, Rounding rounding, double a, double b, double c);
/// .rn .rz .rm .rp; nothing taken gives fallback.
Rounding takeRounding(Decoder &d, Rounding fallback, bool &present);

} // namespace mpcore::emulator

#endif
