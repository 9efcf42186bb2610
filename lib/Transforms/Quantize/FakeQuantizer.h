// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives the factors of a function's contractions their grids: formats, steps and codes.

#ifndef MP_LIB_TRANSFORMS_QUANTIZE_FAKEQUANTIZER_H
#define MP_LIB_TRANSFORMS_QUANTIZE_FAKEQUANTIZER_H

#include "../Common/AppendedState.h"
#include "BackwardProducts.h"
#include "mp/Analysis/Ranges/RangeAnalysis.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Dialect/MP/FakeQuantize.h"

namespace mlir::mp {

struct FakeQuantizeSettings {
  Type weights, activations; ///< formats of codes
  bool learned = false;      ///< steps of which a gradient is known
  bool perChannel = true;
  bool zeroPoints = false; ///< of activations
  double stepRate = 0, momentum = 0;
};

class FakeQuantizer {
public:
  /// `roles` and `degrees` of a train step; null for a forward function. Both outlive this.
  FakeQuantizer(func::FuncOp function, const FakeQuantizeSettings &settings,
                const TrainingRoles *roles, const HomogeneityGraph::Degrees *degrees);

  /// Rewrites all there is; returns the number of contractions.
  unsigned run();

private:
  /// A tensor that contractions read, perhaps moved.
  struct Tensor {
    Value value;
    bool isWeight = false;
    Type format;
    SmallVector<int64_t> stepShape; ///< rank 0: one for all
    SmallVector<OpOperand *> factors;
    /// The gradients of its factors, where all are known.
    SmallVector<std::pair<BackwardProduct, Value>> products; ///< and the factor as it was
    const Gradient *gradient = nullptr;                      ///< of a parameter
    bool isLearned = false;
    bool isAffine = false; ///< has a zero point
    Value step, state;
    Value below, zero; ///< the largest magnitude below 0, which is state; the zero point it makes
  };

  void collect();
  void findGradients(Tensor &tensor, const BackwardProducts &backward);
  const Gradient *findOnlyGradient(Value parameter) const;
  Value largest(OpBuilder &builder, const Tensor &tensor, std::optional<double> sign = {});
  Value observe(OpBuilder &builder, const Tensor &tensor, Value &below);
  void makeStep(Tensor &tensor);
  void makeStateStep(Tensor &tensor, OpBuilder &builder);
  Value follow(OpBuilder &builder, const Tensor &tensor, Value state, Value now, bool isLearned);
  Value makeZero(OpBuilder &builder, const Tensor &tensor);
  void rewrite(const FactorPair &pair);
  const Tensor &tensorOf(OpOperand &factor) const;
  Value encode(OpBuilder &builder, OpOperand &factor);
  void replaceSums(Operation *op, Value by);
  void scaleSums(OpBuilder &builder, const FactorPair &pair);
  void passGradients(Tensor &tensor);
  void remarkObserved(const Tensor &tensor);

  func::FuncOp function;
  const FakeQuantizeSettings &settings;
  const TrainingRoles *roles;
  const HomogeneityGraph::Degrees *degrees;
  SmallVector<FactorPair> pairs;
  llvm::MapVector<Value, Tensor> tensors;         ///< by what they were before
  llvm::DenseMap<OpOperand *, Value> tensorsRead; ///< by factor, before it is set
  AppendedState appended;
  SmallVector<Value> next;
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_QUANTIZE_FAKEQUANTIZER_H
