// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage of each op: the forward pass goes up from stage to stage, the backward pass down, and
// what is computed from gradients stays with them.

#include "Pipeline.h"

#include "mlir/Transforms/RegionUtils.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::distribute;

SmallVector<Value> StagePlan::usesOf(Operation *op) {
  SetVector<Value> uses(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), uses);
  return uses.takeVector();
}

SmallVector<Operation *> StagePlan::opsOf(int64_t number, Phase wanted) const {
  SmallVector<Operation *> found;
  for (Operation &op : ops()) {
    if (stageOf(op.getResult(0)) != number)
      continue;
    // A micro-batch adds to a sum as soon as it can.
    Phase own = phaseOf(&op);
    if (isa<comm::AllReduceOp>(op)) {
      Operation *source = op.getOperand(0).getDefiningOp();
      own = source && phaseOf(source) == Phase::Backward ? Phase::Backward : Phase::Forward;
    }
    if (own == wanted)
      found.push_back(&op);
  }
  return found;
}

void StagePlan::setStage(Operation *op, int64_t number) {
  for (Value result : op->getResults())
    stage[result] = number;
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

LogicalResult StagePlan::findPhases() {
  for (BlockArgument argument : step.getArguments()) {
    unsigned i = argument.getArgNumber();
    Facts &own = facts[argument];
    own.readsState = bool(step.getArgAttr(i, kStateAttrName));
    own.perMicroBatch = bool(step.getArgAttr(i, comm::kShardAttrName));
    if (own.perMicroBatch && own.readsState)
      return step.emitError("mp-pipeline: argument #")
             << i
             << " is state that ranks hold in parts, expected examples alone to be cut; run "
                "mp-partition without optimizer-state, parameters and comm.shard";
  }
  for (Operation &op : ops()) {
    Facts own;
    for (Value value : usesOf(&op)) {
      Facts used = facts.lookup(value);
      own.perMicroBatch |= used.perMicroBatch;
      own.isAfter |= used.isAfter;
      own.readsState |= used.readsState;
    }
    bool combines = isa<comm::AllReduceOp>(op);
    if (isa<comm::CommDialect>(op.getDialect()) && !combines && !isa<comm::RankOp>(op))
      return op.emitOpError("mp-pipeline: expected ranks to meet in comm.all_reduce alone; run "
                            "mp-partition with batch=true and nothing else");
    if (op.getNumResults() == 0)
      return op.emitOpError("mp-pipeline: has no result by which a stage could be found; expected "
                            "ops on tensors");
    own.perMicroBatch |= isa<comm::RankOp>(op);
    if (own.isAfter && (own.perMicroBatch || combines))
      return op.emitOpError("mp-pipeline: needs what all micro-batches make together before one "
                            "of them is done, as statistics of a batch do; expected micro-batches "
                            "that meet in sums of gradients and losses alone");
    if (combines)
      own = {/*perMicroBatch=*/false, /*isAfter=*/true, own.readsState};
    for (Value result : op.getResults())
      facts[result] = own;
    phase[&op] = own.isAfter ? Phase::After : own.perMicroBatch ? Phase::Forward : Phase::Before;
  }
  return success();
}

/// All ops from which the value is computed.
static SetVector<Operation *> ancestorsOf(Value value) {
  SetVector<Operation *> found;
  SmallVector<Value> open{value};
  while (!open.empty())
    if (Operation *op = open.pop_back_val().getDefiningOp(); op && found.insert(op))
      llvm::append_range(open, StagePlan::usesOf(op));
  return found;
}

/// The forward pass is what the loss is computed from: of the results that are no state, the one
/// with the fewest ops that run for each micro-batch.
LogicalResult StagePlan::findForward() {
  SmallVector<bool> isState(step.getNumResults());
  for (unsigned i = 0, e = step.getNumArguments(); i != e; ++i)
    if (auto state = step.getArgAttrOfType<IntegerAttr>(i, kStateAttrName))
      if (state.getInt() < int64_t(isState.size()))
        isState[size_t(state.getInt())] = true;
  if (!llvm::is_contained(isState, true))
    return step.emitError("mp-pipeline: expected to know which result replaces which argument "
                          "(mp.state), found none; run --mp-annotate-roles first");
  SetVector<Operation *> forward;
  int64_t least = 0;
  for (auto [i, value] : llvm::enumerate(step.getBody().front().getTerminator()->getOperands())) {
    if (isState[i])
      continue;
    SetVector<Operation *> ancestors = ancestorsOf(value);
    int64_t count =
        llvm::count_if(ancestors, [&](Operation *op) { return phaseOf(op) == Phase::Forward; });
    if (count > 0 && (forward.empty() || count < least)) {
      forward = std::move(ancestors);
      least = count;
    }
  }
  if (forward.empty())
    return step.emitError("mp-pipeline: expected a loss, a result that is no state and is computed "
                          "from examples, found none");
  for (Operation &op : ops())
    if (phaseOf(&op) == Phase::Forward && !forward.contains(&op))
      phase[&op] = Phase::Backward;
  return success();
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

LogicalResult StagePlan::readStated() {
  for (BlockArgument argument : step.getArguments())
    if (auto number =
            step.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), comm::kStageAttrName)) {
      if (number.getInt() >= stages)
        return step.emitError("mp-pipeline: argument #")
               << argument.getArgNumber() << " has comm.stage = " << number.getInt()
               << ", expected one of " << stages << " stages, counted from 0";
      stated[argument] = number.getInt();
    }
  // Arguments without a stage of their own are of the first.
  if (!stated.empty() && stages > int64_t(stated.size()) + 1)
    return step.emitError("mp-pipeline: option 'stages' is ")
           << stages << ", expected at most " << stated.size() + 1
           << ", as many as comm.stage of arguments can name";
  return success();
}

