// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ldmatrix, stmatrix and movmatrix: 8 x 8 matrices of 16-bit elements between shared memory and fragments.

#include "../Decode/Decoder.h"
#include "../Transfer/LoadStore.h"
#include "llvm/ADT/Twine.h"

using namespace mp::emulator;
using llvm::Twine;

static bool wholeWarp(Warp &w, const Inst &i) {
  if (w.exec == ~0u)
    return true;
  w.fault(FaultKind::Divergence, i, "all 32 lanes are needed; lanes 0x" + Twine::utohexstr(~w.exec) + " are elsewhere",
          std::countr_zero(~w.exec));
  return false;
}

// Lanes 8 j .. 8 j + 7 give the addresses of the rows of matrix j.
static bool rowPointers(Warp &w, const Inst &i, unsigned matrix, Access access, uint8_t **rows) {
  uint64_t addresses[kLanes];
  laneAddresses(w, i.a, i.imm, i.flags & kWideAddress, addresses);
  return resolveLanes(w, i, MemSpace(i.space), addresses, 0xffu << (8 * matrix), 16, access, rows);
}

static Step execLdmatrix(Warp &w, const Inst &i) {
  if (!wholeWarp(w, i))
    return Step::Fault;
  const bool trans = i.flags & 1;
  uint8_t *rows[kLanes];
  uint32_t result[4][kLanes];
  for (unsigned j = 0; j < i.count; ++j) {
    if (!rowPointers(w, i, j, Access::Read, rows))
      return Step::Fault;
    for (unsigned l = 0; l < kLanes; ++l) {
      uint16_t half[2];
      for (unsigned e = 0; e < 2; ++e) {
        unsigned row = trans ? l % 4 * 2 + e : l / 4, col = trans ? l / 4 : l % 4 * 2 + e;
        std::memcpy(&half[e], rows[8 * j + row] + 2 * col, 2);
      }
      result[j][l] = uint32_t(half[1]) << 16 | half[0];
    }
  }
  for (unsigned j = 0; j < i.count; ++j)
    std::memcpy(w.lanes<uint32_t>(i.list[j]), result[j], sizeof(result[j]));
  return Step::Next;
}

static Step execStmatrix(Warp &w, const Inst &i) {
  if (!wholeWarp(w, i))
    return Step::Fault;
  const bool trans = i.flags & 1;
  uint8_t *rows[kLanes];
  for (unsigned j = 0; j < i.count; ++j) {
    if (!rowPointers(w, i, j, Access::Write, rows))
      return Step::Fault;
    const uint32_t *words = w.lanes<uint32_t>(i.list[j]);
    for (unsigned l = 0; l < kLanes; ++l)
      for (unsigned e = 0; e < 2; ++e) {
        unsigned row = trans ? l % 4 * 2 + e : l / 4, col = trans ? l / 4 : l % 4 * 2 + e;
        uint16_t half = uint16_t(words[l] >> (16 * e));
        std::memcpy(rows[8 * j + row] + 2 * col, &half, 2);
      }
  }
  return Step::Next;
}

static Step execMovmatrix(Warp &w, const Inst &i) {
  if (!wholeWarp(w, i))
    return Step::Fault;
  const uint32_t *a = w.lanes<uint32_t>(i.a);
  uint16_t m[8][8];
  for (unsigned l = 0; l < kLanes; ++l)
    for (unsigned e = 0; e < 2; ++e)
      m[l / 4][l % 4 * 2 + e] = uint16_t(a[l] >> (16 * e));
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  for (unsigned l = 0; l < kLanes; ++l)
    d[l] = uint32_t(m[l % 4 * 2 + 1][l / 4]) << 16 | m[l % 4 * 2][l / 4];
  return Step::Next;
}

static void decodeLdStMatrix(Decoder &d, bool load) {
  bool fine = d.take("sync") && d.take("aligned") && d.take("m8n8");
  unsigned count = d.take("x1") ? 1 : d.take("x2") ? 2 : d.take("x4") ? 4 : 0;
  d.out->flags = d.take("trans") ? 1 : 0;
  MemSpace space = takeSpace(d);
  fine &= count != 0 && (space == MemSpace::Shared || space == MemSpace::Generic);
  if (!fine || d.takeType() != Type::B16 || !d.expectOps(2)) {
    d.unsupported();
    return;
  }
  auto parts = d.elements(d.op(load ? 0 : 1));
  if (parts.size() != count) {
    d.fail("expected " + Twine(count) + " registers, found " + Twine(parts.size()));
    return;
  }
  llvm::SmallVector<Reg, 4> regs;
  for (const syntax::Operand &p : parts)
    regs.push_back(load ? d.dst(p, Type::B32) : d.src(p, Type::B32));
  d.out->list = d.keepList(regs);
  d.out->count = count;
  if (!d.address(d.op(load ? 1 : 0), space))
    return;
  d.out->space = uint8_t(space);
  d.out->fn = load ? execLdmatrix : execStmatrix;
}

static void decodeLdmatrix(Decoder &d) { decodeLdStMatrix(d, true); }
static void decodeStmatrix(Decoder &d) { decodeLdStMatrix(d, false); }

static void decodeMovmatrix(Decoder &d) {
  bool fine = d.take("sync") && d.take("aligned") && d.take("m8n8") && d.take("trans");
  if (!fine || d.takeType() != Type::B16 || !d.expectOps(2)) {
    d.unsupported();
    return;
  }
  d.out->dst = d.dst(0, Type::B32);
  d.out->a = d.src(1, Type::B32);
  d.out->fn = execMovmatrix;
}

void mp::emulator::registerMatrixMoveOps(OpTable &table) {
  table["ldmatrix"] = decodeLdmatrix;
  table["stmatrix"] = decodeStmatrix;
  table["movmatrix"] = decodeMovmatrix;
}
