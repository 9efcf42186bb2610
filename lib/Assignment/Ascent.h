// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Lagrangian bound for problems that are no minimum cut, by ascent on the multipliers.

#ifndef MP_LIB_ASSIGNMENT_ASCENT_H
#define MP_LIB_ASSIGNMENT_ASCENT_H

#include "IndexedProblem.h"

#include <memory>

namespace mpcore::assignment {

/// Max-product linear programming in integers (Globerson and Jaakkola 2007): value by value, the
/// readers and the definition hand over what they know, and share the value's answer equally.
/// Values are visited in canonical order, so the bound does not depend on node order.
class Ascent {
public:
  static std::unique_ptr<Ascent> create(const IndexedProblem &indexed, const Objective &objective);
  virtual ~Ascent() = default;

  /// Sweeps over all values, down and up. False once nothing changes any more.
  virtual bool run(unsigned rounds) = 0;

  /// The bound on the objective that the multipliers prove now.
  Weight bound() const;
  /// The same with the multipliers; its objective is `fine` times the one asked for.
  Certificate certificate() const;

  /// Cheapest variant per node under the multipliers: a start for improvement.
  virtual Labels cheapestVariants() const = 0;

protected:
  Ascent(const IndexedProblem &indexed, const Objective &scaled, Weight fine)
      : indexed(indexed), problem(indexed.problem()), objective(scaled), fine(fine) {}
  virtual std::vector<Multiplier> multipliers() const = 0;

  const IndexedProblem &indexed;
  const Problem &problem;
  Objective objective;
  Weight fine;
};

} // namespace mpcore::assignment

#endif // MP_LIB_ASSIGNMENT_ASCENT_H
