// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BufferPlan.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mp/Kernels/Host/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_PLANBUFFERS
#include "mp/Kernels/Host/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {

/// Positions of ops in the order of the text, which is the order of execution except that loops repeat
/// theirs: what lives across iterations is used by the loop as a whole.
struct Positions {
  explicit Positions(func::FuncOp function) {
    int64_t next = 0;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) { begin[op] = next++; });
    function.walk<WalkOrder::PostOrder>([&](Operation *op) {
      int64_t last = begin[op];
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Operation &inner : block)
            last = std::max(last, end[&inner]);
      end[op] = last;
    });
  }
  DenseMap<Operation *, int64_t> begin, end;
};

/// Where a buffer and everything that may alias it is used.
class Lifetime {
public:
  explicit Lifetime(memref::AllocOp alloc) : first(alloc), last(alloc), block(alloc->getBlock()) {
    pending.push_back(alloc.getResult());
    while (!escapes && !pending.empty()) {
      Value value = pending.pop_back_val();
      for (OpOperand &use : value.getUses())
        visit(use);
    }
  }

  bool escapes = false;
  Operation *first, *last; ///< in the block of the allocation

private:
  void follow(Value value) {
    if (isa<BaseMemRefType>(value.getType()) && seen.insert(value).second)
      pending.push_back(value);
  }

  void visit(OpOperand &use) {
    Operation *user = use.getOwner(), *ancestor = block->findAncestorOpInBlock(*user);
    if (!ancestor) {
      escapes = true; // another block of the function
      return;
    }
    if (last->isBeforeInBlock(ancestor))
      last = ancestor;
    if (!isa<ViewLikeOpInterface>(user) && (!touched || ancestor->isBeforeInBlock(first))) {
      touched = true;
      first = ancestor;
    }
    if (isa<scf::YieldOp, scf::ConditionOp>(user)) {
      if (user->getBlock() == block) {
        escapes = true;
        return;
      }
      followRegions(user->getParentOp());
    } else if (isa<RegionBranchOpInterface>(user)) {
      followRegions(user);
    } else if (user->hasTrait<OpTrait::IsTerminator>()) {
      escapes = true; // returned, or handed to another block
    } else if (isa<ViewLikeOpInterface, memref::ExtractStridedMetadataOp, arith::SelectOp, func::CallOp>(user)) {
      for (Value result : user->getResults())
        follow(result);
    } else if (isa<memref::DeallocOp>(user)) {
      escapes = true; // somebody frees it already
    }
  }

  /// A loop or branch that one of the values goes through: any of its buffers may be this one.
  void followRegions(Operation *op) {
    for (Value result : op->getResults())
      follow(result);
    for (Region &region : op->getRegions())
      for (Block &inner : region)
        for (Value argument : inner.getArguments())
          follow(argument);
  }

  Block *block;
  bool touched = false;
  SmallVector<Value> pending;
  DenseSet<Value> seen;
};

int64_t byteSize(MemRefType type) {
  Type element = type.getElementType();
  int64_t bytes = element.isIndex() ? 8 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  return llvm::PowerOf2Ceil(bytes) * type.getNumElements();
}

struct PlanBuffers : mlir::mp::impl::PlanBuffersBase<PlanBuffers> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    Positions positions(function);
    SmallVector<memref::AllocOp> allocs, planned;
    function.walk([&](memref::AllocOp alloc) {
      if (!alloc->getParentOfType<gpu::GPUFuncOp>())
        allocs.push_back(alloc);
    });
    BufferPlan plan;
    int64_t separate = 0;
    for (memref::AllocOp alloc : allocs) {
      alloc.removeAlignmentAttr(); // the runtime's blocks have 256
      Lifetime lifetime(alloc);
      MemRefType type = alloc.getType();
      if (!lifetime.escapes && type.hasStaticShape() && type.getLayout().isIdentity() &&
          !type.getMemorySpace()) {
        plan.add({byteSize(type), positions.begin[lifetime.first], positions.end[lifetime.last]});
        planned.push_back(alloc);
        continue;
      }
      ++separate;
      if (!lifetime.escapes) {
        OpBuilder b(alloc);
        b.setInsertionPointAfter(lifetime.last);
        memref::DeallocOp::create(b, alloc.getLoc(), alloc.getResult());
      }
    }
    if (!planned.empty())
      place(planned, plan.solve());
    Builder b(function.getContext());
    auto number = [&](StringRef name, int64_t value) {
      return b.getNamedAttr(name, b.getI64IntegerAttr(value));
    };
    if (!allocs.empty())
      function->setAttr(kBufferPlanAttrName,
                        b.getDictionaryAttr({number("buffers", planned.size()), number("bytes", plan.bytes()),
                                             number("live_bytes", plan.liveBytes()),
                                             number("separate", separate)}));
  }

  void place(MutableArrayRef<memref::AllocOp> allocs, const BufferPlan &plan) {
    func::FuncOp function = getOperation();
    OpBuilder b = OpBuilder::atBlockBegin(&function.front());
    Location loc = function.getLoc();
    Value size = arith::ConstantIndexOp::create(b, loc, plan.bytes());
    auto type = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
    Value memory = memref::AllocOp::create(b, loc, type, size);
    for (auto [alloc, offset] : llvm::zip_equal(allocs, plan.offsets())) {
      b.setInsertionPoint(alloc);
      Value at = arith::ConstantIndexOp::create(b, alloc.getLoc(), offset);
      Value view = memref::ViewOp::create(b, alloc.getLoc(), alloc.getType(), memory, at, ValueRange());
      alloc.replaceAllUsesWith(view);
      alloc.erase();
    }
    function.walk([&](func::ReturnOp end) {
      b.setInsertionPoint(end);
      memref::DeallocOp::create(b, loc, memory);
    });
  }
};

} // namespace
