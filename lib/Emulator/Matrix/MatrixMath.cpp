// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes elements and calls the Tensor Core models of lib/Numerics for dense and sparse products.

#include "MatrixMath.h"
#include "mp/Numerics/ModelGemm.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>
#include <cmath>

using namespace mpcore;
using namespace mpcore::emulator;
using llvm::Twine;

unsigned mpcore::emulator::elementBits(Element e) {
  switch (e) {
  case Element::F16:
  case Element::BF16: return 16;
  case Element::TF32:
  case Element::F32:
  case Element::S32: return 32;
  case Element::E4M3:
  case Element::E5M2:
  case Element::E3M2:
  case Element::E2M3:
  case Element::PaddedE2M1:
  case Element::S8:
  case Element::U8: return 8;
  case Element::E2M1:
  case Element::S4:
  case Element::U4: return 4;
  case Element::B1: return 1;
  case Element::F64: return 64;
  }
  return 0;
}

bool mpcore::emulator::elementOf(Type type, Element &e) {
  switch (type) {
  case Type::F16: e = Element::F16; return true;
  case Type::BF16: e = Element::BF16; return true;
  case Type::TF32: e = Element::TF32; return true;
  case Type::E4M3: e = Element::E4M3; return true;
  case Type::E5M2: e = Element::E5M2; return true;
  case Type::E3M2: e = Element::E3M2; return true;
  case Type::E2M3: e = Element::E2M3; return true;
  case Type::E2M1: e = Element::PaddedE2M1; return true;
  case Type::S8: e = Element::S8; return true;
  case Type::U8: e = Element::U8; return true;
  case Type::S4: e = Element::S4; return true;
  case Type::U4: e = Element::U4; return true;
  case Type::B1: e = Element::B1; return true;
  case Type::F64: e = Element::F64; return true;
  case Type::F32: e = Element::F32; return true;
  case Type::S32: e = Element::S32; return true;
  default: return false;
  }
}

numerics::Format mpcore::emulator::formatOf(Element e) {
  switch (e) {
  case Element::F16: return numerics::Format::F16;
  case Element::BF16: return numerics::Format::BF16;
  case Element::TF32: return numerics::Format::TF32;
  case Element::E4M3: return numerics::Format::F8E4M3FN;
  case Element::E5M2: return numerics::Format::F8E5M2;
  case Element::E3M2: return numerics::Format::F6E3M2FN;
  case Element::E2M3: return numerics::Format::F6E2M3FN;
  case Element::PaddedE2M1:
  case Element::E2M1: return numerics::Format::F4E2M1FN;
  default: return numerics::Format::F32;
  }
}

float mpcore::emulator::smallFloat(Element e, uint32_t bits) {
  if (e == Element::PaddedE2M1)
    bits >>= 2;
  numerics::Unpacked u =
      numerics::unpack(bits, formatOf(e)); // these formats have finite values only
  float magnitude = std::ldexp(float(u.significand), u.exponent);
  return u.negative ? -magnitude : magnitude;
}

void MatrixValues::resize(const MatrixOp &op, unsigned rows) {
  size_t ka = size_t(rows) * op.storedK(), kb = size_t(op.k) * op.n, kc = size_t(rows) * op.n;
  if (isFloatElement(op.a)) {
    a.resize(ka), b.resize(kb), c.resize(kc);
  } else if (op.a == Element::F64) {
    da.resize(ka), db.resize(kb), dc.resize(kc);
  } else {
    ia.resize(ka), ib.resize(kb), ic.resize(kc);
  }
  if (op.sparsity != Sparsity::None)
    row.resize(ka);
  if (op.scaleBlocks)
    scalesA.resize(size_t(rows) * op.scaleBlocks), scalesB.resize(size_t(op.n) * op.scaleBlocks);
}

MatrixValues &mpcore::emulator::matrixScratch() {
  thread_local MatrixValues values;
  return values;
}

void mpcore::emulator::noSuchTensorCore(Warp &w, const Inst &inst, const Twine &what) {
  w.fault(FaultKind::Misuse, inst,
          "chip '" + Twine(w.launch->options.chip) + "' has no Tensor Core model for " + what +
              "; choose another chip for the launch",
          0);
}

// The rows of B that row r of a sparse A meets. The Tensor Core multiplies only these, as many as a
// dense product of half the depth; no recorded result bears on sparse sums, whose order is taken to
// be that product's.
static const float *selectRows(const MatrixOp &op, MatrixValues &v, unsigned r) {
  const unsigned depth = op.storedK();
  v.selected.resize(size_t(depth) * op.n);
  for (unsigned s = 0; s < depth; ++s)
    std::copy_n(&v.b[size_t(v.row[size_t(r) * depth + s]) * op.n], op.n,
                &v.selected[size_t(s) * op.n]);
  return v.selected.data();
}

