// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies a function op by op, with conversions where formats differ.

#include "FunctionRebuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mp/Analysis/ConstantRounding.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mp;

FunctionOpInterface FunctionRebuilder::rebuild(FunctionOpInterface function,
                                               const TiedStorage &ties, bool saturates) {
  FunctionRebuilder rebuilder(function.getContext(), ties, saturates);
  OpBuilder beside(function);
  Operation *copy = beside.insert(function->cloneWithoutRegions());
  auto result = cast<FunctionOpInterface>(copy);
  rebuilder.rebuildSignature(function, result);
  if (failed(rebuilder.rebuildRegion(function.getFunctionBody(), result.getFunctionBody()))) {
    copy->walk([](Operation *op) { op->dropAllReferences(); });
    copy->erase();
    return {};
  }
  rebuilder.eraseSuperseded();
  return result;
}

void FunctionRebuilder::rebuildSignature(FunctionOpInterface from, FunctionOpInterface to) {
  SmallVector<Type> arguments, results(from.getResultTypes());
  for (BlockArgument argument : from.getArguments())
    arguments.push_back(getCarriedType(argument));
  for (Block &block : from.getFunctionBody())
    for (OpOperand &operand : block.getTerminator()->getOpOperands())
      if (const TiedValues *tied = ties.findFed(operand);
          tied && block.getTerminator()->hasTrait<OpTrait::ReturnLike>())
        results[operand.getOperandNumber()] =
            withFormat(operand.get().getType(), ties.getDecided(*tied));
  // Not every function can spell its type again from these: an llvm.func without a result has one
  // of type void.
  if (TypeRange(arguments) != TypeRange(from.getArgumentTypes()) ||
      TypeRange(results) != TypeRange(from.getResultTypes()))
    to.setFunctionTypeAttr(TypeAttr::get(from.cloneTypeWith(arguments, results)));
}

void FunctionRebuilder::eraseSuperseded() {
  for (Operation *source : llvm::reverse(sources))
    if (source->use_empty())
      source->erase();
}

LogicalResult FunctionRebuilder::rebuildRegion(Region &from, Region &to) {
  if (from.empty())
    return success();
  for (Block &block : from) {
    Block &copy = to.emplaceBlock();
    blocks[&block] = &copy;
    for (BlockArgument argument : block.getArguments())
      values[argument] = copy.addArgument(getCarriedType(argument), argument.getLoc());
  }
  // Definitions before uses: blocks in reverse post-order, unreachable ones last.
  llvm::SetVector<Block *> order;
  for (Block &root : from)
    if (!order.contains(&root))
      order.insert_range(llvm::ReversePostOrderTraversal<Block *>(&root));
  for (Block *block : order)
    for (Operation &op : *block) {
      if (failed(checkDefined(&op)))
        return failure();
      builder.setInsertionPointToEnd(blocks[block]);
      if (failed(rebuildOp(&op)))
        return failure();
    }
  return success();
}

/// In unreachable code, a value may be used before its definition, even by itself.
LogicalResult FunctionRebuilder::checkDefined(Operation *op) {
  for (Value operand : op->getOperands())
    if (!values.contains(operand))
      return op->emitOpError(
          "stands in an unreachable block and uses a value before its definition, "
          "which cannot be rebuilt: run 'canonicalize' first");
  return success();
}

Type FunctionRebuilder::getCarriedType(Value old) {
  const TiedValues *tied = ties.find(old);
  return tied ? withFormat(old.getType(), ties.getDecided(*tied)) : old.getType();
}

Value FunctionRebuilder::getTaken(OpOperand &operand) {
  Type type = operand.get().getType();
  const TiedValues *tied = ties.findFed(operand);
  return getAs(operand.get(), tied ? withFormat(type, ties.getDecided(*tied)) : type);
}

