// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the body of a dispatch as attention: softmax over keys of what becomes of query times key,
// times value.

#ifndef MP_LIB_KERNELS_PLAN_ATTENTIONPLAN_H
#define MP_LIB_KERNELS_PLAN_ATTENTIONPLAN_H

#include "StreamPlan.h"

namespace mlir::mp {

/// A scalar in the body of `op` or, where that is null, the elements of a tensor.
struct BodyElement {
  linalg::GenericOp op;
  Value value;
  bool operator==(const BodyElement &) const = default;
};

/// The op that computes an element, looked for through elementwise generics and reshapes that only
/// change unit dimensions; a tensor where that is an argument or what a reduction makes.
BodyElement followElement(BodyElement element);
/// The same, and behind conversions that keep every value.
BodyElement behindWidening(BodyElement element);

struct AttentionPlan : LoopPlan {
  linalg::GenericOp scores, output;  ///< the contractions: over the head, over keys
  BlockArgument query, key, value;   ///< f16 or bf16, all alike
  SmallVector<unsigned> batch, rows; ///< loops of all three; of queries alone (and their groups)
  SmallVector<unsigned, 1> keys;     ///< none where there is one key
  unsigned depth, width;             ///< the loop of the head in query and key, and in value
  BodyElement logits;                ///< what softmax is taken of, widened to f32
  bool emptyIsZero = false; ///< rows whose logits are all minus infinity give zeros, not NaN
  Value result;             ///< what the body yields

  Type element() const { return getElementTypeOrSelf(query.getType()); }
};

/// The plan of a body. On failure `reason` says why it is no attention that a kernel can run, as
/// the end of a sentence.
FailureOr<AttentionPlan> planAttention(Block &body, std::string &reason);

/// The positive constant that scores are multiplied by where that is all that makes them logits; 0
/// if there is more to it.
double scaleOf(const AttentionPlan &plan);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_PLAN_ATTENTIONPLAN_H
