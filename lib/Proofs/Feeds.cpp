// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that loops, branches and calls hand over.

#include "Feeds.h"
#include "Elements.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace mlir::mp::proofs;

static bool isFunctionArgument(BlockArgument argument) {
  return isa<FunctionOpInterface>(argument.getOwner()->getParentOp()) &&
         argument.getOwner()->isEntryBlock();
}

/// The calls of a private function of which all uses are calls; nothing for others.
static std::optional<SmallVector<func::CallOp>> findCalls(FunctionOpInterface function) {
  auto uses = SymbolTable::getSymbolUses(function, function->getParentOp());
  if (!function.isPrivate() || !uses || uses->empty())
    return std::nullopt;
  SmallVector<func::CallOp> calls;
  for (SymbolTable::SymbolUse use : *uses) {
    auto call = dyn_cast<func::CallOp>(use.getUser());
    if (!call || call.getNumOperands() != function.getNumArguments())
      return std::nullopt;
    calls.push_back(call);
  }
  return calls;
}

/// The reduction that `value` is a result of, if it hands its partial result from step to step by
/// no sum and no extremum.
static linalg::LinalgOp findAccumulation(OpResult value) {
  auto op = dyn_cast<linalg::LinalgOp>(value.getOwner());
  if (!op || op.getNumReductionLoops() == 0 || !op.hasPureTensorSemantics() ||
      readCombiner(op, value.getResultNumber()).first != Function::None ||
      readChoice(op, value.getResultNumber()).first != Function::None)
    return {};
  return op;
}

std::optional<OpResult> mlir::mp::proofs::findAccumulated(BlockArgument argument) {
  auto op = dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp());
  if (!op || !op.isDpsInit(op.getMatchingOpOperand(argument)))
    return std::nullopt;
  OpResult result = op.getTiedOpResult(op.getMatchingOpOperand(argument));
  return result && findAccumulation(result) ? std::optional(result) : std::nullopt;
}

bool mlir::mp::proofs::isCut(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (isFunctionArgument(argument))
      return findCalls(cast<FunctionOpInterface>(argument.getOwner()->getParentOp())).has_value();
    return !isa<linalg::LinalgOp>(argument.getOwner()->getParentOp());
  }
  return isa<scf::ForOp, scf::IfOp, scf::IndexSwitchOp, scf::WhileOp, scf::ExecuteRegionOp,
             func::CallOp>(value.getDefiningOp()) ||
         findAccumulation(cast<OpResult>(value));
}

static std::optional<SmallVector<Value>> feedsOfCall(func::CallOp call, unsigned index) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (!callee || callee.isExternal())
    return std::nullopt;
  SmallVector<Value> feeds;
  for (auto returns : callee.getOps<func::ReturnOp>())
    feeds.push_back(returns.getOperand(index));
  return feeds;
}

static std::optional<SmallVector<Value>> feedsOfBlock(BlockArgument argument) {
  SmallVector<Value> feeds;
  Block *block = argument.getOwner();
  for (auto edge = block->pred_begin(), end = block->pred_end(); edge != end; ++edge) {
    auto branch = dyn_cast<BranchOpInterface>((*edge)->getTerminator());
    Value feed =
        branch ? branch.getSuccessorOperands(edge.getSuccessorIndex())[argument.getArgNumber()]
               : Value();
    if (!feed)
      return std::nullopt;
    feeds.push_back(feed);
  }
  return feeds;
}

static std::optional<SmallVector<Value>> feedsOfLoop(scf::ForOp loop, unsigned index) {
  return SmallVector<Value>{loop.getInitArgs()[index], loop.getYieldedValues()[index]};
}

static std::optional<SmallVector<Value>> feedsOfArgument(BlockArgument argument) {
  Block *block = argument.getOwner();
  unsigned index = argument.getArgNumber();
  if (isFunctionArgument(argument)) {
    auto calls = findCalls(cast<FunctionOpInterface>(block->getParentOp()));
    if (!calls)
      return std::nullopt;
    SmallVector<Value> feeds;
    for (func::CallOp call : *calls)
      feeds.push_back(call.getOperand(index));
    return feeds;
  }
  if (!block->isEntryBlock())
    return feedsOfBlock(argument);
  if (auto loop = dyn_cast<scf::ForOp>(block->getParentOp()))
    return index == 0 ? std::nullopt : feedsOfLoop(loop, index - 1);
  if (auto loop = dyn_cast<scf::WhileOp>(block->getParentOp())) {
    if (block == loop.getBeforeBody())
      return SmallVector<Value>{loop.getInits()[index], loop.getYieldOp().getOperand(index)};
    return SmallVector<Value>{loop.getConditionOp().getArgs()[index]};
  }
  return std::nullopt;
}

std::optional<SmallVector<Value>> mlir::mp::proofs::findFeeds(Value cut) {
  if (auto argument = dyn_cast<BlockArgument>(cut))
    return feedsOfArgument(argument);
  Operation *op = cut.getDefiningOp();
  unsigned index = cast<OpResult>(cut).getResultNumber();
  if (auto call = dyn_cast<func::CallOp>(op))
    return feedsOfCall(call, index);
  if (linalg::LinalgOp accumulation = findAccumulation(cast<OpResult>(cut)))
    return SmallVector<Value>{accumulation.getDpsInits()[index],
                              accumulation.getBlock()->getTerminator()->getOperand(index)};
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return feedsOfLoop(loop, index);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return SmallVector<Value>{loop.getConditionOp().getArgs()[index]};
  SmallVector<Value> feeds;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (auto yield = dyn_cast<scf::YieldOp>(block.getTerminator()))
        feeds.push_back(yield.getOperand(index));
  return feeds;
}
