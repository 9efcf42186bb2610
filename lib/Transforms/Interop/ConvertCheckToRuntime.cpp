// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// convert-check-to-runtime: expectations as calls of libMPRuntime.

#include "RuntimeCalls.h"
#include "mp/Dialect/Check/CheckDialect.h"
#include "mp/Transforms/Interop/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::mp {
#define GEN_PASS_DEF_CONVERTCHECKTORUNTIME
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// The function a failed check calls, with the list of messages.
static func::FuncOp failFunction(ModuleOp module) {
  if (auto known = module.lookupSymbol<func::FuncOp>(kFailName))
    return known;
  OpBuilder b(module.getBody(), module.getBody()->begin());
  auto made =
      func::FuncOp::create(b, module.getLoc(), kFailName, b.getFunctionType(b.getI64Type(), {}));
  made.setPrivate();
  return made;
}

namespace {

class CheckLowering : RuntimeCalls {
public:
  CheckLowering(ModuleOp module, bool device) : RuntimeCalls(module), device(device) {}

  LogicalResult lower(Operation *op) {
    std::optional<int64_t> element =
        runtimeElement(getElementTypeOrSelf(op->getOperand(0).getType()));
    if (!element)
      return op->emitOpError("expected a format of at most 64 bits, found ")
             << op->getOperand(0).getType();
    b.setInsertionPoint(op);
    b.setLoc(op->getLoc());
    SmallVector<Value> buffers;
    for (Value operand : op->getOperands()) {
      if (isa<TensorType>(operand.getType()))
        return (op->emitOpError("expected buffers, found ") << operand.getType()).attachNote()
               << "run one-shot-bufferize first";
      buffers.push_back(inMemory(op, operand));
    }
    SmallVector<Value> arguments = {integer(addMessage(op))};
    arguments.push_back(layout(op, buffers));
    for (auto [i, buffer] : llvm::enumerate(buffers)) {
      bool onHost = !device || !isa<MemRefType>(op->getOperand(unsigned(i)).getType());
      arguments.push_back(onHost ? address(buffer) : mirror(buffer, int64_t(i), arguments[1]));
    }
    arguments.push_back(integer(*element));
    StringRef callee = llvm::TypeSwitch<Operation *, StringRef>(op)
                           .Case<ExpectCloseOp>([&](auto close) {
                             appendLimits(close, arguments);
                             return "mp_rt_expect_close";
                           })
                           .Case<ExpectBitsOp>([](auto) { return "mp_rt_expect_bits"; })
                           .Default([](Operation *) { return "mp_rt_expect_finite"; });
    call(callee, arguments);
    op->erase();
    return success();
  }

  void finish() {
    if (!messages.empty())
      failFunction(module)->setAttr(kRuntimeChecksAttrName, b.getArrayAttr(messages));
  }

private:
  Value real(double value) {
    return arith::ConstantFloatOp::create(b, b.getF64Type(), APFloat(value));
  }

  /// The number of the check, which names its message.
  int64_t addMessage(Operation *op) {
    if (messages.empty())
      if (auto known = failFunction(module)->getAttrOfType<ArrayAttr>(kRuntimeChecksAttrName))
        messages.assign(known.begin(), known.end());
    std::string text;
    llvm::raw_string_ostream(text) << op->getName() << " at " << op->getLoc();
    messages.push_back(b.getStringAttr(text));
    return int64_t(messages.size());
  }

  /// Space on the stack of the function around `op`.
  Value allocate(Operation *op, MemRefType type) {
    OpBuilder::InsertionGuard guard(b);
    auto function = op->getParentOfType<FunctionOpInterface>();
    b.setInsertionPointToStart(&function.getFunctionBody().front());
    return memref::AllocaOp::create(b, type);
  }

  Value inMemory(Operation *op, Value value) {
    if (isa<MemRefType>(value.getType()))
      return value;
    Value place = allocate(op, MemRefType::get({}, value.getType()));
    memref::StoreOp::create(b, value, place);
    return place;
  }

  static int64_t bytesOf(Value buffer) {
    return llvm::divideCeil(getElementTypeOrSelf(buffer.getType()).getIntOrFloatBitWidth(), 8);
  }

  Value address(Value buffer) {
    Value offset = memref::ExtractStridedMetadataOp::create(b, buffer).getOffset();
    Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
    return arith::AddIOp::create(b, base, arith::MulIOp::create(b, offset, index(bytesOf(buffer))));
  }

  /// A copy on the host, at the same strides.
  Value mirror(Value buffer, int64_t number, Value layout) {
    return call("mp_rt_device_mirror",
                {layout, integer(number), address(buffer), integer(bytesOf(buffer))},
                b.getIndexType());
  }

  /// The table that the runtime's header describes.
  Value layout(Operation *op, ArrayRef<Value> buffers) {
    SmallVector<Value> words = {index(cast<MemRefType>(buffers.front().getType()).getRank())};
    for (Value buffer : buffers) {
      auto metadata = memref::ExtractStridedMetadataOp::create(b, buffer);
      llvm::append_range(words, metadata.getSizes());
      llvm::append_range(words, metadata.getStrides());
    }
    Value table = allocate(op, MemRefType::get({int64_t(words.size())}, b.getIndexType()));
    for (auto [i, word] : llvm::enumerate(words))
      memref::StoreOp::create(b, word, table, index(int64_t(i)));
    return memref::ExtractAlignedPointerAsIndexOp::create(b, table);
  }

  void appendLimits(ExpectCloseOp op, SmallVectorImpl<Value> &arguments) {
    auto limit = [](std::optional<APFloat> value) { return value ? value->convertToDouble() : -1; };
    arguments.push_back(integer(op.getUlp() ? int64_t(*op.getUlp()) : -1));
    arguments.push_back(real(limit(op.getRel())));
    arguments.push_back(real(limit(op.getAbs())));
  }

  bool device;
  SmallVector<Attribute> messages;
};

struct ConvertCheckToRuntime : mlir::mp::impl::ConvertCheckToRuntimeBase<ConvertCheckToRuntime> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<CheckDialect>(op->getDialect()))
        ops.push_back(op);
    });
    CheckLowering lowering(getOperation(), device);
    for (Operation *op : ops)
      if (failed(lowering.lower(op)))
        return signalPassFailure();
    lowering.finish();
  }
};

} // namespace