/// Decided to accumulate, and so to compute, in a wider format than that of its result.
static bool isPromotion(Operation *op, PrecisionAttr precision) {
  auto accumulator = dyn_cast_or_null<FloatType>(precision.getAcc());
  return accumulator && op->getNumResults() > 0 &&
         accumulator.getWidth() > getFloatFormat(op->getResult(0).getType()).getWidth();
}

LogicalResult FunctionRebuilder::rebuildOp(Operation *op) {
  auto precision = op->getAttrOfType<PrecisionAttr>(kPrecisionAttrName);
  auto interface = dyn_cast<PrecisionOpInterface>(op);
  TypeRule rule = interface ? interface.getTypeRule() : TypeRule::Frozen;
  if (rule == TypeRule::Container)
    return rebuildContainer(op);
  if (precision && interface && (rule != TypeRule::Frozen || isPromotion(op, precision))) {
    rebuildDecided(op, precision);
    return success();
  }
  Operation *copy = copyHandingOn(op);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), copy->getRegions()))
    to.takeBody(from);
  takeCaptures(copy);
  SmallVector<Type> storages;
  if (precision)
    llvm::append_range(storages, precision.getOut());
  mapResults(op, copy, storages);
  return success();
}

LogicalResult FunctionRebuilder::rebuildContainer(Operation *op) {
  Operation *copy = copyHandingOn(op);
  mapResults(op, copy, {});
  OpBuilder::InsertionGuard guard(builder);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), copy->getRegions()))
    if (failed(rebuildRegion(from, to)))
      return failure();
  return success();
}

void FunctionRebuilder::rebuildDecided(Operation *op, PrecisionAttr precision) {
  auto interface = cast<PrecisionOpInterface>(op);
  auto compute = dyn_cast_or_null<FloatType>(precision.getCompute());
  auto accumulator = dyn_cast_or_null<FloatType>(precision.getAcc());
  TypeRule rule = interface.getTypeRule();
  // The format an operand arrives in: factors in their storage, everything
  // else in the format the op runs in.
  FloatType uniform = compute;
  if (!uniform)
    for (Type storage : llvm::concat<const Type>(precision.getIn(), precision.getOut()))
      if (auto format = dyn_cast<FloatType>(storage)) {
        uniform = format;
        break;
      }
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    Value old = operand.get();
    Type storage = precision.getIn()[operand.getOperandNumber()];
    auto stored = dyn_cast<FloatType>(storage);
    if (!stored) {
      operands.push_back(getAs(old, old.getType()));
      continue;
    }
    OperandRole role = interface.getOperandRole(operand.getOperandNumber());
    Value value = getAs(old, withFormat(old.getType(), stored));
    if (rule == TypeRule::Uniform && uniform) // tf32 is stored in f32
      value = convert(value, uniform.isTF32() ? Float32Type::get(op->getContext()) : uniform);
    else if (role == OperandRole::Init && accumulator)
      value = convert(value, accumulator);
    if (compute && compute.isTF32() && role == OperandRole::Factor && stored.isF32())
      value = roundTo(value, compute);
    operands.push_back(value);
  }
  SmallVector<Type> results;
  for (auto [type, storage] : llvm::zip_equal(op->getResultTypes(), precision.getOut())) {
    FloatType format = rule == TypeRule::Uniform ? uniform : accumulator;
    results.push_back(
        isa<FloatType>(storage) && format && !format.isTF32() ? withFormat(type, format) : type);
  }
  builder.setInsertionPointToEnd(builder.getInsertionBlock());
  Operation *copy = interface.rebuild(builder, operands, results);
  if (accumulator)
    cast<PrecisionOpInterface>(copy).setAccumulator(accumulator);
  remapCaptures(copy, isPromotion(op, precision) ? accumulator : FloatType());
  mapResults(op, copy, precision.getOut());
}

