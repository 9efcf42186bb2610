// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-bufferize: turn tensors into buffers, leaving bodies of dispatches as they are
// (exact).

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferUtils.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mp/Kernels/Form/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_BUFFERIZE
#include "mp/Kernels/Form/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static bool isInDispatch(Operation *op) {
  return static_cast<bool>(op->getParentOfType<mpk::DispatchOp>());
}

/// The first of the ops that write parts of the tensor that `part` writes, one after the other.
static tensor::InsertSliceOp firstPart(tensor::InsertSliceOp part) {
  while (auto before = part.getDest().getDefiningOp<tensor::InsertSliceOp>())
    part = before;
  return part;
}

namespace {

struct Bufferize : mlir::mp::impl::BufferizeBase<Bufferize> {
  using Base::Base;

  void runOnOperation() override {
    for (auto inner : getOperation().getOps<ModuleOp>()) {
      inner.emitError("lies within another module, expected functions in the outermost one alone; "
                      "write this module into a file of its own");
      return signalPassFailure();
    }
    fillWhatIsCopied();
    copyVariables();
    allocateEmptyTensors();
    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.allowReturnAllocsFromLoops = true;
    options.setFunctionBoundaryTypeConversion(bufferization::LayoutMapOption::IdentityLayoutMap);
    options.opFilter.denyOperation(isInDispatch);
    bufferization::BufferizationState state;
    makeGlobals(options, state);
    if (failed(bufferization::runOneShotModuleBufferize(getOperation(), options, state)))
      signalPassFailure();
  }

  /// Fills tensors that two ops go on to write by parts: one of them gets a copy, which would read
  /// the parts that nobody has written yet.
  void fillWhatIsCopied() {
    llvm::SetVector<tensor::InsertSliceOp> parts;
    getOperation().walk([&](tensor::InsertSliceOp part) {
      auto writes = [&](Operation *user) {
        auto next = dyn_cast<tensor::InsertSliceOp>(user);
        return next && next.getDest() == part.getResult();
      };
      if (!isInDispatch(part) && llvm::count_if(part->getUsers(), writes) > 1)
        parts.insert(firstPart(part));
    });
    for (tensor::InsertSliceOp part : parts) {
      OpBuilder b(part);
      auto empty = part.getDest().getDefiningOp<tensor::EmptyOp>();
      TypedAttr zero = empty ? b.getZeroAttr(empty.getType().getElementType()) : TypedAttr();
      if (!zero)
        continue;
      Value own = b.clone(*empty)->getResult(0);
      Value value = arith::ConstantOp::create(b, part.getLoc(), zero);
      auto fill = linalg::FillOp::create(b, part.getLoc(), value, own);
      part.getDestMutable().assign(fill.getResult(0));
    }
  }

  /// Gives what variables are loaded into and stored from memory of its own. Upstream writes what
  /// was loaded in place, in the variable, and stores memory that nobody wrote where the value is
  /// read again.
  void copyVariables() {
    auto copy = [](OpBuilder b, Value value) {
      return bufferization::AllocTensorOp::create(
          b, value.getLoc(), cast<RankedTensorType>(value.getType()), ValueRange(), value);
    };
    getOperation().walk([&](Operation *op) {
      if (auto store = dyn_cast<ml_program::GlobalStoreOp>(op); store && !isFresh(store.getValue()))
        store.getValueMutable().assign(copy(OpBuilder(store), store.getValue()));
      auto load = dyn_cast<ml_program::GlobalLoadOp>(op);
      if (!load || llvm::all_of(load->getUsers(), [&](Operation *user) {
            return isa<tensor::ExtractOp>(user) && isBeforeStores(user, load);
          }))
        return;
      OpBuilder b(load->getContext());
      b.setInsertionPointAfter(load);
      Operation *own = copy(b, load.getResult());
      load.getResult().replaceAllUsesExcept(own->getResult(0), own);
    });
  }

  /// Returns whether `value` has memory of its own, which its one user may take.
  static bool isFresh(Value value) {
    auto made = value.getDefiningOp<bufferization::BufferizableOpInterface>();
    return made && value.hasOneUse() && made.bufferizesToAllocation(value);
  }

  /// Returns whether `user` of what `load` loads comes before whatever may store to the variable.
  static bool isBeforeStores(Operation *user, Operation *load) {
    if (user->getBlock() != load->getBlock())
      return false;
    return llvm::none_of(
        llvm::make_range(load->getIterator(), user->getIterator()), [](Operation &op) {
          return isa<ml_program::GlobalStoreOp, func::CallOp>(op) || op.getNumRegions() > 0;
        });
  }

  /// Makes globals of constants in program order: upstream does so function by function, in an
  /// order of addresses, so that names and places would differ from run to run.
  void makeGlobals(const bufferization::OneShotBufferizationOptions &options,
                   bufferization::BufferizationState &state) {
    getOperation().walk([&](arith::ConstantOp constant) {
      if (isa<RankedTensorType>(constant.getType()) && !isInDispatch(constant))
        (void)bufferization::getGlobalFor(constant, state.getSymbolTables(),
                                          options.bufferAlignment);
    });
  }

  /// Does what upstream's empty-tensor-to-alloc-tensor does, outside dispatches.
  void allocateEmptyTensors() {
    SmallVector<tensor::EmptyOp> empties;
    getOperation().walk([&](tensor::EmptyOp empty) {
      if (!isInDispatch(empty))
        empties.push_back(empty);
    });
    for (tensor::EmptyOp empty : empties) {
      OpBuilder b(empty);
      Value allocated = bufferization::AllocTensorOp::create(b, empty.getLoc(), empty.getType(),
                                                             empty.getDynamicSizes());
      empty.replaceAllUsesWith(allocated);
      empty.erase();
    }
  }
};

} // namespace
