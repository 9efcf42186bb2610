// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rigorous error of adding up K products, relative to A = sum |a_k b_k|, for scalar loops and for
// Tensor Cores. The Tensor Core constants are derived from the bit-exact models of Numerics: one
// fused step over a group of b products and the accumulator cuts b + 1 terms at 2^-F below the
// largest, then cuts the sum, so its error is at most
//
//   step = (b + 1) 2^-F + cut        times the largest term,
//                                    cut = 2^-23 (f32), 2^-13 (13 fraction bits)
//
// and K/b chained steps give step * K/b to first order, (1 + step)^(K/b) - 1 exactly. In units of K
// u, u = 2^-24, the first-order constants of f16 products are 3 for sm_70 (b = 4, F = 23), 1.375
// for sm_80 (b = 8, F = 24) and 0.656 for sm_90 (b = 16, F = 25). Products of (1 + step) are
// bounded as in Higham 2002, section 3.1.

#ifndef MP_DOMAINS_ACCUMULATION_H
#define MP_DOMAINS_ACCUMULATION_H

#include "mp/Numerics/TensorCore.h"

namespace mpcore::domains {

enum class Order : uint8_t {
  FirstOrder, ///< the formula as printed in tables; terms of order error^2 left out
  Rigorous,   ///< compounded: an upper bound without exceptions
};

struct Accumulation {
  numerics::Format format = numerics::Format::F32; ///< of the running sum
  int64_t group = 1;                               ///< products per step
  double step = 0;          ///< error of one step relative to its largest term or result
  int64_t promoteEvery = 0; ///< products after which the sum moves to a fresh register; 0: never
  double promotion = 0;     ///< relative error of adding to that register
  /// Alignment error of one step, relative to (smallest normal operand) * (largest operand):
  /// products of subnormal operands count as if their significands began with 1.
  double alignment = 0;
  double smallestNormal = 0; ///< of the operand formats
  bool biased = false;       ///< cut rather than rounded: errors do not average out
  double drift = 0;          ///< what cutting takes from the running sum in a step, on average

  /// One rounding to nearest per product: a chain of FMAs, or of separate products and sums.
  static Accumulation sequential(numerics::Format format);
  static Accumulation tensorCore(const numerics::TensorCoreModel &model);

  Accumulation promotedEvery(int64_t products) const;

  /// |computed - exact| <= relativeError(k) * sum |a_k b_k|, the operands being exact; k products.
  double relativeError(int64_t k, Order order = Order::Rigorous) const;
  /// relativeError / (k u32) as k grows: the constant C of the tables (first order).
  double constant() const;
  /// Absolute error that underflow and subnormal operands add, for operands of magnitude at most
  /// `largest`.
  double subnormalError(int64_t k, double largest) const;
};

} // namespace mpcore::domains

#endif // MP_DOMAINS_ACCUMULATION_H
