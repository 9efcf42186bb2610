// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects tied values from the signatures of functions and from the control flow inside them.

#include "mp/Analysis/TiedStorage.h"
#include "mlir/Analysis/CallGraph.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mp;

/// The function an op stands in, if decisions reach the op: only control flow is between them.
static FunctionOpInterface getDecidingFunction(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp()) {
    if (auto function = dyn_cast<FunctionOpInterface>(parent))
      return function;
    auto interface = dyn_cast<PrecisionOpInterface>(parent);
    if (!interface || interface.getTypeRule() != TypeRule::Container)
      return {};
  }
  return {};
}

/// Its formats were decided by an earlier run.
static bool isDecidedAlready(Operation *function) {
  auto phase = function->getAttrOfType<StringAttr>(kPhaseAttrName);
  return phase && phase.getValue() != "assigned";
}

namespace {
/// Collects the callers of each function of a module, and why its signature must stay, if so.
class Signatures {
public:
  explicit Signatures(ModuleOp module) {
    for (auto function : module.getOps<FunctionOpInterface>())
      freezeByItself(function);
    // Looking through every op for calls, and every attribute for symbols, is dear, and tells only
    // of calls and of signatures that might change.
    bool allFrozen = llvm::all_of(module.getOps<FunctionOpInterface>(),
                                  [&](auto function) { return frozen.contains(function); });
    if (!allFrozen)
      freezeRecursive(module);
    auto stopAtCall = [](Operation *op) { // looks the interface up once, where a cast does twice
      return op->getName().hasInterface<CallOpInterface>() ? WalkResult::interrupt()
                                                           : WalkResult::advance();
    };
    if (!allFrozen || module.walk(stopAtCall).wasInterrupted())
      collectUses(module);
  }
  ArrayRef<Operation *> getCalls(Operation *function) { return calls[function].getArrayRef(); }
  StringRef whyFrozen(Operation *function) { return frozen[function]; }

private:
  void freeze(Operation *function, const Twine &why) {
    if (std::string &reason = frozen[function]; reason.empty())
      reason = why.str();
  }

  void freezeByItself(FunctionOpInterface function) {
    if (function.isExternal())
      freeze(function, "a function defined elsewhere");
    else if (!function.isPrivate())
      freeze(function, "a public signature");
    else if (isDecidedAlready(function))
      freeze(function, "a function that was decided before");
  }

  void freezeRecursive(ModuleOp module) {
    const CallGraph graph(module);
    for (auto component = llvm::scc_begin(&graph); !component.isAtEnd(); ++component)
      if (component.hasCycle())
        for (CallGraphNode *node : *component)
          if (!node->isExternal())
            freeze(node->getCallableRegion()->getParentOp(), "a recursive function");
  }

  void collectUses(ModuleOp module) {
    SymbolTable symbols(module);
    auto uses = SymbolTable::getSymbolUses(&module.getBodyRegion());
    if (!uses) {
      for (auto function : module.getOps<FunctionOpInterface>())
        freeze(function, "an unknown op may name functions");
      return;
    }
    for (SymbolTable::SymbolUse use : *uses)
      if (Operation *function = symbols.lookup(use.getSymbolRef().getRootReference()))
        if (isa<FunctionOpInterface>(function))
          addUse(cast<FunctionOpInterface>(function), use);
  }

  void addUse(FunctionOpInterface function, SymbolTable::SymbolUse use) {
    auto call = dyn_cast<CallOpInterface>(use.getUser());
    auto callee = call ? dyn_cast<SymbolRefAttr>(call.getCallableForCallee()) : SymbolRefAttr();
    if (callee != use.getSymbolRef() || call.getArgOperands().size() != call->getNumOperands())
      return freeze(function, Twine("a function whose address '") +
                                  use.getUser()->getName().getStringRef() + "' takes");
    calls[function].insert(call);
    FunctionOpInterface caller = getDecidingFunction(call);
    if (!caller)
      freeze(function,
             Twine("called from inside '") + call->getParentOp()->getName().getStringRef() + "'");
    else if (isDecidedAlready(caller))
      freeze(function, "called from a function that was decided before");
  }

  llvm::DenseMap<Operation *, llvm::SetVector<Operation *>> calls;
  llvm::DenseMap<Operation *, std::string> frozen;
};
} // namespace

TiedStorage::TiedStorage(ModuleOp module) {
  Signatures signatures(module);
  for (auto function : module.getOps<FunctionOpInterface>())
    addSignature(function, signatures.getCalls(function), signatures.whyFrozen(function));
  for (auto function : module.getOps<FunctionOpInterface>())
    addRegion(function.getFunctionBody());
}

void TiedStorage::addTied(TiedValues tied) {
  const TiedValues &added = ties.emplace_back(std::move(tied));
  for (Value value : added.values)
    byValue[value] = &added;
  for (OpOperand *feed : added.feeds)
    byFeed[feed] = &added;
}

