// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of a compiled program: what would be undefined behaviour at run time fails with a message.

#ifndef MP_LIB_TRANSFORMS_INTEROP_BOUNDS_BOUNDSCHECKS_H
#define MP_LIB_TRANSFORMS_INTEROP_BOUNDS_BOUNDSCHECKS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/VectorInterfaces.h"

namespace mlir::mp {

/// The conditions that a module checks, each with its message.
class Checks {
public:
  explicit Checks(ModuleOp module) : module(module) {}

  /// Fails with `message` at run time unless `condition` holds.
  void require(ImplicitLocOpBuilder &b, Value condition, const Twine &message);
  /// Declares the function that fails, with the messages.
  void finish();

private:
  ModuleOp module;
  SmallVector<Attribute> messages;
};

/// An access to the element of `shaped` at `indices`.
void checkBounds(Checks &checks, Operation *op, Value shaped, ValueRange indices);
/// A slice of `whole` whose place is only known at run time.
void checkSlice(Checks &checks, OffsetSizeAndStrideOpInterface op, Value whole);
/// A transfer of a vector. Beyond the end it may reach where it does not say `in_bounds` or lanes
/// are masked off; its lowering pads nothing in front.
void checkTransfer(Checks &checks, VectorTransferOpInterface op);
/// Elements one after the other along the last dimension.
void checkRow(Checks &checks, Operation *op, Value base, ValueRange indices, VectorType type);
/// Bytes that a buffer of bytes is read as: all of them are its own.
void checkView(Checks &checks, memref::ViewOp op);

/// A type that states sizes which the operand's leaves open.
void checkCast(Checks &checks, Operation *op);
/// Sizes of a tensor that is made: none may be negative.
void checkSizes(Checks &checks, Operation *op, ValueRange sizes);
/// Groups of dimensions that one dimension of `whole` falls into.
void checkExpansion(Checks &checks, Operation *op, Value whole,
                    ArrayRef<ReassociationIndices> groups, ArrayRef<OpFoldResult> sizes);
/// As many elements as before, and the sizes that the type of the result states.
void checkReshape(Checks &checks, tensor::ReshapeOp op);
/// The inserted tensor fills the slice.
void checkInserted(Checks &checks, tensor::InsertSliceOp op);
/// Padding in front and behind, and the sizes that the result's type states.
void checkPadding(Checks &checks, tensor::PadOp op);
/// Parts of one size beside the dimension along which they follow each other, and there of the size
/// that is stated.
void checkConcat(Checks &checks, tensor::ConcatOp op);
/// Operands whose sizes, known at run time only, do not fit the loops of a structured op.
void checkShapes(Checks &checks, linalg::LinalgOp op);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_INTEROP_BOUNDS_BOUNDSCHECKS_H
