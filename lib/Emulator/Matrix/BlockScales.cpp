// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes the scale operands of mma.sync.block_scale and collects them from the lanes.

#include "BlockScales.h"
#include "llvm/ADT/Twine.h"
#include <cmath>
#include <limits>

using namespace mpcore;
using namespace mpcore::emulator;
using llvm::Twine;

bool mpcore::emulator::takeBlockScales(Decoder &d, llvm::StringRef kind, Type scaleType,
                                       MatrixOp &op) {
  const bool nv = kind == "mxf4nvf4";
  for (unsigned blocks : {1, 2, 4})
    if (d.take(("scale_vec::" + Twine(blocks) + "X").str()))
      op.scaleBlocks = uint8_t(blocks);
  // Only one size is left for the other kinds, which need not name it.
  if (!op.scaleBlocks && !nv)
    op.scaleBlocks = kind == "mxf8f6f4" ? 1 : 2;
  const bool fours = scaleType == Type::UE4M3;
  if (scaleType != Type::UE8M0 && !fours)
    return false;
  const unsigned blocks = kind == "mxf8f6f4" ? 1 : fours ? 4 : 2;
  if (op.scaleBlocks != blocks || (fours && !nv))
    return false;
  // NVFP4's instruction with scales in ue8m0 is MXFP4's.
  auto model =
      numerics::blockScaledModel(nv && !fours ? "mxf4" : kind, formatOf(op.a), formatOf(op.b));
  if (!model)
    return false;
  op.scaled = *model;
  return true;
}

void mpcore::emulator::decodeBlockScales(Decoder &d, unsigned at, MatrixOp &op) {
  auto one = [&](unsigned k, ScaleOperand &scale) {
    scale.data = d.src(k, Type::B32);
    auto selectors = d.elements(d.op(k + 1));
    if (selectors.size() != 2) {
      d.fail("operand " + Twine(k + 2) + " has " + Twine(selectors.size()) +
             " elements, expected the pair {byte, thread} of the scales before it");
      return;
    }
    scale.byte = d.src(selectors[0], Type::U16);
    scale.thread = d.src(selectors[1], Type::U16);
  };
  one(at, op.scaleA);
  one(at + 2, op.scaleB);
}

static float scaleValue(const numerics::BlockScaledModel &model, uint32_t byte) {
  if (model.scale == numerics::Format::F8E4M3FN)
    return widenFp8(byte & 0x7f, false);
  return byte == 0xff ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, int(byte) - 127);
}

// One value for all lanes, below `limit` and a multiple of `step`.
static bool selector(Warp &w, const Inst &inst, Reg reg, const char *what, unsigned limit,
                     unsigned step, unsigned &value) {
  const uint32_t *lanes = w.lanes<uint32_t>(reg);
  value = uint16_t(lanes[0]);
  for (unsigned l = 0; l < kLanes; ++l) {
    const unsigned v = uint16_t(lanes[l]);
    if (v == value && v < limit && v % step == 0)
      continue;
    w.fault(FaultKind::Misuse, inst,
            Twine(what) + " of the scales is " + Twine(v) +
                (v != value
                     ? ", lane 0 has " + Twine(value) + ": one value is needed"
                     : Twine(": less than ") + Twine(limit) +
                           (step > 1 ? ", a multiple of " + Twine(step) : Twine()) + " is needed"),
            l);
    return false;
  }
  return true;
}

bool mpcore::emulator::gatherScales(Warp &w, const Inst &inst, const MatrixOp &op,
                                    MatrixValues &v) {
  unsigned byteA, threadA, byteB, threadB;
  if (!selector(w, inst, op.scaleA.byte, "byte id of A", 4, op.scaleBlocks, byteA) ||
      !selector(w, inst, op.scaleA.thread, "thread id of A", 2, 1, threadA) ||
      !selector(w, inst, op.scaleB.byte, "byte id of B", 4, op.scaleBlocks, byteB) ||
      !selector(w, inst, op.scaleB.thread, "thread id of B", 4, 1, threadB))
    return false;
  const uint32_t *a = w.lanes<uint32_t>(op.scaleA.data), *b = w.lanes<uint32_t>(op.scaleB.data);
  for (unsigned k = 0; k < op.scaleBlocks; ++k) {
    for (unsigned r = 0; r < op.m; ++r)
      v.scalesA[size_t(r) * op.scaleBlocks + k] =
          scaleValue(op.scaled, a[4 * (r % 8) + 2 * threadA + r / 8] >> (8 * (byteA + k)) & 0xff);
    for (unsigned c = 0; c < op.n; ++c)
      v.scalesB[size_t(c) * op.scaleBlocks + k] =
          scaleValue(op.scaled, b[4 * c + threadB] >> (8 * (byteB + k)) & 0xff);
  }
  return true;
}
