// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the metadata of sparse operands and maps stored elements to columns.

#include "Sparsity.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using llvm::Twine;

Sparsity mpcore::emulator::sparsityOf(Element a) {
  switch (elementBits(a)) {
  case 32: return Sparsity::OneOfTwo;
  case 4: return Sparsity::PairsOfFour;
  default: return Sparsity::TwoOfFour;
  }
}

/// Elements of a row that share four bits of metadata.
static unsigned groupWidth(Sparsity sparsity) {
  return sparsity == Sparsity::OneOfTwo ? 2 : sparsity == Sparsity::TwoOfFour ? 4 : 8;
}

static unsigned groupsPerRow(const MatrixOp &op) { return op.k / groupWidth(op.sparsity); }

/// Selectors a form has: 4, 2 or 1.
static unsigned selectorsOf(const MatrixOp &op) { return 16 / groupsPerRow(op); }

void mpcore::emulator::decodeMetadata(Decoder &d, unsigned at, MatrixOp &op) {
  op.metadata = d.src(at, Type::B32);
  int64_t selector = 0;
  if (!d.constant(d.op(at + 1), selector))
    return;
  const unsigned limit = selectorsOf(op);
  if (selector < 0 || selector >= int64_t(limit))
    d.fail("the sparsity selector is " + Twine(selector) + ", this form has 0 to " +
           Twine(limit - 1));
  op.selector = uint8_t(selector);
}

static unsigned laneOfGroup(const MatrixOp &op, unsigned row, unsigned group, unsigned &shift) {
  const unsigned quad = 4 * (row % 8), half = row / 8;
  switch (groupsPerRow(op)) {
  case 4: shift = 16 * half + 4 * group; return quad + op.selector;
  case 8:
    if (elementBits(op.a) >= 16) {
      shift = 16 * half + 4 * (group % 4);
      return quad + 2 * op.selector + group / 4;
    }
    shift = 4 * group;
    return quad + 2 * op.selector + half;
  default: shift = 4 * (group % 8); return quad + 2 * (group / 8) + half;
  }
}

std::optional<BadMetadata> mpcore::emulator::readMetadata(const uint32_t *words, const MatrixOp &op,
                                                          unsigned firstRow, MatrixValues &v) {
  const unsigned width = groupWidth(op.sparsity), perGroup = width / 2;
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned group = 0; group < groupsPerRow(op); ++group) {
      unsigned shift;
      const unsigned lane = laneOfGroup(op, row, group, shift), bits = words[lane] >> shift & 15;
      const unsigned first = bits & 3, second = bits >> 2;
      uint16_t *to = &v.row[size_t(firstRow + row) * op.storedK() + group * perGroup];
      if (op.sparsity == Sparsity::OneOfTwo) {
        // The two halves of an element count as places of their own.
        if (bits != 0b0100 && bits != 0b1110)
          return BadMetadata{lane, firstRow + row, bits};
        *to = uint16_t(group * width + (bits == 0b1110));
        continue;
      }
      if (op.orderedMetadata ? first >= second : first == second)
        return BadMetadata{lane, firstRow + row, bits};
      const unsigned unit = perGroup / 2; // elements that move together
      for (unsigned i = 0; i < unit; ++i) {
        to[i] = uint16_t(group * width + first * unit + i);
        to[unit + i] = uint16_t(group * width + second * unit + i);
      }
    }
  return std::nullopt;
}

Step mpcore::emulator::badMetadata(Warp &w, const Inst &inst, const MatrixOp &op,
                                   const BadMetadata &bad) {
  std::string bits;
  for (int i = 3; i >= 0; --i)
    bits += bad.bits >> i & 1 ? '1' : '0';
  const char *rule = op.sparsity == Sparsity::OneOfTwo
                         ? "0100 and 1110 are the two places of one element"
                     : op.orderedMetadata ? "two different places in ascending order are needed"
                                          : "two different places are needed";
  return w.fault(FaultKind::Misuse, inst,
                 "sparsity metadata 0b" + Twine(bits) + " of row " + Twine(bad.row) +
                     " has no meaning: " + rule,
                 bad.lane);
}
