// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dispatch around some ops of a block: what it reads, what it gives, what it computes again.

#ifndef MP_LIB_KERNELS_FORM_DISPATCHBODY_H
#define MP_LIB_KERNELS_FORM_DISPATCHBODY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Dialect/MPK/MPKDialect.h"

namespace mlir::mp {

/// True if the reshape only adds or drops dimensions of size one.
bool isUnitReshape(Operation *op);

/// True if `op` writes one constant into each element of its destination.
bool isFill(Operation *op);

/// The value behind reshapes that only add or drop dimensions of size one.
Value skipUnitReshapes(Value value);

/// An output of a dispatch, and where its elements go.
struct DispatchOutput {
  OpResult result;
  /// The tensor handed in to be overwritten; null: a new one, sized as `empty`.
  Value destination;
  tensor::EmptyOp empty;
  /// The op that fills the destination before that of `result` combines into it; null if none does.
  Operation *fill = nullptr;
};

struct DispatchBody {
  /// The members, and before the first that needs them what is cheaper to make again than to read:
  /// constants, empty tensors, fills, views of members, and of what they read in several shapes.
  SmallVector<Operation *> ops;
  llvm::SetVector<Value> inputs;
  SmallVector<DispatchOutput> outputs;
};

/// The dispatch around `members`, ops of one block in its order, which makes again what `repeated`
/// make. Fails where a member yields a tensor of dynamic size that nothing outside has.
FailureOr<DispatchBody> readBody(ArrayRef<linalg::LinalgOp> members,
                                 ArrayRef<Operation *> repeated = {});

/// Writes the ops into an empty block, with an argument for each input and output, and ends it by
/// mpk.yield.
void writeBody(const DispatchBody &body, Block &block);

/// Makes the dispatch at the builder's place.
mpk::DispatchOp makeDispatch(OpBuilder &builder, Location loc, const DispatchBody &body);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FORM_DISPATCHBODY_H
