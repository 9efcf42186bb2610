// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans which ops of a block become one dispatch. The plan holds groups; rules (Epilogue.cpp,
// Operand.cpp, Rows.cpp, Map.cpp) found groups and let them grow, and the plan sees to it that a
// group can be moved together and that a kernel of some family takes its body.

#ifndef MP_LIB_KERNELS_FORM_DISPATCHPLAN_H
#define MP_LIB_KERNELS_FORM_DISPATCHPLAN_H

#include "DispatchBody.h"

namespace mlir::mp {

/// Seconds that a kernel of this body would take, modelled; nothing if no family takes it.
using BodyCost = llvm::function_ref<std::optional<double>(Block &body)>;

struct DispatchGroup {
  StringRef rule;
  SmallVector<linalg::LinalgOp> members;  ///< in the order of the block
  double seconds = 0, apart = 0;          ///< modelled, as one kernel and as one for each member
  SmallVector<Operation *> repeated = {}; ///< what the kernel makes again for itself
};

class DispatchPlan {
public:
  DispatchPlan(Block &block, BodyCost cost);

  /// Ops on tensors that a family takes by themselves, in the order of the block; contractions
  /// marked mpk.mma apart.
  ArrayRef<linalg::LinalgOp> getCandidates() const { return candidates; }
  ArrayRef<linalg::LinalgOp> getContractions() const { return contractions; }
  Block &getBlock() const { return block; }
  /// Index of the group of an op; nothing if it has none.
  std::optional<unsigned> getGroup(Operation *op) const;
  const std::vector<DispatchGroup> &getGroups() const { return groups; }

  /// Founds a group of one candidate.
  unsigned found(linalg::LinalgOp op, StringRef rule);
  /// Adds a candidate, with all of its group if it has one. False, and nothing changed, if ops
  /// between need the one and feed the other, no family takes all of them, or that is slower.
  bool add(unsigned group, linalg::LinalgOp op);

  /// Makes the result of an op, which they alone read, again in each of the groups. False, and
  /// nothing changed, if no family takes that, or it is slower than a kernel of its own.
  bool repeat(ArrayRef<unsigned> groups, Operation *op);
  /// True if an op on tensors of this block, which may become a kernel, makes the value.
  bool isMadeHere(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && (alone.contains(op) || isa<linalg::LinalgOp>(op));
  }

  /// Makes a group of ops that are in none, candidates or not, if they can be moved together and
  /// `cost` takes their body and expects it to be no slower.
  bool claim(StringRef rule, ArrayRef<linalg::LinalgOp> members, BodyCost cost);

  /// Candidates that make what members read or read what they make, outside the group, in the order
  /// of the block.
  SmallVector<linalg::LinalgOp> getNeighbors(unsigned group) const;

private:
  std::optional<double> costOf(ArrayRef<linalg::LinalgOp> members,
                               ArrayRef<Operation *> repeated = {}) const;
  /// True if no op outside needs a member and is needed by one, groups taken as one op each.
  bool isConvex(ArrayRef<linalg::LinalgOp> members) const;
  bool isBefore(Operation *a, Operation *b) const { return position.at(a) < position.at(b); }

  Block &block;
  BodyCost cost;
  DenseMap<Operation *, unsigned> position;
  SmallVector<linalg::LinalgOp> candidates, contractions;
  DenseMap<Operation *, double> alone; ///< seconds of a candidate by itself
  DenseMap<Operation *, unsigned> groupOf;
  std::vector<DispatchGroup> groups; ///< empty ones have joined others
};

/// Puts a dispatch in the place of a group, behind what it needs and before what needs it, which
/// moves for it. Fails, and changes nothing, where that would reorder effects.
FailureOr<mpk::DispatchOp> formDispatch(RewriterBase &rewriter, const DispatchGroup &group);

/// Gives all ops of attention the same loops, where reshapes between them split or merge those (of
/// the batch and the heads).
LogicalResult expandAttention(Operation *function);
/// Groups of two contractions and the softmax between them, whose bodies `cost` takes; where it
/// takes none, `reason` is what it said, for a remark.
void groupAttention(DispatchPlan &plan, Block &block, BodyCost cost, std::string &reason);
/// Groups of a contraction and what runs on its sums. A group of one member is no dispatch: the
/// contraction has a kernel without.
void groupEpilogues(DispatchPlan &plan);
/// Lets contractions narrow f32 that no kernel makes.
void groupOperands(DispatchPlan &plan);
/// Groups around reductions: softmax, norms, losses, and what is elementwise beside them. Rows that
/// lie together in memory first, then other reductions.
void groupRows(DispatchPlan &plan);
/// Groups of what is elementwise or moves elements.
void groupMaps(DispatchPlan &plan);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FORM_DISPATCHPLAN_H
