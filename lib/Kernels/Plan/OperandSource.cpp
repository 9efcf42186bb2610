// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads casts and paddings of operands, and clones casts for an element.

#include "OperandSource.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;

/// True for casts that need nothing but the element: not those that round by random bits.
static bool narrowsElement(Operation &op) {
  return op.getNumOperands() == 1 && isa<arith::TruncFOp, CastOp, RoundOp>(op);
}

bool mlir::mp::isNarrowing(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!generic || generic.getNumReductionLoops() != 0 || generic.getNumDpsInputs() != 1 ||
      generic.getNumDpsInits() != 1 || !generic.hasPureTensorSemantics() ||
      !getElementTypeOrSelf(generic.getInputs()[0].getType()).isF32())
    return false;
  if (!llvm::all_of(generic.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isPermutation(); }))
    return false;
  Block &body = *generic.getBody();
  Value element = body.getArgument(0);
  for (Operation &inner : body.without_terminator()) {
    if (!narrowsElement(inner) || inner.getOperand(0) != element)
      return false;
    element = inner.getResult(0);
  }
  return element != body.getArgument(0) && body.getTerminator()->getOperand(0) == element;
}

bool mlir::mp::isTF32Rounding(linalg::GenericOp op) {
  if (!op || !llvm::hasSingleElement(op.getBody()->without_terminator()))
    return false;
  auto round = dyn_cast<RoundOp>(op.getBody()->front());
  return round && round.getFormat().isTF32();
}

bool mlir::mp::isConstantPadding(Operation *op) {
  auto pad = dyn_cast_or_null<tensor::PadOp>(op);
  if (!pad || llvm::any_of(pad.getStaticLow(), ShapedType::isDynamic))
    return false;
  Value with = pad.getConstantPaddingValue();
  return with && (matchPattern(with, m_PosZeroFloat()) || matchPattern(with, m_Zero()) ||
                  (with.getType().isInteger(8) && matchPattern(with, m_Constant())));
}

/// Dimension i of the source is the loop of the cast that is dimension r of its result.
static void passNarrowing(linalg::GenericOp op, OperandSource &source) {
  const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  LinearAccess of;
  SmallVector<unsigned> padded;
  for (auto [i, loop] : llvm::enumerate(maps[0].getResults())) {
    const unsigned r = *maps[1].getResultPosition(loop);
    of.coefficients.push_back(source.access.coefficients[r]);
    of.constants.push_back(source.access.constants[r]);
    if (llvm::is_contained(source.padded, r))
      padded.push_back(i);
  }
  source.access = of;
  source.padded = padded;
  source.narrowing = op;
  source.tensor = op.getInputs()[0];
}

static void passPadding(tensor::PadOp op, OperandSource &source) {
  auto isZero = [](OpFoldResult size) { return getConstantIntValue(size) == int64_t(0); };
  for (auto [i, low, high] : llvm::enumerate(op.getStaticLow(), op.getMixedHighPad())) {
    source.access.constants[i] -= low;
    if (low != 0 || !isZero(high))
      source.padded.push_back(unsigned(i));
  }
  source.tensor = op.getSource();
  APInt beyond;
  if (matchPattern(op.getConstantPaddingValue(), m_ConstantInt(&beyond)) &&
      beyond.getBitWidth() == 8)
    source.beyond = uint8_t(beyond.getZExtValue());
}

OperandSource mlir::mp::readSource(Value operand, const LinearAccess &access) {
  OperandSource source{operand, access, {}, {}, 0, {}};
  while (Operation *op = source.tensor.getDefiningOp()) {
    if (isNarrowing(op) && !source.narrowing)
      passNarrowing(cast<linalg::GenericOp>(op), source);
    else if (isConstantPadding(op) && source.padded.empty())
      passPadding(cast<tensor::PadOp>(op), source);
    else
      break;
    source.ops.push_back(op);
  }
  return source;
}

Value mlir::mp::narrowElement(OpBuilder &b, linalg::GenericOp narrowing, Value element) {
  IRMapping mapping;
  mapping.map(narrowing.getBody()->getArgument(0), element);
  for (Operation &inner : narrowing.getBody()->without_terminator())
    b.clone(inner, mapping);
  return mapping.lookup(narrowing.getBody()->getTerminator()->getOperand(0));
}
