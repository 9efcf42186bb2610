// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the roles of values in a train step: the seed of the backward pass, the gradients, and the
// pairs of an argument and the result that replaces it as state. They follow from the graph alone;
// `mp.role` and `mp.state` say what cannot be found, or overrule it.

#ifndef MP_ANALYSIS_TRAINING_TRAININGROLES_H
#define MP_ANALYSIS_TRAINING_TRAININGROLES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mp/Analysis/Training/Homogeneity.h"

namespace mlir::mp {

/// Values of `mp.role` on arguments.
inline constexpr StringLiteral kRoleParameter = "parameter";
inline constexpr StringLiteral kRoleOptimizer = "optimizer_state";
inline constexpr StringLiteral kRoleStatistic = "statistic";
inline constexpr StringLiteral kRoleInput = "input";
inline constexpr StringLiteral kRoleMaster = "master";
inline constexpr StringLiteral kRoleRemainder = "remainder";
inline constexpr StringLiteral kRoleRandomSeed = "random_seed";
inline constexpr StringLiteral kRoleRandomOffset = "random_offset";
inline constexpr StringLiteral kRoleGradientNorm = "gradient_norm";
inline constexpr StringLiteral kRoleGradientSum = "gradient_sum";
inline constexpr StringLiteral kRoleMomentScale = "moment_scale";
inline constexpr StringLiteral kRoleMicroSteps = "micro_steps";
inline constexpr StringLiteral kRoleLossScale = "loss_scale";
inline constexpr StringLiteral kRoleCleanSteps = "clean_steps";
inline constexpr StringLiteral kRoleHysteresis = "hysteresis";
inline constexpr StringLiteral kRoleSkippedSteps = "skipped_steps";
inline constexpr StringLiteral kRoleOverflowed = "overflowed";
inline constexpr StringLiteral kRoleAmaxHistory = "amax_history";
inline constexpr StringLiteral kRoleEncodeScale = "encode_scale";
inline constexpr StringLiteral kRoleDecodeScale = "decode_scale";
/// Values of `mp.role` on ops.
inline constexpr StringLiteral kRoleSeed = "seed";
inline constexpr StringLiteral kRoleGradient = "gradient";

/// A gradient where the optimizer takes it over: the last contraction, reduction or
/// accumulation of the backward pass.
struct Gradient {
  Value value;
  /// The uses by the optimizer; others, by the backward pass, keep the scale.
  SmallVector<OpOperand *> uses;
  unsigned phase = 0;                              ///< of TrainingRoles::phases
  std::optional<unsigned> argument = std::nullopt; ///< the parameter that it moves in its place
};

struct TrainingState {
  unsigned argument, result;
  StringRef role;
  bool aboveSeed;                       ///< the backward pass is computed from it
  SmallVector<unsigned, 1> phases = {}; ///< whose gradients move it; none for statistics
};

struct TrainingRoles {
  /// The values at which the backward pass begins: one, or one for each loss.
  SmallVector<Value, 1> seeds;
  /// The seeds of each optimizer, where several update in turn: each on what those before it have
  /// updated.
  SmallVector<SmallVector<Value, 1>, 1> phases;
  /// Updated values that a later phase trains on.
  SmallVector<Value, 0> handedOver;
  SmallVector<Gradient> gradients;
  /// By argument.
  SmallVector<TrainingState> state;
  /// Contractions on operands that an optimizer makes from gradients.
  SmallVector<Operation *, 0> optimizerContractions;
  unsigned scaledContractions = 0, contractions = 0;

  const TrainingState *ofArgument(unsigned argument) const;
  bool isSeed(Value value) const { return llvm::is_contained(seeds, value); }
};

/// The function called `name`; if that is empty `main`, or the only public one with a
/// body. `who` asks, for the error.
FailureOr<func::FuncOp> findTrainStep(ModuleOp module, StringRef name, StringRef who);

/// True if the value is computed from a contraction: by the forward or the backward pass.
bool dependsOnContraction(Value value);

/// Writes `mp.role` and `mp.state` on the arguments, and pins contractions of the optimizer to the
/// format they have, if nobody pinned them to another.
void annotateRoles(func::FuncOp function, const TrainingRoles &roles);

/// Finds the roles in a step of one block, or says what to annotate.
FailureOr<TrainingRoles> findTrainingRoles(func::FuncOp function);

/// A train step whose roles are found, and written on its arguments.
struct TrainStep {
  func::FuncOp function;
  TrainingRoles roles;
};
/// findTrainStep(), findTrainingRoles() and annotateRoles(), one after the other.
FailureOr<TrainStep> annotateTrainStep(ModuleOp module, StringRef name, StringRef who);

/// An error that names what `who` cannot do, if several optimizers update in turn.
LogicalResult expectOnePhase(func::FuncOp function, const TrainingRoles &roles, StringRef what);

/// The pairing of arguments and results alone: `mp.state` where given, else found. What is handed
/// over to a later phase moves, but what is computed from it does not move with it.
FailureOr<SmallVector<TrainingState>> findTrainingState(func::FuncOp function,
                                                        const HomogeneityGraph::Degrees &degrees,
                                                        ArrayRef<Value> seeds,
                                                        ArrayRef<Value> handedOver = {});

} // namespace mlir::mp

#endif // MP_ANALYSIS_TRAINING_TRAININGROLES_H
