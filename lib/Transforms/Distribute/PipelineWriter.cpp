// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program of each stage: its ops for one micro-batch after the other, and what it gets from
// other stages where it is needed first. What is sent leaves as soon as it is there.

#include "Pipeline.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::distribute;

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

// The forward pass needs what stages before have of the micro-batch, the backward pass that, and
// what stages behind have: all are there before it is their turn, so that no stage waits without
// end.
SmallVector<Chunk> distribute::scheduleOf(bool allForward, int64_t stage, int64_t stages,
                                          int64_t microBatches) {
  // Forward passes by which the stage is ahead of its backward passes.
  int64_t ahead = allForward ? microBatches : std::min(microBatches, stages - 1 - stage);
  SmallVector<Chunk> chunks;
  for (int64_t i = 0; i < microBatches + ahead; ++i) {
    if (i < microBatches)
      chunks.push_back({Phase::Forward, i});
    if (i >= ahead)
      chunks.push_back({Phase::Backward, i - ahead});
  }
  return chunks;
}

int64_t PipelineWriter::mostHeld(int64_t stage) const {
  int64_t held = 0, most = 0;
  for (const Chunk &each : schedules[size_t(stage)]) {
    held += each.phase == Phase::Forward ? 1 : -1;
    most = std::max(most, held);
  }
  return most;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

DenseMap<Value, Value> &PipelineWriter::formsOf(Value original, int64_t microBatch) {
  bool isEach = plan.isOfMicroBatch(original);
  return forms[size_t(own)][size_t(isEach ? microBatch : microBatches)];
}

/// The examples of a micro-batch.
Value PipelineWriter::sliceOf(BlockArgument original, int64_t microBatch) {
  Value whole = made->getArgument(original.getArgNumber());
  if (whole.getType() == original.getType())
    return whole;
  auto type = cast<RankedTensorType>(original.getType());
  auto dim = step.getArgAttrOfType<IntegerAttr>(original.getArgNumber(), comm::kShardAttrName);
  SmallVector<OpFoldResult> offsets(size_t(type.getRank()), b.getIndexAttr(0)),
      strides(size_t(type.getRank()), b.getIndexAttr(1)), sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(b.getIndexAttr(size));
  offsets[size_t(dim.getInt())] =
      b.getIndexAttr(microBatch * type.getDimSize(unsigned(dim.getInt())));
  return tensor::ExtractSliceOp::create(b, original.getLoc(), type, whole, offsets, sizes, strides);
}

Value PipelineWriter::receive(Value original, int64_t microBatch) {
  auto type = dyn_cast<RankedTensorType>(original.getType());
  Location loc = original.getLoc();
  if (!type || !type.hasStaticShape()) {
    outcome = emitError(loc) << "mp-pipeline: stage " << own << " needs a value of type "
                             << original.getType() << " from stage " << plan.stageOf(original)
                             << ", expected a tensor of a known size";
    type = RankedTensorType::get({}, b.getF32Type());
  }
  int64_t tag = int64_t(transfers.size());
  int64_t from = plan.stageOf(original);
  transfers.push_back({original, plan.isOfMicroBatch(original) ? microBatch : -1, from, own});
  Value empty = tensor::EmptyOp::create(b, loc, type, ValueRange());
  return comm::ReceiveOp::create(b, loc, type, empty, uint64_t(from), uint64_t(tag)).getResult();
}

Value PipelineWriter::get(Value original, int64_t microBatch) {
  if (Value form = formsOf(original, microBatch).lookup(original))
    return form;
  int64_t stage = plan.stageOf(original);
  Value form;
  Operation *op = original.getDefiningOp();
  // Scalars are computed again from the tensors they are read from.
  bool isAgain = stage == StagePlan::kAnywhere || !isa<RankedTensorType>(original.getType());
  if (auto argument = dyn_cast<BlockArgument>(original); argument && (isAgain || stage == own)) {
    form = sliceOf(argument, microBatch);
  } else if (isa_and_nonnull<comm::RankOp>(op)) {
    form = arith::ConstantIndexOp::create(b, op->getLoc(), microBatch);
  } else if (op && isAgain) {
    clone(op, microBatch);
    return formsOf(original, microBatch).lookup(original);
  } else {
    form = receive(original, microBatch);
  }
  return formsOf(original, microBatch)[original] = form;
}

void PipelineWriter::clone(Operation *op, int64_t microBatch) {
  IRMapping mapping;
  for (Value value : StagePlan::usesOf(op))
    mapping.map(value, get(value, microBatch));
  Operation *copy = b.clone(*op, mapping);
  for (auto [original, form] : llvm::zip_equal(op->getResults(), copy->getResults()))
    formsOf(original, microBatch)[original] = form;
}

//===----------------------------------------------------------------------===//
// Sums over micro-batches
//===----------------------------------------------------------------------===//

/// Combines two values as ranks do (mp_rt_combine).
static Value combine(OpBuilder &b, Location loc, comm::Combine how, Value left, Value right) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(left.getType()));
  auto choose = [&](arith::CmpFPredicate floats, arith::CmpIPredicate integers,
                    Value unlessNumber) -> Value {
    Value first;
    if (isFloat) {
      Value isNaN =
          arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, unlessNumber, unlessNumber);
      Value wins = arith::CmpFOp::create(b, loc, floats, left, right);
      first = arith::OrIOp::create(b, loc, isNaN, wins);
    } else {
      first = arith::CmpIOp::create(b, loc, integers, left, right);
    }
    return arith::SelectOp::create(b, loc, first, left, right);
  };
  using Floats = arith::CmpFPredicate;
  using Integers = arith::CmpIPredicate;
  switch (how) {
  case comm::Combine::Sum:
    return isFloat ? arith::AddFOp::create(b, loc, left, right).getResult()
                   : arith::AddIOp::create(b, loc, left, right).getResult();
  case comm::Combine::Or: return arith::OrIOp::create(b, loc, left, right);
  case comm::Combine::And: return arith::AndIOp::create(b, loc, left, right);
  case comm::Combine::Maximum: return choose(Floats::OGT, Integers::sgt, left);
  case comm::Combine::Minimum: return choose(Floats::OLT, Integers::slt, left);
  case comm::Combine::MaxNum: return choose(Floats::OGT, Integers::sgt, right);
  case comm::Combine::MinNum: return choose(Floats::OLT, Integers::slt, right);
  }
  llvm_unreachable("all combinations are above");
}

