// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans a contraction kernel before it is written: how loops map to rows, columns and reduction,
// where operands are contiguous, how wide they can be loaded, by which schedule.

#ifndef MP_LIB_KERNELS_EMIT_GEMMPLAN_H
#define MP_LIB_KERNELS_EMIT_GEMMPLAN_H

#include "../Build/RoundTF32.h"
#include "../Build/StridedLoops.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Kernels/MmaSelection.h"
#include "mp/Layouts/SparseRows.h"
#include "mp/Performance/Schedule.h"
#include "mp/Target/TargetModel.h"

namespace mlir::mp {

/// The way one operand's tile travels from global to shared memory.
struct StagingPlan {
  bool alongK = true;  ///< rows of shared memory run along k (else along m or n)
  unsigned vector = 1; ///< elements in one access
  bool asynchronous = false;
  mutable linalg::GenericOp narrowing = {};   ///< of what is copied, on the way; null: none
  TF32Rounding rounding = TF32Rounding::None; ///< all that `narrowing` does, if it is not None
};

/// A buffer that the kernel reads or writes, by the contraction's loops.
struct GemmOperand {
  Value buffer; ///< of the host
  LinearAccess access;
  linalg::GenericOp narrowing;  ///< of an operand that is wider in memory than it is multiplied
  SmallVector<unsigned> padded; ///< dimensions of an operand beyond whose ends lies a constant
  uint8_t beyond = 0;           ///< of 8-bit integers; zero of all others
};

/// Holds what a kernel gets of one product.
struct ProductArguments {
  SmallVector<GemmOperand> operands; ///< A, B, and what the epilogue reads and writes
  SmallVector<OpFoldResult> sizes;   ///< of the contraction's loops
  SmallVector<Value> scalars;        ///< of the epilogue
};

/// A that is stored as two of each four elements (SparseRows): its values are operand 0, whose
/// loops of rows are the plan's.
struct SparsePlan {
  unsigned operand;                   ///< the metadata, the last
  SmallVector<StridedLoop, 1> values; ///< of a row
  SmallVector<StridedLoop, 1> tiles;  ///< of 16 rows
  SmallVector<StridedLoop, 1> words;  ///< of metadata of 16 rows
  mpcore::layouts::SparseShape shape;

  /// Words of metadata that 16 rows have in `depth` products.
  int wordsOf(int depth) const { return depth / int(shape.step()) * int(shape.wordsPerStep()); }
};

struct GemmPlan {
  const MmaInstruction *instruction;
  SmallVector<StridedLoop> batch, m, n, k; ///< outermost first; neighbours merged where possible
  SmallVector<Size> offset;                ///< of element zero of each operand from the base
  SmallVector<int> bytes;                  ///< of an element of each operand
  SmallVector<unsigned> width; ///< neighbouring columns of the operand in one aligned access: 1, 2
                               ///< or 4
  StagingPlan stageA, stageB;
  std::optional<SparsePlan> sparse; ///< A is
  SmallVector<PaddedDim, 2> padded; ///< of A and B; steps of loops have their indices behind
  mpcore::performance::MatmulSchedule schedule;
  /// Each step's sum moves to a second accumulator, which Tensor Cores with few accumulator bits
  /// need.
  bool promotes;
  /// Products of one kernel, equal but for their buffers: blocks of the first, then of the next.
  int products = 1;
  /// Products have sizes of their own, which only the run knows (experts with as many rows as a
  /// router sent them), or buffers that begin elsewhere (in one tensor of weights): blocks find
  /// theirs by the tiles of those before.
  bool isRagged = false;
  /// Much is computed of each sum, or results are narrow. Where they fit, sums then go through
  /// shared memory to a loop over rows, which is written once and not for each sum that a lane
  /// holds, and whose accesses fill sectors.
  bool prefersRows = false;

  int threads() const { return int(32 * schedule.warpsM * schedule.warpsN * schedule.slices); }
  int warpM() const { return int(schedule.m / schedule.warpsM); }
  int warpN() const { return int(schedule.n / schedule.warpsN); }
  int elementBytes() const { return int(instruction->elementBits / 8); }

  /// Elements of the result, whose sizes are known.
  int64_t sums() const { return *knownExtent(batch) * *knownExtent(m) * *knownExtent(n); }
  /// True if sums go through shared memory.
  bool stagesSums() const;
  /// True if sums of this schedule could.
  bool canStageSums(const mpcore::performance::MatmulSchedule &s) const;
  /// Bytes of the ring of such a schedule: the dynamic shared memory that launches must give.
  int64_t ringBytes(const mpcore::performance::MatmulSchedule &s) const;
  /// True if no loop of the result is known or suspected to be empty.
  bool isCertainlyNonEmpty() const;
  /// True if every size, and every offset in bytes, fits 31 bits for certain.
  bool fitsInt32() const;
  /// A text that two plans share exactly when their kernels are the same.
  std::string key() const;
};

/// The dynamic sizes of `plan` in the order of the kernel's arguments: for each loop of batch, m, n
/// and k its size and its steps in each operand; then the offsets of the operands.
SmallVector<Size *> dynamicSizes(GemmPlan &plan);

/// Plans a contraction but for its schedule. `operands`: A, B, and what the epilogue reads and
/// writes; `sizes` of the loops. Builds host arithmetic for dynamic sizes with `builder`.
GemmPlan planGemm(OpBuilder &builder, Location loc, const Contraction &contraction,
                  ArrayRef<GemmOperand> operands, ArrayRef<OpFoldResult> sizes,
                  const MmaInstruction &instruction, const target::TargetModel &target);

/// True if plans of equal products are of one kernel: where their buffers begin elsewhere it gets
/// that as sizes of the run.
bool shareKernel(OpBuilder &b, Location loc, MutableArrayRef<GemmPlan> plans);

/// Blocks of a launch of products with these plans, of which the first has the schedule.
Value gridBlocks(OpBuilder &b, Location loc, ArrayRef<GemmPlan> plans);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_EMIT_GEMMPLAN_H
