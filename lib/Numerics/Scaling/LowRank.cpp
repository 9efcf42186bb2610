// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds eigenvectors of symmetric matrices: Householder's reflections to three diagonals, then
// implicit QL steps.

#include "mp/Numerics/Scaling/LowRank.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace mpcore::numerics;

namespace {
/// A symmetric matrix, and then its eigenvalues with an eigenvector in each row.
class SymmetricMatrix {
public:
  explicit SymmetricMatrix(size_t size)
      : size(size), rows(size * size), vectors(size * size), diagonal(size), beside(size) {
    for (size_t i = 0; i != size; ++i)
      vectors[i * size + i] = 1;
  }

  double *row(size_t i) { return &rows[i * size]; }
  const double *vector(size_t i) const { return &vectors[i * size]; }
  double value(size_t i) const { return diagonal[i]; }

  void diagonalize() {
    reduce();
    for (size_t i = 0; i != size; ++i)
      settle(i);
  }

private:
  static double dot(const double *x, const double *y, size_t count) {
    return std::inner_product(x, x + count, y, 0.0);
  }
  static void add(double *to, double factor, const double *x, size_t count) {
    for (size_t i = 0; i != count; ++i)
      to[i] += factor * x[i];
  }

  /// Reflects each row beyond its first off-diagonal element away. Row i of `vectors` is the i-th
  /// unit vector after all reflections.
  void reduce() {
    std::vector<double> reflected(size), product(size);
    for (size_t k = 0; k + 2 < size; ++k) {
      const size_t first = k + 1, count = size - first;
      double *v = row(k) + first;
      const double norm = std::sqrt(dot(v, v, count));
      diagonal[k] = row(k)[k];
      beside[k] = v[0] > 0 ? -norm : norm;
      if (norm == 0)
        continue;
      v[0] -= beside[k];
      const double scale = 2 / dot(v, v, count);
      for (size_t i = 0; i != count; ++i)
        product[i] = scale * dot(row(first + i) + first, v, count);
      const double half = scale / 2 * dot(product.data(), v, count);
      add(product.data(), -half, v, count);
      for (size_t i = 0; i != count; ++i) {
        add(row(first + i) + first, -v[i], product.data(), count);
        add(row(first + i) + first, -product[i], v, count);
      }
      // The same reflection of the vectors: rows k + 1 and on are combined.
      std::fill(reflected.begin(), reflected.end(), 0);
      for (size_t i = 0; i != count; ++i)
        add(reflected.data(), v[i], &vectors[(first + i) * size], size);
      for (size_t i = 0; i != count; ++i)
        add(&vectors[(first + i) * size], -scale * v[i], reflected.data(), size);
    }
    for (size_t k = size < 2 ? 0 : size - 2; k < size; ++k) {
      diagonal[k] = row(k)[k];
      beside[k] = k + 1 < size ? row(k)[k + 1] : 0;
    }
  }

  /// Finds where the matrix falls apart at or behind `first`.
  size_t findEnd(size_t first) const {
    size_t end = first;
    while (end + 1 < size &&
           std::fabs(beside[end]) > std::numeric_limits<double>::epsilon() *
                                        (std::fabs(diagonal[end]) + std::fabs(diagonal[end + 1])))
      ++end;
    return end;
  }

  /// QL steps until diagonal element `first` is an eigenvalue.
  void settle(size_t first) {
    for (unsigned step = 0; step != 60; ++step) {
      const size_t end = findEnd(first);
      if (end == first)
        return;
      double g = (diagonal[first + 1] - diagonal[first]) / (2 * beside[first]);
      g = diagonal[end] - diagonal[first] +
          beside[first] / (g + std::copysign(std::hypot(g, 1.0), g));
      double sine = 1, cosine = 1, shift = 0;
      for (size_t i = end; i-- > first;) {
        const double f = sine * beside[i], b = cosine * beside[i], r = std::hypot(f, g);
        beside[i + 1] = r;
        if (r == 0) { // it has fallen apart
          diagonal[i + 1] -= shift;
          beside[end] = 0;
          break;
        }
        sine = f / r, cosine = g / r;
        g = diagonal[i + 1] - shift;
        const double turned = (diagonal[i] - g) * sine + 2 * cosine * b;
        shift = sine * turned;
        diagonal[i + 1] = g + shift;
        g = cosine * turned - b;
        rotate(i, sine, cosine);
        if (i == first) {
          diagonal[first] -= shift;
          beside[first] = g;
          beside[end] = 0;
        }
      }
    }
  }

