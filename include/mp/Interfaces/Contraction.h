// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions by structure, whichever op says them: the product and the sum of a body, which loops
// are batch, rows, columns and reduction, and how each operand is addressed. Convolutions are the
// same thing: an implicit GEMM whose operand addresses are linear in more than one loop.

#ifndef MP_INTERFACES_CONTRACTION_H
#define MP_INTERFACES_CONTRACTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <array>
#include <string>

namespace mlir::mp {

/// A body that yields out + a * b, operands in any order, of floats or integers.
struct ProductSum {
  Operation *sum;               ///< the addition, or the fused multiplication and addition
  Operation *product;           ///< the multiplication, or the same fused op
  std::array<Value, 2> factors; ///< as they are multiplied

  bool isFused() const { return sum == product; }
};

/// Reads the combination of `out`, an argument of `body`, with what `body` yields first.
std::optional<ProductSum> readProductSum(Block *body, BlockArgument out);

/// The block argument behind exact widenings of `value`; null if there is none.
BlockArgument getWidenedArgument(Value value);

/// One operand's index expressions: result r addresses `sum coefficients[r][d] * loop d +
/// constants[r]`.
struct LinearAccess {
  SmallVector<SmallVector<int64_t>> coefficients;
  SmallVector<int64_t> constants;

  /// Fails on floordiv, mod and symbols.
  static FailureOr<LinearAccess> of(AffineMap map);

  bool uses(unsigned loop) const {
    return llvm::any_of(coefficients, [&](const auto &row) { return row[loop] != 0; });
  }
};

/// C[batch, m, n] += sum over k of A[batch, m, k] * B[batch, k, n], with any number of loops in
/// each group. Accesses are ordered A, B, C.
struct Contraction {
  SmallVector<unsigned> batch, m, n, k;
  std::array<LinearAccess, 3> access;
  std::array<Type, 2> format;                      ///< element types of A and B in memory
  std::array<bool, 2> isUnsigned = {false, false}; ///< of integers: widened with zeros
  Type accumulator; ///< element type of C, and of the multiplication and addition
};

/// Recognises a product-and-sum in `op`; on failure `reason` says what is in the way.
FailureOr<Contraction> matchContraction(linalg::GenericOp op, std::string &reason);

/// True if `op` is a reduction over the products of two operands, qualifying or not.
bool looksLikeContraction(linalg::GenericOp op);

/// A product of two tensors: its factors, what is added to, and the maps from loops to them.
struct ContractionView {
  OpOperand *a, *b;
  Value init; ///< null: zero
  AffineMap maps[3];
};

/// Nullopt for ops that are no plain sum of products of two operands: convolutions, for one.
std::optional<ContractionView> viewContraction(Operation *op);

/// The role of a dimension of one operand in a contraction.
enum class Along : uint8_t {
  Keeps,  ///< the result has the dimension too
  Sums,   ///< it is summed over
  Slides, ///< a window that is summed over slides along it
};

/// Per dimension of the operand; nullopt where the op does not say what its loops are.
std::optional<SmallVector<Along>> dimensionsOf(OpOperand &operand);

/// The dimension of a factor along which `size` elements make a group, of which only some are not
/// zero: the innermost that is summed over and has whole groups, one that no window slides along
/// before those of windows. Nullopt if there is none.
std::optional<unsigned> groupDimensionOf(OpOperand &weight, int64_t size = 4);

} // namespace mlir::mp

#endif // MP_INTERFACES_CONTRACTION_H
