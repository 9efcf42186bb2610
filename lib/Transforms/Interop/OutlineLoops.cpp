// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-outline-loops: one function a loop nest, equal ones once.

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mp/Dialect/MP/LoopWork.h"
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

/// Returns how often the program executes what is in `op` when it executes `op`, if that is known.
static std::optional<uint64_t> countTrips(Operation *op) {
  if (!llvm::all_of(op->getRegions(), [](Region &region) { return region.hasOneBlock(); }))
    return std::nullopt; // may branch back
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  if (!loop)
    return 1;
  std::optional<APInt> trips = loop.getStaticTripCount();
  return trips ? std::optional(trips->getLimitedValue()) : std::nullopt;
}

/// Returns about how many additions of f32 cost what `op` itself does.
static uint64_t weigh(Operation *op) {
  auto isNarrow = [](Type type) {
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
  };
  if (isa_and_present<math::MathDialect>(op->getDialect()))
    return 50; // a call, or a polynomial
  bool converts =
      llvm::any_of(op->getOperandTypes(), isNarrow) || llvm::any_of(op->getResultTypes(), isNarrow);
  return converts ? 10 : 1;
}

/// The work of `op` with all that is in it.
static std::optional<uint64_t> countWork(Operation *op) {
  uint64_t inside = 0;
  for (Region &region : op->getRegions())
    for (Operation &nested : region.getOps()) {
      std::optional<uint64_t> work = countWork(&nested);
      if (!work)
        return std::nullopt;
      inside = llvm::SaturatingAdd(inside, *work);
    }
  if (op->getNumRegions() == 0)
    return weigh(op);
  std::optional<uint64_t> trips = countTrips(op);
  return trips ? std::optional(llvm::SaturatingMultiplyAdd(inside, *trips, weigh(op)))
               : std::nullopt;
}

/// The work of `loop` in one call of the program, given that of all loops around it.
static std::optional<uint64_t> countWorkInProgram(scf::ForOp loop) {
  std::optional<uint64_t> work = countWork(loop);
  Operation *around = loop->getParentOp();
  for (; work && !isa<func::FuncOp>(around); around = around->getParentOp()) {
    std::optional<uint64_t> trips = countTrips(around);
    work = trips ? std::optional(llvm::SaturatingMultiply(*work, *trips)) : std::nullopt;
  }
  auto function = dyn_cast<func::FuncOp>(around);
  bool once = function && function.isPublic() && countTrips(function);
  return once ? work : std::nullopt;
}

/// Attributes of LLVM functions.
static ArrayAttr functionAttributes(Operation *op, ArrayRef<StringRef> names) {
  return Builder(op->getContext()).getStrArrayAttr(names);
}

/// Adds what a call of `function` costs; what is not known once is not known at all.
static void addWork(func::FuncOp function, bool isNew, std::optional<uint64_t> work) {
  auto before = function->getAttrOfType<IntegerAttr>(kLoopWorkAttrName);
  if (!work || (!isNew && !before)) {
    function->removeAttr(kLoopWorkAttrName);
    return;
  }
  const uint64_t sum = llvm::SaturatingAdd(*work, before ? uint64_t(before.getInt()) : 0);
  function->setAttr(
      kLoopWorkAttrName,
      Builder(function.getContext()).getI64IntegerAttr(std::min<uint64_t>(sum, INT64_MAX)));
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

    const std::optional<uint64_t> work = countWorkInProgram(loop);
    std::string text;
    llvm::raw_string_ostream stream(text);
    function->print(stream, OpPrintingFlags().useLocalScope().assumeVerified());
    auto [entry, isNew] = known.try_emplace(text, function);
    if (isNew)
      symbols.insert(function); // and renames
    else
      function->destroy();
    addWork(entry->second, isNew, work);
    b.setInsertionPoint(loop);
    func::CallOp::create(b, loc, entry->second, arguments);
    loop.erase();
  }
};

} // namespace
