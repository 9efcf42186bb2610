// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Engine.h"

#include "Observer.h"
#include "PrintSymbols.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mp/Kernels/OptimizeLLVM.h"
#include "mp/Runtime/Device.h"
#include "mp/Runtime/Runtime.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::mp;

/// What libMPRuntime offers to compiled code, by name.
static llvm::StringMap<void *> runtimeFunctions(bool onDevice) {
  llvm::StringMap<void *> functions;
  auto add = [&](StringRef name, auto *function) { functions[name] = reinterpret_cast<void *>(function); };
  add("mp_rt_contract", &mp_rt_contract);
  add("mp_rt_fail", &mp_rt_fail);
  add("mp_rt_expect_close", &mp_rt_expect_close);
  add("mp_rt_expect_bits", &mp_rt_expect_bits);
  add("mp_rt_expect_finite", &mp_rt_expect_finite);
  add("_mlir_memref_to_llvm_alloc", &_mlir_memref_to_llvm_alloc);
  add("_mlir_memref_to_llvm_aligned_alloc", &_mlir_memref_to_llvm_aligned_alloc);
  add("_mlir_memref_to_llvm_free", &_mlir_memref_to_llvm_free);
  add("mp_rt_device_alloc", &mp_rt_device_alloc);
  add("mp_rt_device_free", &mp_rt_device_free);
  add("mp_rt_device_constant", &mp_rt_device_constant);
  add("mp_rt_device_read", &mp_rt_device_read);
  add("mp_rt_device_mirror", &mp_rt_device_mirror);
  add("mp_rt_device_launch", &mp_rt_device_launch);
  add("mp_rt_check_failed", &mp_rt_check_failed);
  auto [observer, report] = observerSymbol();
  functions[observer] = report;
  forEachPrintSymbol(onDevice, [&](StringRef name, void *function) { functions[name] = function; });
  return functions;
}

static llvm::orc::SymbolMap symbolsOf(const llvm::StringMap<void *> &functions,
                                      llvm::orc::MangleAndInterner mangle) {
  llvm::orc::SymbolMap symbols;
  for (const auto &function : functions)
    symbols[mangle(function.getKey())] = {llvm::orc::ExecutorAddr::fromPtr(function.getValue()),
                                          llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  return symbols;
}

/// The linker names what it could not link, not what is missing.
static llvm::Error checkDefined(ModuleOp module, const llvm::StringMap<void *> &functions) {
  llvm::sys::DynamicLibrary::LoadLibraryPermanently(nullptr); // this process
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    std::string name = function.getName().str();
    if (function.isExternal() && !name.starts_with("llvm.") && !functions.contains(name) &&
        !llvm::sys::DynamicLibrary::SearchForAddressOfSymbol(name))
      return llvm::createStringError("the program calls @" + name + ", which is not defined in the module, libMPRuntime "
                                     "or the C library");
  }
  return llvm::Error::success();
}

/// Vectorised loops, but without what multiplies the code of each: a program runs once, and compiling it
/// is the larger part.
static llvm::PipelineTuningOptions tuneForOneRun() {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = false;
  tuning.LoopInterleaving = false;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = false;
  return tuning;
}

llvm::Expected<std::unique_ptr<ExecutionEngine>> mlir::mp::createEngine(ModuleOp module, std::string *llvmIR,
                                                                         bool onDevice) {
  llvm::StringMap<void *> functions = runtimeFunctions(onDevice);
  if (llvm::Error error = checkDefined(module, functions))
    return std::move(error);
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  llvm::TargetMachine *target = machine->get(); // the engine keeps it
  ExecutionEngineOptions options;
  auto transform = [&](llvm::Module *ir) -> llvm::Error {
    if (llvmIR) {
      llvm::raw_string_ostream stream(*llvmIR);
      ir->print(stream, nullptr);
    }
    optimizeLLVM(*ir, *target, 2, tuneForOneRun());
    return llvm::Error::success();
  };
  options.transformer = transform;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Default;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  auto engine = ExecutionEngine::create(module, options, std::move(*machine));
  if (engine)
    (*engine)->registerSymbols(
        [&](llvm::orc::MangleAndInterner mangle) { return symbolsOf(functions, mangle); });
  return engine;
}