void TiedStorage::addSignature(FunctionOpInterface function, ArrayRef<Operation *> calls,
                               StringRef frozen) {
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    FloatType format = getFloatFormat(type);
    if (!format)
      continue;
    TiedValues tied{format, {}, {}, frozen.str()};
    if (!function.isExternal())
      tied.values.push_back(function.getArgument(index));
    for (Operation *call : calls)
      tied.feeds.push_back(&call->getOpOperand(index));
    addTied(std::move(tied));
  }
  SmallVector<Operation *> returns;
  for (Block &block : function.getFunctionBody())
    if (!block.empty() && block.back().hasTrait<OpTrait::ReturnLike>())
      returns.push_back(&block.back());
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    FloatType format = getFloatFormat(type);
    if (!format)
      continue;
    TiedValues tied{format, {}, {}, frozen.str()};
    for (Operation *call : calls)
      tied.values.push_back(call->getResult(index));
    for (Operation *op : returns)
      tied.feeds.push_back(&op->getOpOperand(index));
    addTied(std::move(tied));
  }
}

void TiedStorage::addRegion(Region &region) {
  for (Block &block : region) {
    if (!block.isEntryBlock())
      for (BlockArgument argument : block.getArguments())
        if (FloatType format = getFloatFormat(argument.getType()))
          addTied({format, {argument}, {}, "an argument of a block"});
    for (Operation &op : block) {
      // Control flow has regions; those of linalg are bodies.
      if (op.getNumRegions() == 0 || isa_and_nonnull<linalg::LinalgDialect>(op.getDialect()))
        continue;
      auto interface = dyn_cast<PrecisionOpInterface>(op);
      if (!interface || interface.getTypeRule() != TypeRule::Container)
        continue;
      SmallVector<CarriedValue> carried;
      interface.getCarriedValues(carried);
      for (CarriedValue &value : carried)
        addTied({getFloatFormat(value.values.front().getType()), value.values, value.feeds, ""});
      for (Region &inner : op.getRegions())
        addRegion(inner);
    }
  }
}

static PrecisionAttr getPrecision(Operation *op) {
  return op->getAttrOfType<PrecisionAttr>(kPrecisionAttrName);
}

FloatType TiedStorage::getDecided(Value value) const {
  if (const TiedValues *tied = find(value))
    return getDecided(*tied);
  if (auto result = dyn_cast<OpResult>(value))
    if (PrecisionAttr precision = getPrecision(result.getOwner());
        precision && precision.getOut().size() > result.getResultNumber())
      return dyn_cast<FloatType>(precision.getOut()[result.getResultNumber()]);
  return getFloatFormat(value.getType());
}

/// Returns the storage decided for an argument; the argument of a block that is no entry has no
/// decision.
static FloatType getStorage(FunctionOpInterface function, BlockArgument argument) {
  TypeAttr storage;
  if (argument.getOwner()->isEntryBlock())
    storage = function.getArgAttrOfType<TypeAttr>(argument.getArgNumber(), kStorageAttrName);
  return storage ? cast<FloatType>(storage.getValue()) : getFloatFormat(argument.getType());
}

void TiedStorage::findDecisions(const TiedValues &tied,
                                llvm::function_ref<void(Operation *, FloatType)> found) const {
  auto report = [&](Operation *op, bool ofResult, unsigned index) {
    PrecisionAttr precision = getPrecision(op);
    if (!precision)
      return;
    ArrayRef<Type> entries = ofResult ? precision.getOut() : precision.getIn();
    if (index < entries.size() && isa<FloatType>(entries[index]))
      found(op, cast<FloatType>(entries[index]));
  };
  for (Value value : tied.values) {
    if (auto result = dyn_cast<OpResult>(value)) {
      report(result.getOwner(), /*ofResult=*/true, result.getResultNumber());
      continue;
    }
    // For ops other than functions, a result or an operand tells.
    auto argument = cast<BlockArgument>(value);
    if (auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      found(function, getStorage(function, argument));
  }
  for (OpOperand *feed : tied.feeds) {
    Operation *op = feed->getOwner();
    report(op, /*ofResult=*/false, feed->getOperandNumber());
  }
}

FloatType TiedStorage::getDecided(const TiedValues &tied) const {
  FloatType decided;
  if (tied.frozen.empty()) {
    findDecisions(tied, [&](Operation *, FloatType format) {
      if (!decided)
        decided = format;
    });
    return decided ? decided : tied.format;
  }
  // A signature without callers in the module changes where its attributes say so.
  auto argument =
      tied.values.empty() ? BlockArgument() : dyn_cast<BlockArgument>(tied.values.front());
  if (argument)
    if (auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      return getStorage(function, argument);
  if (OpOperand *returned = tied.feeds.empty() ? nullptr : tied.feeds.front();
      returned && returned->getOwner()->hasTrait<OpTrait::ReturnLike>())
    if (auto function = dyn_cast<FunctionOpInterface>(returned->getOwner()->getParentOp()))
      if (auto storage = function.getResultAttrOfType<TypeAttr>(returned->getOperandNumber(),
                                                                kStorageAttrName))
        return cast<FloatType>(storage.getValue());
  return tied.format;
}