static bool multiplyFloat(Warp &w, const Inst &inst, const MatrixOp &op, MatrixValues &v,
                          unsigned rows) {
  std::optional<numerics::TensorCoreModel> model;
  const auto architecture = w.launch->architecture;
  const bool sparse = op.sparsity != Sparsity::None;
  if (architecture && !(sparse && *architecture < numerics::Architecture::SM80))
    model = numerics::tensorCoreModel(*architecture, formatOf(op.a), formatOf(op.b), formatOf(op.d),
                                      op.wgmma ? numerics::Route::Wgmma : numerics::Route::MmaSync);
  if (!model) {
    noSuchTensorCore(w, inst, sparse ? "sparse products of these types" : "these types");
    return false;
  }
  if (op.negateA)
    for (float &x : v.a)
      x = -x;
  if (op.negateB)
    for (float &x : v.b)
      x = -x;
  const unsigned depth = op.storedK();
  if (!sparse) {
    numerics::modelGemm(*model, rows, op.n, depth, v.a.data(), depth, v.b.data(), op.n, v.c.data(),
                        op.n, v.c.data(), op.n, /*threads=*/1);
    return true;
  }
  for (unsigned r = 0; r < rows; ++r) {
    float *c = &v.c[size_t(r) * op.n];
    numerics::modelGemm(*model, 1, op.n, depth, &v.a[size_t(r) * depth], depth,
                        selectRows(op, v, r), op.n, c, op.n, c, op.n, /*threads=*/1);
  }
  return true;
}

static bool multiplyScaled(Warp &w, const Inst &inst, const MatrixOp &op, MatrixValues &v,
                           unsigned rows) {
  if (w.launch->architecture != numerics::Architecture::SM120) {
    noSuchTensorCore(w, inst, "scaled blocks in mma.sync");
    return false;
  }
  const unsigned depth = op.storedK();
  std::vector<float> column(depth);
  for (unsigned r = 0; r < rows; ++r) {
    const float *b = op.sparsity == Sparsity::None ? v.b.data() : selectRows(op, v, r);
    for (unsigned c = 0; c < op.n; ++c) {
      for (unsigned k = 0; k < depth; ++k)
        column[k] = b[size_t(k) * op.n + c];
      float &sum = v.c[size_t(r) * op.n + c];
      sum = numerics::blockScaledDot(op.scaled, &v.a[size_t(r) * depth], column.data(),
                                     &v.scalesA[size_t(r) * op.scaleBlocks],
                                     &v.scalesB[size_t(c) * op.scaleBlocks], depth, sum);
    }
  }
  return true;
}

static void multiplyInt(const MatrixOp &op, MatrixValues &v, unsigned rows) {
  const bool bits = op.a == Element::B1, sparse = op.sparsity != Sparsity::None;
  const unsigned depth = op.storedK();
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned c = 0; c < op.n; ++c) {
      int64_t sum = v.ic[size_t(r) * op.n + c];
      for (unsigned s = 0; s < depth; ++s) {
        const size_t at = size_t(r) * depth + s;
        int32_t x = v.ia[at], y = v.ib[size_t(sparse ? v.row[at] : s) * op.n + c];
        sum += bits ? (op.bitAnd ? x & y : x ^ y) : x * y;
      }
      v.ic[size_t(r) * op.n + c] = op.satfinite
                                       ? int32_t(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX))
                                       : int32_t(uint32_t(sum));
    }
}

// f64: one fused multiply-add after the other, in ascending k.
static double fusedMultiplyAdd(double a, double b, double c, Rounding rounding) {
  if (rounding == Rounding::Nearest)
    return std::fma(a, b, c);
  llvm::APFloat x(a);
  x.fusedMultiplyAdd(llvm::APFloat(b), llvm::APFloat(c), apMode(rounding));
  return x.convertToDouble();
}

static void multiplyDouble(const MatrixOp &op, MatrixValues &v, unsigned rows) {
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned c = 0; c < op.n; ++c) {
      double sum = v.dc[size_t(r) * op.n + c];
      for (unsigned k = 0; k < op.k; ++k)
        sum = fusedMultiplyAdd(v.da[size_t(r) * op.k + k], v.db[size_t(k) * op.n + c], sum,
                               op.rounding);
      v.dc[size_t(r) * op.n + c] = sum;
    }
}

bool mpcore::emulator::multiply(Warp &w, const Inst &inst, const MatrixOp &op, MatrixValues &v,
                                unsigned rows) {
  if (op.scaleBlocks)
    return multiplyScaled(w, inst, op, v, rows);
  if (isFloatElement(op.a))
    return multiplyFloat(w, inst, op, v, rows);
  if (op.a == Element::F64)
    multiplyDouble(op, v, rows);
  else
    multiplyInt(op, v, rows);
  return true;
}
