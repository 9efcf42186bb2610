// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounding of weights to codes so that a product with given inputs changes least: GPTQ (Frantar et
// al., arXiv 2210.17323), which rounds one input's weights after the other and lets those that are
// left make up for each error, as the second derivative of the squared error says (OBQ).

#ifndef MP_NUMERICS_SCALING_SECONDORDER_H
#define MP_NUMERICS_SCALING_SECONDORDER_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace mpcore::numerics {

/// Sums x and x x^T over inputs of `size` values; the latter is half the second derivative of the
/// squared error.
class SecondMoments {
public:
  explicit SecondMoments(size_t size) : size(size), sums(size * size), firstSums(size) {}
  /// Rows of `size` values, one after the other. Rows that are not finite are left out.
  void add(llvm::ArrayRef<float> rows);
  size_t getSize() const { return size; }
  /// Row-major, symmetric.
  llvm::ArrayRef<double> get() const { return sums; }
  /// Returns the mean of each input; 0 without any row.
  std::vector<double> means() const;

private:
  size_t size, rows = 0;
  std::vector<double> sums, firstSums;
};

/// Sums x y^T over pairs of inputs: x as they are now, y as they were.
class CrossMoments {
public:
  explicit CrossMoments(size_t size) : size(size), sums(size * size) {}
  /// As many rows of `size` values of each. Pairs that are not finite are left out.
  void add(llvm::ArrayRef<float> now, llvm::ArrayRef<float> before);
  llvm::ArrayRef<double> get() const { return sums; }

private:
  size_t size;
  std::vector<double> sums;
};

struct WeightRounding {
  size_t inputs, outputs;
  size_t group;            ///< inputs that share a step; divides `inputs`
  int largest;             ///< codes lie in -largest..largest
  double damping = 0.01;   ///< of the mean of the diagonal, is added to it
  bool keepsZeros = false; ///< weights that are 0 have the code 0, whatever they could make up for
};

/// Weights of which two of each four inputs in a row are left: by magnitude, as they are.
std::vector<float> pruneByMagnitude(llvm::ArrayRef<float> weights, const WeightRounding &shape);

/// The same by what leaving each out would cost, once the inputs that follow make up for it
/// (SparseGPT, arXiv 2301.00774); those left are then moved to the least squared error.
std::vector<float> pruneSecondOrder(llvm::ArrayRef<float> weights, const SecondMoments &moments,
                                    const WeightRounding &shape);

/// The steps of symmetric codes, [inputs / group][outputs]: the largest magnitude over the largest
/// code; 1 for zeros.
std::vector<float> stepsOf(llvm::ArrayRef<float> weights, const WeightRounding &shape);

/// Returns those of 0.30 to 1 times these steps, in hundredths, whose nearest codes have the least
/// squared error, each input's weighted by its own second moment; the largest of equal ones.
std::vector<float> stepsOfLeastError(llvm::ArrayRef<float> weights, const SecondMoments &moments,
                                     const WeightRounding &shape);

/// Codes of weights [inputs][outputs], to nearest even.
std::vector<int8_t> roundNearest(llvm::ArrayRef<float> weights, llvm::ArrayRef<float> steps,
                                 const WeightRounding &shape);

/// Codes by GPTQ, in the order of inputs. An input that never was other than zero is rounded to
/// nearest.
std::vector<int8_t> roundSecondOrder(llvm::ArrayRef<float> weights, llvm::ArrayRef<float> steps,
                                     const SecondMoments &moments, const WeightRounding &shape);

/// Returns weights whose products with inputs as they are now are nearest, in least squares, to
/// those of the given ones with inputs as they were: w + (H + d)^-1 (K - H) w, damped by d (GPTAQ,
/// arXiv 2504.02692).
std::vector<float> retarget(llvm::ArrayRef<float> weights, const SecondMoments &now,
                            const CrossMoments &cross, const WeightRounding &shape);

/// Lowers the squared error of codes, with the damping, until none that differ in one code from
/// these have a smaller one, or for 32 rounds: coordinate descent (QuantEase, arXiv 2309.01885) in
/// turn with the steps of least error for these codes. Never raises it.
void descend(llvm::ArrayRef<float> weights, std::vector<int8_t> &codes, std::vector<float> &steps,
             const SecondMoments &moments, const WeightRounding &shape);

/// Squared error of the product, summed over inputs seen and outputs: e^T H e of e = codes * steps
/// - weights.
double squaredError(llvm::ArrayRef<float> weights, llvm::ArrayRef<int8_t> codes,
                    llvm::ArrayRef<float> steps, const SecondMoments &moments,
                    const WeightRounding &shape);

} // namespace mpcore::numerics

#endif // MP_NUMERICS_SCALING_SECONDORDER_H
