// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker's own table of ops: what each computes from which operands.

#include "Elements.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mp::proofs;

/// Functions by name; operands are read in order. TOSA's sigmoid and negation have further operands
/// and attributes that change nothing for floats.
static const llvm::StringMap<Function> &functionTable() {
  static const llvm::StringMap<Function> table = {
      {"arith.addf", Function::Add},
      {"tosa.add", Function::Add},
      {"arith.subf", Function::Sub},
      {"tosa.sub", Function::Sub},
      {"arith.mulf", Function::Mul},
      {"tosa.mul", Function::Mul},
      {"arith.divf", Function::Div},
      {"arith.maximumf", Function::Max},
      {"arith.minimumf", Function::Min},
      {"arith.maxnumf", Function::MaxNumber},
      {"arith.minnumf", Function::MinNumber},
      {"tosa.maximum", Function::Max},
      {"tosa.minimum", Function::Min},
      {"math.powf", Function::Power},
      {"tosa.pow", Function::Power},
      {"math.fma", Function::Fma},
      {"arith.negf", Function::Negate},
      {"tosa.negate", Function::Negate},
      {"arith.remf", Function::Remainder},
      {"math.copysign", Function::CopySign},
      {"math.absf", Function::Absolute},
      {"tosa.abs", Function::Absolute},
      {"math.exp", Function::Exp},
      {"tosa.exp", Function::Exp},
      {"math.exp2", Function::Exp2},
      {"math.expm1", Function::Expm1},
      {"math.log", Function::Log},
      {"tosa.log", Function::Log},
      {"math.log1p", Function::Log1p},
      {"math.sqrt", Function::Sqrt},
      {"math.rsqrt", Function::Rsqrt},
      {"tosa.rsqrt", Function::Rsqrt},
      {"tosa.reciprocal", Function::Reciprocal},
      {"math.tanh", Function::Tanh},
      {"tosa.tanh", Function::Tanh},
      {"math.erf", Function::Erf},
      {"tosa.erf", Function::Erf},
      {"tosa.sigmoid", Function::Sigmoid},
      {"math.sin", Function::Sin},
      {"tosa.sin", Function::Sin},
      {"math.cos", Function::Cos},
      {"tosa.cos", Function::Cos},
      {"math.log2", Function::Log2},
      {"math.log10", Function::Log10},
      {"math.tan", Function::Tan},
      {"math.asin", Function::Asin},
      {"math.acos", Function::Acos},
      {"math.atan", Function::Atan},
      {"math.sinh", Function::Sinh},
      {"math.cosh", Function::Cosh},
      {"math.asinh", Function::Asinh},
      {"math.acosh", Function::Acosh},
      {"math.atanh", Function::Atanh},
      {"math.cbrt", Function::Cbrt},
      {"math.erfc", Function::Erfc},
      {"math.trunc", Function::Trunc},
      {"math.floor", Function::Floor},
      {"tosa.floor", Function::Floor},
      {"math.ceil", Function::Ceil},
      {"tosa.ceil", Function::Ceil},
      {"math.round", Function::Round},
      {"math.roundeven", Function::Round},
      {"arith.truncf", Function::Narrow},
      {"arith.cmpf", Function::Compare},
      {"linalg.max", Function::Max},
  };
  return table;
}

static unsigned operandCount(Function fn) {
  switch (fn) {
  case Function::Fma: return 3;
  case Function::Add:
  case Function::Sub:
  case Function::Mul:
  case Function::Div:
  case Function::Max:
  case Function::Min:
  case Function::MaxNumber:
  case Function::MinNumber:
  case Function::Power:
  case Function::Remainder:
  case Function::CopySign:
  case Function::Compare: return 2;
  default: return 1;
  }
}

/// TOSA's extrema drop NaN where `nan_mode` says so.
static bool dropsNaN(Operation *op) {
  auto mode = op->getAttrOfType<tosa::NanPropagationModeAttr>("nan_mode");
  return mode && mode.getValue() == tosa::NanPropagationMode::IGNORE;
}

