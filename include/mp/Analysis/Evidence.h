// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evidence that a value fits a format of smaller range than f32.
//
// Two facts are kept per value. A proved range: interval arithmetic outward from
// constants, `mp.range`, bounded functions and relations (x - max x <= 0,
// x / sum x <= 1, log of a sum of e^(x - max x), x * rsqrt(mean x^2 + eps) <= sqrt n). And a
// growth, the labelled class assumption: |value| <= growth * (what arguments, and contractions of
// factors it holds of, reach), which sums and bounded functions keep, growing constants raise (up
// to a margin), and exponentials, powers, quotients, products and sums over a dimension lose.
// Unknown is never optimistic: top, and an infinite growth.
//
// In a train step with loss scaling, what lies between `mp.scale_loss` and the check of
// `mp.unscale` needs no bound: should it overflow, the check finds the infinity, the step
// is skipped and the scale falls.
//
// Relations are asked of Relations.h: they hold where the same elements meet.

#ifndef MP_ANALYSIS_EVIDENCE_H
#define MP_ANALYSIS_EVIDENCE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Analysis/AssumedMargin.h"
#include "mp/Analysis/Idioms.h"
#include "mp/Analysis/Relations.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Domains/Interval.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::mp {

struct Evidence {
  domains::Interval range = domains::Interval::top();
  double growth = std::numeric_limits<double>::infinity();
  /// Depends on constants alone, and on arguments of which at most one dimension is not 1.
  bool parameter = false;
  /// The op that lost the last bound; empty while there is one.
  StringRef lostAt;

  bool isAssumed() const { return growth <= kAssumedMargin; }

  /// The growth beside other values, where one that is bounded counts as 1 at most.
  double getGrowth() const;

  /// Of what has no value, as the elements of a new tensor: joined to anything, it changes nothing.
  static Evidence nothing() { return {domains::Interval(), 0, /*parameter=*/true, ""}; }
};

/// What holds of both.
Evidence joinBounds(const Evidence &a, const Evidence &b);

class EvidenceAnalysis {
public:
  /// The largest magnitude that a value is proved to have by other means.
  using Prover = llvm::function_ref<double(Value)>;

  /// Visits the function once, and private callees once each. Of arguments is known what
  /// `arguments` says of each, or else the class assumption; and their `mp.range`. `prove` is asked
  /// about factors of contractions that have no evidence.
  explicit EvidenceAnalysis(FunctionOpInterface function, ArrayRef<Evidence> arguments = {},
                            Prover prove = nullptr);

  /// The class assumption about an argument.
  static Evidence assumeArgument(BlockArgument argument);

  /// What is known of a float value of the function outside bodies.
  Evidence lookup(Value value) const { return facts.lookup(value); }

  /// Why `value` must not be stored in `format`, or an empty string if it may be. The class
  /// assumption counts only if it `mayAssume`.
  std::string whyNot(Value value, FloatType format, double maxUnderflow,
                     bool mayAssume = true) const;

private:
  void collectGuarded(Region &body);
  /// Blocks before those they branch to, but for branches back: then what arguments get is a fixed
  /// point, as what loops carry.
  void visitRegion(Region &region);
  void visitOp(Operation *op);
  void visitStructured(Operation *op);
  void visitReduction(linalg::LinalgOp op);
  /// Result `index` of a reduction that adds to it, or keeps an extremum; nothing for others.
  std::optional<Evidence> combine(linalg::LinalgOp op, unsigned index);
  /// Bounds what idioms know as a norm with folded factors by those.
  void readFoldedNorm(Operation *op, Value value);
  /// Bounds functions of one value, as far as that is bounded or assumed to be.
  void readPiecewise(Operation *op, Value value);
  /// Loops and branches: what they carry is a fixed point over their bodies.
  void visitControl(Operation *op);
  /// Visits all regions once; their arguments are unknown but for those that stand for `carried`.
  void visitBodies(Operation *op, ArrayRef<CarriedValue> carried = {},
                   ArrayRef<Evidence> known = {});
  void visitCall(Operation *op);
  /// Elementwise semantics of `op` on scalars or tensors.
  Evidence evaluate(Operation *op, ArrayRef<Evidence> operands);
  Evidence contract(Operation *op, ArrayRef<Evidence> operands);
  /// What a `tensor.pad` adds; nothing for infinities and other ops.
  std::optional<Evidence> getPadding(Operation *op);
  Evidence evaluateUnary(Operation *op, StringRef name, const Evidence &x);
  /// Nothing if that is no function of two values. What is subtracted, multiplied or divided are
  /// the operands of `op`.
  std::optional<Evidence> evaluateBinary(Operation *op, StringRef name, const Evidence &a,
                                         const Evidence &b);
  Evidence multiply(const Evidence &a, const Evidence &b);
  Evidence divide(const Evidence &a, const Evidence &b);
  void compare(Operation *op);
  Evidence select(Operation *op, Evidence yes, Evidence no);
  Evidence sumOver(const Evidence &x, std::optional<int64_t> count, StringRef op);
  Evidence lost(Operation *op);

  IdiomAnalysis idioms;
  Relations relations;
  Prover prove; ///< while the function is visited
  DenseMap<Value, Evidence> facts;
  DenseSet<Value> guarded; ///< overflow is found by the check of this step
  DenseMap<Operation *, SmallVector<Evidence>> callees; ///< of visited functions: their results
  /// Of comparisons, by their numbers: the ranges of both sides, the larger first.
  DenseMap<unsigned, std::pair<domains::Interval, domains::Interval>> compared;
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_EVIDENCE_H
