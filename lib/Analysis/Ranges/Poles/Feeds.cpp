// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks from values to what they are made of and to what decides them, through bodies, calls and
// buffers.

#include "Feeds.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mp/Analysis/DataMovement.h"

using namespace mlir;
using namespace mlir::mp;

bool mlir::mp::isWhole(Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  return type.isIntOrIndex() || isa<FunctionType>(type);
}

bool mlir::mp::isOnBuffers(Operation *op) {
  return op && llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BaseMemRefType>);
}

bool mlir::mp::callsByName(CallOpInterface call) {
  return isa<SymbolRefAttr>(call.getCallableForCallee());
}

FunctionOpInterface mlir::mp::findCalleeInBlocks(Operation *op) {
  auto call = dyn_cast_or_null<CallOpInterface>(op);
  auto callee = call ? dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable()) : nullptr;
  return callee && !callee.isExternal() && !callee.getFunctionBody().hasOneBlock() ? callee
                                                                                   : nullptr;
}

bool mlir::mp::namesMemory(Operation *op) {
  return isa_and_nonnull<SymbolUserOpInterface>(op) && !isa<CallOpInterface>(op) &&
         op->getNumRegions() == 0 && !isPure(op);
}

/// Collects what other ops write to the global that `op` reads by name.
static void addStored(Operation *op, SmallVectorImpl<Value> &values) {
  auto module = op->getParentOfType<ModuleOp>();
  op->getAttrDictionary().walk([&](SymbolRefAttr name) {
    Operation *global = SymbolTable::lookupNearestSymbolFrom(op, name);
    auto uses = global ? SymbolTable::getSymbolUses(global, module) : std::nullopt;
    if (uses)
      for (SymbolTable::SymbolUse use : *uses)
        llvm::append_range(values, use.getUser()->getOperands());
  });
}

static bool isBuffer(Value value) { return isa<BaseMemRefType>(value.getType()); }

/// Collects what may be written to `buffer`: operands of its users, and all that may name it.
static void addWritten(Value buffer, SmallVectorImpl<Value> &values) {
  auto addBuffers = [&](ValueRange range) {
    llvm::append_range(values, llvm::make_filter_range(range, isBuffer));
  };
  for (Operation *user : buffer.getUsers()) {
    llvm::append_range(values, user->getOperands());
    addBuffers(user->getResults());
    for (Region &region : user->getRegions())
      for (Block &block : region) {
        addBuffers(block.getArguments());
        if (isa<linalg::LinalgOp>(user))
          llvm::append_range(values, block.getTerminator()->getOperands());
      }
    for (Block *successor : user->getSuccessors())
      addBuffers(successor->getArguments());
    auto call = dyn_cast<CallOpInterface>(user);
    if (auto callee = call ? dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable())
                           : FunctionOpInterface())
      addBuffers(callee.getArguments());
  }
  Operation *global = buffer.getDefiningOp();
  if (!global || global->getNumOperands() > 0 || !isa<SymbolUserOpInterface>(global))
    return;
  global->getParentOfType<ModuleOp>()->walk([&](Operation *op) {
    if (op->getName() == global->getName() && op->getAttrs() == global->getAttrs())
      addBuffers(op->getResults());
  });
}

/// Collects the operands that say where a branch goes.
static void addConditions(Operation *terminator, SmallVectorImpl<Value> &values) {
  if (isa<BranchOpInterface>(terminator) && terminator->getNumSuccessors() > 1)
    llvm::append_range(values, llvm::make_filter_range(terminator->getOperands(), isWhole));
}

/// Collects what the ends of the blocks of `op` hand on, inside of them (parallel insertions), too.
static void addYielded(Operation *op, SmallVectorImpl<Value> &values) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        block.getTerminator()->walk(
            [&](Operation *inner) { llvm::append_range(values, inner->getOperands()); });
}

/// Collects operands of a loop or a branch by its regions, and of the ends of these, that are
/// handed on to nothing that `isOther` names: those for `value`, and those that decide how often.
static void addOfRegions(RegionBranchOpInterface op, llvm::function_ref<bool(ValueRange)> isOther,
                         SmallVectorImpl<Value> &values) {
  RegionBranchSuccessorMapping handedOn;
  op.getSuccessorOperandInputMapping(handedOn);
  auto add = [&](Operation *from) {
    for (OpOperand &operand : from->getOpOperands())
      if (auto it = handedOn.find(&operand); it == handedOn.end() || !isOther(it->second))
        values.push_back(operand.get());
  };
  add(op);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        block.getTerminator()->walk(add);
}

