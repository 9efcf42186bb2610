// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares how the step of one micro-batch is cut into stages, and how the program of each stage is
// written.

#ifndef MP_LIB_TRANSFORMS_DISTRIBUTE_PIPELINE_H
#define MP_LIB_TRANSFORMS_DISTRIBUTE_PIPELINE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mp/Dialect/Comm/CommDialect.h"
#include "mp/Performance/CostModel.h"

namespace mlir::mp::distribute {

/// Before: once, for all micro-batches. Forward and Backward: for each. After: once, on what all
/// micro-batches made together.
enum class Phase { Before, Forward, Backward, After };

/// Says where each op of a step runs that mp-partition made, whose ranks are the micro-batches.
class StagePlan {
public:
  StagePlan(func::FuncOp step, int64_t stages, int64_t microBatches,
            const mpcore::performance::CostModel &costs)
      : step(step), stages(stages), microBatches(microBatches), costs(costs) {}

  /// Fails, with an error, where micro-batches depend on one another before their gradients are
  /// summed.
  LogicalResult find();

  /// Any stage that wants it computes the value again: it follows from inputs and numbers.
  static constexpr int64_t kAnywhere = -1;
  int64_t stageOf(Value value) const {
    auto found = stage.find(value);
    return found == stage.end() ? kAnywhere : found->second;
  }
  Phase phaseOf(Operation *op) const { return phase.lookup(op); }
  bool isOfMicroBatch(Value value) const { return facts.lookup(value).perMicroBatch; }
  /// The ops of a phase that run in a stage, in the order of the program.
  SmallVector<Operation *> opsOf(int64_t stage, Phase phase) const;

  /// Returns how long each stage computes in a call: picoseconds, modelled, sending left out.
  SmallVector<int64_t> times() const;

  /// Operands, and what regions capture.
  static SmallVector<Value> usesOf(Operation *op);

private:
  struct Facts {
    bool perMicroBatch = false;
    bool isAfter = false;    ///< computed from what all micro-batches made together
    bool readsState = false; ///< computed from parameters and the like
  };

  LogicalResult findPhases();
  LogicalResult findForward();
  LogicalResult readStated();
  LogicalResult findCut();
  LogicalResult place();
  LogicalResult placeForward();
  void findFirstReaders();
  int64_t firstReaderOf(Value value) const {
    auto found = firstReader.find(value);
    return found == firstReader.end() ? stages : found->second;
  }
  int64_t readerOfMoved(comm::AllReduceOp sum) const;
  DenseMap<Operation *, int64_t> findWanted() const;
  void placeBackward();
  void placeAfter();
  void placeState();
  void setStage(Operation *op, int64_t number);
  bool mayBeginStage(Operation *op) const;
  int64_t timeOf(Operation *op) const;
  /// Operations of the block but its terminator.
  auto ops() const { return step.getBody().front().without_terminator(); }

  mutable func::FuncOp step; // ops have no const methods
  int64_t stages, microBatches;
  const mpcore::performance::CostModel &costs;
  DenseMap<Value, Facts> facts;
  DenseMap<Operation *, Phase> phase;
  DenseMap<Value, int64_t> stated;    ///< the stage that reads an argument, as `comm.stage` says
  DenseMap<Operation *, int64_t> cut; ///< where nothing says: of contractions of the forward pass
  DenseMap<Value, int64_t> stage;
  DenseMap<Value, int64_t> firstReader; ///< the first stage that reads an argument
  DenseMap<Value, int64_t> lastReader;  ///< the last stage that reads a value of the forward pass
};

/// Says which stage sends a value to which, of one micro-batch or (-1) once.
struct Transfer {
  Value value;
  int64_t microBatch, from, to;
};

/// One pass of one micro-batch through one stage.
struct Chunk {
  Phase phase;
  int64_t microBatch;
};

/// The order in which a stage works on micro-batches: all forward first, or each backward as soon
/// as it can be.
SmallVector<Chunk> scheduleOf(bool allForward, int64_t stage, int64_t stages, int64_t microBatches);

/// Writes the programs of all stages.
class PipelineWriter {
public:
  PipelineWriter(const StagePlan &plan, func::FuncOp step, int64_t stages, int64_t microBatches,
                 bool allForward);

  /// Replaces the body of the step. Fails, with an error, where a value cannot be sent.
  LogicalResult write();

  ArrayRef<Transfer> sent() const { return transfers; }
  /// The most micro-batches of which a stage holds activations at once.
  int64_t mostHeld(int64_t stage) const;

private:
  /// Values of the step in the program of one stage, by micro-batch; once at the end.
  using Forms = SmallVector<DenseMap<Value, Value>>;

  void writeStage(Block &block, int64_t number);
  void runChunk(const Chunk &chunk);
  Value get(Value original, int64_t microBatch);
  Value receive(Value original, int64_t microBatch);
  Value sliceOf(BlockArgument original, int64_t microBatch);
  void clone(Operation *op, int64_t microBatch);
  /// Adds to a reduction over micro-batches what one of them has.
  void accumulate(comm::AllReduceOp op, int64_t microBatch);
  void addSends();
  void finish(Block &made);
  DenseMap<Value, Value> &formsOf(Value original, int64_t microBatch);
  /// The stage that gives a result.
  int64_t ownerOf(Value returned) const { return std::max<int64_t>(plan.stageOf(returned), 0); }

  const StagePlan &plan;
  func::FuncOp step;
  const int64_t stages, microBatches;
  SmallVector<SmallVector<Chunk>> schedules;
  OpBuilder b;
  Block *old = nullptr, *made = nullptr;
  SmallVector<Forms> forms;
  SmallVector<Block *> blocks;
  SmallVector<Transfer> transfers;
  int64_t own = 0; ///< the stage that is being written
  LogicalResult outcome = success();
  /// Partial results of a reduction, each of so many micro-batches.
  DenseMap<Operation *, SmallVector<std::pair<int64_t, Value>>> partial;
};

/// Bytes of all messages of a call.
int64_t bytesOf(ArrayRef<Transfer> transfers);

} // namespace mlir::mp::distribute

#endif // MP_LIB_TRANSFORMS_DISTRIBUTE_PIPELINE_H
