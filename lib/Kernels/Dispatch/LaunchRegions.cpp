// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves runs of host loads, stores and loop nests into launches of one thread.

#include "LaunchRegions.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mp/Kernels/Passes.h"

using namespace mlir;
using namespace mlir::mp;

/// Arithmetic on scalars and short vectors, which host and device can both do.
static bool isScalarOp(Operation *op) {
  if (op->getNumRegions() != 0 || op->hasTrait<OpTrait::IsTerminator>() || !isPure(op))
    return false;
  auto isScalar = [](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return type.isIntOrIndexOrFloat() || (vector && !vector.isScalable());
  };
  return llvm::all_of(op->getOperandTypes(), isScalar) &&
         llvm::all_of(op->getResultTypes(), isScalar);
}

/// A read or a write of elements of a buffer, one or a vector of them.
static bool isAccess(Operation *op) {
  if (isa<memref::LoadOp, memref::StoreOp>(op))
    return true;
  return isa_and_nonnull<vector::VectorDialect>(op->getDialect()) &&
         llvm::any_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>);
}

static bool isLoad(Operation *op) { return isAccess(op) && op->getNumResults() == 1; }

static bool isLoopNestOp(Operation *op) {
  return isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::ExecuteRegionOp, scf::IndexSwitchOp>(op);
}

/// Control flow of which every part can run in a kernel's thread, and that touches a buffer.
static bool isDeviceNest(Operation *op) {
  if (!isLoopNestOp(op))
    return false;
  for (Type type : op->getResultTypes())
    if (!type.isIntOrIndexOrFloat())
      return false;
  bool touches = false;
  WalkResult result = op->walk([&](Operation *inner) {
    if (isAccess(inner)) {
      touches = true;
      return WalkResult::advance();
    }
    bool view = isa<ViewLikeOpInterface, memref::DimOp>(inner) && isPure(inner);
    bool fine = isLoopNestOp(inner) || isScalarOp(inner) || view || isa<cf::AssertOp>(inner) ||
                isa<scf::YieldOp, scf::ConditionOp>(inner);
    return fine ? WalkResult::advance() : WalkResult::interrupt();
  });
  return touches && !result.wasInterrupted();
}

static bool touchesMemory(Operation *op) { return isAccess(op) || isDeviceNest(op); }

/// May stand between the members of a run: makes addresses, sizes and fresh buffers.
static bool isTransparent(Operation *op) {
  return isPure(op) || isa<memref::AllocOp, memref::AllocaOp>(op);
}

/// The member of `run` that holds `user`, at the level of `block`; null if there is none.
static Operation *memberFor(Operation *user, Block *block, const DenseSet<Operation *> &run) {
  Operation *ancestor = block->findAncestorOpInBlock(*user);
  return ancestor && run.contains(ancestor) ? ancestor : nullptr;
}

/// True if a use of `value` is neither in the run nor in scalar arithmetic used by the run alone.
static bool escapes(Value value, Block *block, const DenseSet<Operation *> &run) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (memberFor(user, block, run))
      return false;
    if (user->getBlock() != block || !isScalarOp(user))
      return true;
    return llvm::any_of(user->getResults(),
                        [&](Value result) { return escapes(result, block, run); });
  });
}

/// Results of nests that the host needs go through one-element buffers and are read back.
static void returnThroughMemory(Operation *nest) {
  OpBuilder before(nest);
  OpBuilder after(nest->getContext());
  after.setInsertionPointAfter(nest);
  SmallVector<memref::StoreOp> stores;
  for (Value result : nest->getResults()) {
    if (result.use_empty())
      continue;
    auto type = MemRefType::get({}, result.getType());
    Value cell = memref::AllocOp::create(before, nest->getLoc(), type);
    stores.push_back(memref::StoreOp::create(after, nest->getLoc(), result, cell, ValueRange()));
  }
  // All stores come before the first read: the launch ends behind the last store.
  for (memref::StoreOp store : stores) {
    Value result = store.getValueToStore();
    auto read = memref::LoadOp::create(after, nest->getLoc(), store.getMemref(), ValueRange());
    read->setAttr(kHostReadAttrName, after.getUnitAttr());
    result.replaceAllUsesExcept(read, store);
  }
}

