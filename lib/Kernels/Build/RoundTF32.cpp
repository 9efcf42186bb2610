// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the rounding of f32 to tf32.

#include "RoundTF32.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mp;

/// PTX that sets p where operand `first`, or one of the `count` from there on, is NaN.
static std::string testForNaN(unsigned first, unsigned count) {
  std::string text = llvm::formatv("setp.nan.f32 p, ${0}, ${1}; ", first, first + (count > 1));
  for (unsigned i = 2; i < count; i += 2)
    text += llvm::formatv("setp.nan.or.f32 p, ${0}, ${1}, p; ", first + i,
                          first + std::min(i + 1, count - 1));
  return text;
}

/// A number is nearer to the larger of its neighbors, or a tie and the smaller is odd, exactly
/// where 0xfff more reach that neighbor once the last bit of tf32 is set as the last bit of f32,
/// too: of a number below the tie that bit reaches nothing, of one above it nothing is missing.
/// NaN, which might become an infinity or a zero, gets no more than that bit.
static SmallVector<Value> roundByIntegers(DeviceBuilder &d, ArrayRef<Value> words, bool ofOneSum) {
  const unsigned count = words.size();
  std::string text = "{ .reg .pred p; .reg .b32 t; ", constraints;
  if (ofOneSum)
    text += testForNaN(count, count);
  for (unsigned i = 0; i < count; ++i) {
    if (!ofOneSum)
      text += testForNaN(count + i, 1);
    text += llvm::formatv("shr.u32 t, ${1}, 13; and.b32 t, t, 1; or.b32 ${0}, t, ${1}; "
                          "@!p add.u32 ${0}, ${0}, 0xfff; ",
                          i, count + i);
    constraints += i ? ",=&r" : "=&r";
  }
  text += "}";
  for (unsigned i = 0; i < count; ++i)
    constraints += ",r";
  const Type word = d.b.getI32Type();
  if (count == 1)
    return {d.ptx(word, text, constraints, words)};
  Value rounded =
      d.ptx(LLVM::LLVMStructType::getLiteral(d.b.getContext(), SmallVector<Type>(count, word)),
            text, constraints, words);
  SmallVector<Value> result;
  for (unsigned i = 0; i < count; ++i)
    result.push_back(LLVM::ExtractValueOp::create(d.b, rounded, int64_t(i)));
  return result;
}

SmallVector<Value> mlir::mp::roundToTF32(DeviceBuilder &d, ArrayRef<Value> words,
                                         TF32Rounding rounding, bool ofOneSum) {
  if (rounding == TF32Rounding::Integers)
    return roundByIntegers(d, words, ofOneSum);
  SmallVector<Value> result;
  for (Value word : words)
    result.push_back(d.ptx(word.getType(), "cvt.rn.tf32.f32 $0, $1;", "=r,r", {word}));
  return result;
}
