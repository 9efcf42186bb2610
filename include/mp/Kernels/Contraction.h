// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions by structure: which loops of a product-and-sum are batch, rows, columns and
// reduction, and how each operand is addressed. Convolutions are the same thing: an implicit GEMM
// whose operand addresses are linear in more than one loop.

#ifndef MP_KERNELS_CONTRACTION_H
#define MP_KERNELS_CONTRACTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <array>
#include <string>

namespace mlir::mp {

/// One operand's index expressions: result r addresses `sum coefficients[r][d] * loop d +
/// constants[r]`.
struct LinearAccess {
  SmallVector<SmallVector<int64_t>> coefficients;
  SmallVector<int64_t> constants;

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

} // namespace mlir::mp

#endif // MP_KERNELS_CONTRACTION_H