/// Collects the bounds of a variable that counts the turns of loop `op`; returns false of others,
/// and of loops that do not tell their bounds.
static bool addBounds(Value value, Operation *op, SmallVectorImpl<Value> &values) {
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  auto counters = loop ? loop.getLoopInductionVars() : std::nullopt;
  if (!counters || !llvm::is_contained(*counters, value))
    return false;
  auto lower = loop.getLoopLowerBounds(), upper = loop.getLoopUpperBounds(),
       steps = loop.getLoopSteps();
  if (!lower || !upper || !steps)
    return false;
  for (OpFoldResult bound : llvm::concat<OpFoldResult>(*lower, *upper, *steps))
    if (auto known = dyn_cast<Value>(bound))
      values.push_back(known);
  return true;
}

/// Collects what a loop or a branch makes `value`, its result or an argument in it, of.
static void addHandedTo(Value value, Operation *op, SmallVectorImpl<Value> &values) {
  if (addBounds(value, op, values))
    return;
  if (auto regions = dyn_cast<RegionBranchOpInterface>(op))
    return addOfRegions(
        regions, [&](ValueRange inputs) { return !llvm::is_contained(inputs, value); }, values);
  llvm::append_range(values, op->getOperands());
  addYielded(op, values);
}

void mlir::mp::addFeeds(BlockArgument argument, ModuleRanges &ranges,
                        SmallVectorImpl<Value> &values) {
  Block *block = argument.getOwner();
  Operation *parent = block->getParentOp();
  if (auto function = dyn_cast<FunctionOpInterface>(parent); function && block->isEntryBlock()) {
    for (CallOpInterface call : ranges.getCalls(function))
      values.push_back(call->getOperand(argument.getArgNumber()));
  } else if (auto structured = dyn_cast<linalg::LinalgOp>(parent)) {
    values.push_back(structured.getMatchingOpOperand(argument)->get());
  } else if (!block->isEntryBlock()) {
    forEachBranch(argument, [&](Block *, Value given) {
      if (given)
        values.push_back(given);
    });
    for (Block &other : *block->getParent())
      if (other.mightHaveTerminator())
        addConditions(other.getTerminator(), values);
  } else {
    addHandedTo(argument, parent, values);
  }
}

void mlir::mp::addFeeds(OpResult result, SmallVectorImpl<Value> &values) {
  Operation *op = result.getOwner();
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) // operands feed what its body makes of them
    return values.push_back(
        structured.getBlock()->getTerminator()->getOperand(result.getResultNumber()));
  addHandedTo(result, op, values);
  if (namesMemory(op))
    addStored(op, values);
  auto call = dyn_cast<CallOpInterface>(op);
  auto callee = call ? dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable()) : nullptr;
  if (callee && !callee.isExternal())
    for (Block &block : callee.getFunctionBody())
      if (block.getTerminator()->hasTrait<OpTrait::ReturnLike>())
        values.push_back(block.getTerminator()->getOperand(result.getResultNumber()));
}

void mlir::mp::addFeeds(Value value, ModuleRanges &ranges, SmallVectorImpl<Value> &values) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    addFeeds(argument, ranges, values);
  else
    addFeeds(cast<OpResult>(value), values);
  if (isBuffer(value))
    addWritten(value, values);
}

void mlir::mp::addDeciders(Operation *op, SmallVectorImpl<Value> &deciders) {
  if (op->getNumSuccessors() > 1)
    return addConditions(op, deciders);
  SmallVector<Value> values; // how long a loop runs is among them
  if (auto regions = dyn_cast<RegionBranchOpInterface>(op)) {
    addOfRegions(regions, [](ValueRange) { return true; }, values);
  } else {
    llvm::append_range(values, op->getOperands());
    addYielded(op, values);
  }
  llvm::append_range(deciders, llvm::make_filter_range(values, isWhole));
}
