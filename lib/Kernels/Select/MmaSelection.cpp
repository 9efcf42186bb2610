// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks up the target's mma.sync instructions for the formats of a contraction.

#include "mp/Kernels/MmaSelection.h"

using namespace mlir::mp;
using target::TargetModel;

/// Targets list integers by width: their instructions take any mixture of signs.
static llvm::StringRef nameInTarget(llvm::StringRef operand) {
  return operand == "u8" ? "i8" : operand;
}

const MmaInstruction *mlir::mp::selectMmaInstruction(const TargetModel &model,
                                                     llvm::StringRef format) {
  auto [a, b] = format.split('_');
  auto shapeOf = [&](llvm::StringRef operand) {
    return model.bestShape(nameInTarget(operand), target::InstructionFamily::MmaSync);
  };
  const target::MmaShape *shape = shapeOf(a), *other = b.empty() ? shape : shapeOf(b);
  if (!shape || !other || shape->k != other->k)
    return nullptr;
  return findMmaInstruction(format, shape->k);
}

int mlir::mp::promotionInterval(const TargetModel &model, const MmaInstruction &instruction) {
  unsigned interval = 0;
  for (unsigned operand : {0, 1})
    interval =
        std::max(interval,
                 model.findOperand(nameInTarget(instruction.operandFormat(operand)))->promoteEvery);
  return int(interval);
}
