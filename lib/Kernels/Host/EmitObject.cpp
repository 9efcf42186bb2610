// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-emit-object: compile host code to an object file with its kernels inside, and write
// a C header for it.

#include "../Serialize/OutputFile.h"
#include "CHeader.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mp/Kernels/Host/Passes.h"
#include "mp/Kernels/OptimizeLLVM.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

namespace mlir::mp {
#define GEN_PASS_DEF_EMITOBJECT
#include "mp/Kernels/Host/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// An object file for this machine's kind of processor.
static FailureOr<std::string> compile(ModuleOp module) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir = translateModuleToLLVMIR(module, context, "mp");
  if (!ir)
    return module.emitError("cannot be translated to LLVM IR; mp-host-to-llvm must run before"),
           failure();
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return module.emitError("cannot be compiled for ") << triple.str() << ": " << error, failure();
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, "", "", llvm::TargetOptions(), llvm::Reloc::PIC_));
  ir->setTargetTriple(triple);
  ir->setDataLayout(machine->createDataLayout());
  optimizeLLVM(*ir, *machine, 2);
  llvm::SmallString<0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return module.emitError("cannot be written as an object file by this LLVM"), failure();
  codegen.run(*ir);
  return object.str().str();
}

namespace {

struct EmitObject : mlir::mp::impl::EmitObjectBase<EmitObject> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!isCIdentifier(name)) {
      module.emitError("option 'name': found '")
          << name << "', expected a C identifier such as 'model'";
      return signalPassFailure();
    }
    std::vector<CFunction> functions;
    OwningOpRef<ModuleOp> copy(module.clone());
    for (auto function : copy->getOps<LLVM::LLVMFuncOp>()) {
      if (function.isExternal())
        continue;
      FunctionType type = getTypeOnBuffers(function);
      if (type && copy->lookupSymbol((kFunctionRecordPrefix + function.getName()).str()))
        functions.push_back({function.getName().str(), type, function->hasAttr(kCPUTypeAttrName)});
      function.setLinkage(LLVM::Linkage::Internal);
    }
    // Several objects may have functions and data of these names.
    for (auto global : copy->getOps<LLVM::GlobalOp>())
      global.setLinkage(LLVM::Linkage::Internal);
    if (functions.empty()) {
      module.emitError("has no public function that mp-host-to-llvm prepared");
      return signalPassFailure();
    }
    for (const CFunction &function : functions) {
      auto record =
          copy->lookupSymbol<LLVM::GlobalOp>((kFunctionRecordPrefix + function.name).str());
      record.setSymName(recordName(name, function));
      record.setLinkage(LLVM::Linkage::External);
    }
    FailureOr<std::string> object = compile(*copy);
    if (failed(object) || failed(writeWhole(dir, name + ".o", *object, module.getLoc())) ||
        failed(writeWhole(dir, name + ".h", headerText(name, functions), module.getLoc())))
      signalPassFailure();
  }
};

} // namespace
