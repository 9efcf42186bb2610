// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says where elements lie: views of nodes, and the space in which several views meet.
// ValueNumbering and Expressions both make their nodes by these rules.

#ifndef MP_ANALYSIS_VALUES_VIEW_H
#define MP_ANALYSIS_VALUES_VIEW_H

#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::mp {

using NodeId = unsigned;

/// value[i] = node[map(i)]
struct View {
  NodeId node = 0; ///< 0: nothing is known
  AffineMap map;   ///< null: the identity, or a node of rank 0

  explicit operator bool() const { return node != 0; }
  friend bool operator==(const View &a, const View &b) = default;
};

/// Null for an identity.
AffineMap canonicalMap(AffineMap map);
/// Returns `inner`, which views a node from the node that `outer` sees, from where `outer` is seen.
View composeViews(const View &outer, const View &inner, bool innerIsScalar);
/// The loop that each dimension of the node is, if `map` only permutes loops. The identity is null;
/// of that `rank` says how many dimensions there are.
std::optional<SmallVector<unsigned, 4>> permutationOf(AffineMap map, unsigned rank);

/// The index space of an elementwise function.
struct MeetingSpace {
  SmallVector<int64_t, 4> sizes;
  AffineMap place; ///< from the space in which the operands were viewed
};

/// Chooses the space of a function of `operands`, which are viewed in a space of `sizes`, and
/// rewrites their maps to be from there: that of what is read where all are read at one place, else
/// that of the first operand that has all loops used, else the loops used in their order.
MeetingSpace meet(MutableArrayRef<View> operands, ArrayRef<int64_t> sizes,
                  llvm::function_ref<ArrayRef<int64_t>(NodeId)> sizesOf, MLIRContext *context);

} // namespace mlir::mp

#endif // MP_ANALYSIS_VALUES_VIEW_H
