// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions from their encoding. Bits are numbered from 0 over both words; those of the second
// word are 64 and up.

#include "Opcodes.h"

using namespace mpcore::cubin;

namespace {
struct Encoding {
  uint64_t low, high;
  unsigned sm;

  /// Bits `first` to `first + count - 1`; count at most 32.
  uint64_t bits(unsigned first, unsigned count) const {
    const uint64_t mask = (uint64_t(1) << count) - 1;
    if (first >= 64)
      return high >> (first - 64) & mask;
    uint64_t value = low >> first;
    if (first + count > 64)
      value |= high << (64 - first);
    return value & mask;
  }
  unsigned operation() const { return bits(0, 9); }
  unsigned form() const { return bits(9, 3); }
};

// Values of operand fields that mean none.
constexpr unsigned kZeroRegister = 255, kTrue = 7;
} // namespace

/// The displacement of a branch, in bytes from the next instruction: a signed multiple of 4 in bits
/// 34 to 81, from sm_90 on with 8 more bits below it in 16 to 23.
static int64_t displacement(const Encoding &e) {
  const uint64_t upper = e.bits(34, 30) | e.bits(64, 18) << 30;
  if (e.sm < 90)
    return llvm::SignExtend64<48>(upper) * 4;
  return llvm::SignExtend64<56>(upper << 8 | e.bits(16, 8)) * 4;
}

/// Branches on a uniform predicate, on one more predicate, or on whether the warp is divergent.
static bool hasSecondCondition(const Encoding &e) {
  constexpr unsigned uniformForm = 2, divergent = 2, converged = 3;
  const unsigned mode = e.bits(32, 2);
  return e.form() == uniformForm || e.bits(87, 3) != kTrue || mode == divergent ||
         mode == converged;
}

/// Bytes per lane by the field of types: U8, S8, U16, S16, 32, 64, 128 bits.
static unsigned accessBytes(const Encoding &e) {
  static constexpr unsigned bytes[] = {1, 1, 2, 2, 4, 8, 16, 16};
  return bytes[e.bits(73, 3)];
}

static unsigned bytesOf(const Encoding &e, Kind kind) {
  switch (kind) {
  case Kind::MatrixLoad:
  case Kind::MatrixStore: return 4u << e.bits(72, 2); // matrices of 128 bytes, 4 a lane
  case Kind::GlobalLoad:
  case Kind::GlobalStore:
    if (e.operation() == 0x17e || e.operation() == 0x17f)
      return 32;
    [[fallthrough]];
  case Kind::SharedLoad:
  case Kind::SharedStore:
  case Kind::Spill: return accessBytes(e);
  case Kind::AsyncCopy: return 4u << e.bits(e.sm >= 100 ? 74 : 73, 2);
  default: return 0;
  }
}

/// Columns of wgmma by their code: multiples of 8, but of integers beyond 32 those of 16.
static unsigned integerColumns(unsigned code) {
  return code < 3 ? 8 * (code + 1) : 16 * (code - 1);
}

static Product warpgroupProduct(const Encoding &e) {
  Product p;
  p.unit = ProductUnit::Wgmma;
  p.m = 64;
  p.aInRegisters = e.form() == 6;
  const unsigned columns = e.bits(53, 5), wideColumns = e.bits(53, 6);
  switch (e.operation()) {
  case 0x1f0: { // HGMMA
    const bool tf32 = e.bits(58, 1);
    p.n = 8 * (columns + 1), p.k = tf32 ? 8 : 16;
    p.rate = tf32 ? 0.5 : 1, p.elementBits = tf32 ? 32 : 16;
    break;
  }
  case 0x1f1: // IGMMA: three codes for each number of columns
    p.n = integerColumns(wideColumns / 3), p.k = 32, p.rate = 2, p.elementBits = 8;
    break;
  case 0x1f2: // BGMMA
    p.n = integerColumns(columns), p.k = 256, p.rate = 16, p.elementBits = 1;
    break;
  default: // QGMMA
    p.n = 8 * (columns + 1), p.k = 32, p.rate = 2, p.elementBits = 8;
  }
  return p;
}

