// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ldmatrix, stmatrix and movmatrix: matrices between shared memory and fragments.

#include "../Decode/Decoder.h"
#include "../Transfer/LoadStore.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using llvm::Twine;

static bool wholeWarp(Warp &w, const Inst &i) {
  if (w.exec == ~0u)
    return true;
  w.fault(FaultKind::Divergence, i,
          "all 32 lanes are needed; lanes 0x" + Twine::utohexstr(~w.exec) + " are elsewhere",
          std::countr_zero(~w.exec));
  return false;
}

namespace {
/// A matrix in shared memory has rows of 16 bytes; lanes R j to R j + R - 1 give the addresses of
/// the R rows of matrix j.
struct MoveForm {
  enum Shape : uint8_t { M8N8, M16N16, M8N16, M16N8 } shape = M8N8;
  bool trans = false;
  uint8_t bits = 16; // of an element in memory: 16, 8, or 6 and 4 that become bytes
  unsigned rows() const { return shape == M16N16 ? 16 : 8; }
  unsigned registersPerMatrix() const { return shape == M16N16 ? 2 : 1; }
  unsigned rowBytes() const { return bits < 8 ? 2 * bits : 16; }
};
} // namespace

static bool rowPointers(Warp &w, const Inst &i, const MoveForm &f, unsigned matrix, Access access,
                        uint8_t **rows) {
  uint64_t addresses[kLanes];
  laneAddresses(w, i.a, i.imm, i.flags & kWideAddress, addresses);
  const unsigned first = f.rows() * matrix;
  const uint32_t lanes = ((1u << f.rows()) - 1) << first;
  for (unsigned l = first; l < first + f.rows(); ++l)
    if (addresses[l] % 16) {
      w.fault(FaultKind::Misaligned, i,
              "the row's address 0x" + Twine::utohexstr(addresses[l]) + " is no multiple of 16", l,
              "shared", addresses[l]);
      return false;
    }
  // Nothing reads the bytes that fill a row up to 16.
  uint8_t *upper[kLanes];
  const unsigned bytes = f.rowBytes() == 16 ? 16 : 8;
  if (!resolveLanes(w, i, MemSpace(i.space), addresses, lanes, bytes, access, rows))
    return false;
  for (unsigned l = first; l < first + f.rows(); ++l)
    addresses[l] += 8;
  return f.rowBytes() != 12 ||
         resolveLanes(w, i, MemSpace(i.space), addresses, lanes, 4, access, upper);
}

/// Element `k` of a row of 16 bytes or elements, as a byte.
static uint32_t byteOf(const uint8_t *row, unsigned bits, unsigned k) {
  if (bits == 8)
    return row[k];
  const unsigned at = bits * k;
  uint16_t pair = 0;
  std::memcpy(&pair, row + at / 8, at / 8 + 1 < 2 * bits ? 2 : 1);
  return pair >> (at % 8) & ((1u << bits) - 1);
}

// Locates part `e` of a lane's register: its row in memory and its place there.
static void place(const MoveForm &f, unsigned lane, unsigned reg, unsigned e, unsigned &row,
                  unsigned &at) {
  const unsigned group = lane / 4, inGroup = lane % 4;
  switch (f.shape) {
  case MoveForm::M8N8:
    row = f.trans ? inGroup * 2 + e : group, at = f.trans ? group : inGroup * 2 + e;
    return;
  case MoveForm::M8N16: row = group, at = 4 * inGroup + e; return;
  case MoveForm::M16N16: // transposed
    row = 4 * inGroup + e, at = group + 8 * reg;
    return;
  case MoveForm::M16N8: // transposed
    row = 2 * inGroup + e % 2, at = group + 8 * (e / 2);
  }
}

static Step execLdmatrix(Warp &w, const Inst &i) {
  if (!wholeWarp(w, i))
    return Step::Fault;
  const MoveForm &f = *static_cast<const MoveForm *>(i.aux);
  const unsigned per = f.registersPerMatrix();
  uint8_t *rows[kLanes];
  uint32_t result[4][kLanes] = {};
  for (unsigned j = 0; j < i.count / per; ++j) {
    if (!rowPointers(w, i, f, j, Access::Read, rows))
      return Step::Fault;
    for (unsigned r = 0; r < per; ++r)
      for (unsigned l = 0; l < kLanes; ++l)
        for (unsigned e = 0; e < (f.bits == 16 ? 2 : 4); ++e) {
          unsigned row, at;
          place(f, l, r, e, row, at);
          const uint8_t *from = rows[f.rows() * j + row];
          uint16_t half = 0;
          if (f.bits == 16)
            std::memcpy(&half, from + 2 * at, 2);
          result[per * j + r][l] |=
              f.bits == 16 ? uint32_t(half) << (16 * e) : byteOf(from, f.bits, at) << (8 * e);
        }
  }
  for (unsigned j = 0; j < i.count; ++j)
    std::memcpy(w.lanes<uint32_t>(i.list[j]), result[j], sizeof(result[j]));
  return Step::Next;
}