/// Scalar ops that depend on members' values and are used by members only: they move along.
static void addDependentScalars(Block *block, DenseSet<Operation *> &run) {
  for (Operation &op : *block) {
    if (run.contains(&op) || !isScalarOp(&op))
      continue;
    if (llvm::any_of(op.getOperands(), [&](Value operand) {
          Operation *def = operand.getDefiningOp();
          return def && run.contains(def);
        }))
      run.insert(&op);
  }
}

static void launchRun(ArrayRef<Operation *> members) {
  if (members.empty())
    return;
  Block *block = members.front()->getBlock();
  DenseSet<Operation *> run(members.begin(), members.end());
  addDependentScalars(block, run);
  OpBuilder b(block, std::next(Block::iterator(members.back())));
  Location loc = members.front()->getLoc();
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto launch = gpu::LaunchOp::create(b, loc, one, one, one, one, one, one);
  b.setInsertionPointToStart(&launch.getBody().front());
  Operation *terminator = gpu::TerminatorOp::create(b, loc);
  for (Operation &op : llvm::make_early_inc_range(*block))
    if (run.contains(&op))
      op.moveBefore(terminator);
}

/// Handles the ops between two ops that no run may cross.
static void formRuns(ArrayRef<Operation *> segment) {
  SmallVector<Operation *> touching;
  for (Operation *op : segment)
    if (touchesMemory(op))
      touching.push_back(op);
  if (touching.empty())
    return;
  Block *block = touching.front()->getBlock();

  // Split at escaping values until nothing new escapes: a split may turn a use inside a run into
  // one outside it.
  DenseSet<Operation *> reads; // loads that stay on the host
  SmallVector<SmallVector<Operation *>> runs;
  for (bool changed = true; changed;) {
    changed = false;
    runs.assign(1, {});
    for (Operation *op : touching) {
      if (reads.contains(op)) {
        runs.emplace_back();
        continue;
      }
      runs.back().push_back(op);
      if (isDeviceNest(op) && op->getNumResults() != 0 && !op->use_empty())
        runs.emplace_back(); // its results are read back right after it
    }
    for (auto &members : runs) {
      DenseSet<Operation *> run(members.begin(), members.end());
      for (Operation *op : members)
        if (isLoad(op) && !op->use_empty() && escapes(op->getResult(0), block, run)) {
          reads.insert(op);
          changed = true;
        }
    }
  }

  for (Operation *read : reads)
    read->setAttr(kHostReadAttrName, UnitAttr::get(read->getContext()));
  for (auto &members : runs) {
    if (members.empty())
      continue;
    Operation *last = members.back();
    if (isDeviceNest(last) && !last->use_empty()) {
      returnThroughMemory(last);
      // The stores of its results belong to the run; the reads behind them do not.
      for (Operation *op = last->getNextNode(); isa<memref::StoreOp, memref::LoadOp>(op);
           op = op->getNextNode()) {
        if (isa<memref::StoreOp>(op) && op->getOperand(0).getDefiningOp() == last)
          members.push_back(op);
        else if (!op->hasAttr(kHostReadAttrName))
          break;
      }
    }
    // Loads that nothing uses compute nothing.
    if (llvm::all_of(members, [](Operation *op) { return isLoad(op) && op->use_empty(); }))
      continue;
    launchRun(members);
  }
}

void mlir::mp::formLaunchRegions(Block &block) {
  SmallVector<SmallVector<Operation *>> segments(1);
  for (Operation &op : block) {
    if (touchesMemory(&op) || isTransparent(&op)) {
      segments.back().push_back(&op);
      continue;
    }
    segments.emplace_back();
    if (isLoopNestOp(&op))
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          formLaunchRegions(inner);
  }
  for (auto &segment : segments)
    formRuns(segment);
}