/// Cuts the forward pass where `comm.stage` of arguments says, or where findCut() has found. What
/// is computed from inputs alone is nowhere.
LogicalResult StagePlan::placeForward() {
  SmallVector<int64_t> counts(static_cast<size_t>(stages));
  for (Operation &op : ops()) {
    if (phaseOf(&op) == Phase::After || phaseOf(&op) == Phase::Backward)
      continue;
    int64_t number = 0;
    for (Value value : usesOf(&op)) {
      number = std::max(number, stageOf(value));
      number = std::max(number, stated.lookup(value));
    }
    if (phaseOf(&op) == Phase::Before) {
      for (Value result : op.getResults())
        stated[result] = number;
      continue;
    }
    if (!facts.lookup(op.getResult(0)).readsState)
      continue;
    number = std::max(number, cut.lookup(&op));
    setStage(&op, number);
    counts[size_t(number)] += mayBeginStage(&op);
    for (Value value : usesOf(&op))
      if (stageOf(value) != kAnywhere)
        lastReader[value] = std::max(lastReader.lookup(value), number);
    for (Value result : op.getResults())
      lastReader[result] = number;
  }
  for (auto [number, count] : llvm::enumerate(counts))
    if (count == 0 && stages > 1)
      return step.emitError("mp-pipeline: stage ")
             << number << " of " << stages
             << " computes nothing of the forward pass; expected comm.stage of arguments to name "
                "every stage";
  return success();
}

/// The first stage whose forward pass reads an argument, or what follows from it alone.
void StagePlan::findFirstReaders() {
  for (Operation &op : llvm::reverse(ops())) {
    int64_t number = stages;
    for (Value result : op.getResults())
      number = std::min(number,
                        phaseOf(&op) == Phase::Forward ? stageOf(result) : firstReaderOf(result));
    if (number == kAnywhere || phaseOf(&op) == Phase::Backward || phaseOf(&op) == Phase::After)
      continue;
    for (Value value : usesOf(&op))
      firstReader[value] = std::min(number, firstReaderOf(value));
  }
}

/// The elements of a tensor; none of one of unknown size, and of what is no tensor.
static int64_t elementsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type.getNumElements() : 0;
}

