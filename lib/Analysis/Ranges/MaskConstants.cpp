// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks backwards from a value to the constants whose infinities can reach it.

#include "mp/Analysis/MaskConstants.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/ConstantRounding.h"
#include "mp/Interfaces/FloatRangeOpInterface.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::UnaryFn;
using Kind = FloatMeaning::Kind;

static bool isInfinite(Attribute constant) {
  auto rounding = inspectRounding(constant, Float32Type::get(constant.getContext()));
  return rounding &&
         (rounding->infinite > 0 || rounding->largest >= std::numeric_limits<float>::max());
}

/// Operands of which an infinite element may be one of the result.
static void addSources(Operation *op, llvm::SetVector<Value> &values) {
  FloatMeaning meaning = getFloatMeaning(op);
  bool isExtremum = false;
  switch (meaning.kind) {
  case Kind::Unary:
    if (meaning.unary != UnaryFn::Identity && meaning.unary != UnaryFn::Neg &&
        meaning.unary != UnaryFn::Abs)
      return;
    break;
  case Kind::Binary:
    isExtremum = llvm::is_contained(
        {BinaryFn::Maximum, BinaryFn::Minimum, BinaryFn::MaxNum, BinaryFn::MinNum}, meaning.binary);
    if (!isExtremum &&
        !llvm::is_contained({BinaryFn::Add, BinaryFn::Sub, BinaryFn::Mul, BinaryFn::Div},
                            meaning.binary))
      return;
    break;
  case Kind::Fma:
  case Kind::Cast:
  case Kind::Move:
  case Kind::Select:
  case Kind::Merge:
  case Kind::Reduction: break;
  default: return;
  }
  for (unsigned operand : meaning.operands)
    if (Value source = op->getOperand(operand); !isExtremum || !matchPattern(source, m_Constant()))
      values.insert(source);
}

Operation *mlir::mp::findMaskConstant(Value value) {
  llvm::SetVector<Value> values;
  values.insert(value);
  auto followCarried = [&](Operation *op, Value carried) {
    auto control = dyn_cast<PrecisionOpInterface>(op);
    if (!control || control.getTypeRule() != TypeRule::Container)
      return;
    SmallVector<CarriedValue> all;
    control.getCarriedValues(all);
    for (const CarriedValue &known : all)
      if (llvm::is_contained(known.values, carried))
        for (OpOperand *feed : known.feeds)
          values.insert(feed->get());
  };
  for (size_t next = 0; next != values.size(); ++next) {
    Value current = values[next];
    if (auto argument = dyn_cast<BlockArgument>(current)) {
      Operation *parent = argument.getOwner()->getParentOp();
      auto structured = dyn_cast<linalg::LinalgOp>(parent);
      if (!structured) {
        followCarried(parent, current);
        continue;
      }
      OpOperand *operand = structured.getMatchingOpOperand(argument);
      if (!structured.isDpsInit(operand) || structured.getNumReductionLoops() == 0)
        values.insert(operand->get());
      continue;
    }
    Operation *op = current.getDefiningOp();
    Attribute constant;
    if (matchPattern(op, m_Constant(&constant))) {
      if (isInfinite(constant))
        return op;
    } else if (auto fill = dyn_cast<linalg::FillOp>(op)) {
      values.insert(fill.getInputs()[0]);
    } else if (getFloatMeaning(op).kind == Kind::Structured) {
      values.insert(cast<linalg::LinalgOp>(op).getBlock()->getTerminator()->getOperand(
          cast<OpResult>(current).getResultNumber()));
    } else {
      addSources(op, values);
      if (auto pad = getFloatMeaning(op).padding;
          pad && std::abs(*pad) >= std::numeric_limits<float>::max())
        return op;
      followCarried(op, current);
    }
  }
  return nullptr;
}
