// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wmma.load, wmma.store and wmma.mma. The manual leaves the layout of these fragments open; here
// register r of lane l holds elements (32 r + l) e ... + e - 1 of the matrix in the order in which
// k (for C and D: the column) is fastest. f16 operands have room for every element twice.

#include "../Transfer/LoadStore.h"
#include "MmaForms.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using llvm::Twine;

namespace {
enum class Role : uint8_t { A, B, C };

/// The layout of a fragment of one role in registers.
struct Layout {
  Element element = Element::F16;
  Role role = Role::A;
  uint16_t rows = 0, cols = 0;
  unsigned registers = 0;
  bool row = true; // memory layout
  unsigned bits() const { return elementBits(element); }
  unsigned perRegister() const { return element == Element::F64 ? 1 : 32 / bits(); }
  unsigned elements() const { return unsigned(rows) * cols; }
  /// Row and column of an element number.
  void place(unsigned q, unsigned &r, unsigned &c) const {
    if (role == Role::B)
      c = q / rows, r = q % rows;
    else
      r = q / cols, c = q % cols;
  }
  bool contiguous() const { return role == Role::B ? !row : row; }
};
} // namespace

static bool layoutFor(const MatrixOp &op, Role role, Element e, Layout &l) {
  l.element = e;
  l.role = role;
  l.rows = role == Role::B ? op.k : op.m;
  l.cols = role == Role::A ? op.k : op.n;
  unsigned slots = kLanes * l.perRegister();
  l.registers = (l.elements() + slots - 1) / slots;
  if (e == Element::F16 && role != Role::C)
    l.registers = 8;
  return true;
}

static bool isK16(unsigned m, unsigned n, unsigned k) {
  return k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32));
}

static bool shapeAllowed(Element e, unsigned m, unsigned n, unsigned k) {
  switch (e) {
  case Element::F16:
  case Element::BF16:
  case Element::S8:
  case Element::U8: return isK16(m, n, k);
  case Element::TF32: return m == 16 && n == 16 && k == 8;
  case Element::S4:
  case Element::U4: return m == 8 && n == 8 && k == 32;
  case Element::B1: return m == 8 && n == 8 && k == 128;
  case Element::F64: return m == 8 && n == 8 && k == 4;
  default: return false;
  }
}

static bool accumulatorAllowed(Element e, unsigned m, unsigned n, unsigned k) {
  const bool tf32 = shapeAllowed(Element::TF32, m, n, k),
             narrow = shapeAllowed(Element::S4, m, n, k) || shapeAllowed(Element::B1, m, n, k);
  switch (e) {
  case Element::F16: return isK16(m, n, k);
  case Element::F32: return isK16(m, n, k) || tf32;
  case Element::S32: return isK16(m, n, k) || narrow;
  default: return e == Element::F64 && shapeAllowed(e, m, n, k);
  }
}

static bool checkTarget(Decoder &d, Element e, bool bitAnd) {
  const bool newer = e == Element::BF16 || e == Element::TF32 || e == Element::F64 || bitAnd;
  const unsigned least = newer ? 80 : elementBits(e) < 8 ? 75 : elementBits(e) == 8 ? 72 : 70;
  return d.requireTarget(least, ~0u, false);
}

static Step execMove(Warp &w, const Inst &i) {
  const Layout &f = *static_cast<const Layout *>(i.aux);
  if (w.exec != ~0u)
    return w.fault(FaultKind::Divergence, i,
                   "all 32 lanes are needed; lanes 0x" + Twine::utohexstr(~w.exec) +
                       " are elsewhere",
                   std::countr_zero(~w.exec));
  const bool load = i.flags & 1;
  uint64_t bases[kLanes], addresses[kLanes];
  uint8_t *pointers[kLanes];
  laneAddresses(w, i.a, i.imm, i.flags & kWideAddress, bases);
  const uint32_t *stride = w.lanes<uint32_t>(i.b);
  const unsigned e = f.perRegister(), bits = f.bits();
  // A whole register at once where its elements are neighbours in memory.
  const bool whole = f.contiguous() || e == 1;
  const unsigned steps = whole ? 1 : e, bytes = whole ? (bits == 64 ? 8 : 4) : bits / 8;
  for (unsigned r = 0; r < f.registers; ++r)
    for (unsigned s = 0; s < steps; ++s) {
      uint32_t mask = 0;
      for (unsigned l = 0; l < kLanes; ++l) {
        unsigned q = (r * kLanes + l) * e + s;
        if (!load && q >= f.elements())
          continue;
        unsigned row, col;
        f.place(q % f.elements(), row, col);
        uint64_t index = f.row ? uint64_t(row) * stride[l] + col : uint64_t(col) * stride[l] + row;
        addresses[l] = bases[l] + index * bits / 8;
        mask |= 1u << l;
      }
      if (!mask)
        continue;
      if (!resolveLanes(w, i, MemSpace(i.space), addresses, mask, bytes,
                        load ? Access::Read : Access::Write, pointers))
        return Step::Fault;
      for (unsigned l = 0; l < kLanes; ++l) {
        if (!(mask >> l & 1))
          continue;
        if (bits == 64) {
          uint64_t &word = w.lanes<uint64_t>(i.list[r])[l];
          load ? std::memcpy(&word, pointers[l], 8) : std::memcpy(pointers[l], &word, 8);
          continue;
        }
        uint32_t &word = w.lanes<uint32_t>(i.list[r])[l];
        if (whole) {
          load ? std::memcpy(&word, pointers[l], 4) : std::memcpy(pointers[l], &word, 4);
          continue;
        }
        uint32_t part = word >> (s * bits);
        if (!load) {
          std::memcpy(pointers[l], &part, bytes);
          continue;
        }
        part = 0;
        std::memcpy(&part, pointers[l], bytes);
        uint32_t hole = ((1u << bits) - 1) << (s * bits);
        word = (word & ~hole) | part << (s * bits);
      }
    }
  return Step::Next;
}

