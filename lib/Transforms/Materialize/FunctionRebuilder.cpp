// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FunctionRebuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;
using namespace mlir::mp;

FunctionOpInterface FunctionRebuilder::rebuild(FunctionOpInterface function) {
  FunctionRebuilder rebuilder(function.getContext());
  OpBuilder beside(function);
  Operation *copy = beside.insert(function->cloneWithoutRegions());
  auto result = cast<FunctionOpInterface>(copy);
  Region &from = function.getFunctionBody();
  SmallVector<Type> arguments(function.getArgumentTypes());
  for (auto [index, type] : llvm::enumerate(arguments))
    if (auto storage = function.getArgAttrOfType<TypeAttr>(index, kStorageAttrName))
      type = withFormat(type, cast<FloatType>(storage.getValue()));
  result.setFunctionTypeAttr(
      TypeAttr::get(function.cloneTypeWith(arguments, function.getResultTypes())));
  if (failed(rebuilder.rebuildRegion(from, result.getFunctionBody(),
                                     arguments, {}))) {
    copy->dropAllReferences();
    copy->walk([](Operation *op) { op->dropAllReferences(); });
    copy->erase();
    return {};
  }
  rebuilder.eraseSuperseded();
  return result;
}

void FunctionRebuilder::eraseSuperseded() {
  for (Operation *source : llvm::reverse(sources))
    if (source->use_empty())
      source->erase();
}

LogicalResult FunctionRebuilder::rebuildRegion(Region &from, Region &to, TypeRange firstBlockTypes,
                                               ArrayRef<Type> yielded) {
  if (from.empty())
    return success();
  for (Block &block : from) {
    Block &copy = to.emplaceBlock();
    blocks[&block] = &copy;
    TypeRange types = block.isEntryBlock() ? firstBlockTypes : TypeRange(block.getArgumentTypes());
    for (auto [argument, type] : llvm::zip_equal(block.getArguments(), types))
      values[argument] = copy.addArgument(type, argument.getLoc());
  }
  // Definitions before uses: blocks in reverse post-order, unreachable ones last.
  llvm::ReversePostOrderTraversal<Region *> order(&from);
  DenseSet<Block *> reached;
  for (Block *block : order) {
    reached.insert(block);
    if (failed(rebuildBlock(*block, *blocks[block], yielded)))
      return failure();
  }
  for (Block &block : from)
    if (!reached.contains(&block))
      return block.getParentOp()->emitOpError("has an unreachable block, which cannot be rebuilt: "
                                              "run 'canonicalize' first");
  return success();
}

LogicalResult FunctionRebuilder::rebuildBlock(Block &from, Block &to, ArrayRef<Type> yielded) {
  for (Operation &op : from) {
    builder.setInsertionPointToEnd(&to);
    if (failed(rebuildOp(&op, yielded)))
      return failure();
  }
  return success();
}

LogicalResult FunctionRebuilder::rebuildOp(Operation *op, ArrayRef<Type> yielded) {
  if (op->hasTrait<OpTrait::IsTerminator>() && !yielded.empty()) {
    SmallVector<Value> operands;
    for (auto [operand, type] : llvm::zip_equal(op->getOperands(), yielded))
      operands.push_back(getAs(operand, type));
    builder.setInsertionPointToEnd(builder.getInsertionBlock());
    Operation *copy = op->cloneWithoutRegions();
    copy->setOperands(operands);
    builder.insert(copy);
    return success();
  }
  auto precision = op->getAttrOfType<PrecisionAttr>(kPrecisionAttrName);
  auto interface = dyn_cast<PrecisionOpInterface>(op);
  if (interface && interface.getTypeRule() == TypeRule::Container)
    return rebuildContainer(op, precision);
  if (precision && interface && interface.getTypeRule() != TypeRule::Frozen)
    return rebuildDecided(op, precision);
  Operation *copy = copyInOriginalTypes(op);
  SmallVector<Type> storages;
  if (precision)
    llvm::append_range(storages, precision.getOut());
  mapResults(op, copy, storages);
  return success();
}

/// The types a container yields from its regions, where they are its results.
static bool yieldsResults(Operation *op) {
  return isa<scf::ForOp, scf::IfOp, scf::IndexSwitchOp, scf::ExecuteRegionOp>(op);
}

LogicalResult FunctionRebuilder::rebuildContainer(Operation *op, PrecisionAttr precision) {
  SmallVector<Type> results(op->getResultTypes());
  if (precision)
    for (auto [type, storage] : llvm::zip_equal(results, precision.getOut()))
      if (auto format = dyn_cast<FloatType>(storage))
        type = withFormat(type, format);

  SmallVector<Value> operands;
  auto loop = dyn_cast<scf::ForOp>(op);
  unsigned firstInit = loop ? loop.getNumControlOperands() : op->getNumOperands();
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    operands.push_back(getAs(operand.get(), index >= firstInit ? results[index - firstInit]
                                                               : operand.get().getType()));
  }
  builder.setInsertionPointToEnd(builder.getInsertionBlock());
  Operation *copy = op->cloneWithoutRegions();
  copy->removeAttr(kPrecisionAttrName);
  copy->setOperands(operands);
  for (auto [result, type] : llvm::zip_equal(copy->getResults(), results))
    result.setType(type);
  builder.insert(copy);
  for (auto [old, result] : llvm::zip_equal(op->getResults(), copy->getResults()))
    values[old] = result;

  for (auto [from, to] : llvm::zip_equal(op->getRegions(), copy->getRegions())) {
    if (from.empty())
      continue;
    SmallVector<Type> arguments(from.front().getArgumentTypes());
    if (loop)
      llvm::copy(results, arguments.begin() + loop.getNumInductionVars());
    SmallVector<Type> yielded;
    if (yieldsResults(op) && from.hasOneBlock())
      yielded = results;
    OpBuilder::InsertionGuard guard(builder);
    if (failed(rebuildRegion(from, to, arguments, yielded)))
      return failure();
  }
  return success();
}