static Product warpProduct(const Encoding &e) {
  Product p{ProductUnit::MmaSync, 16, 8, 16, 1, 16, true};
  const bool deep = e.bits(75, 1);
  switch (e.operation()) {
  case 0x036: // four steps of m8n8k4
    p.m = 8, p.k = 4;
    break;
  case 0x03c: { // HMMA
    const bool tf32 = e.bits(83, 1), sparse = e.bits(73, 1);
    p.k = tf32 ? (e.bits(78, 1) ? 4 : 8) : deep ? 16 : 8;
    if (sparse)
      p.k = tf32 ? 16 : 32;
    p.rate = tf32 ? 0.5 : 1, p.elementBits = tf32 ? 32 : 16;
    break;
  }
  case 0x037: { // IMMA
    const bool four = e.bits(83, 2) == 3, wide = e.bits(85, 1);
    p.m = e.bits(86, 1) ? 16 : 8;
    p.k = wide ? (p.m == 16 ? 64 : 32) : deep ? 32 : 16;
    p.rate = 2, p.elementBits = four ? 4 : 8;
    break;
  }
  case 0x03d: // BMMA
    p.m = e.bits(75, 2) ? 16 : 8;
    p.k = e.bits(76, 1) ? 256 : 128;
    p.rate = 16, p.elementBits = 1;
    break;
  case 0x03f: // DMMA
    p.m = e.bits(76, 2) ? 16 : 8;
    p.k = e.bits(76, 2) == 3 ? 16 : e.bits(76, 2) == 2 ? 8 : 4;
    p.rate = 1.0 / 16, p.elementBits = 64;
    break;
  case 0x07a:                                        // QMMA
    p.k = e.form() == 2 ? 32 : 16u << e.bits(75, 2); // the second form has block scales
    p.rate = 2, p.elementBits = 8;
    break;
  default: // OMMA
    p.k = 64, p.rate = 4, p.elementBits = 4;
  }
  return p;
}

static Product tensorMemoryProduct(Instruction &i, const Encoding &e) {
  Product p;
  p.unit = ProductUnit::Tcgen05;
  static constexpr llvm::StringLiteral names[] = {"UTCHMMA", "UTCIMMA", "UTCHMMA", "UTCQMMA",
                                                  "UTCOMMA"};
  static constexpr double rates[] = {1, 2, 1, 2};
  const unsigned type = e.bits(72, 2);
  const bool scaledFour = e.bits(63, 1);
  i.opcode = names[scaledFour ? 4 : type];
  p.rate = scaledFour ? 4 : rates[type];
  p.elementBits = scaledFour ? 4 : p.rate == 2 ? 8 : 16;
  return p;
}

/// Tells barriers that wait from those that only arrive.
static bool waitsFor(const Instruction &i, const Encoding &e) {
  if (i.opcode == "BAR")
    return e.bits(77, 2) != 1; // not BAR.ARV
  if (i.opcode == "WARPGROUP")
    return e.bits(80, 1); // DEPBAR rather than ARRIVE
  if (i.opcode == "SYNCS")
    return e.operation() == 0x1a7 && e.form() == 2; // PHASECHK
  return i.opcode == "DEPBAR" || i.opcode == "UCGABAR_WAIT";
}

/// An IMAD of two zero registers, without a carry, copies its addend. (One that comes from a
/// uniform register is no move to nvdisasm.)
static bool copiesRegister(const Encoding &e) {
  if (e.operation() != 0x024 || e.bits(24, 8) != kZeroRegister || e.bits(87, 3) != kTrue)
    return false;
  switch (e.form()) {
  case 1: return e.bits(32, 8) == kZeroRegister; // all registers
  case 2:                                        // the addend is an immediate or a constant
  case 3: return e.bits(64, 8) == kZeroRegister;
  default: return false;
  }
}

Instruction mpcore::cubin::decode(uint64_t low, uint64_t high, uint32_t address, unsigned sm) {
  const Encoding e{low, high, sm};
  Instruction i;
  i.address = address;
  i.code = e.bits(0, 12);
  const detail::Opcode opcode = detail::opcodeOf(i.code, sm);
  i.opcode = opcode.name;
  i.kind = opcode.kind;
  const unsigned predicate = e.bits(12, 3);
  const bool negated = e.bits(15, 1);
  i.guarded = predicate != kTrue || negated;
  i.waitMask = e.bits(116, 6);
  i.writeBarrier = e.bits(110, 3);
  detail::describe(i);
  if (i.kind == Kind::Matrix) {
    const unsigned operation = e.operation();
    i.product = operation == 0x1ea                         ? tensorMemoryProduct(i, e)
                : operation >= 0x1f0 && operation <= 0x1f3 ? warpgroupProduct(e)
                                                           : warpProduct(e);
  }
  i.bytes = bytesOf(e, i.kind);
  i.waits = waitsFor(i, e);
  i.isRegisterMove = copiesRegister(e);
  if (i.isRegisterMove)
    i.kind = Kind::Move;
  if (i.flow == Flow::Branch) {
    i.conditional = i.guarded || hasSecondCondition(e);
    i.target = uint32_t(int64_t(address) + 16 + displacement(e));
  } else {
    i.conditional = i.guarded;
  }
  if (predicate == kTrue && negated) // never executes; ptxas pads with such on sm_80
    i.kind = Kind::Nop;
  return i;
}
