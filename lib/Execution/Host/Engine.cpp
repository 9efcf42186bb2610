// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles modules in the LLVM dialect by LLVM's JIT and links the runtime's functions.

#include "Engine.h"

#include "KernelModules.h"
#include "Observer.h"
#include "PrintSymbols.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mp/Kernels/OptimizeLLVM.h"
#include "mp/Runtime/Collectives.h"
#include "mp/Runtime/Device.h"
#include "mp/Runtime/Runtime.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::mp;

/// Returns the functions of libMPRuntime that compiled code may call, by name.
static llvm::StringMap<void *> runtimeFunctions(bool onDevice) {
  llvm::StringMap<void *> functions;
  auto add = [&](StringRef name, auto *function) {
    functions[name] = reinterpret_cast<void *>(function);
  };
  add("mp_rt_contract", &mp_rt_contract);
  add("mp_rt_fail", &mp_rt_fail);
  add("mp_rt_expect_close", &mp_rt_expect_close);
  add("mp_rt_expect_bits", &mp_rt_expect_bits);
  add("mp_rt_expect_finite", &mp_rt_expect_finite);
  add("mp_rt_rank", &mp_rt_rank);
  add("mp_rt_all_reduce", &mp_rt_all_reduce);
  add("mp_rt_start_all_reduce", &mp_rt_start_all_reduce);
  add("mp_rt_finish_all_reduce", &mp_rt_finish_all_reduce);
  add("mp_rt_all_gather", &mp_rt_all_gather);
  add("mp_rt_send", &mp_rt_send);
  add("mp_rt_receive", &mp_rt_receive);
  add("mp_rt_reduce_scatter", &mp_rt_reduce_scatter);
  add("mp_rt_start_reduce_scatter", &mp_rt_start_reduce_scatter);
  add("mp_rt_finish_reduce_scatter", &mp_rt_finish_reduce_scatter);
  add("mp_rt_reduce_scatter_wide", &mp_rt_reduce_scatter_wide);
  add("_mlir_memref_to_llvm_alloc", &_mlir_memref_to_llvm_alloc);
  add("_mlir_memref_to_llvm_aligned_alloc", &_mlir_memref_to_llvm_aligned_alloc);
  add("_mlir_memref_to_llvm_free", &_mlir_memref_to_llvm_free);
  add("mp_rt_device_alloc", &mp_rt_device_alloc);
  add("mp_rt_device_free", &mp_rt_device_free);
  add("mp_rt_device_constant", &mp_rt_device_constant);
  add("mp_rt_device_clear", &mp_rt_device_clear);
  add("mp_rt_device_read", &mp_rt_device_read);
  add("mp_rt_device_mirror", &mp_rt_device_mirror);
  add("mp_rt_device_launch", &mp_rt_device_launch);
  add("mp_rt_check_failed", &mp_rt_check_failed);
  add("__truncsfbf2", &mp_rt_round_to_bf16);
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
                                          llvm::JITSymbolFlags::Exported |
                                              llvm::JITSymbolFlags::Callable};
  return symbols;
}

/// The linker names what it could not link, not what is missing.
static llvm::Error checkDefined(ModuleOp module, const llvm::StringMap<void *> &functions) {
  llvm::sys::DynamicLibrary::LoadLibraryPermanently(nullptr); // this process
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    std::string name = function.getName().str();
    if (function.isExternal() && !name.starts_with("llvm.") && !functions.contains(name) &&
        !llvm::sys::DynamicLibrary::SearchForAddressOfSymbol(name))
      return llvm::createStringError("the program calls @" + name +
                                     ", which is not defined in the module, libMPRuntime "
                                     "or the C library");
  }
  return llvm::Error::success();
}

/// Vectorised loops, but without what multiplies the code of each: a program runs once, and
/// compiling it is the larger part.
static llvm::PipelineTuningOptions tuneForOneRun() {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = false;
  tuning.LoopInterleaving = false;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = false;
  return tuning;
}

/// `optimise` or not: in the latter case LLVM selects instructions and allocates registers the fast
/// way, too.
static llvm::Expected<std::unique_ptr<ExecutionEngine>>
compile(ModuleOp module, const llvm::StringMap<void *> &functions, bool optimise) {
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(optimise ? llvm::CodeGenOptLevel::Default
                                       : llvm::CodeGenOptLevel::None);
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  llvm::TargetMachine *target = machine->get(); // the engine keeps it
  ExecutionEngineOptions options;
  auto transform = [&](llvm::Module *ir) -> llvm::Error {
    optimizeLLVM(*ir, *target, optimise ? 2 : 0, tuneForOneRun());
    return llvm::Error::success();
  };
  options.transformer = transform;
  options.jitCodeGenOptLevel = target->getOptLevel();
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  auto engine = ExecutionEngine::create(module, options, std::move(*machine));
  if (engine)
    (*engine)->registerSymbols(
        [&](llvm::orc::MangleAndInterner mangle) { return symbolsOf(functions, mangle); });
  return engine;
}

/// The module as LLVM's text; false if it has none.
static bool print(ModuleOp module, std::string &text) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir = translateModuleToLLVMIR(module, context);
  llvm::raw_string_ostream stream(text);
  if (ir)
    ir->print(stream, nullptr);
  return bool(ir);
}

namespace {

/// A module of kernels as it is compiled on a thread.
struct CompiledKernels {
  std::unique_ptr<ExecutionEngine> engine;
  std::vector<void *> addresses;
  llvm::Error error = llvm::Error::success();

  llvm::Error run(KernelModule &kernels, const llvm::StringMap<void *> &functions) {
    auto compiled = compile(*kernels.module, functions, /*optimise=*/true);
    if (!compiled)
      return compiled.takeError();
    engine = std::move(*compiled);
    for (const std::string &name : kernels.names) {
      auto address = engine->lookup(name);
      if (!address)
        return address.takeError();
      addresses.push_back(*address);
    }
    return llvm::Error::success();
  }
};

} // namespace

llvm::Expected<std::unique_ptr<Engine>> Engine::create(ModuleOp module, std::string *llvmIR,
                                                       bool onDevice, bool optimise) {
  llvm::StringMap<void *> functions = runtimeFunctions(onDevice);
  if (llvm::Error error = checkDefined(module, functions))
    return std::move(error);
  if (llvmIR && !print(module, *llvmIR))
    return llvm::createStringError("the lowered program could not be translated to LLVM IR");
  std::unique_ptr<Engine> result(new Engine);
  MLIRContext *context = module.getContext();
  std::vector<KernelModule> kernels;
  const bool optimiseAll = optimise && !hasMarked(module);
  if (optimise && !optimiseAll)
    kernels =
        takeKernels(module, context->isMultithreadingEnabled() ? context->getNumThreads() : 1);
  std::vector<CompiledKernels> compiled(kernels.size());
  parallelFor(context, 0, kernels.size(),
              [&](size_t i) { compiled[i].error = compiled[i].run(kernels[i], functions); });
  llvm::Error error = llvm::Error::success();
  for (auto [part, taken] : llvm::zip_equal(compiled, kernels)) {
    error = llvm::joinErrors(std::move(error), std::move(part.error));
    for (auto [name, address] : llvm::zip(taken.names, part.addresses))
      functions[name] = address;
    result->kernels.push_back(std::move(part.engine));
  }
  if (error)
    return std::move(error);
  auto callers = compile(module, functions, optimiseAll);
  if (!callers)
    return callers.takeError();
  result->callers = std::move(*callers);
  return result;
}
