// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-plan-buffers: give buffers of static size places in one allocation, free the others
// after their last use (exact).

#include "BufferPlan.h"
#include "Globals.h"
#include "mp/Analysis/BufferLifetime.h"
#include "mp/Kernels/Host/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_PLANBUFFERS
#include "mp/Kernels/Host/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {

/// Positions of ops in the order of the text, which is the order of execution except that loops
/// repeat theirs: what lives across iterations is used by the loop as a whole.
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

int64_t byteSize(MemRefType type) {
  return elementBytes(type.getElementType()) * type.getNumElements();
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
      BufferLifetime lifetime(alloc);
      bool stays = !lifetime.escapes && !lifetime.isReturned;
      MemRefType type = alloc.getType();
      if (stays && type.hasStaticShape() && type.getLayout().isIdentity() &&
          !type.getMemorySpace()) {
        plan.add({byteSize(type), positions.begin[lifetime.first], positions.end[lifetime.last]});
        planned.push_back(alloc);
        continue;
      }
      ++separate;
      if (stays) {
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
      function->setAttr(
          kBufferPlanAttrName,
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
      Value view =
          memref::ViewOp::create(b, alloc.getLoc(), alloc.getType(), memory, at, ValueRange());
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
