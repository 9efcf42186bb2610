// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two factors of a matrix whose product is near it: the singular values and vectors that are
// largest, the best there are of their rank (Eckart and Young).

#ifndef MP_NUMERICS_SCALING_LOWRANK_H
#define MP_NUMERICS_SCALING_LOWRANK_H

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace mpcore::numerics {

/// W [rows][columns] is near left [rows][rank] times right [rank][columns], with the root of each
/// singular value in both, so that they have elements of similar size.
struct LowRankFactors {
  size_t rows, columns, rank;
  std::vector<float> left, right;
};

/// The singular values and vectors of a matrix, from the eigenvectors of its smaller Gram matrix,
/// in f64: singular values are right to about 1e-8 of the largest one.
class SingularValues {
public:
  /// Takes operations in proportion to the cube of the smaller size.
  SingularValues(llvm::ArrayRef<float> matrix, size_t rows, size_t columns);

  /// In falling order.
  llvm::ArrayRef<double> values() const { return singular; }

  /// The least rank at which what is left out is at most `share` of the Frobenius norm. All of it
  /// for a matrix that is not finite.
  size_t rankFor(double share) const;

  LowRankFactors factors(size_t rank) const;

private:
  size_t rows, columns;
  std::vector<float> matrix;
  std::vector<double> singular;
  std::vector<double> vectors; ///< a row each, of the smaller side, in the order of `singular`
};

/// Returns how far the product of the factors is from the matrix, in f64: the Frobenius norm of the
/// difference over that of the matrix.
double relativeDistance(llvm::ArrayRef<float> matrix, const LowRankFactors &factors);

} // namespace mpcore::numerics

#endif // MP_NUMERICS_SCALING_LOWRANK_H
