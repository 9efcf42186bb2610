// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Applies a recipe to the contractions of one function.

#ifndef MP_LIB_TRANSFORMS_SCALE_FUNCTIONSCALER_H
#define MP_LIB_TRANSFORMS_SCALE_FUNCTIONSCALER_H

#include "../Common/OperandSchemes.h"
#include "DelayedScales.h"
#include "Quantizer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Transforms/Scale/StaticScales.h"

namespace mlir::mp {

class FunctionScaler {
public:
  /// Reads the kind of each operand from the function as it is now; the recipe outlives this.
  FunctionScaler(FunctionOpInterface function, ArrayRef<Operation *> contractions,
                 const numerics::Recipe &recipe);

  /// From now on, the operands of contractions (constants aside) have these magnitudes. Fails where
  /// one that will be stored has none.
  LogicalResult useMagnitudes(const FunctionMagnitudes &measured);

  /// From now on, this operand has this magnitude.
  void useMagnitude(OpOperand &operand, double magnitude) { magnitudes[&operand] = magnitude; }

  /// Says why `op` cannot be a product of stored values; empty if it can.
  std::string whyNoProduct(Operation *op) const { return schemes.whyNoProduct(op); }

  /// Fails, with a remark that says why, where `op` stays as it is.
  LogicalResult scale(Operation *op);

  /// Once all is scaled.
  void finish();

private:
  std::string tryScale(Operation *op);
  std::string contract(Operation *op, const ContractionView &view);
  std::string roundTrip(Operation *op);
  std::string whyNoDraws(Value gradient);
  void spread(OpBuilder &builder, const ContractionView &view);
  ScaledValue store(OpBuilder &builder, OpOperand &operand, ArrayRef<int64_t> shape);

  FunctionOpInterface function;
  const numerics::Recipe &recipe;
  func::FuncOp step; ///< where state can be appended
  OperandSchemes schemes;
  llvm::DenseMap<OpOperand *, double> magnitudes; ///< measured beforehand
  Quantizer quantizer;
  std::optional<DelayedScales> delayed;
  std::optional<AppendedState> randomState;
  std::optional<RandomDraws> draws;
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_SCALE_FUNCTIONSCALER_H