Operation *FunctionRebuilder::copyHandingOn(Operation *op) {
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands())
    operands.push_back(getTaken(operand));
  SmallVector<Type> results;
  for (Value old : op->getResults())
    results.push_back(getCarriedType(old));
  SmallVector<Block *> successors;
  for (Block *successor : op->getSuccessors())
    successors.push_back(blocks.lookup(successor));
  builder.setInsertionPointToEnd(builder.getInsertionBlock());
  return builder.insert(Operation::create(op->getLoc(), op->getName(), results, operands,
                                          op->getRawDictionaryAttrs(), op->getPropertiesStorage(),
                                          successors, op->getNumRegions()));
}

/// Operands that a body itself defines, as nearly all are, are no captures.
static bool isFromSameBlock(OpOperand &operand) {
  return operand.get().getParentBlock() == operand.getOwner()->getBlock();
}

void FunctionRebuilder::remapCaptures(Operation *copy, FloatType wide) {
  for (Region &region : copy->getRegions())
    region.walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands()) {
        if (isFromSameBlock(operand) || !values.contains(operand.get()))
          continue;
        Type type = operand.get().getType();
        if (FloatType format = getFloatFormat(type); wide && format && format.getWidth() < 32)
          type = withFormat(type, wide);
        operand.set(getAs(operand.get(), type));
      }
    });
}

void FunctionRebuilder::takeCaptures(Operation *copy) {
  for (Region &region : copy->getRegions())
    region.walk<WalkOrder::PreOrder>([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands())
        if (!isFromSameBlock(operand) && values.contains(operand.get()))
          operand.set(getTaken(operand));
    });
}

void FunctionRebuilder::mapResults(Operation *op, Operation *copy, ArrayRef<Type> storages) {
  copy->removeDiscardableAttr(precisionName);
  if (isRemakeable(copy) && !op->use_empty())
    sources.push_back(copy);
  for (auto [index, old] : llvm::enumerate(op->getResults())) {
    Value result = copy->getResult(index);
    auto storage = storages.empty() ? FloatType() : dyn_cast<FloatType>(storages[index]);
    values[old] = storage ? convert(result, storage) : result;
  }
}

Value FunctionRebuilder::getAs(Value old, Type type) {
  Value value = values.lookup(old);
  assert(value && "a use before its definition");
  FloatType format = getFloatFormat(type);
  return format ? convert(value, format) : value;
}

void FunctionRebuilder::insertBehind(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    builder.setInsertionPointToStart(argument.getOwner());
  else
    builder.setInsertionPointAfterValue(value);
}

Value FunctionRebuilder::convert(Value value, FloatType format) {
  FloatType from = getFloatFormat(value.getType());
  if (!from || from == format)
    return value;
  if (Value known = conversions.lookup({value, format}))
    return known;
  OpBuilder::InsertionGuard guard(builder);
  insertBehind(value);
  Type type = withFormat(value.getType(), format);
  Operation *def = value.getDefiningOp();

  Overflow overflow = saturates ? overflowOfConstant(value, format) : Overflow::IEEE;
  // Recursion moves the insertion point only behind earlier definitions.
  auto operandIn = [&](Value operand) { return convert(operand, format); };
  if (Value made = def ? remakeIn(def, builder, format, overflow, operandIn) : Value()) {
    Attribute constant;
    if (overflow == Overflow::Saturate && matchPattern(def, m_Constant(&constant)))
      markSaturated(made.getDefiningOp(), constant, format);
    return conversions[{value, format}] = made;
  }
  bool narrowing = !mp::holdsEveryValueOf(format, from);
  auto cast = CastOp::create(
      builder, value.getLoc(), type, value, /*bits=*/Value(), /*rounding=*/RoundingAttr(),
      narrowing ? OverflowAttr::get(builder.getContext(), overflow) : OverflowAttr(),
      builder.getUnitAttr());
  return conversions[{value, format}] = cast.getResult();
}

Value FunctionRebuilder::roundTo(Value value, FloatType format) {
  Value &known = roundings[{value, format}];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(builder);
  insertBehind(value);
  return known = RoundOp::create(builder, value.getLoc(), value.getType(), TypeAttr::get(format),
                                 value, builder.getUnitAttr());
}