LogicalResult FunctionRebuilder::rebuildDecided(Operation *op, PrecisionAttr precision) {
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
    if (rule == TypeRule::Uniform && uniform && !uniform.isTF32())
      value = convert(value, uniform);
    else if (role == OperandRole::Init && accumulator)
      value = convert(value, accumulator);
    if (compute && compute.isTF32() && role == OperandRole::Factor && stored.isF32())
      value = roundTo(value, compute);
    operands.push_back(value);
  }
  SmallVector<Type> results;
  for (auto [type, storage] : llvm::zip_equal(op->getResultTypes(), precision.getOut())) {
    FloatType format = rule == TypeRule::Uniform ? uniform : accumulator;
    results.push_back(isa<FloatType>(storage) && format && !format.isTF32() ? withFormat(type, format)
                                                                            : type);
  }
  builder.setInsertionPointToEnd(builder.getInsertionBlock());
  Operation *copy = interface.rebuild(builder, operands, results);
  remapCaptures(copy);
  mapResults(op, copy, precision.getOut());
  return success();
}

Operation *FunctionRebuilder::copyInOriginalTypes(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(getAs(operand, operand.getType()));
  builder.setInsertionPointToEnd(builder.getInsertionBlock());
  Operation *copy = op->clone();
  copy->setOperands(operands);
  for (auto [index, successor] : llvm::enumerate(op->getSuccessors()))
    copy->setSuccessor(blocks.lookup(successor), index);
  builder.insert(copy);
  remapCaptures(copy);
  return copy;
}

void FunctionRebuilder::remapCaptures(Operation *copy) {
  for (Region &region : copy->getRegions())
    region.walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands())
        if (values.contains(operand.get()))
          operand.set(getAs(operand.get(), operand.get().getType()));
    });
}

/// Ops that are written again in another format rather than cast.
static bool isMadeAnew(Operation *op) {
  return matchPattern(op, m_Constant()) || isa<tensor::EmptyOp, linalg::FillOp>(op);
}

void FunctionRebuilder::mapResults(Operation *op, Operation *copy, ArrayRef<Type> storages) {
  copy->removeAttr(kPrecisionAttrName);
  if (isMadeAnew(copy) && !op->use_empty())
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
  Value &known = conversions[{value, format}];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(builder);
  insertBehind(value);
  Type type = withFormat(value.getType(), format);
  Operation *def = value.getDefiningOp();

  Attribute constant;
  if (def && def->getNumOperands() == 0 && matchPattern(def, m_Constant(&constant)))
    if (Attribute converted =
            convertConstant(constant, format, Rounding::RNE, Overflow::IEEE)) {
      Operation *copy = def->clone();
      // arith calls it `value`, tosa `values`.
      for (NamedAttribute attribute : def->getAttrs())
        if (attribute.getValue() == constant)
          copy->setAttr(attribute.getName(), converted);
      copy->getResult(0).setType(type);
      return known = builder.insert(copy)->getResult(0);
    }
  if (isa_and_nonnull<tensor::EmptyOp>(def)) {
    Operation *copy = def->clone();
    copy->getResult(0).setType(type);
    return known = builder.insert(copy)->getResult(0);
  }
  if (auto fill = dyn_cast_or_null<linalg::FillOp>(def)) {
    // Recursion moves the insertion point only behind earlier definitions.
    Value scalar = convert(fill.getInputs()[0], format);
    Value out = convert(fill.getOutputs()[0], format);
    auto copy = linalg::FillOp::create(builder, fill.getLoc(), scalar, out);
    return conversions[{value, format}] = copy.getResult(0);
  }
  bool narrowing = !mp::holdsEveryValueOf(format, from);
  auto cast = CastOp::create(
      builder, value.getLoc(), type, value, /*bits=*/Value(), /*rounding=*/RoundingAttr(),
      narrowing ? OverflowAttr::get(builder.getContext(), Overflow::IEEE) : OverflowAttr(),
      builder.getUnitAttr());
  return known = cast.getResult();
}

Value FunctionRebuilder::roundTo(Value value, FloatType format) {
  Value &known = roundings[{value, format}];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(builder);
  insertBehind(value);
  return known = RoundOp::create(builder, value.getLoc(), value.getType(), TypeAttr::get(format), value,
                                 builder.getUnitAttr());
}
