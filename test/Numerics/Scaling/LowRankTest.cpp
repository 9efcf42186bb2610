// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Singular values and factors beside matrices that were made from known ones.

#include "mp/Numerics/Scaling/LowRank.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mpcore::numerics;

namespace {

std::vector<double> drawMatrix(std::mt19937 &random, size_t rows, size_t columns) {
  std::vector<double> made(rows * columns);
  std::normal_distribution<double> normal;
  for (double &element : made)
    element = normal(random);
  return made;
}

/// Orthonormal rows, by Gram and Schmidt, twice.
std::vector<double> drawRotation(std::mt19937 &random, size_t size) {
  std::vector<double> rows = drawMatrix(random, size, size);
  for (size_t i = 0; i != size; ++i) {
    for (unsigned time = 0; time != 2; ++time)
      for (size_t j = 0; j != i; ++j) {
        double dot = 0;
        for (size_t k = 0; k != size; ++k)
          dot += rows[i * size + k] * rows[j * size + k];
        for (size_t k = 0; k != size; ++k)
          rows[i * size + k] -= dot * rows[j * size + k];
      }
    double norm = 0;
    for (size_t k = 0; k != size; ++k)
      norm += rows[i * size + k] * rows[i * size + k];
    for (size_t k = 0; k != size; ++k)
      rows[i * size + k] /= std::sqrt(norm);
  }
  return rows;
}

/// A matrix with these singular values.
std::vector<float> compose(std::mt19937 &random, size_t rows, size_t columns,
                           const std::vector<double> &values) {
  const std::vector<double> left = drawRotation(random, rows),
                            right = drawRotation(random, columns);
  std::vector<float> made(rows * columns);
  for (size_t i = 0; i != rows; ++i)
    for (size_t j = 0; j != columns; ++j) {
      double sum = 0;
      for (size_t r = 0; r != values.size(); ++r)
        sum += left[r * rows + i] * values[r] * right[r * columns + j];
      made[i * columns + j] = float(sum);
    }
  return made;
}

TEST(LowRank, FindsTheValuesThatAMatrixWasMadeFrom) {
  std::mt19937 random(1);
  for (auto [rows, columns] :
       {std::pair<size_t, size_t>{1, 1}, {1, 9}, {9, 1}, {12, 12}, {7, 40}, {40, 7}, {64, 48}}) {
    std::vector<double> values(std::min(rows, columns));
    for (size_t i = 0; i != values.size(); ++i)
      values[i] = 10 * std::pow(0.9, double(i)) + (i % 3 == 0 ? 0.5 : 0);
    std::sort(values.rbegin(), values.rend());
    const SingularValues found(compose(random, rows, columns, values), rows, columns);
    ASSERT_EQ(found.values().size(), values.size());
    for (size_t i = 0; i != values.size(); ++i)
      EXPECT_NEAR(found.values()[i], values[i], 1e-6 * values[0]) << rows << "x" << columns;
  }
}

/// A rank leaves out the root of the sum of the squares beyond it, and no less: the distance of the
/// factors is that, up to their rounding to f32, and one rank less is too few.
TEST(LowRank, LeavesOutWhatTheValuesSay) {
  std::mt19937 random(2);
  for (auto [rows, columns] : {std::pair<size_t, size_t>{30, 50}, {50, 30}}) {
    std::vector<double> values;
    for (size_t i = 0; i != 30; ++i)
      values.push_back(std::pow(0.7, double(i)));
    const std::vector<float> matrix = compose(random, rows, columns, values);
    const SingularValues found(matrix, rows, columns);
    for (double share : {0.9, 0.5, 0.1, 0.01, 1e-3}) {
      const size_t rank = found.rankFor(share);
      EXPECT_LE(relativeDistance(matrix, found.factors(rank)), share * (1 + 1e-5));
      ASSERT_GT(rank, 0u);
      EXPECT_GT(relativeDistance(matrix, found.factors(rank - 1)), share);
    }
  }
}

TEST(LowRank, TakesAMatrixOfRankEightApartToTheLastBit) {
  std::mt19937 random(3);
  const std::vector<double> left = drawMatrix(random, 64, 8), right = drawMatrix(random, 8, 64);
  std::vector<float> matrix(64 * 64);
  for (size_t i = 0; i != 64; ++i)
    for (size_t j = 0; j != 64; ++j) {
      double sum = 0;
      for (size_t r = 0; r != 8; ++r)
        sum += left[i * 8 + r] * right[r * 64 + j];
      matrix[i * 64 + j] = float(sum);
    }
  const SingularValues found(matrix, 64, 64);
  EXPECT_EQ(found.rankFor(1e-5), 8u);
  EXPECT_LT(relativeDistance(matrix, found.factors(8)), 1e-7);
  EXPECT_GT(relativeDistance(matrix, found.factors(7)), 1e-2);
}

TEST(LowRank, ZerosAndInfinities) {
  const std::vector<float> zeros(24, 0);
  EXPECT_EQ(SingularValues(zeros, 4, 6).rankFor(0.1), 0u);
  EXPECT_EQ(relativeDistance(zeros, SingularValues(zeros, 4, 6).factors(2)), 0);
  std::vector<float> matrix(24, 1);
  matrix[5] = INFINITY;
  EXPECT_EQ(SingularValues(matrix, 4, 6).rankFor(0.1), 4u);
  matrix[5] = NAN;
  EXPECT_EQ(SingularValues(matrix, 6, 4).rankFor(0.1), 4u);
}

/// Equal values, of which none is larger, and a matrix of ones.
TEST(LowRank, EqualValues) {
  std::vector<float> identity(32 * 32, 0);
  for (size_t i = 0; i != 32; ++i)
    identity[i * 33] = 3;
  const SingularValues found(identity, 32, 32);
  EXPECT_EQ(found.rankFor(0.5), 24u);
  EXPECT_NEAR(relativeDistance(identity, found.factors(24)), 0.5, 1e-7);
  const std::vector<float> ones(20 * 12, 1);
  const SingularValues flat(ones, 20, 12);
  EXPECT_NEAR(flat.values()[0], std::sqrt(240.0), 1e-12);
  EXPECT_EQ(flat.rankFor(1e-6), 1u);
  EXPECT_LT(relativeDistance(ones, flat.factors(1)), 1e-7);
}

} // namespace