/// The first stage that reads a parameter which moves by the sum, element by element.
int64_t StagePlan::readerOfMoved(comm::AllReduceOp sum) const {
  SetVector<Value> moved;
  moved.insert(sum.getResult());
  int64_t number = stages;
  for (size_t i = 0; i < moved.size(); ++i)
    for (OpOperand &use : moved[i].getUses()) {
      if (use.getOwner()->hasTrait<OpTrait::IsTerminator>())
        for (BlockArgument argument : step.getArguments())
          if (auto state =
                  step.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kStateAttrName);
              state && state.getInt() == int64_t(use.getOperandNumber()))
            number = std::min(number, firstReaderOf(argument));
      for (Value result : use.getOwner()->getResults())
        if (elementsOf(result) == elementsOf(sum.getResult()))
          moved.insert(result);
    }
  return number;
}

/// Gradients of parameters are summed where these are read. Goes up from sums to what is computed
/// for them alone.
DenseMap<Operation *, int64_t> StagePlan::findWanted() const {
  DenseMap<Operation *, int64_t> wanted;
  for (Operation &op : llvm::reverse(ops())) {
    if (auto sum = dyn_cast<comm::AllReduceOp>(op)) {
      wanted[&op] = readerOfMoved(sum);
    } else if (phaseOf(&op) == Phase::Backward) {
      int64_t number = 0;
      for (Operation *user : op.getUsers()) {
        auto found = wanted.find(step.getBody().front().findAncestorOpInBlock(*user));
        number = std::max(number, found == wanted.end() ? stages : found->second);
      }
      wanted[&op] = number;
    }
  }
  return wanted;
}

/// A value of the backward pass is computed in the first of the stages that have what it is
/// computed from, so that the pass only goes down; where that is gradients alone, further down,
/// where it is wanted.
void StagePlan::placeBackward() {
  DenseMap<Operation *, int64_t> wanted = findWanted();
  for (Operation &op : ops()) {
    if (isa<comm::AllReduceOp>(op)) {
      int64_t number = stageOf(op.getOperand(0));
      setStage(&op, number == kAnywhere ? stages - 1 : number);
    }
    if (phaseOf(&op) != Phase::Backward || !facts.lookup(op.getResult(0)).readsState)
      continue;
    int64_t number = stages - 1;
    bool ofGradientsAlone = true;
    for (Value value : usesOf(&op)) {
      bool isPlaced = stageOf(value) != kAnywhere;
      auto reader = lastReader.find(value);
      bool isForward = reader != lastReader.end();
      ofGradientsAlone &= isPlaced ? !isForward : !facts.lookup(value).readsState;
      if (isPlaced)
        number = std::min(number, isForward ? reader->second : stageOf(value));
    }
    setStage(&op, ofGradientsAlone ? std::min(number, wanted.lookup(&op)) : number);
  }
}

/// Places what is computed from sums of gradients where the largest of them is.
void StagePlan::placeAfter() {
  for (Operation &op : ops()) {
    if (phaseOf(&op) != Phase::After || isa<comm::AllReduceOp>(op))
      continue;
    int64_t number = kAnywhere, most = -1;
    for (Value value : usesOf(&op)) {
      int64_t from = stageOf(value), elements = elementsOf(value);
      if (from != kAnywhere && (elements > most || (elements == most && from < number))) {
        number = from;
        most = elements;
      }
    }
    setStage(&op, number);
  }
}

/// State lives where its next value is made, so that another stage that reads it is sent it.
void StagePlan::placeState() {
  OperandRange results = step.getBody().front().getTerminator()->getOperands();
  for (BlockArgument argument : step.getArguments())
    if (auto state = step.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kStateAttrName))
      if (state.getInt() < int64_t(results.size()))
        if (int64_t number = stageOf(results[unsigned(state.getInt())]); number != kAnywhere)
          stage[argument] = number;
}

LogicalResult StagePlan::place() {
  stage.clear();
  firstReader.clear();
  lastReader.clear();
  if (failed(placeForward()))
    return failure();
  findFirstReaders();
  placeBackward();
  placeAfter();
  placeState();
  return success();
}

LogicalResult StagePlan::find() {
  if (failed(findPhases()) || failed(findForward()) || failed(readStated()) ||
      (stated.empty() && failed(findCut())))
    return failure();
  return place();
}