OpFunction mlir::mp::proofs::readFunction(Operation *op) {
  OpFunction found;
  if (isa<arith::SelectOp, tosa::SelectOp>(op)) {
    found.fn = Function::Select;
    found.operands = {1, 2};
    return found;
  }
  if (auto clamp = dyn_cast<tosa::ClampOp>(op)) {
    auto low = dyn_cast<FloatAttr>(clamp.getMinVal()),
         high = dyn_cast<FloatAttr>(clamp.getMaxVal());
    if (low && high) {
      found = {Function::Clamp, {0}, low.getValueAsDouble(), high.getValueAsDouble(), dropsNaN(op)};
    }
    return found;
  }
  if (auto power = dyn_cast<math::FPowIOp>(op)) {
    APInt exponent;
    if (!matchPattern(power.getRhs(), m_ConstantInt(&exponent)))
      return found;
    if (exponent == 2)
      return {Function::Mul, {0, 0}};
    found = {Function::Power, {0}};
    found.exponent = exponent.getSExtValue();
    return found;
  }
  found.fn = functionTable().lookup(op->getName().getStringRef());
  if (dropsNaN(op) && found.fn == Function::Max)
    found.fn = Function::MaxNumber;
  if (dropsNaN(op) && found.fn == Function::Min)
    found.fn = Function::MinNumber;
  unsigned count = operandCount(found.fn);
  if (op->getNumOperands() < count)
    found.fn = Function::None;
  for (unsigned operand = 0; operand < count; ++operand)
    found.operands.push_back(operand);
  return found;
}

std::optional<double> mlir::mp::proofs::readSplat(Value value) {
  Attribute constant;
  if (!value || !matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  if (auto scalar = dyn_cast<FloatAttr>(constant))
    return scalar.getValueAsDouble();
  auto splat = dyn_cast<SplatElementsAttr>(constant);
  if (!splat || !isa<FloatType>(splat.getElementType()))
    return std::nullopt;
  return FloatAttr::get(splat.getElementType(), splat.getSplatValue<APFloat>()).getValueAsDouble();
}

linalg::LinalgOp mlir::mp::proofs::enclosingStructured(Value value) {
  return dyn_cast_or_null<linalg::LinalgOp>(value.getParentBlock()->getParentOp());
}

/// True if a partial result takes part in what makes `value` in the body of `op`.
static bool usesPartialResults(linalg::LinalgOp op, Value value) {
  SmallVector<Value> pending = {value};
  DenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (!seen.insert(next).second || next.getParentBlock() != op.getBlock())
      continue;
    if (llvm::is_contained(op.getRegionOutputArgs(), next))
      return true;
    if (Operation *maker = next.getDefiningOp()) {
      if (maker->getNumRegions() > 0)
        return true;
      llvm::append_range(pending, maker->getOperands());
    }
  }
  return false;
}

std::pair<Function, Value> mlir::mp::proofs::readCombiner(linalg::LinalgOp op, unsigned index) {
  Block *body = op.getBlock();
  Operation *combiner = body->getTerminator()->getOperand(index).getDefiningOp();
  Value partial = op.getRegionOutputArgs()[index];
  if (!combiner || combiner->getBlock() != body)
    return {};
  OpFunction found = readFunction(combiner);
  bool combines = llvm::is_contained(
      {Function::Add, Function::Max, Function::Min, Function::MaxNumber, Function::MinNumber},
      found.fn);
  if (!combines)
    return {};
  for (unsigned side : {0u, 1u})
    if (combiner->getOperand(side) == partial &&
        !usesPartialResults(op, combiner->getOperand(1 - side)))
      return {found.fn, combiner->getOperand(1 - side)};
  return {};
}

std::pair<Function, Value> mlir::mp::proofs::readChoice(linalg::LinalgOp op, unsigned index) {
  using P = arith::CmpFPredicate;
  Value partial = op.getRegionOutputArgs()[index];
  auto select = op.getBlock()->getTerminator()->getOperand(index).getDefiningOp<arith::SelectOp>();
  auto compare = select && select->getBlock() == op.getBlock()
                     ? select.getCondition().getDefiningOp<arith::CmpFOp>()
                     : arith::CmpFOp();
  if (!compare)
    return {};
  Value yes = select.getTrueValue(), no = select.getFalseValue();
  bool inOrder = compare.getLhs() == yes && compare.getRhs() == no;
  bool swapped = compare.getLhs() == no && compare.getRhs() == yes;
  bool greater = llvm::is_contained({P::OGT, P::OGE, P::UGT, P::UGE}, compare.getPredicate());
  bool less = llvm::is_contained({P::OLT, P::OLE, P::ULT, P::ULE}, compare.getPredicate());
  Value term = yes == partial ? no : no == partial ? yes : Value();
  if (!(greater || less) || inOrder == swapped || !term || usesPartialResults(op, term))
    return {};
  return {greater == inOrder ? Function::Max : Function::Min, term};
}

std::optional<unsigned> mlir::mp::proofs::readTosaAxis(Operation *op) {
  if (!isa<tosa::ReduceSumOp, tosa::ReduceMaxOp, tosa::ReduceMinOp>(op))
    return std::nullopt;
  return op->getAttrOfType<IntegerAttr>("axis").getInt();
}
