// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums the elements of a constant in one pass, with the rounding error of the sums added outward.

#include "mp/Domains/Constants.h"

#include "mp/Domains/Rounding.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace mpcore::domains {

static constexpr double kInf = std::numeric_limits<double>::infinity();

double LineFacts::norm1() const { return addUp(positiveSum.hi, -negativeSum.lo); }

static double maxNorm2(llvm::ArrayRef<LineFacts> lines) {
  double most = 0;
  for (const LineFacts &line : lines)
    most = std::max(most, line.norm2);
  return most;
}

static double maxNorm1(llvm::ArrayRef<LineFacts> lines) {
  double most = 0;
  for (const LineFacts &line : lines)
    most = std::max(most, line.norm1());
  return most;
}

double MatrixFacts::maxRowNorm2() const { return maxNorm2(rows); }
double MatrixFacts::maxColumnNorm2() const { return maxNorm2(columns); }

double MatrixFacts::spectralBound() const {
  return std::min(frobenius, sqrtUp(mulUp(maxNorm1(rows), maxNorm1(columns))));
}

namespace {

/// Plain double sums; their terms are of one sign, so n additions lose at most n ulps.
struct Sums {
  double positive = 0, negative = 0, squares = 0;

  void add(double x) {
    (x > 0 ? positive : negative) += x;
    squares += x * x;
  }
  LineFacts finish(int64_t terms) const {
    double ulps = static_cast<double>(terms);
    LineFacts line;
    line.positiveSum = {std::max(0.0, slackDown(positive, ulps)), slackUp(positive, ulps)};
    line.negativeSum = {slackDown(negative, ulps), std::min(0.0, slackUp(negative, ulps))};
    if (positive == 0)
      line.positiveSum = Interval::point(0);
    if (negative == 0)
      line.negativeSum = Interval::point(0);
    line.norm2 = rootOfSum(squares, ulps);
    return line;
  }
  static double rootOfSum(double sum, double terms) {
    // Squares that underflow are lost up to the smallest normal each.
    double underflow = terms * std::numeric_limits<double>::min();
    return sum == 0 ? (terms == 0 ? 0 : sqrtUp(underflow))
                    : sqrtUp(slackUp(sum, 2 * terms) + underflow);
  }
};

/// Range and flags, element by element.
struct ElementFacts {
  FloatFacts facts = FloatFacts::finite(Interval::empty());

  ElementFacts() {
    facts.integerValued = true;
    facts.nonZero = true;
  }
  /// Returns false for NaN.
  bool add(double x) {
    if (std::isnan(x)) {
      facts.mayNaN = true;
      return false;
    }
    facts.range.lo = std::min(facts.range.lo, x);
    facts.range.hi = std::max(facts.range.hi, x);
    if (std::isinf(x))
      facts.mayInf = true;
    else if (facts.integerValued && x != std::trunc(x))
      facts.integerValued = false;
    if (x == 0)
      facts.nonZero = false;
    return true;
  }
};

} // namespace

MatrixFacts scanMatrix(int64_t rows, int64_t columns, ReadRow readRow) {
  MatrixFacts matrix;
  ElementFacts elements;
  std::vector<Sums> columnSums(static_cast<size_t>(columns));
  std::vector<double> row(static_cast<size_t>(columns));
  double squares = 0;
  for (int64_t r = 0; r < rows; ++r) {
    readRow(r, row);
    Sums rowSums;
    for (int64_t c = 0; c < columns; ++c) {
      double x = row[static_cast<size_t>(c)];
      if (!elements.add(x))
        continue;
      rowSums.add(x);
      columnSums[static_cast<size_t>(c)].add(x);
    }
    squares += rowSums.squares;
    matrix.rows.push_back(rowSums.finish(columns));
  }
  for (const Sums &sums : columnSums)
    matrix.columns.push_back(sums.finish(rows));
  matrix.frobenius = Sums::rootOfSum(squares, static_cast<double>(rows + columns) * 2);
  matrix.elements = elements.facts;
  matrix.elements.norm2 = matrix.maxRowNorm2();
  matrix.elements.normalize();
  matrix.elements.reduce(columns);
  return matrix;
}

