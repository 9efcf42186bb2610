// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clones scalar ops for elements on demand, remembering what was computed.

#include "Evaluate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

/// Points that agree on `value` share one key.
template <class Make>
Value Evaluate::remember(Value value, Point point, unsigned varies, Make make) {
  Key key{value, varies & kAlongRows ? point.row : 0, varies & kAlongColumns ? point.column : 0};
  bool isFixed = !(varies & kAlongColumns);
  auto &known = isFixed ? fixed : changing;
  if (auto it = known.find(key); it != known.end())
    return it->second;
  Value element;
  {
    OpBuilder::InsertionGuard guard(b);
    if (isFixed && loop)
      b.setInsertionPoint(loop);
    element = make();
  }
  if (isFixed)
    fixedElements.insert(element);
  return known.try_emplace(key, element).first->second;
}

void Evaluate::set(Value tensor, Point point, Value element) {
  unsigned varies = source.varies(tensor);
  Key key{tensor, varies & kAlongRows ? point.row : 0, varies & kAlongColumns ? point.column : 0};
  if (varies & kAlongColumns) {
    changing[key] = element;
  } else {
    fixed[key] = element;
    fixedElements.insert(element);
  }
}

Value Evaluate::at(Value value, Point point) {
  unsigned varies = isa<TensorType>(value.getType()) ? source.varies(value) : unsigned(kUniform);
  return remember(value, point, varies, [&] { return compute(value, point); });
}

Value Evaluate::compute(Value value, Point point) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return source.read(value, point);
  if (DenseElementsAttr dense;
      isa<TensorType>(value.getType()) && matchPattern(op, m_Constant(&dense)))
    return arith::ConstantOp::create(b, cast<TypedAttr>(dense.getSplatValue<Attribute>()));
  if (isa<tensor::EmptyOp>(op)) // any value will do
    return arith::ConstantOp::create(b, b.getZeroAttr(getElementTypeOrSelf(value.getType())));
  if (getMovement(op) == Movement::View)
    return at(op->getOperand(0), point);
  unsigned result = cast<OpResult>(value).getResultNumber();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    if (linalgOp.getNumReductionLoops() != 0)
      return source.read(value, point);
    return inBody(linalgOp, linalgOp.getBlock()->getTerminator()->getOperand(result), point);
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(at(operand, point));
  return build(op, operands, result);
}

unsigned Evaluate::variesInBody(linalg::LinalgOp op, Value value) {
  if (auto it = bodyVaries.find(value); it != bodyVaries.end())
    return it->second;
  unsigned bits = kUniform;
  Operation *inner = value.getDefiningOp();
  if (value.getParentBlock() != op.getBlock()) {
    bits = kUniform; // a scalar from outside
  } else if (!inner) {
    Value operand = op->getOperand(cast<BlockArgument>(value).getArgNumber());
    bits = isa<TensorType>(operand.getType()) ? source.varies(operand) : unsigned(kUniform);
  } else if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
    bits = source.varies(op, index.getDim());
  } else {
    for (Value operand : inner->getOperands())
      bits |= variesInBody(op, operand);
  }
  return bodyVaries[value] = bits;
}

Value Evaluate::inBody(linalg::LinalgOp op, Value value, Point point) {
  return remember(value, point, variesInBody(op, value),
                  [&] { return computeInBody(op, value, point); });
}

Value Evaluate::computeInBody(linalg::LinalgOp op, Value value, Point point) {
  if (value.getParentBlock() != op.getBlock())
    return at(value, point);
  Operation *inner = value.getDefiningOp();
  if (!inner)
    return at(op->getOperand(cast<BlockArgument>(value).getArgNumber()), point);
  if (auto index = dyn_cast<linalg::IndexOp>(inner))
    return source.index(op, index.getDim(), point);
  SmallVector<Value> operands;
  if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
    checkAssertions(op, point);
    for (Value index : extract.getIndices())
      operands.push_back(inBody(op, index, point));
    return source.gather(cast<BlockArgument>(extract.getTensor()), operands, point,
                         variesInBody(op, value));
  }
  for (Value operand : inner->getOperands())
    operands.push_back(inBody(op, operand, point));
  return build(inner, operands, cast<OpResult>(value).getResultNumber());
}

void Evaluate::checkAssertions(linalg::LinalgOp op, Point point) {
  for (auto assertion : op.getBlock()->getOps<cf::AssertOp>()) {
    const unsigned varies = variesInBody(op, assertion.getArg());
    Value holds = inBody(op, assertion.getArg(), point);
    if (!checked.insert(holds).second)
      continue;
    OpBuilder::InsertionGuard guard(b);
    if (!(varies & kAlongColumns) && loop)
      b.setInsertionPoint(loop);
    source.check(assertion.getMsg(), holds, point, varies);
  }
}

/// A divisor for which the division is defined whatever its operands are: lanes beyond an array
/// divide, too, and LLVM would conclude from a divisor of zero that there are none.
static Value definedDivisor(ImplicitLocOpBuilder &b, Operation *op, ValueRange operands) {
  Type type = operands[1].getType();
  if (APInt known;
      matchPattern(operands[1], m_ConstantInt(&known)) && !known.isZero() && !known.isAllOnes())
    return operands[1];
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  };
  auto is = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
  };
  Value undefined = is(operands[1], constant(0));
  if (isa<arith::DivSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp, arith::RemSIOp>(op)) {
    unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    Value least = constant(APInt::getSignedMinValue(width).getSExtValue());
    Value overflows =
        arith::AndIOp::create(b, is(operands[0], least), is(operands[1], constant(-1)));
    undefined = arith::OrIOp::create(b, undefined, overflows);
  }
  return arith::SelectOp::create(b, undefined, constant(1), operands[1]);
}

/// `op` on scalars: itself, or the form that the accuracy of functions allows.
Value Evaluate::build(Operation *op, ValueRange operands, unsigned result) {
  if (isa<arith::ExtFOp, CastOp>(op) && op->getNumOperands() == 1 &&
      getElementTypeOrSelf(op->getResult(0).getType()).isF32())
    if (Value wide = widened.lookup(operands[0]))
      return wide;
  auto isFixed = [&](Value element) { return fixedElements.contains(element); };
  if (Value form = forms.form(b, op, operands, isFixed))
    return form;
  OperationState state(b.getLoc(), op->getName());
  state.addOperands(operands);
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
          arith::FloorDivSIOp, arith::RemSIOp, arith::RemUIOp>(op))
    state.operands[1] = definedDivisor(b, op, operands);
  for (Type type : op->getResultTypes())
    state.addTypes(getElementTypeOrSelf(type));
  state.addAttributes(op->getAttrs());
  Operation *made = b.create(state);
  forms.allow(made);
  return made->getResult(result);
}