static const Reg *registers(Decoder &d, unsigned at, const Layout &f, bool result) {
  const Type type = f.element == Element::F64 ? Type::F64 : Type::B32;
  return decodeRegisters(d, at, f.registers, type, result, "the fragment has");
}

static void decodeMove(Decoder &d, bool load) {
  MatrixOp op;
  bool a = load && d.take("a"), b = load && d.take("b"), c = load ? d.take("c") : d.take("d");
  bool fine = d.take("sync") && d.take("aligned");
  bool row = d.take("row"), col = d.take("col");
  if (!takeShape(d, op.m, op.n, op.k))
    return;
  MemSpace space = takeSpace(d);
  Element e;
  Type type = d.takeType();
  if (d.failed() || !d.expectOps(2, 3))
    return;
  fine = fine && elementOf(type, e) && a + b + c == 1 && row != col &&
         (space == MemSpace::Global || space == MemSpace::Shared || space == MemSpace::Generic);
  if (fine && c)
    fine = accumulatorAllowed(e, op.m, op.n, op.k);
  else // below 8 bits, k is contiguous in memory
    fine = fine && shapeAllowed(e, op.m, op.n, op.k) && (elementBits(e) >= 8 || row == a);
  if (!fine) {
    d.unsupported();
    return;
  }
  if (!checkTarget(d, e, false))
    return;
  Layout f;
  layoutFor(op, a ? Role::A : b ? Role::B : Role::C, e, f);
  f.row = row;
  const unsigned address = load ? 1 : 0, data = load ? 0 : 1;
  if (!d.address(d.op(address), space))
    return;
  d.out->space = uint8_t(space);
  d.noteSharedAccess(f.contiguous() ? 4 : f.bits() / 8, space);
  d.out->list = registers(d, data, f, load);
  d.out->count = f.registers;
  // Without a stride rows (or columns) follow each other.
  d.out->b = d.numOps() == 3 ? d.src(2, Type::U32) : d.constant32(row ? f.cols : f.rows);
  d.out->flags |= load ? 1 : 0;
  d.out->aux = d.program.keep(f);
  d.out->fn = execMove;
}

namespace {
struct WmmaOp {
  MatrixOp op;
  Layout a, b, c, d;
};
} // namespace

// fn(element number, lane, register, index in register) for the first copy of every element.
template <class F> static void forFragment(const Layout &f, F &&fn) {
  const unsigned e = f.perRegister();
  for (unsigned q = 0; q < f.elements(); ++q) {
    unsigned slot = q / e;
    fn(q, slot % kLanes, slot / kLanes, q % e);
  }
}

