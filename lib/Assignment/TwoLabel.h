// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact answers by one minimum cut, for problems in which every choice is between two types.

#ifndef MP_LIB_ASSIGNMENT_TWOLABEL_H
#define MP_LIB_ASSIGNMENT_TWOLABEL_H

#include "IndexedProblem.h"

namespace mpcore::assignment {

struct CutResult {
  Labels labels;
  Weight value; ///< objective of the labels; the minimum
};

/// A move from an assignment: every group keeps its variant or takes `alternative`.
struct Move {
  const Labels *current;
  llvm::ArrayRef<unsigned> alternative; ///< per group
};

/// The best move by one minimum cut. H means keep. Costs that are not submodular are raised to the
/// least submodular cost that is exact for the current assignment, so the result is never worse
/// than that, and need not be the best possible.
Labels solveMove(const IndexedProblem &indexed, const Objective &objective, Preference prefer,
                 const Move &move);

/// The minimum cut, or nothing when the problem does not have that form: a node with more than two
/// independent choices, or one whose costs are not submodular. `multipliers`, if given, receives
/// the flow as a Lagrangian certificate.
///
/// H is the source side. Variants with equal port types count as one choice, the lightest. A node
/// is one binary variable, or two when operands and results are chosen apart. Each value and read
/// type t is a gadget of one demand vertex (Kolmogorov and Zabih 2004; the shared cast is a
/// submodular higher-order term): readers that want t force the demand, the definition pays for it.
std::optional<CutResult> solveTwoLabel(const IndexedProblem &indexed, const Objective &objective,
                                       Preference prefer,
                                       std::vector<Multiplier> *multipliers = nullptr);

} // namespace mpcore::assignment

#endif // MP_LIB_ASSIGNMENT_TWOLABEL_H
