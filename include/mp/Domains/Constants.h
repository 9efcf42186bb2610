// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Summarises a constant in one pass: exact range and flags, and for a matrix the sums and norms of
// its rows and columns, rounded outward. NaN elements set mayNaN and count for nothing else.

#ifndef MP_DOMAINS_CONSTANTS_H
#define MP_DOMAINS_CONSTANTS_H

#include "mp/Domains/Facts.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace mpcore::domains {

/// One row or column: bounds on the sum of its positive and of its negative elements, and on its
/// 2-norm.
struct LineFacts {
  Interval positiveSum = Interval::point(0);
  Interval negativeSum = Interval::point(0);
  double norm2 = 0;

  double norm1() const;
};

struct MatrixFacts {
  /// Range, flags; norm2 bounds every row's norm.
  FloatFacts elements;
  std::vector<LineFacts> rows, columns;
  double frobenius = 0;

  double maxRowNorm2() const;
  double maxColumnNorm2() const;
  /// Bound on the largest singular value: min(Frobenius, sqrt(norm1 * normInf)).
  double spectralBound() const;
};

/// Fills `row` (as long as a row) with the elements of row `index`.
using ReadRow = llvm::function_ref<void(int64_t index, llvm::MutableArrayRef<double> row)>;

/// One pass over a matrix of `rows` x `columns` elements; memory for one row and the results.
MatrixFacts scanMatrix(int64_t rows, int64_t columns, ReadRow readRow);
MatrixFacts scanMatrix(int64_t rows, int64_t columns, llvm::ArrayRef<float> rowMajor);
MatrixFacts scanMatrix(int64_t rows, int64_t columns, llvm::ArrayRef<double> rowMajor);

/// Range, flags and row norm of a constant whose innermost dimension has `rowLength` elements;
/// cheaper than scanMatrix. Rows beyond the first only matter through their norms.
FloatFacts scanElements(llvm::ArrayRef<double> values, int64_t rowLength);

/// Bound on the largest singular value of a row-major matrix, tighter than spectralBound(): the
/// Frobenius norm of (A^T A)^(2^(squarings-1)), taken to the matching root. Costs squarings *
/// min(rows, columns)^3 multiplications; meant for matrices of a few hundred rows or columns.
double spectralBoundBySquaring(int64_t rows, int64_t columns, llvm::ArrayRef<double> rowMajor,
                               unsigned squarings);

} // namespace mpcore::domains

#endif // MP_DOMAINS_CONSTANTS_H
