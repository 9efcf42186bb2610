// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Splits functions that only compute from a module, so that they compile in parallel.

#include "KernelModules.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mp/Dialect/MP/LoopWork.h"

using namespace mlir;
using namespace mlir::mp;

static bool isMarked(LLVM::LLVMFuncOp function) {
  ArrayAttr attributes = function.getPassthroughAttr();
  return attributes &&
         llvm::is_contained(attributes, StringAttr::get(function.getContext(), "optnone"));
}

bool mlir::mp::hasMarked(ModuleOp module) {
  return llvm::any_of(module.getOps<LLVM::LLVMFuncOp>(), isMarked);
}

void mlir::mp::markLittleWork(ModuleOp module, int64_t calls) {
  constexpr int64_t kLimit = 2'000'000; // a few milliseconds, which is what optimising takes
  Builder b(module.getContext());
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (auto work = function->getAttrOfType<IntegerAttr>(kLoopWorkAttrName))
      if (work.getInt() <= kLimit / calls)
        function.setPassthroughAttr(b.getStrArrayAttr({"noinline", "optnone"}));
}

namespace {

/// The definitions and declarations that each function refers to.
class References {
public:
  explicit References(ModuleOp module) {
    SymbolTable symbols(module);
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (auto uses = SymbolTable::getSymbolUses(&function.getBody()))
        for (const SymbolTable::SymbolUse &use : *uses)
          if (Operation *symbol = symbols.lookup(use.getSymbolRef().getRootReference()))
            used[function].insert(symbol);
  }

  ArrayRef<Operation *> of(LLVM::LLVMFuncOp function) const {
    auto it = used.find(function);
    return it == used.end() ? ArrayRef<Operation *>() : it->second.getArrayRef();
  }

private:
  DenseMap<Operation *, SetVector<Operation *>> used;
};

} // namespace

/// Definitions that can be compiled apart from all that is marked.
static DenseSet<Operation *> findKernels(ModuleOp module, const References &references) {
  DenseSet<Operation *> kernels;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (!function.isExternal() && function.isPrivate() && !isMarked(function))
      kernels.insert(function);
  auto isApart = [&](Operation *symbol) {
    auto callee = dyn_cast<LLVM::LLVMFuncOp>(symbol);
    return callee && (callee.isExternal() || kernels.contains(callee));
  };
  for (bool changed = true; std::exchange(changed, false);)
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (kernels.contains(function) && !llvm::all_of(references.of(function), isApart))
        changed = kernels.erase(function);
  return kernels;
}

std::vector<KernelModule> mlir::mp::takeKernels(ModuleOp module, unsigned parts) {
  if (!hasMarked(module))
    return {};
  References references(module);
  DenseSet<Operation *> kernels = findKernels(module, references);
  SetVector<Operation *> called;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (!kernels.contains(function))
      for (Operation *callee : references.of(function))
        if (kernels.contains(callee) &&
            cast<LLVM::LLVMFuncOp>(callee).getLinkage() == LLVM::Linkage::External)
          called.insert(callee);

  std::vector<KernelModule> modules(std::min<size_t>(parts, called.size()));
  for (KernelModule &part : modules) {
    part.module = ModuleOp::create(module.getLoc());
    part.module.get()->setAttrs(module->getAttrDictionary());
  }
  for (auto [i, kernel] : llvm::enumerate(called)) {
    KernelModule &part = modules[i % modules.size()];
    part.names.push_back(SymbolTable::getSymbolName(kernel).str());
    SetVector<Operation *> needed;
    needed.insert(kernel);
    for (size_t next = 0; next < needed.size(); ++next)
      needed.insert_range(references.of(cast<LLVM::LLVMFuncOp>(needed[next])));
    for (Operation *function : needed)
      if (!part.module->lookupSymbol(SymbolTable::getSymbolName(function)))
        part.module->push_back(function->clone());
  }
  for (Operation *kernel : called) {
    kernel->getRegion(0).dropAllReferences();
    kernel->getRegion(0).getBlocks().clear();
  }
  return modules;
}
