// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that gradient sums restart, and that scale and state move, in one and the same call.

#include "GradientAccumulation.h"
#include "../Common/ScalarSelect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mp;

SmallVector<BlockArgument> mlir::mp::findGradientSums(func::FuncOp function) {
  SmallVector<BlockArgument> sums;
  for (BlockArgument argument : function.getArguments())
    if (auto role = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kRoleAttrName);
        role && role.getValue() == kRoleGradientSum)
      sums.push_back(argument);
  return sums;
}

/// Returns the next value of `s`; if a guard may keep it, the value given to the guard.
static Value nextOf(func::FuncOp function, const TrainingState &s) {
  Value value = function.getBody().front().getTerminator()->getOperand(s.result);
  if (auto number = value.getDefiningOp<tensor::ExtractOp>(); number && number.getIndices().empty())
    value = number.getTensor();
  auto guard = value.getDefiningOp<GuardedUpdateOp>();
  return guard ? guard.getUpdated()[cast<OpResult>(value).getResultNumber()] : value;
}

/// Roles whose state moves when all micro-batches have been summed. Statistics of the forward pass
/// move with each.
static bool movesWithUpdate(const TrainingState &s) {
  return llvm::is_contained({StringRef(kRoleParameter), StringRef(kRoleOptimizer),
                             StringRef(kRoleMaster), StringRef(kRoleRemainder),
                             StringRef(kRoleMomentScale), StringRef("loss_scale"),
                             StringRef("clean_steps")},
                            s.role);
}

LogicalResult mlir::mp::verifyAccumulation(func::FuncOp function, ArrayRef<TrainingState> state,
                                           UnscaleOp unscale) {
  SmallVector<BlockArgument> sums = findGradientSums(function);
  if (sums.empty())
    return success();
  auto error = [&](const TrainingState &s) -> InFlightDiagnostic {
    return function.emitError("(T8) argument #")
           << s.argument << " (" << s.role << ", next value result #" << s.result << ") ";
  };
  Value last;
  for (BlockArgument sum : sums) {
    const auto *s = llvm::find_if(state, [&](auto &t) { return t.argument == sum.getArgNumber(); });
    if (s == state.end())
      return function.emitError("(T8) argument #")
             << sum.getArgNumber() << " is a sum of gradients that no result replaces, "
             << "expected its next value named by 'mp.state'";
    if (FloatType format = getFloatFormat(sum.getType()); !format || !format.isF32())
      return error(*s) << "sums gradients in " << sum.getType() << ", expected f32";
    auto choice = matchScalarSelect(nextOf(function, *s));
    if (!choice || !matchPattern(choice->yes, m_AnyZeroFloat()) ||
        !llvm::is_contained(unscale.getGradients(), choice->no)) {
      InFlightDiagnostic diag =
          error(*s)
          << "expected to become zero in the call that updates, else the sum that is unscaled";
      diag.attachNote(unscale.getLoc()) << "the unscaling";
      return diag;
    }
    if (last && choice->condition != last)
      return error(*s) << "starts again by another condition than other sums";
    last = choice->condition;
  }
  for (const TrainingState &s : state) {
    if (!movesWithUpdate(s))
      continue;
    auto choice = matchScalarSelect(nextOf(function, s));
    if (choice && choice->condition == last)
      continue;
    InFlightDiagnostic diag =
        error(s) << "moves while sums still carry "
                 << (s.role == "loss_scale" ? "the old scale" : "gradients of this update")
                 << ", expected it chosen by the condition that starts the sums again";
    diag.attachNote(last.getLoc()) << "that condition";
    return diag;
  }
  return success();
}
