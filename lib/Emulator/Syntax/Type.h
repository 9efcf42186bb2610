// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scalar types of the PTX ISA ("Fundamental Types", "Alternate Floating-Point Data Formats"),
// as they appear in instruction modifiers and declarations.

#ifndef MP_LIB_EMULATOR_SYNTAX_TYPE_H
#define MP_LIB_EMULATOR_SYNTAX_TYPE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace mpcore::emulator {

enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F64,
  E4M3,
  E5M2,
  E3M2,
  E2M3,
  E2M1,
  UE8M0,
  UE4M3,
  E2M1x2,
  E3M2x2,
  E2M3x2,
  UE8M0x2,
  E4M3x2,
  E5M2x2,
  U16x2,
  S16x2,
  F32x2,
  U4,
  S4,
  B1,
};

/// Width in bits; 1 for predicates, 0 for None.
unsigned bitWidth(Type type);

bool isSigned(Type type);
bool isFloat(Type type);

/// "u32" -> U32; nothing when the word is no type this emulator knows.
std::optional<Type> parseType(llvm::StringRef word);

llvm::StringRef typeName(Type type);

} // namespace mpcore::emulator

#endif