  void rotate(size_t i, double sine, double cosine) {
    double *x = &vectors[i * size], *y = x + size;
    for (size_t k = 0; k != size; ++k) {
      const double f = y[k];
      y[k] = sine * x[k] + cosine * f;
      x[k] = cosine * x[k] - sine * f;
    }
  }

  size_t size;
  std::vector<double> rows, vectors, diagonal, beside;
};
} // namespace

/// W W^T or W^T W, whichever is smaller: its eigenvectors are the singular vectors of that side.
static SymmetricMatrix multiplyBySelf(llvm::ArrayRef<float> matrix, size_t rows, size_t columns) {
  const size_t size = std::min(rows, columns), sums = std::max(rows, columns);
  std::vector<double> vectors(size * sums); // of the smaller side, a row each
  for (size_t i = 0; i != rows; ++i)
    for (size_t j = 0; j != columns; ++j)
      vectors[rows <= columns ? i * sums + j : j * sums + i] = matrix[i * columns + j];
  SymmetricMatrix gram(size);
  for (size_t i = 0; i != size; ++i)
    for (size_t j = 0; j <= i; ++j)
      gram.row(i)[j] = gram.row(j)[i] = std::inner_product(
          &vectors[i * sums], &vectors[i * sums] + sums, &vectors[j * sums], 0.0);
  return gram;
}

SingularValues::SingularValues(llvm::ArrayRef<float> matrix, size_t rows, size_t columns)
    : rows(rows), columns(columns), matrix(matrix.begin(), matrix.end()) {
  const size_t size = std::min(rows, columns);
  if (!std::all_of(matrix.begin(), matrix.end(), [](float x) { return std::isfinite(x); })) {
    singular.assign(size, std::numeric_limits<double>::infinity());
    vectors.assign(size * size, 0);
    return;
  }
  SymmetricMatrix gram = multiplyBySelf(matrix, rows, columns);
  gram.diagonalize();
  std::vector<size_t> order(size);
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return gram.value(a) > gram.value(b); });
  for (size_t i : order) {
    singular.push_back(std::sqrt(std::max(gram.value(i), 0.0)));
    vectors.insert(vectors.end(), gram.vector(i), gram.vector(i) + size);
  }
}

size_t SingularValues::rankFor(double share) const {
  double all = 0;
  for (double value : singular)
    all += value * value;
  if (!(all < std::numeric_limits<double>::infinity()))
    return singular.size();
  const double most = share * share * all;
  double left = 0;
  size_t rank = singular.size();
  while (rank > 0 && left + singular[rank - 1] * singular[rank - 1] <= most)
    left += singular[rank - 1] * singular[rank - 1], --rank;
  return rank;
}

LowRankFactors SingularValues::factors(size_t rank) const {
  LowRankFactors made{rows, columns, rank, {}, {}};
  made.left.resize(rows * rank);
  made.right.resize(rank * columns);
  const size_t size = std::min(rows, columns);
  for (size_t r = 0; r != rank; ++r) {
    const double *own = &vectors[r * size], root = std::sqrt(singular[r]);
    // The other side's vector times the singular value is the matrix times this one.
    std::vector<double> other(std::max(rows, columns), 0);
    for (size_t i = 0; i != rows; ++i)
      for (size_t j = 0; j != columns; ++j)
        if (rows <= columns)
          other[j] += own[i] * double(matrix[i * columns + j]);
        else
          other[i] += own[j] * double(matrix[i * columns + j]);
    auto place = [&](size_t i) -> float & { return made.left[i * rank + r]; };
    auto put = [&](size_t j) -> float & { return made.right[r * columns + j]; };
    for (size_t i = 0; i != rows && root > 0; ++i)
      place(i) = float(rows <= columns ? own[i] * root : other[i] / root);
    for (size_t j = 0; j != columns && root > 0; ++j)
      put(j) = float(rows <= columns ? other[j] / root : own[j] * root);
  }
  return made;
}

double mpcore::numerics::relativeDistance(llvm::ArrayRef<float> matrix,
                                          const LowRankFactors &factors) {
  double apart = 0, all = 0;
  std::vector<double> row(factors.columns);
  for (size_t i = 0; i != factors.rows; ++i) {
    std::fill(row.begin(), row.end(), 0);
    for (size_t r = 0; r != factors.rank; ++r)
      for (size_t j = 0; j != factors.columns; ++j)
        row[j] += double(factors.left[i * factors.rank + r]) *
                  double(factors.right[r * factors.columns + j]);
    for (size_t j = 0; j != factors.columns; ++j) {
      const double own = matrix[i * factors.columns + j], difference = own - row[j];
      apart += difference * difference;
      all += own * own;
    }
  }
  return apart == 0 ? 0 : std::sqrt(apart / all);
}
