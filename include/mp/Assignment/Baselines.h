// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes what painting compilers would decide on the same problem, as baselines to compare costs
// with. The baselines imitate the rules of the named passes, without their op lists, names or
// special cases.

#ifndef MP_ASSIGNMENT_BASELINES_H
#define MP_ASSIGNMENT_BASELINES_H

#include "mp/Assignment/Problem.h"

namespace mpcore::assignment {

/// The list that a painting pass would put a node on. A node has two colours: the first variant and
/// the last one.
enum class Paint {
  Deny,  ///< always wide
  Clear, ///< moves data; takes any colour
  Infer, ///< safe in a narrow type if its surroundings are narrow
  Allow, ///< gains most; always narrow
};

/// TensorFlow Grappler's auto_mixed_precision: deny spreads between denied nodes, nodes between two
/// allowed ones turn narrow, then allow spreads through clear nodes. Casts are shared.
Labels paintLikeGrappler(const Problem &problem, llvm::ArrayRef<Paint> paints);

/// TVM Relax's ToMixedPrecision: allowed nodes narrow, infer and clear follow when all their
/// non-constant operands are narrow. Every use casts for itself: price it with evaluatePerUse.
Labels paintLikeTVM(const Problem &problem, llvm::ArrayRef<Paint> paints);

/// XLA's BFloat16Propagation: narrow only what needs no run-time cast at all.
Labels paintLikeXLA(const Problem &problem, llvm::ArrayRef<Paint> paints);

/// As evaluate(), but each operand that needs a cast makes its own.
Score evaluatePerUse(const Problem &problem, const Labels &labels);

} // namespace mpcore::assignment

#endif // MP_ASSIGNMENT_BASELINES_H
