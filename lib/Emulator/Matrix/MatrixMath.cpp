// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MatrixMath.h"
#include "llvm/ADT/Twine.h"
#include "mp/Numerics/ModelGemm.h"
#include <algorithm>

using namespace mp;
using namespace mp::emulator;
using llvm::Twine;

unsigned mp::emulator::elementBits(Element e) {
  switch (e) {
  case Element::F16:
  case Element::BF16:
    return 16;
  case Element::TF32:
  case Element::F32:
  case Element::S32:
    return 32;
  case Element::E4M3:
  case Element::E5M2:
  case Element::S8:
  case Element::U8:
    return 8;
  case Element::S4:
  case Element::U4:
    return 4;
  case Element::B1:
    return 1;
  case Element::F64:
    return 64;
  }
  return 0;
}

bool mp::emulator::elementOf(Type type, Element &e) {
  switch (type) {
  case Type::F16:
    e = Element::F16;
    return true;
  case Type::BF16:
    e = Element::BF16;
    return true;
  case Type::TF32:
    e = Element::TF32;
    return true;
  case Type::E4M3:
    e = Element::E4M3;
    return true;
  case Type::E5M2:
    e = Element::E5M2;
    return true;
  case Type::S8:
    e = Element::S8;
    return true;
  case Type::U8:
    e = Element::U8;
    return true;
  case Type::S4:
    e = Element::S4;
    return true;
  case Type::U4:
    e = Element::U4;
    return true;
  case Type::B1:
    e = Element::B1;
    return true;
  case Type::F64:
    e = Element::F64;
    return true;
  case Type::F32:
    e = Element::F32;
    return true;
  case Type::S32:
    e = Element::S32;
    return true;
  default:
    return false;
  }
}

void MatrixValues::resize(const MatrixOp &op, unsigned rows) {
  size_t ka = size_t(rows) * op.k, kb = size_t(op.k) * op.n, kc = size_t(rows) * op.n;
  if (isFloatElement(op.a)) {
    a.resize(ka), b.resize(kb), c.resize(kc);
  } else if (op.a == Element::F64) {
    da.resize(ka), db.resize(kb), dc.resize(kc);
  } else {
    ia.resize(ka), ib.resize(kb), ic.resize(kc);
  }
}

MatrixValues &mp::emulator::matrixScratch() {
  thread_local MatrixValues values;
  return values;
}

static numerics::Format formatOf(Element e) {
  switch (e) {
  case Element::F16:
    return numerics::Format::F16;
  case Element::BF16:
    return numerics::Format::BF16;
  case Element::TF32:
    return numerics::Format::TF32;
  case Element::E4M3:
    return numerics::Format::F8E4M3FN;
  case Element::E5M2:
    return numerics::Format::F8E5M2;
  default:
    return numerics::Format::F32;
  }
}

static bool multiplyFloat(Warp &w, const Inst &inst, const MatrixOp &op, MatrixValues &v,
                          unsigned rows) {
  std::optional<numerics::TensorCoreModel> model;
  if (w.launch->architecture)
    model = numerics::tensorCoreModel(*w.launch->architecture, formatOf(op.a), formatOf(op.b),
                                      formatOf(op.d),
                                      op.wgmma ? numerics::Route::Wgmma : numerics::Route::MmaSync);
  if (!model) {
    w.fault(FaultKind::Misuse, inst,
            "chip '" + Twine(w.launch->options.chip) +
                "' has no Tensor Core model for these types; choose another chip for the launch",
            0);
    return false;
  }
  if (op.negateA)
    for (float &x : v.a)
      x = -x;
  if (op.negateB)
    for (float &x : v.b)
      x = -x;
  numerics::modelGemm(*model, rows, op.n, op.k, v.a.data(), op.k, v.b.data(), op.n, v.c.data(),
                      op.n, v.c.data(), op.n, /*threads=*/1);
  return true;
}

static void multiplyInt(const MatrixOp &op, MatrixValues &v, unsigned rows) {
  const bool bits = op.a == Element::B1;
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned c = 0; c < op.n; ++c) {
      int64_t sum = v.ic[size_t(r) * op.n + c];
      for (unsigned k = 0; k < op.k; ++k) {
        int32_t x = v.ia[size_t(r) * op.k + k], y = v.ib[size_t(k) * op.n + c];
        sum += bits ? (op.bitAnd ? x & y : x ^ y) : x * y;
      }
      v.ic[size_t(r) * op.n + c] =
          op.satfinite ? int32_t(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX)) : int32_t(uint32_t(sum));
    }
}

// f64: one fused multiply-add after the other, in ascending k.
static void multiplyDouble(const MatrixOp &op, MatrixValues &v, unsigned rows) {
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned c = 0; c < op.n; ++c) {
      double sum = v.dc[size_t(r) * op.n + c];
      for (unsigned k = 0; k < op.k; ++k)
        sum = std::fma(v.da[size_t(r) * op.k + k], v.db[size_t(k) * op.n + c], sum);
      v.dc[size_t(r) * op.n + c] = sum;
    }
}

bool mp::emulator::multiply(Warp &w, const Inst &inst, const MatrixOp &op, MatrixValues &v,
                            unsigned rows) {
  if (isFloatElement(op.a))
    return multiplyFloat(w, inst, op, v, rows);
  if (op.a == Element::F64)
    multiplyDouble(op, v, rows);
  else
    multiplyInt(op, v, rows);
  return true;
}
