// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the bases of each fragment's layout from the shape and format of an mma instruction.

#include "mp/Kernels/FragmentLayout.h"

using namespace mlir::mp;

FragmentPosition FragmentLayout::position(unsigned lane, unsigned element) const {
  FragmentPosition result;
  auto add = [&](llvm::ArrayRef<FragmentPosition> bits, unsigned value) {
    for (auto [bit, place] : llvm::enumerate(bits))
      if (value >> bit & 1) {
        result.row += place.row;
        result.column += place.column;
      }
  };
  add(laneBits, lane);
  add(elementBits, element);
  return result;
}

const FragmentLayout &MmaInstruction::layout(FragmentOperand operand) const {
  return operand == FragmentOperand::A ? a : operand == FragmentOperand::B ? b : c;
}

llvm::StringRef MmaInstruction::operandFormat(unsigned operand) const {
  auto [a, b] = format.split('_');
  return operand == 0 || b.empty() ? a : b;
}

unsigned MmaInstruction::registers(FragmentOperand operand) const {
  return layout(operand).elements() * elementBits / 32;
}

/// Lanes of A, pairs of 16-bit values along k: groups of four lanes share a row.
static const llvm::SmallVector<FragmentPosition, 5> kPairedA = {
    {0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}};
static const llvm::SmallVector<FragmentPosition, 5> kPairedB = {
    {2, 0}, {4, 0}, {0, 1}, {0, 2}, {0, 4}};
static const llvm::SmallVector<FragmentPosition, 5> kSingleA = {
    {0, 1}, {0, 2}, {1, 0}, {2, 0}, {4, 0}};
static const llvm::SmallVector<FragmentPosition, 5> kSingleB = {
    {1, 0}, {2, 0}, {0, 1}, {0, 2}, {0, 4}};
/// Four 8-bit values along k in a register.
static const FragmentLayout kQuadA = {{{0, 4}, {0, 8}, {1, 0}, {2, 0}, {4, 0}},
                                      {{0, 1}, {0, 2}, {8, 0}, {0, 16}}};
static const FragmentLayout kQuadB = {{{4, 0}, {8, 0}, {0, 1}, {0, 2}, {0, 4}},
                                      {{1, 0}, {2, 0}, {16, 0}}};
/// Every 32-bit accumulator of shape m16n8.
static const FragmentLayout kAccumulator = {kPairedA, {{0, 1}, {8, 0}}};

llvm::ArrayRef<MmaInstruction> mlir::mp::allMmaInstructions() {
  static const MmaInstruction instructions[] = {
      {"f16",
       16,
       8,
       16,
       16,
       {kPairedA, {{0, 1}, {8, 0}, {0, 8}}},
       {kPairedB, {{1, 0}, {8, 0}}},
       kAccumulator},
      {"f16", 16, 8, 8, 16, {kPairedA, {{0, 1}, {8, 0}}}, {kPairedB, {{1, 0}}}, kAccumulator},
      {"bf16",
       16,
       8,
       16,
       16,
       {kPairedA, {{0, 1}, {8, 0}, {0, 8}}},
       {kPairedB, {{1, 0}, {8, 0}}},
       kAccumulator},
      {"tf32", 16, 8, 8, 32, {kSingleA, {{8, 0}, {0, 4}}}, {kSingleB, {{4, 0}}}, kAccumulator},
      {"f8E4M3FN", 16, 8, 32, 8, kQuadA, kQuadB, kAccumulator,
       "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32"},
      {"f8E5M2", 16, 8, 32, 8, kQuadA, kQuadB, kAccumulator,
       "llvm.nvvm.mma.m16n8k32.row.col.f32.e5m2.e5m2.f32"},
      {"f8E4M3FN_f8E5M2", 16, 8, 32, 8, kQuadA, kQuadB, kAccumulator,
       "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e5m2.f32"},
      {"f8E5M2_f8E4M3FN", 16, 8, 32, 8, kQuadA, kQuadB, kAccumulator,
       "llvm.nvvm.mma.m16n8k32.row.col.f32.e5m2.e4m3.f32"},
      {"i8", 16, 8, 32, 8, kQuadA, kQuadB, kAccumulator, "llvm.nvvm.mma.m16n8k32.row.col.s8"},
      {"u8", 16, 8, 32, 8, kQuadA, kQuadB, kAccumulator, "llvm.nvvm.mma.m16n8k32.row.col.u8"},
      {"i8_u8", 16, 8, 32, 8, kQuadA, kQuadB, kAccumulator, "llvm.nvvm.mma.m16n8k32.row.col.s8.u8"},
      {"u8_i8", 16, 8, 32, 8, kQuadA, kQuadB, kAccumulator, "llvm.nvvm.mma.m16n8k32.row.col.u8.s8"},
  };
  return instructions;
}

const MmaInstruction *mlir::mp::findMmaInstruction(llvm::StringRef format, int k) {
  for (const MmaInstruction &instruction : allMmaInstructions())
    if (instruction.format == format && instruction.k == k)
      return &instruction;
  return nullptr;
}
