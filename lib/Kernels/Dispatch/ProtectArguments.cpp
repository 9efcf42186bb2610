// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-protect-arguments: keep bufferization from writing into the caller's buffers
// (exact).

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_PROTECTARGUMENTS
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;

static StringRef writableName() { return bufferization::BufferizationDialect::kWritableAttrName; }

/// An argument that nobody gave away.
static bool isProtected(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  if (!function || !argument.getOwner()->isEntryBlock())
    return false;
  auto writable = function.getArgAttrOfType<BoolAttr>(argument.getArgNumber(), writableName());
  return writable && !writable.getValue();
}

/// A wish to have a result in the caller's buffer: the caller gets it as a result.
static void dropWriteTo(bufferization::MaterializeInDestinationOp op, RewriterBase &rewriter) {
  if (op.getNumResults() == 1 && isProtected(op.getDest()))
    rewriter.replaceOp(op, op.getSource());
}

/// The reader of an unranked tensor is mostly a function of somebody else, which may write. The
/// cast itself cannot copy, and bufferization refuses where it would have to.
static void copyBeforeCast(tensor::CastOp op, RewriterBase &rewriter) {
  if (!isa<RankedTensorType>(op.getSource().getType()) || !isa<UnrankedTensorType>(op.getType()))
    return;
  rewriter.setInsertionPoint(op);
  Value copy = bufferization::AllocTensorOp::create(
      rewriter, op.getLoc(), cast<RankedTensorType>(op.getSource().getType()),
      /*dynamicSizes=*/ValueRange(), op.getSource());
  op.getSourceMutable().assign(copy);
}

/// A tensor of a buffer that others may write to: bufferization refuses it. A copy of its contents
/// is as good.
static void copyContents(bufferization::ToTensorOp op, RewriterBase &rewriter) {
  auto type = dyn_cast<MemRefType>(op.getBuffer().getType());
  if (op.getRestrict() || !type)
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(b, op.getBuffer(), dim));
  Value copy =
      memref::AllocOp::create(b, MemRefType::get(type.getShape(), type.getElementType()), sizes);
  memref::CopyOp::create(b, op.getBuffer(), copy);
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(op, op.getType(), copy, /*restrict=*/true);
}

/// Tensors that blocks take and others read: one-shot bufferization (LLVM 22) sees no conflict
/// between what another block writes in place of such an argument and later reads of it. Of a copy,
/// which an op defines, it does.
static void copyWhereOthersRead(Region &region, OpBuilder &builder) {
  if (region.hasOneBlock())
    return;
  for (Block &block : region)
    for (BlockArgument argument : block.getArguments()) {
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      auto isElsewhere = [&](Operation *user) {
        return region.findAncestorBlockInRegion(*user->getBlock()) != &block;
      };
      if (!type || isProtected(argument) || llvm::none_of(argument.getUsers(), isElsewhere))
        continue;
      builder.setInsertionPointToStart(&block);
      auto copy = bufferization::AllocTensorOp::create(builder, argument.getLoc(), type,
                                                       /*dynamicSizes=*/ValueRange(), argument);
      argument.replaceAllUsesExcept(copy, copy);
    }
}

namespace {

struct ProtectArguments : mlir::mp::impl::ProtectArgumentsBase<ProtectArguments> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function.isPublic() || function.isExternal())
        continue;
      for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i)
        if (isa<TensorType>(function.getArgument(i).getType()) &&
            !function.getArgAttr(i, writableName()))
          function.setArgAttr(i, writableName(), BoolAttr::get(&getContext(), false));
    }
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        copyWhereOthersRead(region, rewriter);
      if (auto write = dyn_cast<bufferization::MaterializeInDestinationOp>(op))
        dropWriteTo(write, rewriter);
      else if (auto cast = dyn_cast<tensor::CastOp>(op))
        copyBeforeCast(cast, rewriter);
      else if (auto read = dyn_cast<bufferization::ToTensorOp>(op))
        copyContents(read, rewriter);
    });
  }
};

} // namespace
