// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups of ops that together are one thing with a name: softmax, a norm, a loss, GELU. They are
// found in the function's expressions, so that it does not matter whether the parts are named ops,
// generic ops, TOSA or a chain of scalars. Nothing is wrapped: an idiom is a fact about ops.

#ifndef MP_ANALYSIS_IDIOMS_IDIOMS_H
#define MP_ANALYSIS_IDIOMS_IDIOMS_H

#include "mp/Analysis/Values/Expressions.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::mp {

struct Idiom {
  /// softmax, log_softmax, logsumexp, layer_norm, rms_norm, group_norm, batch_norm, instance_norm,
  /// l2_norm, variance, mean, cross_entropy, mean_square_error, gelu, gelu_tanh, silu.
  StringRef kind;
  /// The op that computes its value, perhaps with more in the same body.
  Operation *root;
  /// All ops outside bodies that take part, in program order, the root last.
  SmallVector<Operation *> members;
  /// Values from outside that the members read, constants left out.
  SmallVector<Value> inputs;
};

class IdiomAnalysis {
public:
  explicit IdiomAnalysis(FunctionOpInterface function);

  /// In program order of their roots. What is part of another (the variance of a norm) is not
  /// listed.
  ArrayRef<Idiom> getIdioms() const { return idioms; }

private:
  /// Fills in the ops between the root and the values of expression `of`, whose expressions become
  /// covered.
  void collectMembers(Idiom &idiom, unsigned of, llvm::DenseSet<unsigned> &covered);

  ValueNumbering numbering;
  ExpressionGraph graph; ///< without places: an annotation promises nothing
  /// Values outside bodies by their expression, the first of each.
  DenseMap<unsigned, Value> values;
  DenseMap<Operation *, SmallVector<unsigned>> computedBy;
  SmallVector<Idiom> idioms;
};

/// Norms that no lemma proves, because rounding may undo them (a variance by cancellation, a mean
/// subtracted from a product), found where the same elements meet.
class TrustedNorms {
public:
  TrustedNorms(const ValueNumbering &numbering, FunctionOpInterface function);

  /// Names what a norm computed as (x - mean x) a or x a + (b - (mean x) a) is made of: a value
  /// within `bound`, times `factor` if there is one, plus `terms`.
  struct FoldedNorm {
    double bound;
    Value factor;
    SmallVector<Value, 2> terms;
  };
  std::optional<FoldedNorm> find(Value value) const;

private:
  ExpressionGraph graph;
  DenseMap<unsigned, Value> values; ///< by their expression, the first of each that is all of it
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_IDIOMS_IDIOMS_H
