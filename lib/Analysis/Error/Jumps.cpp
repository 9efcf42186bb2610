// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes the numbers that a choice is among to have nothing in common, unless the same is on either
// side of where it changes.

#include "Jumps.h"
#include "TruthValues.h"
#include "mp/Analysis/Values/Continuity.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;

bool Jumps::isContinuous(Value selection) {
  if (!values)
    values = std::make_unique<ValueNumbering>(root);
  View whole = values->lookup(selection);
  if (!whole || values->get(whole).kind != ValueNode::Kind::Select)
    return false;
  ArrayRef<View> parts = values->get(whole).operands;
  return isContinuousAt(*values, parts[0], parts[1], parts[2]);
}

double Jumps::of(Operation *choice, llvm::function_ref<double(Value)> rmsOf) {
  FloatMeaning::Kind kind = getFloatMeaning(choice).kind;
  Value result = choice->getResult(0);
  if (kind == FloatMeaning::Kind::Select && isContinuous(result))
    return 0;
  double jump = kind == FloatMeaning::Kind::Integer ? 1 : 0;
  for (Value value : floatsOf(choice->getOperands()))
    jump = std::hypot(jump, std::min(rmsOf(value), rmsOf(result)));
  return jump;
}