static Step execWmma(Warp &w, const Inst &i) {
  const WmmaOp &x = *static_cast<const WmmaOp *>(i.aux);
  const MatrixOp &op = x.op;
  if (w.exec != ~0u)
    return w.fault(FaultKind::Divergence, i,
                   "all 32 lanes are needed; lanes 0x" + Twine::utohexstr(~w.exec) +
                       " are elsewhere",
                   std::countr_zero(~w.exec));
  MatrixValues &v = matrixScratch();
  v.resize(op, op.m);
  auto operand = [&](const Layout &f, const Reg *regs, std::vector<float> &floats,
                     std::vector<int32_t> &ints, std::vector<double> &doubles, unsigned width) {
    forFragment(f, [&](unsigned q, unsigned l, unsigned r, unsigned k) {
      unsigned row, col;
      f.place(q, row, col);
      size_t at = size_t(row) * width + col;
      if (f.element == Element::F64) {
        doubles[at] = w.lanes<double>(regs[r])[l];
        return;
      }
      uint32_t word = w.lanes<uint32_t>(regs[r])[l];
      if (f.bits() < 32)
        word = word >> (k * f.bits()) & ((1u << f.bits()) - 1);
      if (f.element == Element::F32)
        floats[at] = std::bit_cast<float>(word);
      else if (f.element == Element::S32)
        ints[at] = int32_t(word);
      else if (isFloatElement(f.element))
        floats[at] = floatElement(f.element, word);
      else
        ints[at] = intElement(f.element, word);
    });
  };
  operand(x.a, op.aRegs, v.a, v.ia, v.da, op.k);
  operand(x.b, op.bRegs, v.b, v.ib, v.db, op.n);
  operand(x.c, op.cRegs, v.c, v.ic, v.dc, op.n);
  if (!multiply(w, i, op, v, op.m))
    return Step::Fault;
  forFragment(x.d, [&](unsigned q, unsigned l, unsigned r, unsigned k) {
    switch (x.d.element) {
    case Element::F64: w.lanes<double>(op.dRegs[r])[l] = v.dc[q]; break;
    case Element::F32: w.lanes<float>(op.dRegs[r])[l] = v.c[q]; break;
    case Element::F16: {
      uint32_t &word = w.lanes<uint32_t>(op.dRegs[r])[l], half = narrowF16(v.c[q]);
      word = k ? (word & 0xffff) | half << 16 : half;
      break;
    }
    default: w.lanes<int32_t>(op.dRegs[r])[l] = v.ic[q];
    }
  });
  return Step::Next;
}

static void decodeWmmaMma(Decoder &d) {
  WmmaOp x;
  MatrixOp &op = x.op;
  bool fine = d.take("sync") && d.take("aligned");
  if (!takeShape(d, op.m, op.n, op.k))
    return;
  // Two layouts, that of A first; in registers they make no difference.
  bool natural = true;
  for (bool isA : {true, false}) {
    auto mods = d.restMods();
    const auto *layout =
        llvm::find_if(mods, [](llvm::StringRef mod) { return mod == "row" || mod == "col"; });
    fine = fine && layout != mods.end();
    natural = natural && fine && (*layout == "row") == isA;
    if (layout != mods.end())
      d.take(*layout);
  }
  op.satfinite = d.take("satfinite");
  bool popc = d.take("popc"), xorOp = d.take("xor"), rounds;
  op.bitAnd = d.take("and");
  op.rounding = takeRounding(d, Rounding::Nearest, rounds);
  Type td = d.takeType(), second = d.takeType(), ta = Type::F16, tb = Type::F16, tc = second;
  const bool named = !d.failed() && d.hasMods(); // operands of f16 go without saying
  if (named) {
    ta = second;
    tb = d.takeType();
    tc = d.takeType();
  }
  if (d.failed() || !d.expectOps(4))
    return;
  fine &= elementOf(td, op.d) && elementOf(ta, op.a) && elementOf(tb, op.b) && elementOf(tc, op.c);
  fine = fine && op.a == op.b && shapeAllowed(op.a, op.m, op.n, op.k) &&
         named == (op.a != Element::F16);
  bool isInt = op.a >= Element::S8 && op.a <= Element::B1, b1 = op.a == Element::B1;
  fine = fine && (natural || elementBits(op.a) >= 8);
  fine = fine && (!op.satfinite || (isInt && !b1)) && b1 == popc &&
         (b1 ? xorOp != op.bitAnd : !xorOp && !op.bitAnd);
  fine = fine && (!rounds || op.a == Element::F64);
  auto isAccumulator = [&](Element e) {
    return isInt ? e == Element::S32
           : op.a == Element::F64
               ? e == Element::F64
               : e == Element::F32 || (e == Element::F16 && op.a == Element::F16);
  };
  fine = fine && isAccumulator(op.c) && isAccumulator(op.d);
  if (!fine) {
    d.unsupported();
    return;
  }
  if (!checkTarget(d, op.a, op.bitAnd))
    return;
  layoutFor(op, Role::A, op.a, x.a);
  layoutFor(op, Role::B, op.b, x.b);
  layoutFor(op, Role::C, op.c, x.c);
  layoutFor(op, Role::C, op.d, x.d);
  op.dRegs = registers(d, 0, x.d, true);
  op.aRegs = registers(d, 1, x.a, false);
  op.bRegs = registers(d, 2, x.b, false);
  op.cRegs = registers(d, 3, x.c, false);
  d.out->aux = d.program.keep(x);
  d.out->fn = execWmma;
}

static void decodeWmma(Decoder &d) {
  if (d.take("load"))
    decodeMove(d, true);
  else if (d.take("store"))
    decodeMove(d, false);
  else if (d.take("mma"))
    decodeWmmaMma(d);
}

void mpcore::emulator::registerWmmaOps(OpTable &table) { table["wmma"] = decodeWmma; }
