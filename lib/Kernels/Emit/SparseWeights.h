// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights that are constants with two of each four products zero: finds them, makes them operand A,
// which alone may be sparse in mma.sp, and stores them as it reads them.

#ifndef MP_LIB_KERNELS_EMIT_SPARSEWEIGHTS_H
#define MP_LIB_KERNELS_EMIT_SPARSEWEIGHTS_H

#include "GemmPlan.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::mp {

/// Marks a contraction (`mpk.sparse`) if one of its factors is a constant with two of each four
/// elements zero, `model` has mma.sp for it and that is modelled to be faster, or its schedule is
/// pinned. That factor then is operand A. A remark says so, or why not.
void chooseSparse(linalg::GenericOp op, const target::TargetModel &model);

/// Stores constants, each once, as globals of a module.
class SparseConstants {
public:
  SparseConstants() = default;
  explicit SparseConstants(ModuleOp module) : module(module) {}

  /// A of a marked contraction becomes its values, and its metadata the last operand, in each of
  /// the products like it. The sum goes over the loop of groups last.
  void replaceA(OpBuilder &builder, linalg::GenericOp op, Contraction &contraction,
                MutableArrayRef<ProductArguments> products);

private:
  struct Stored {
    Value values, words; ///< [batch x rows][stored], [batch x tiles][words of a tile]
    LinearAccess valueAccess, wordAccess;
  };
  Stored store(OpBuilder &builder, linalg::GenericOp op, const Contraction &contraction,
               Value buffer);
  Value global(OpBuilder &builder, Location loc, StringRef name, ArrayRef<int64_t> shape,
               Type element, ArrayRef<char> bytes);

  ModuleOp module;
  DenseMap<Attribute, memref::GlobalOp> made;
};

/// Adds what a plan of the operands that SparseConstants made says of A.
void planSparse(GemmPlan &plan, ArrayRef<GemmOperand> operands);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_EMIT_SPARSEWEIGHTS_H
