// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface's generic part: answers for any op, meanings that dialects share, and constants
// made again in another format.

#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "Meanings.h"
#include "TableModel.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::detail;

#include "mp/Interfaces/FloatSemanticsOpInterface.cpp.inc"

FloatMeaning mlir::mp::getFloatMeaning(Operation *op) {
  auto interface = dyn_cast<FloatSemanticsOpInterface>(op);
  return interface ? interface.getMeaning() : FloatMeaning::unknown();
}

Movement mlir::mp::getMovement(Operation *op) {
  auto interface = dyn_cast<FloatSemanticsOpInterface>(op);
  return interface ? interface.getMovement() : Movement::None;
}

static bool isConstantOp(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() && op->getNumOperands() == 0;
}

bool mlir::mp::isRemakeable(Operation *op) {
  if (isConstantOp(op))
    return true;
  auto interface = dyn_cast<FloatSemanticsOpInterface>(op);
  return interface && interface.isRemakeable();
}

Value mlir::mp::remakeIn(Operation *op, OpBuilder &builder, FloatType format, Overflow overflow,
                         llvm::function_ref<Value(Value)> operandIn) {
  if (isConstantOp(op))
    return remakeConstant(op, builder, format, overflow, operandIn);
  auto interface = dyn_cast<FloatSemanticsOpInterface>(op);
  return interface ? interface.remakeIn(builder, format, overflow, operandIn) : Value();
}

Operation *mlir::mp::cloneConstant(Operation *constant, Attribute value, Type type) {
  Attribute before;
  bool isConstant = matchPattern(constant, m_Constant(&before));
  assert(isConstant && "expected a constant");
  (void)isConstant;
  Operation *copy = constant->clone();
  for (NamedAttribute attribute : constant->getAttrs())
    if (attribute.getValue() == before)
      copy->setAttr(attribute.getName(), value);
  copy->getResult(0).setType(type);
  return copy;
}

Value mlir::mp::detail::remakeConstant(Operation *op, OpBuilder &builder, FloatType format,
                                       Overflow overflow, llvm::function_ref<Value(Value)>) {
  Attribute constant;
  if (!matchPattern(op, m_Constant(&constant)))
    return {};
  Attribute converted = convertConstant(constant, format, Rounding::RNE, overflow);
  if (!converted)
    return {};
  Type type = withFormat(op->getResult(0).getType(), format);
  return builder.insert(cloneConstant(op, converted, type))->getResult(0);
}

FloatMeaning mlir::mp::detail::selects(Operation *) {
  return FloatMeaning::of(Kind::Select, {1, 2});
}

FloatMeaning mlir::mp::detail::isConstant(Operation *) {
  return FloatMeaning::of(Kind::Constant, {});
}

FloatMeaning mlir::mp::detail::mergesFloats(Operation *op) {
  FloatMeaning meaning = FloatMeaning::of(Kind::Merge, {});
  for (OpOperand &operand : op->getOpOperands())
    if (getFloatFormat(operand.get().getType()))
      meaning.operands.push_back(operand.getOperandNumber());
  return meaning;
}

static Rows rowsOfReshape(Type from, Type to) {
  auto before = dyn_cast<RankedTensorType>(from), after = dyn_cast<RankedTensorType>(to);
  if (!before || !after || before.getRank() == 0 || after.getRank() == 0)
    return Rows::Other;
  int64_t a = before.getShape().back(), b = after.getShape().back();
  if (ShapedType::isDynamic(a) || ShapedType::isDynamic(b))
    return Rows::Other;
  return a == b ? Rows::Kept : a % std::max<int64_t>(b, 1) == 0 ? Rows::Part : Rows::Other;
}

FloatMeaning mlir::mp::detail::reshapes(Operation *op) {
  FloatMeaning meaning = FloatMeaning::of(Kind::Move, {0});
  meaning.rows = rowsOfReshape(op->getOperand(0).getType(), op->getResult(0).getType());
  return meaning;
}

Extent mlir::mp::detail::extentOf(Value value, int64_t dim) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || dim < 0 || dim >= type.getRank() || type.isDynamicDim(dim))
    return Extent::unknown();
  return Extent::exactly(type.getDimSize(dim));
}

Extent mlir::mp::detail::product(Extent a, Extent b) {
  Extent result;
  result.min = llvm::SaturatingMultiply<uint64_t>(a.min, b.min);
  if (a.max && b.max)
    result.max = llvm::SaturatingMultiply<uint64_t>(*a.max, *b.max);
  return result;
}
