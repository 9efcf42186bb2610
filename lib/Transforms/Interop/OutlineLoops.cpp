// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-outline-loops: one function a loop nest, equal ones once.

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mp/Transforms/Interop/Passes.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::mp {
#define GEN_PASS_DEF_OUTLINELOOPS
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// Loops that only compute: what calls the runtime or holds memory stays where it is.
static bool isKernel(scf::ForOp loop) {
  if (loop.getNumResults() != 0)
    return false;
  return !loop->walk([](Operation *op) {
                auto call = dyn_cast<func::CallOp>(op);
                bool bound = (call && call.getCallee() != kFailName) ||
                             isa<memref::AllocOp, memref::DeallocOp, memref::AllocaOp>(op);
                return bound ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

/// Attributes of LLVM functions.
static ArrayAttr functionAttributes(Operation *op, ArrayRef<StringRef> names) {
  return Builder(op->getContext()).getStrArrayAttr(names);
}

namespace {

struct OutlineLoops : mlir::mp::impl::OutlineLoopsBase<OutlineLoops> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> kernels;
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      if (!isKernel(loop))
        return WalkResult::advance();
      kernels.push_back(loop);
      return WalkResult::skip();
    });
    SymbolTable symbols(getOperation());
    llvm::StringMap<func::FuncOp> known;
    for (scf::ForOp kernel : kernels) {
      // The remaining code only calls: optimising it would buy nothing.
      if (auto caller = kernel->getParentOfType<func::FuncOp>())
        caller->setAttr("passthrough", functionAttributes(caller, {"noinline", "optnone"}));
      outline(kernel, symbols, known);
    }
  }

  static void outline(scf::ForOp loop, SymbolTable &symbols, llvm::StringMap<func::FuncOp> &known) {
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(loop->getRegions(), captured);
    captured.insert(loop.getLowerBound());
    captured.insert(loop.getUpperBound());
    captured.insert(loop.getStep());
    SmallVector<Value> arguments;
    SmallVector<Operation *> constants;
    for (Value value : captured) {
      Operation *def = value.getDefiningOp();
      if (def && def->hasTrait<OpTrait::ConstantLike>())
        constants.push_back(def);
      else
        arguments.push_back(value);
    }
    OpBuilder b(loop);
    Location loc = loop.getLoc();
    auto function =
        func::FuncOp::create(loc, "loops", b.getFunctionType(ValueRange(arguments).getTypes(), {}));
    function.setPrivate();
    function->setAttr("passthrough", functionAttributes(loop, {"noinline"}));
    Block *body = function.addEntryBlock();
    b.setInsertionPointToStart(body);
    IRMapping map;
    map.map(arguments, body->getArguments());
    for (Operation *constant : constants)
      b.clone(*constant, map);
    b.clone(*loop, map);
    func::ReturnOp::create(b, loc);

    std::string text;
    llvm::raw_string_ostream stream(text);
    function->print(stream, OpPrintingFlags().useLocalScope().assumeVerified());
    auto [entry, isNew] = known.try_emplace(text, function);
    if (isNew)
      symbols.insert(function); // and renames
    else
      function->destroy();
    b.setInsertionPoint(loop);
    func::CallOp::create(b, loc, entry->second, arguments);
    loop.erase();
  }
};

} // namespace