/// Two partial results of as many micro-batches become one at once, so that the tree is that of
/// ranks, and no more than its height are there at a time.
void PipelineWriter::accumulate(comm::AllReduceOp op, int64_t microBatch) {
  auto &open = partial[op];
  open.push_back({1, get(op.getSource(), microBatch)});
  bool isLast = microBatch + 1 == microBatches;
  while (open.size() > 1 && (isLast || open[open.size() - 2].first == open.back().first)) {
    auto [count, right] = open.pop_back_val();
    open.back().second = combine(b, op.getLoc(), op.getCombine(), open.back().second, right);
    open.back().first += count;
  }
  if (isLast)
    formsOf(op.getResult(), -1)[op.getResult()] = open.front().second;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

void PipelineWriter::runChunk(const Chunk &chunk) {
  for (Operation *op : plan.opsOf(own, chunk.phase))
    if (auto reduce = dyn_cast<comm::AllReduceOp>(op))
      accumulate(reduce, chunk.microBatch);
    else
      clone(op, chunk.microBatch);
}

void PipelineWriter::writeStage(Block &block, int64_t number) {
  own = number;
  partial.clear();
  b.setInsertionPointToStart(&block);
  for (const Chunk &chunk : schedules[size_t(own)])
    runChunk(chunk);
  for (Operation *op : plan.opsOf(own, Phase::After))
    clone(op, -1);
  SmallVector<Value> results;
  for (Value returned : old->getTerminator()->getOperands())
    results.push_back(ownerOf(returned) == own
                          ? get(returned, -1)
                          : tensor::EmptyOp::create(b, returned.getLoc(),
                                                    cast<RankedTensorType>(returned.getType()),
                                                    ValueRange()));
  scf::YieldOp::create(b, old->getTerminator()->getLoc(), results);
}

/// Lets each stage send what others have asked for, as soon as it has it.
void PipelineWriter::addSends() {
  for (size_t tag = 0, count = transfers.size(); tag < count; ++tag) {
    Transfer transfer = transfers[tag];
    own = transfer.from;
    Block *block = blocks[size_t(own)];
    b.setInsertionPointToStart(block);
    Value value = get(transfer.value, transfer.microBatch);
    if (Operation *maker = value.getDefiningOp())
      b.setInsertionPointAfter(maker);
    comm::SendOp::create(b, value.getLoc(), value, uint64_t(transfer.to), uint64_t(tag));
  }
}

PipelineWriter::PipelineWriter(const StagePlan &plan, func::FuncOp step, int64_t stages,
                               int64_t microBatches, bool allForward)
    : plan(plan), step(step), stages(stages), microBatches(microBatches), b(step.getContext()),
      old(&step.getBody().front()), forms(size_t(stages), Forms(size_t(microBatches + 1))) {
  for (int64_t stage = 0; stage < stages; ++stage)
    schedules.push_back(scheduleOf(allForward, stage, stages, microBatches));
}

LogicalResult PipelineWriter::write() {
  made = new Block;
  step.getBody().push_back(made);
  for (BlockArgument argument : old->getArguments()) {
    Type type = argument.getType();
    unsigned i = argument.getArgNumber();
    if (auto dim = step.getArgAttrOfType<IntegerAttr>(i, comm::kShardAttrName)) {
      SmallVector<int64_t> shape(cast<RankedTensorType>(type).getShape());
      shape[size_t(dim.getInt())] *= microBatches;
      type = cast<RankedTensorType>(type).clone(shape);
    }
    made->addArgument(type, argument.getLoc());
  }
  b.setInsertionPointToStart(made);
  Location loc = step.getLoc();
  Value rank = comm::RankOp::create(b, loc, b.getIndexType());
  auto cases = llvm::to_vector(llvm::seq<int64_t>(1, stages));
  auto chosen = scf::IndexSwitchOp::create(b, loc, step.getResultTypes(), rank, cases,
                                           unsigned(cases.size()));
  func::ReturnOp::create(b, old->getTerminator()->getLoc(), chosen.getResults());
  for (int64_t stage = 0; stage < stages; ++stage) {
    Region &region =
        stage == 0 ? chosen.getDefaultRegion() : chosen.getCaseRegions()[size_t(stage - 1)];
    blocks.push_back(&region.emplaceBlock());
    writeStage(*blocks.back(), stage);
  }
  addSends();
  if (failed(outcome))
    return failure();
  finish(*made);
  return success();
}

/// Types and attributes of the function, and the end of the body that it had.
void PipelineWriter::finish(Block &body) {
  for (auto [i, value] : llvm::enumerate(old->getTerminator()->getOperands()))
    step.setResultAttr(unsigned(i), comm::kStageAttrName, b.getI64IntegerAttr(ownerOf(value)));
  for (BlockArgument argument : old->getArguments()) {
    unsigned i = argument.getArgNumber();
    step.removeArgAttr(i, comm::kShardAttrName);
    step.removeArgAttr(i, comm::kStageAttrName);
    if (int64_t number = plan.stageOf(argument); number != StagePlan::kAnywhere)
      step.setArgAttr(i, comm::kStageAttrName, b.getI64IntegerAttr(number));
  }
  step.setType(b.getFunctionType(body.getArgumentTypes(), step.getResultTypes()));
  step->setAttr(comm::kRanksAttrName, b.getI64IntegerAttr(stages));
  old->dropAllDefinedValueUses();
  old->dropAllReferences();
  old->erase();
}

int64_t distribute::bytesOf(ArrayRef<Transfer> transfers) {
  int64_t bytes = 0;
  for (const Transfer &transfer : transfers) {
    auto type = cast<RankedTensorType>(transfer.value.getType());
    bytes += type.getNumElements() *
             int64_t(llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8));
  }
  return bytes;
}
