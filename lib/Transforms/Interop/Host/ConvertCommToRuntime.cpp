// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// convert-comm-to-runtime: what ranks exchange as calls of libMPRuntime.

#include "../RuntimeCalls.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
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
    else if (Operation *reader = buffers[1] == op->getOperand(1) ? findEnd(op) : nullptr)
      callInTwo(op, buffers[0], buffers[1], reader);
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
    SmallVector<Value> arguments{address(source), address(dest)};
    if (auto gather = dyn_cast<comm::AllGatherOp>(op)) {
      int64_t dim = int64_t(gather.getDim());
      Value inner =
          arith::MulIOp::create(b, product(source, dim, rankOf(source)), integer(bytesOf(source)));
      arguments.append({product(source, 0, dim), inner});
      call("mp_rt_all_gather", arguments);
      return;
    }
    llvm::append_range(arguments, describeSum(op, source, dest));
    bool widens = getElementTypeOrSelf(source.getType()) != getElementTypeOrSelf(dest.getType());
    call(isa<comm::AllReduceOp>(op) ? "mp_rt_all_reduce"
         : widens                   ? "mp_rt_reduce_scatter_wide"
                                    : "mp_rt_reduce_scatter",
         arguments);
  }

  /// Builds what is behind the address: the sizes of blocks, the type of elements and how they
  /// combine.
  SmallVector<Value> describeSum(Operation *op, Value source, Value dest) {
    Value element = integer(*runtimeElement(getElementTypeOrSelf(source.getType())));
    if (auto reduce = dyn_cast<comm::AllReduceOp>(op))
      return {product(source, 0, rankOf(source)), element, integer(int64_t(reduce.getCombine()))};
    auto scatter = cast<comm::ReduceScatterOp>(op);
    int64_t dim = int64_t(scatter.getDim());
    return {product(dest, 0, dim), product(dest, dim, rankOf(dest)), element,
            integer(int64_t(scatter.getCombine()))};
  }

  /// Starts a sum where it stands and finishes it before `reader`.
  void callInTwo(Operation *op, Value source, Value dest, Operation *reader) {
    const std::string name = isa<comm::AllReduceOp>(op) ? "all_reduce" : "reduce_scatter";
    const SmallVector<Value> what = describeSum(op, source, dest);
    SmallVector<Value> arguments{address(source)};
    llvm::append_range(arguments, what);
    Value number = call("mp_rt_start_" + name, arguments, b.getI64Type());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(reader);
    arguments = {number, address(dest)};
    llvm::append_range(arguments, what);
    call("mp_rt_finish_" + name, arguments);
  }

  /// The op before which a sum over ranks may end: the first that has to do with its destination,
  /// if ranks compute something until then. Null where that is not known.
  static Operation *findEnd(Operation *op) {
    auto scatter = dyn_cast<comm::ReduceScatterOp>(op);
    if (!isa<comm::AllReduceOp>(op) &&
        !(scatter && getElementTypeOrSelf(scatter.getSource().getType()) ==
                         getElementTypeOrSelf(scatter.getDest().getType())))
      return nullptr;
    Value dest = op->getOperand(1);
    while (auto view = dest.getDefiningOp<ViewLikeOpInterface>())
      dest = view.getViewSource();
    if (!dest.getDefiningOp<memref::AllocOp>())
      return nullptr; // others may have it, too
    llvm::SmallPtrSet<Operation *, 8> users;
    SmallVector<Value> shown{dest};
    while (!shown.empty())
      for (Operation *user : shown.pop_back_val().getUsers()) {
        users.insert(op->getBlock()->findAncestorOpInBlock(*user));
        if (auto view = dyn_cast<ViewLikeOpInterface>(user))
          shown.push_back(view->getResult(0));
      }
    bool computes = false;
    for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
      if (users.contains(next) || next->hasTrait<OpTrait::IsTerminator>())
        return computes ? next : nullptr;
      computes |= !isMemoryEffectFree(next) && !isa<memref::AllocOp, memref::DeallocOp>(next);
    }
    return nullptr;
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
