// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions from nvdisasm's text.

#include "Opcodes.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mpcore::cubin;
using llvm::StringRef;

/// A name that lives as long as the program: those of unknown opcodes are not in the tables.
static StringRef keep(StringRef name) {
  static llvm::StringSet<> names;
  return names.insert(name).first->getKey();
}

static unsigned accessBytes(llvm::ArrayRef<StringRef> parts) {
  for (StringRef part : parts) {
    if (part == "256" || part == "128" || part == "64")
      return part == "256" ? 32 : part == "128" ? 16 : 8;
    if (part == "U16" || part == "S16" || part == "16")
      return 2;
    if (part == "U8" || part == "S8" || part == "8")
      return 1;
  }
  return 4;
}

/// 16816 is 16x8x16, 168128 is 16x8x128, 8816 is 8x8x16, 64x256x16 speaks for itself.
static bool parseShape(StringRef text, Product &p) {
  llvm::SmallVector<StringRef, 3> sizes;
  text.split(sizes, 'x');
  if (sizes.size() == 3)
    return !sizes[0].getAsInteger(10, p.m) && !sizes[1].getAsInteger(10, p.n) &&
           !sizes[2].getAsInteger(10, p.k);
  p.m = text.consume_front("16") ? 16 : text.consume_front("8") ? 8 : 0;
  p.n = 8;
  return p.m && text.consume_front("8") && !text.getAsInteger(10, p.k);
}

static Product parseProduct(StringRef opcode, llvm::ArrayRef<StringRef> parts, StringRef operands) {
  Product p;
  const bool tf32 = llvm::is_contained(parts, "TF32");
  StringRef letter = opcode;
  letter.consume_front("UTC");
  switch (letter.front()) {
  case 'Q': p.rate = 2, p.elementBits = 8; break;
  case 'I':
    p.rate = 2;
    p.elementBits = llvm::is_contained(parts, "S4") || llvm::is_contained(parts, "U4") ? 4 : 8;
    break;
  case 'O': p.rate = 4, p.elementBits = 4; break;
  case 'B': p.rate = 16, p.elementBits = 1; break;
  case 'D': p.rate = 1.0 / 16, p.elementBits = 64; break;
  default: p.rate = tf32 ? 0.5 : 1, p.elementBits = tf32 ? 32 : 16;
  }
  if (opcode.starts_with("UTC")) {
    p.unit = ProductUnit::Tcgen05;
    return p;
  }
  p.aInRegisters = true;
  for (StringRef part : parts)
    if (parseShape(part, p))
      break;
  if (opcode.ends_with("GMMA")) {
    p.unit = ProductUnit::Wgmma;
    p.aInRegisters = operands.split(',').second.trim().starts_with("R");
  }
  return p;
}

static bool waitsFor(StringRef opcode, llvm::ArrayRef<StringRef> parts) {
  const StringRef first = parts.empty() ? "" : parts.front();
  if (opcode == "BAR")
    return first != "ARV";
  if (opcode == "WARPGROUP")
    return first == "DEPBAR";
  if (opcode == "SYNCS")
    return first == "PHASECHK";
  return opcode == "DEPBAR" || opcode == "UCGABAR_WAIT";
}

std::optional<Instruction> mpcore::cubin::parseInstruction(StringRef text, uint32_t address) {
  Instruction i;
  i.address = address;
  text = text.trim();
  bool never = false;
  if (text.starts_with("@")) {
    auto [guard, rest] = text.split(' ');
    i.guarded = guard != "@PT" && guard != "@UPT";
    never = guard == "@!PT" || guard == "@!UPT";
    text = rest.ltrim();
  }
  auto [name, operands] = text.split(' ');
  if (name.empty() || !llvm::isAlpha(name.front()))
    return std::nullopt;
  llvm::SmallVector<StringRef, 8> parts;
  name.split(parts, '.');
  i.opcode = keep(parts.front());
  const llvm::ArrayRef<StringRef> modifiers = llvm::ArrayRef(parts).drop_front();
  i.kind = detail::kindOf(i.opcode);
  detail::describe(i);
  i.isRegisterMove = i.opcode == "IMAD" && !modifiers.empty() && modifiers.front() == "MOV";
  i.waits = waitsFor(i.opcode, modifiers);
  switch (i.kind) {
  case Kind::Matrix: i.product = parseProduct(i.opcode, modifiers, operands); break;
  case Kind::MatrixLoad:
  case Kind::MatrixStore:
    i.bytes = llvm::is_contained(modifiers, "4") ? 16 : llvm::is_contained(modifiers, "2") ? 8 : 4;
    break;
  case Kind::GlobalLoad:
  case Kind::GlobalStore:
  case Kind::SharedLoad:
  case Kind::SharedStore:
  case Kind::Spill:
  case Kind::AsyncCopy: i.bytes = accessBytes(modifiers); break;
  default: break;
  }
  if (i.isRegisterMove)
    i.kind = Kind::Move;
  i.conditional = i.guarded;
  if (i.flow == Flow::Branch) {
    // A predicate or uniform register in front of the label decides too.
    StringRef first = operands.ltrim();
    first.consume_front("!");
    first.consume_front("~");
    const bool decided = first.starts_with("UP") || first.starts_with("P") ||
                         first.starts_with("UR") || first.starts_with("R");
    i.conditional |=
        decided || llvm::is_contained(modifiers, "DIV") || llvm::is_contained(modifiers, "CONV");
  }
  if (never)
    i.kind = Kind::Nop;
  return i;
}
