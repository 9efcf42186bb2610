// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the arguments of a train step of which one of its results may be the next value.

#ifndef MP_LIB_ANALYSIS_TRAINING_STATEREACH_H
#define MP_LIB_ANALYSIS_TRAINING_STATEREACH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mp/Analysis/Training/Homogeneity.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mp {

class StateReach {
public:
  explicit StateReach(func::FuncOp function);

  /// Arguments of the result's type that it is computed from place by place: through ops of its
  /// shape, no contraction, no reduction. Parameters, moments, averages and counters all are.
  llvm::BitVector inPlace(Value result) { return follow(result, /*moves=*/false); }
  /// The same through slices, concatenations and whatever else moves elements: state that is
  /// packed.
  llvm::BitVector moved(Value result) { return follow(result, /*moves=*/true); }
  /// True if the result is computed in place from a value of which `is` is true.
  bool movesWith(Value result, llvm::function_ref<bool(Value)> is);
  /// True if no other result is computed from the argument.
  bool servesOnly(unsigned argument, unsigned result);

private:
  /// Visits every value on the way.
  llvm::BitVector
  follow(Value result, bool moves, llvm::function_ref<void(Value)> visit = [](Value) {});

  func::FuncOp function;
  /// The values that control flow hands on to each result and region argument.
  llvm::DenseMap<Value, SmallVector<Value, 2>> handedOn;
};

/// Everything in the function's block that the values depend on; without `choices` what only
/// decides between values (i1) is left out. Nothing is followed beyond `ends`.
llvm::DenseSet<Value> backwardSlice(ArrayRef<Value> values, bool choices = true,
                                    ArrayRef<Value> ends = {});

/// Everything that is computed from the values, but for what one number of them only decides
/// between (i1); what is chosen place by place is computed from them. An op computes its results
/// from whatever its body does. Nothing is followed beyond `ends`.
llvm::DenseSet<Value> forwardSlice(ArrayRef<Value> values, ArrayRef<Value> ends = {});

/// Contractions of degree 1 that are the optimizer's: they take gradients, as state is updated with
/// in its place, and lead to no such gradient (a step size that is estimated from products of
/// gradients).
llvm::SetVector<Operation *> findContractionsOfGradients(func::FuncOp function,
                                                         const HomogeneityGraph::Degrees &degrees,
                                                         ArrayRef<Value> updated);

/// Returns the values that the backward pass is computed from, not by way of `ends`: the seeds, and
/// all that contractions of degree 1 depend on but for `excepted`.
llvm::DenseSet<Value> sourcesOfBackwardPass(func::FuncOp function,
                                            const HomogeneityGraph::Degrees &degrees,
                                            ArrayRef<Value> seeds,
                                            const llvm::SetVector<Operation *> &excepted,
                                            ArrayRef<Value> ends);

/// Finds which parameter each gradient moves in its place.
void assignParameters(func::FuncOp function, TrainingRoles &roles);

/// Floats that the forward pass reads and that are replaced must move with the gradient, unless
/// somebody says they are a statistic; keys of random numbers, counters, and scalars (a loss scale
/// of the step's own, a temperature that falls) need not. Those that do not.
SmallVector<TrainingState> findUnreached(func::FuncOp function, ArrayRef<TrainingState> state);

/// The scalars returned that replace one which the forward pass reads: a learned temperature,
/// unlike a loss.
SmallVector<Value> findTrainedScalars(func::FuncOp function, const HomogeneityGraph &graph);

/// Arguments of rank above 0 that a result replaces, and what only moves their elements: everything
/// behind a weight scales with it, but it is no seed.
SmallVector<Value> findWeights(func::FuncOp function);

/// True if what the seeds do not reach is moved by no contraction but those of the forward pass
/// (above the seeds, or of a weight that is trained): what a recurrence remembers from step to
/// step, a codebook whose gradient nothing contracts, what is frozen. No gradient of it passes a
/// contraction, whose narrow format would need the loss scale.
bool areOfForwardPass(func::FuncOp function, ArrayRef<Value> seeds, ArrayRef<TrainingState> state,
                      ArrayRef<TrainingState> unreached);

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_TRAINING_STATEREACH_H