template <typename T>
static MatrixFacts scanRowMajor(int64_t rows, int64_t columns, llvm::ArrayRef<T> values) {
  assert(values.size() == static_cast<size_t>(rows * columns) && "one value per element");
  return scanMatrix(rows, columns, [&](int64_t index, llvm::MutableArrayRef<double> row) {
    auto first = values.begin() + index * columns;
    std::copy(first, first + columns, row.begin());
  });
}

MatrixFacts scanMatrix(int64_t rows, int64_t columns, llvm::ArrayRef<float> rowMajor) {
  return scanRowMajor(rows, columns, rowMajor);
}
MatrixFacts scanMatrix(int64_t rows, int64_t columns, llvm::ArrayRef<double> rowMajor) {
  return scanRowMajor(rows, columns, rowMajor);
}

FloatFacts scanElements(llvm::ArrayRef<double> values, int64_t rowLength) {
  ElementFacts elements;
  double mostSquares = 0;
  int64_t length = std::max<int64_t>(rowLength, 1);
  for (size_t begin = 0; begin < values.size(); begin += static_cast<size_t>(length)) {
    double squares = 0;
    size_t end = std::min(values.size(), begin + static_cast<size_t>(length));
    for (size_t i = begin; i < end; ++i)
      if (elements.add(values[i]))
        squares += values[i] * values[i];
    mostSquares = std::max(mostSquares, squares);
  }
  FloatFacts facts = elements.facts;
  facts.norm2 = Sums::rootOfSum(mostSquares, static_cast<double>(length));
  facts.normalize();
  facts.reduce(length);
  return facts;
}

double spectralBoundBySquaring(int64_t rows, int64_t columns, llvm::ArrayRef<double> rowMajor,
                               unsigned squarings) {
  bool tall = rows >= columns;
  size_t n = static_cast<size_t>(tall ? columns : rows);
  size_t length = static_cast<size_t>(tall ? rows : columns);
  auto at = [&](size_t line, size_t k) {
    return tall ? rowMajor[k * static_cast<size_t>(columns) + line]
                : rowMajor[line * static_cast<size_t>(columns) + k];
  };
  // With A scaled to Frobenius norm 1, the computed Gram matrix is within gamma_length of the exact
  // one in the Frobenius norm; `error` carries that distance through every rescaling and squaring,
  // so norm + error bounds the exact norm.
  double squares = 0;
  for (double x : rowMajor)
    squares += x * x;
  double frobenius = Sums::rootOfSum(squares, static_cast<double>(rowMajor.size()));
  if (!(frobenius < kInf) || frobenius == 0)
    return frobenius;
  std::vector<double> gram(n * n), next(n * n);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (size_t k = 0; k < length; ++k)
        sum += (at(i, k) / frobenius) * (at(j, k) / frobenius);
      gram[i * n + j] = gram[j * n + i] = sum;
    }
  double error = static_cast<double>(length + 4) * 0x1p-52;
  double logScale = 0; // exact power = gram * exp(logScale)
  double bound = frobenius;
  for (unsigned step = 0; step < squarings; ++step) {
    double norm = 0;
    for (double x : gram)
      norm += x * x;
    norm = Sums::rootOfSum(norm, static_cast<double>(n * n));
    // sigma^(2^(step+1)) <= scale * (norm + error), relative to frobenius^(2^(step+1)).
    double root = std::ldexp(1.0, -static_cast<int>(step) - 1);
    double relative = std::exp((logScale + std::log(norm + error)) * root);
    bound = std::min(bound, slackUp(frobenius * relative, 64));
    if (step + 1 == squarings)
      break;
    // Rescale to norm at most 1 by a power of two, then square.
    int exponent = std::ilogb(norm + error) + 1;
    double factor = std::ldexp(1.0, -exponent);
    for (double &x : gram)
      x *= factor;
    error *= factor;
    logScale = 2 * (logScale + exponent * M_LN2);
    std::fill(next.begin(), next.end(), 0);
    for (size_t i = 0; i < n; ++i)
      for (size_t k = 0; k < n; ++k)
        for (size_t j = 0; j < n; ++j)
          next[i * n + j] += gram[i * n + k] * gram[k * n + j];
    gram.swap(next);
    // (G + E)^2 - G^2 with |G| <= 1, plus the product's own rounding.
    error = 2 * error + error * error + static_cast<double>(n + 2) * 0x1p-52;
  }
  return bound;
}

} // namespace mpcore::domains
