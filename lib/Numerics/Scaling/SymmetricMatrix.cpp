// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cholesky factors in f64, of which none is large.

#include "SymmetricMatrix.h"

#include <cassert>
#include <cmath>

using namespace mpcore::numerics;

void mpcore::numerics::factorize(std::vector<double> &matrix, size_t n) {
  for (size_t j = 0; j != n; ++j) {
    for (size_t k = 0; k != j; ++k)
      for (size_t i = j; i != n; ++i)
        matrix[i * n + j] -= matrix[i * n + k] * matrix[j * n + k];
    double root = std::sqrt(matrix[j * n + j]);
    for (size_t i = j; i != n; ++i)
      matrix[i * n + j] /= root;
  }
}

std::vector<double> mpcore::numerics::invert(const std::vector<double> &factor, size_t n) {
  std::vector<double> inverse(n * n), column(n);
  for (size_t c = 0; c != n; ++c) {
    std::fill(column.begin(), column.end(), 0);
    column[c] = 1;
    solve(factor, column);
    for (size_t i = 0; i != n; ++i)
      inverse[i * n + c] = column[i];
  }
  return inverse;
}

std::vector<double> mpcore::numerics::dampedMoments(const SecondMoments &moments,
                                                    const WeightRounding &shape, double unseen) {
  size_t n = shape.inputs;
  assert(moments.getSize() == n && "expected the moments of these inputs");
  std::vector<double> damped(moments.get());
  double mean = 0;
  for (size_t i = 0; i != n; ++i)
    mean += damped[i * n + i] / double(n);
  for (size_t i = 0; i != n; ++i) {
    if (damped[i * n + i] == 0)
      damped[i * n + i] = mean > 0 ? unseen * mean : 1;
    damped[i * n + i] += shape.damping * mean;
  }
  return damped;
}

void mpcore::numerics::solve(const std::vector<double> &factor, std::vector<double> &x) {
  const size_t n = x.size();
  for (size_t i = 0; i != n; ++i) {
    for (size_t k = 0; k != i; ++k)
      x[i] -= factor[i * n + k] * x[k];
    x[i] /= factor[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k != n; ++k)
      x[i] -= factor[k * n + i] * x[k];
    x[i] /= factor[i * n + i];
  }
}
