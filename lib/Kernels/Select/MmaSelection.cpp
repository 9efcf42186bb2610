// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks up the target's instructions for the formats of a contraction.

#include "mp/Kernels/MmaSelection.h"

using namespace mlir::mp;
using target::TargetModel;

static constexpr MmaInstruction kInstructions[] = {
    {"f16", 16, 8, 16, 16},
    {"f16", 16, 8, 8, 16},
    {"bf16", 16, 8, 16, 16},
    {"tf32", 16, 8, 8, 32},
    {"f8E4M3FN", 16, 8, 32, 8, "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32"},
    {"f8E5M2", 16, 8, 32, 8, "llvm.nvvm.mma.m16n8k32.row.col.f32.e5m2.e5m2.f32"},
    {"f8E4M3FN_f8E5M2", 16, 8, 32, 8, "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e5m2.f32"},
    {"f8E5M2_f8E4M3FN", 16, 8, 32, 8, "llvm.nvvm.mma.m16n8k32.row.col.f32.e5m2.e4m3.f32"},
    {"i8", 16, 8, 32, 8, "llvm.nvvm.mma.m16n8k32.row.col.s8"},
    {"u8", 16, 8, 32, 8, "llvm.nvvm.mma.m16n8k32.row.col.u8"},
    {"i8_u8", 16, 8, 32, 8, "llvm.nvvm.mma.m16n8k32.row.col.s8.u8"},
    {"u8_i8", 16, 8, 32, 8, "llvm.nvvm.mma.m16n8k32.row.col.u8.s8"},
};

#define SPARSE "llvm.nvvm.mma.sp.ordered.metadata."
static constexpr MmaInstruction kSparseInstructions[] = {
    {"f16", 16, 8, 32, 16, SPARSE "m16n8k32.row.col.f32.f32", true},
    {"bf16", 16, 8, 32, 16, SPARSE "m16n8k32.row.col.bf16", true},
    {"i8", 16, 8, 64, 8, SPARSE "m16n8k64.row.col.s8", true},
    {"u8", 16, 8, 64, 8, SPARSE "m16n8k64.row.col.u8", true},
    {"i8_u8", 16, 8, 64, 8, SPARSE "m16n8k64.row.col.s8.u8", true},
    {"u8_i8", 16, 8, 64, 8, SPARSE "m16n8k64.row.col.u8.s8", true},
    {"f8E4M3FN", 16, 8, 64, 8, SPARSE "m16n8k64.row.col.f32.e4m3.e4m3.f32", true},
    {"f8E5M2", 16, 8, 64, 8, SPARSE "m16n8k64.row.col.f32.e5m2.e5m2.f32", true},
    {"f8E4M3FN_f8E5M2", 16, 8, 64, 8, SPARSE "m16n8k64.row.col.f32.e4m3.e5m2.f32", true},
    {"f8E5M2_f8E4M3FN", 16, 8, 64, 8, SPARSE "m16n8k64.row.col.f32.e5m2.e4m3.f32", true},
};
#undef SPARSE

static constexpr MmaInstruction kScalar = {"f32", 1, 1, 1, 32};

llvm::StringRef MmaInstruction::operandFormat(unsigned operand) const {
  auto [a, b] = format.split('_');
  return operand == 0 || b.empty() ? a : b;
}

/// Targets list integers by width: their instructions take any mixture of signs.
static llvm::StringRef nameInTarget(llvm::StringRef operand) {
  return operand == "u8" ? "i8" : operand;
}

const MmaInstruction *mlir::mp::selectMmaInstruction(const TargetModel &model,
                                                     llvm::StringRef format) {
  if (format == kScalar.format)
    return &kScalar;
  auto [a, b] = format.split('_');
  auto shapeOf = [&](llvm::StringRef operand) {
    return model.bestShape(nameInTarget(operand), target::InstructionFamily::MmaSync);
  };
  const target::MmaShape *shape = shapeOf(a), *other = b.empty() ? shape : shapeOf(b);
  if (!shape || !other || shape->k != other->k)
    return nullptr;
  for (const MmaInstruction &instruction : kInstructions)
    if (instruction.format == format && unsigned(instruction.k) == shape->k)
      return &instruction;
  return nullptr;
}

const MmaInstruction *mlir::mp::selectSparseInstruction(const TargetModel &model,
                                                        llvm::StringRef format) {
  if (model.computeCapability < 80 || !selectMmaInstruction(model, format))
    return nullptr;
  for (const MmaInstruction &instruction : kSparseInstructions)
    if (instruction.format == format)
      return &instruction;
  return nullptr;
}

int mlir::mp::promotionInterval(const TargetModel &model, const MmaInstruction &instruction) {
  unsigned interval = 0;
  if (instruction.isScalar())
    return 0;
  for (unsigned operand : {0, 1})
    interval =
        std::max(interval,
                 model.findOperand(nameInTarget(instruction.operandFormat(operand)))->promoteEvery);
  return int(interval);
}
