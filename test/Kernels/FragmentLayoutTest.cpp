// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fragment tables against the formulas of the PTX ISA (section "Matrix fragments for
// mma.m16n8k8 / k16": groupID = laneid >> 2, threadID_in_group = laneid % 4).

#include "mp/Kernels/FragmentLayout.h"
#include "gtest/gtest.h"

#include <set>

using namespace mlir::mp;

namespace {

/// PTX ISA, .f16 and .bf16 A of m16n8k16: row = groupID for a0,a1,a4,a5, else groupID + 8;
/// col = (threadID_in_group * 2) + (i & 1) for i < 4, plus 8 for i >= 4.
FragmentPosition ptxA16(unsigned lane, unsigned i) {
  int group = lane >> 2, thread = lane % 4;
  bool upper = (i < 2) || (i >= 4 && i < 6);
  int row = upper ? group : group + 8;
  int column = thread * 2 + int(i & 1) + (i >= 4 ? 8 : 0);
  return {row, column};
}

/// B of m16n8k16: row = (threadID_in_group * 2) + (i & 1), plus 8 for i >= 2; col = groupID.
FragmentPosition ptxB16(unsigned lane, unsigned i) {
  return {int(lane % 4) * 2 + int(i & 1) + (i >= 2 ? 8 : 0), int(lane >> 2)};
}

/// C and D of every m16n8 shape: row = groupID for c0,c1, groupID + 8 for c2,c3;
/// col = (threadID_in_group * 2) + (i & 1).
FragmentPosition ptxC(unsigned lane, unsigned i) {
  return {int(lane >> 2) + (i < 2 ? 0 : 8), int(lane % 4) * 2 + int(i & 1)};
}

/// .f16 A of m16n8k8: row = groupID for a0,a1, groupID + 8 for a2,a3; col = thread * 2 + (i & 1).
FragmentPosition ptxA8(unsigned lane, unsigned i) {
  return {int(lane >> 2) + (i < 2 ? 0 : 8), int(lane % 4) * 2 + int(i & 1)};
}
FragmentPosition ptxB8(unsigned lane, unsigned i) {
  return {int(lane % 4) * 2 + int(i), int(lane >> 2)};
}

/// .tf32 A of m16n8k8: row = groupID for a0,a2, groupID + 8 for a1,a3; col = threadID_in_group for
/// a0,a1, plus 4 for a2,a3. B: row = threadID_in_group for b0, plus 4 for b1; col = groupID.
FragmentPosition ptxATf32(unsigned lane, unsigned i) {
  return {int(lane >> 2) + (i == 1 || i == 3 ? 8 : 0), int(lane % 4) + (i >= 2 ? 4 : 0)};
}
FragmentPosition ptxBTf32(unsigned lane, unsigned i) {
  return {int(lane % 4) + (i == 1 ? 4 : 0), int(lane >> 2)};
}

/// .e4m3, .e5m2 and .s8 A of m16n8k32: row = groupID for a0..a3 and a8..a11, else groupID + 8;
/// col = (threadID_in_group * 4) + (i & 3) for i < 8, plus 16 for i >= 8. B: row =
/// (threadID_in_group * 4) + (i & 3), plus 16 for i >= 4; col = groupID.
FragmentPosition ptxA32(unsigned lane, unsigned i) {
  bool upper = i < 4 || (i >= 8 && i < 12);
  return {int(lane >> 2) + (upper ? 0 : 8), int(lane % 4) * 4 + int(i & 3) + (i >= 8 ? 16 : 0)};
}
FragmentPosition ptxB32(unsigned lane, unsigned i) {
  return {int(lane % 4) * 4 + int(i & 3) + (i >= 4 ? 16 : 0), int(lane >> 2)};
}

using Formula = FragmentPosition (*)(unsigned, unsigned);

void expectFormula(const FragmentLayout &layout, unsigned elements, Formula formula) {
  ASSERT_EQ(layout.elements(), elements);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < elements; ++i) {
      FragmentPosition expected = formula(lane, i), found = layout.position(lane, i);
      EXPECT_EQ(found.row, expected.row) << "lane " << lane << " element " << i;
      EXPECT_EQ(found.column, expected.column) << "lane " << lane << " element " << i;
    }
}

TEST(FragmentLayout, FollowsThePtxManual) {
  for (const char *format : {"f16", "bf16"}) {
    const MmaInstruction *wide = findMmaInstruction(format, 16);
    ASSERT_NE(wide, nullptr);
    expectFormula(wide->a, 8, ptxA16);
    expectFormula(wide->b, 4, ptxB16);
    expectFormula(wide->c, 4, ptxC);
  }
  const MmaInstruction *turing = findMmaInstruction("f16", 8);
  ASSERT_NE(turing, nullptr);
  expectFormula(turing->a, 4, ptxA8);
  expectFormula(turing->b, 2, ptxB8);
  expectFormula(turing->c, 4, ptxC);
  const MmaInstruction *tf32 = findMmaInstruction("tf32", 8);
  ASSERT_NE(tf32, nullptr);
  expectFormula(tf32->a, 4, ptxATf32);
  expectFormula(tf32->b, 2, ptxBTf32);
  expectFormula(tf32->c, 4, ptxC);
  for (const char *format : {"f8E4M3FN", "f8E5M2", "i8"}) {
    const MmaInstruction *narrow = findMmaInstruction(format, 32);
    ASSERT_NE(narrow, nullptr);
    expectFormula(narrow->a, 16, ptxA32);
    expectFormula(narrow->b, 8, ptxB32);
    expectFormula(narrow->c, 4, ptxC);
  }
}

TEST(FragmentLayout, EveryPlaceOnceAndInside) {
  for (const MmaInstruction &instruction : allMmaInstructions()) {
    struct Shape {
      FragmentOperand operand;
      int rows, columns;
    } shapes[] = {{FragmentOperand::A, instruction.m, instruction.k},
                  {FragmentOperand::B, instruction.k, instruction.n},
                  {FragmentOperand::C, instruction.m, instruction.n}};
    for (const Shape &shape : shapes) {
      const FragmentLayout &layout = instruction.layout(shape.operand);
      std::set<std::pair<int, int>> places;
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned i = 0; i < layout.elements(); ++i) {
          FragmentPosition p = layout.position(lane, i);
          EXPECT_LT(p.row, shape.rows);
          EXPECT_LT(p.column, shape.columns);
          places.insert({p.row, p.column});
        }
      EXPECT_EQ(places.size(), size_t(shape.rows * shape.columns));
    }
  }
}

TEST(FragmentLayout, UnknownInstructionIsNull) {
  EXPECT_EQ(findMmaInstruction("bf16", 8), nullptr);
  EXPECT_EQ(findMmaInstruction("f64", 4), nullptr);
}

} // namespace
