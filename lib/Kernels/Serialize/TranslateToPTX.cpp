// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Translates a kernel module to LLVM IR, optimises it, prints PTX, and refuses PTX that must not be
// in a kernel.

#include "PTX.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mp/Kernels/OptimizeLLVM.h"
#include "mp/Kernels/Passes.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

void mlir::mp::registerKernelsTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

static const llvm::Target *findBackend(const llvm::Triple &triple, std::string &error) {
  static bool once = [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)once;
  return llvm::TargetRegistry::lookupTarget(triple, error);
}

/// The version of PTX that `module` needs: that of the target, later for ordered metadata.
static std::string ptxFeature(gpu::GPUModuleOp module, const mp::target::TargetModel &model) {
  const bool isSparse = module
                            .walk([](LLVM::CallIntrinsicOp call) {
                              return call.getIntrin().contains("mma.sp.ordered.metadata")
                                         ? WalkResult::interrupt()
                                         : WalkResult::advance();
                            })
                            .wasInterrupted();
  unsigned version = 0;
  const std::string feature = model.ptxFeature();
  StringRef(feature).drop_front(StringRef("+ptx").size()).getAsInteger(10, version);
  return isSparse && version < 85 ? "+ptx85" : feature;
}

FailureOr<std::string> mlir::mp::translateToPTX(gpu::GPUModuleOp module,
                                                const target::TargetModel &model,
                                                unsigned optLevel) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir = translateModuleToLLVMIR(module, context, module.getName());
  if (!ir)
    return module.emitOpError("cannot be translated to LLVM IR"), failure();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *backend = findBackend(triple, error);
  if (!backend)
    return module.emitOpError("cannot be compiled: this LLVM has no NVPTX backend: ") << error,
           failure();
  llvm::TargetOptions options;
  std::unique_ptr<llvm::TargetMachine> machine(
      backend->createTargetMachine(triple, model.name, ptxFeature(module, model), options,
                                   std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  ir->setTargetTriple(triple);
  ir->setDataLayout(machine->createDataLayout());
  optimizeLLVM(*ir, *machine, optLevel);

  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return module.emitOpError("cannot be printed as PTX by this LLVM"), failure();
  codegen.run(*ir);
  return text.str().str();
}

/// Lines that must not be in a kernel, and why.
LogicalResult mlir::mp::checkPTX(StringRef ptx, Location loc) {
  StringRef rest = ptx;
  while (!rest.empty()) {
    auto [line, after] = rest.split('\n');
    rest = after;
    StringRef text = line.trim();
    if (text.contains("\tsqrt.approx") || text.contains(" sqrt.approx"))
      return emitError(loc) << "PTX takes an approximate square root: '" << text << "'";
    if (text.contains(".callprototype"))
      return emitError(loc) << "PTX makes an indirect call: '" << text << "'";
    if (text.starts_with(".extern .func") && !text.contains("__assertfail") &&
        !text.contains("vprintf"))
      return emitError(loc) << "PTX calls a function that is not there: '" << text << "'";
  }
  return success();
}