static Step execStmatrix(Warp &w, const Inst &i) {
  if (!wholeWarp(w, i))
    return Step::Fault;
  const MoveForm &f = *static_cast<const MoveForm *>(i.aux);
  const unsigned bytes = f.bits / 8;
  uint8_t *rows[kLanes];
  for (unsigned j = 0; j < i.count; ++j) {
    if (!rowPointers(w, i, f, j, Access::Write, rows))
      return Step::Fault;
    const uint32_t *words = w.lanes<uint32_t>(i.list[j]);
    for (unsigned l = 0; l < kLanes; ++l)
      for (unsigned e = 0; e < 4 / bytes; ++e) {
        unsigned row, at;
        place(f, l, 0, e, row, at);
        const uint32_t part = words[l] >> (f.bits * e);
        std::memcpy(rows[8 * j + row] + bytes * at, &part, bytes);
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

static bool takeForm(Decoder &d, bool load, MoveForm &f) {
  if (d.take("m8n8"))
    f.shape = MoveForm::M8N8;
  else if (load && d.take("m16n16"))
    f.shape = MoveForm::M16N16;
  else if (load && d.take("m8n16"))
    f.shape = MoveForm::M8N16;
  else if (!load && d.take("m16n8"))
    f.shape = MoveForm::M16N8;
  else
    return false;
  f.trans = d.take("trans");
  if (load && f.shape != MoveForm::M8N8 && d.take("b8x16"))
    f.bits = d.take("b6x16_p32") ? 6 : d.take("b4x16_p64") ? 4 : 0;
  else
    f.bits = bitWidth(d.takeType());
  switch (f.shape) {
  case MoveForm::M8N8: return f.bits == 16;
  case MoveForm::M8N16: return !f.trans && (f.bits == 6 || f.bits == 4);
  case MoveForm::M16N16: return f.trans && (f.bits == 8 || f.bits == 6 || f.bits == 4);
  case MoveForm::M16N8: return f.trans && f.bits == 8;
  }
  return false;
}

static void decodeLdStMatrix(Decoder &d, bool load) {
  MoveForm f;
  bool fine = d.take("sync") && d.take("aligned");
  unsigned count = d.take("x1") ? 1 : d.take("x2") ? 2 : d.take("x4") ? 4 : 0;
  MemSpace space = takeSpace(d);
  fine = takeForm(d, load, f) && fine && count &&
         (space == MemSpace::Shared || space == MemSpace::Generic);
  if (!fine || count * f.rows() > kLanes || d.failed() || !d.expectOps(2)) {
    d.unsupported();
    return;
  }
  if (!d.requireTarget(f.bits < 16 ? 100 : load ? 75 : 90, ~0u, f.bits < 16))
    return;
  count *= f.registersPerMatrix();
  const syntax::Operand &data = d.op(load ? 0 : 1);
  auto parts = d.elements(data);
  if (data.kind != syntax::Operand::Vector || parts.size() != count) {
    d.fail("expected " + Twine(count) + " registers in braces, found " + Twine(parts.size()) +
           (data.kind == syntax::Operand::Vector ? "" : " without"));
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
  d.out->aux = d.program.keep(f);
  d.out->fn = load ? execLdmatrix : execStmatrix;
}

static void decodeLdmatrix(Decoder &d) { decodeLdStMatrix(d, true); }
static void decodeStmatrix(Decoder &d) { decodeLdStMatrix(d, false); }

static void decodeMovmatrix(Decoder &d) {
  bool fine = d.take("sync") && d.take("aligned") && d.take("m8n8") && d.take("trans");
  if (!fine || d.takeType() != Type::B16 || !d.expectOps(2) || !d.requireTarget(75, ~0u, false)) {
    d.unsupported();
    return;
  }
  d.out->dst = d.dst(0, Type::B32);
  d.out->a = d.src(1, Type::B32);
  d.out->fn = execMovmatrix;
}

void mpcore::emulator::registerMatrixMoveOps(OpTable &table) {
  table["ldmatrix"] = decodeLdmatrix;
  table["stmatrix"] = decodeStmatrix;
  table["movmatrix"] = decodeMovmatrix;
}
