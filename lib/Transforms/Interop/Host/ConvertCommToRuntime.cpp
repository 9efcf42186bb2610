// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// convert-comm-to-runtime: what ranks exchange as calls of libMPRuntime.

#include "../RuntimeCalls.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mp/Dialect/Comm/CommDialect.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_CONVERTCOMMTORUNTIME
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {

/// Lowers one exchange after the other.
class CommLowering : RuntimeCalls {
public:
  using RuntimeCalls::RuntimeCalls;

  LogicalResult lower(Operation *op) {
    b.setInsertionPoint(op);
    b.setLoc(op->getLoc());
    if (auto rank = dyn_cast<comm::RankOp>(op)) {
      Value number = call("mp_rt_rank", {}, b.getI64Type());
      rank.replaceAllUsesWith(arith::IndexCastOp::create(b, b.getIndexType(), number).getResult());
      op->erase();
      return success();
    }
    for (Value operand : op->getOperands())
      if (isa<TensorType>(operand.getType()))
        return (op->emitOpError("expected buffers, found ") << operand.getType()).attachNote()
               << "run one-shot-bufferize first";
    SmallVector<Value> buffers;
    for (OpOperand &operand : op->getOpOperands())
      buffers.push_back(dense(operand.get(), !comm::detail::isDestination(operand)));
    if (isa<comm::SendOp, comm::ReceiveOp>(op))
      callForMessage(op, buffers[0]);
    else
      callForCollective(op, buffers[0], buffers[1]);
    for (auto [operand, buffer] : llvm::zip_equal(op->getOpOperands(), buffers)) {
      if (buffer == operand.get())
        continue;
      if (comm::detail::isDestination(operand))
        memref::CopyOp::create(b, buffer, operand.get());
      memref::DeallocOp::create(b, buffer);
    }
    op->erase();
    return success();
  }

private:
  void callForMessage(Operation *op, Value buffer) {
    Value elements = product(buffer, 0, rankOf(buffer));
    Value bytes = arith::MulIOp::create(b, elements, integer(bytesOf(buffer)));
    auto send = dyn_cast<comm::SendOp>(op);
    auto receive = dyn_cast<comm::ReceiveOp>(op);
    Value other = integer(int64_t(send ? send.getTo() : receive.getFrom()));
    Value tag = integer(int64_t(send ? send.getTag() : receive.getTag()));
    call(send ? "mp_rt_send" : "mp_rt_receive", {address(buffer), bytes, other, tag});
  }

  void callForCollective(Operation *op, Value source, Value dest) {
    Type element = getElementTypeOrSelf(source.getType());
    if (auto reduce = dyn_cast<comm::AllReduceOp>(op)) {
      call("mp_rt_all_reduce",
           {address(source), address(dest), product(source, 0, rankOf(source)),
            integer(*runtimeElement(element)), integer(int64_t(reduce.getCombine()))});
    } else if (auto gather = dyn_cast<comm::AllGatherOp>(op)) {
      int64_t dim = int64_t(gather.getDim());
      Value inner =
          arith::MulIOp::create(b, product(source, dim, rankOf(source)), integer(bytesOf(source)));
      call("mp_rt_all_gather", {address(source), address(dest), product(source, 0, dim), inner});
    } else {
      auto scatter = cast<comm::ReduceScatterOp>(op);
      int64_t dim = int64_t(scatter.getDim());
      bool widens = element != getElementTypeOrSelf(dest.getType());
      call(widens ? "mp_rt_reduce_scatter_wide" : "mp_rt_reduce_scatter",
           {address(source), address(dest), product(dest, 0, dim), product(dest, dim, rankOf(dest)),
            integer(*runtimeElement(element)), integer(int64_t(scatter.getCombine()))});
    }
  }

  static int64_t bytesOf(Value buffer) {
    return int64_t(
        llvm::divideCeil(getElementTypeOrSelf(buffer.getType()).getIntOrFloatBitWidth(), 8));
  }
  static int64_t rankOf(Value buffer) { return cast<MemRefType>(buffer.getType()).getRank(); }

  /// Elements of dimensions `begin` up to `end`, exclusive.
  Value product(Value buffer, int64_t begin, int64_t end) {
    Value count = arith::ConstantIndexOp::create(b, 1);
    for (int64_t dim = begin; dim < end; ++dim)
      count = b.createOrFold<arith::MulIOp>(count, b.createOrFold<memref::DimOp>(buffer, dim));
    return arith::IndexCastOp::create(b, b.getI64Type(), count);
  }

  /// The runtime moves dense arrays: others go through one.
  Value dense(Value buffer, bool filled) {
    auto type = cast<MemRefType>(buffer.getType());
    if (type.getLayout().isIdentity())
      return buffer;
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(unsigned(dim)))
        sizes.push_back(memref::DimOp::create(b, buffer, dim));
    Value copy =
        memref::AllocOp::create(b, MemRefType::get(type.getShape(), type.getElementType()), sizes);
    if (filled)
      memref::CopyOp::create(b, buffer, copy);
    return copy;
  }

  Value address(Value buffer) { return memref::ExtractAlignedPointerAsIndexOp::create(b, buffer); }
};

/// Callers of the function know what ranks hold; its own code does not say it any more.
static void eraseAttributes(func::FuncOp function) {
  function->removeAttr(comm::kRanksAttrName);
  for (StringRef name : {comm::kShardAttrName, comm::kStageAttrName}) {
    auto attribute = StringAttr::get(function.getContext(), name);
    for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i)
      function.removeArgAttr(i, attribute);
    for (unsigned i = 0, e = function.getNumResults(); i != e; ++i)
      function.removeResultAttr(i, attribute);
  }
}

struct ConvertCommToRuntime : mlir::mp::impl::ConvertCommToRuntimeBase<ConvertCommToRuntime> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<comm::CommDialect>(op->getDialect()))
        ops.push_back(op);
    });
    CommLowering lowering(getOperation());
    for (Operation *op : ops)
      if (failed(lowering.lower(op)))
        return signalPassFailure();
    getOperation().walk(eraseAttributes);
  }
};

} // namespace
