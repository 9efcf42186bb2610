// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Epilogues store the sums of a contraction kernel, add them to the old C, or compute the
// elementwise rest of a dispatch from them.

#ifndef MP_LIB_KERNELS_EMIT_GEMMEPILOGUES_H
#define MP_LIB_KERNELS_EMIT_GEMMEPILOGUES_H

#include "../Plan/EpiloguePlan.h"
#include "GemmKernel.h"
#include "mp/Dialect/MPK/MPKDialect.h"

namespace mlir::mp {

/// Stores the sums in operand C; added to what it holds, unless `fresh`.
void storeSums(const GemmEpilogue &e, bool fresh);
/// The element of operand C at a point.
Value oldSum(const GemmEpilogue &e, Point point);

/// True if sums start from what C holds: they are f32 in the order of the loop, to which C must not
/// be added in the end.
bool startsFromOld(linalg::GenericOp op);

/// The epilogue that the body of a dispatch on buffers spells.
class DispatchEpilogue {
public:
  DispatchEpilogue(mpk::DispatchOp dispatch, const EpiloguePlan &plan);

  /// A, B, the buffers that the epilogue reads, the outputs.
  ArrayRef<GemmOperand> operands() const { return all; }
  /// Inputs of the dispatch that are no buffers.
  ValueRange scalars() const { return scalarInputs; }
  mpk::DispatchOp getDispatch() const { return dispatch; }
  /// Equal texts mean equal epilogues.
  std::string text() const;
  void emit(const GemmEpilogue &e) const;
  /// Evaluates what the sum at a point starts from (startsFromOld).
  Value start(const GemmEpilogue &e, Point point) const;

private:
  mutable mpk::DispatchOp dispatch;
  const EpiloguePlan &plan;
  SmallVector<GemmOperand> all;
  SmallVector<BlockArgument> reads; ///< arguments of the body that operands 2, 3, ... are
  SmallVector<Value> scalarInputs;
  SmallVector<BlockArgument> scalarArguments;
};

/// The size of each loop of the contraction: known, or that of a dimension of an operand.
SmallVector<OpFoldResult> loopSizes(OpBuilder &b, mpk::DispatchOp dispatch,
                                    const EpiloguePlan &plan);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_EMIT_GEMMEPILOGUES_H
