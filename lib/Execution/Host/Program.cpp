// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers a function to LLVM, compiles it, and calls it with arrays.

#include "mp/Execution/Host/Program.h"

#include "Checks.h"
#include "Constants.h"
#include "Engine.h"
#include "EntryTables.h"
#include "KernelModules.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Dialect/MP/Recomputed.h"
#include "mp/Pipelines/Pipelines.h"
#include "mp/Runtime/Runtime.h"
#include "mp/Support/Memory.h"
#include "mp/Transforms/Interop/Passes.h"
#include "llvm/Support/TargetSelect.h"

#include <cstdio>
#include <cstring>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

void mlir::mp::registerExecution(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
}

Program::~Program() = default;

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

/// Floats become f64, as mp-promote-to-f64 makes them.
static void promote(std::vector<Parameter> &parameters) {
  for (Parameter &parameter : parameters)
    if (parameter.type.isFloat)
      parameter.type = ElementType::floating(numerics::Format::F64);
}

/// Kernels of other functions are nothing to this one, and one that it launches does not run here.
static llvm::Error dropKernels(ModuleOp module) {
  for (auto binary : llvm::make_early_inc_range(module.getOps<gpu::BinaryOp>())) {
    if (!SymbolTable::symbolKnownUseEmpty(binary, module))
      return createStringError("the function launches kernels of @" + binary.getName() +
                               ", which the CPU does not run: expected --device=emulator or "
                               "--device=cuda, or the module before mp-to-nvvm");
    binary.erase();
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Program>> Program::compile(ModuleOp original, StringRef entryName,
                                                          const ProgramOptions &options) {
  llvm::Expected<Entry> entry = isolateEntry(original, entryName);
  if (!entry)
    return entry.takeError();
  const std::string &name = entry->name;
  std::unique_ptr<Program> program(new Program);
  program->types = std::move(entry->signature);
  program->module = std::move(entry->module);
  if (options.promoteToF64) {
    promote(program->types.arguments);
    promote(program->types.results);
  }

  // Naming the step whose state it begins must not keep that step.
  for (auto function : program->module->getOps<func::FuncOp>())
    function->removeAttr(kInitOfAttrName);
  PassManager manager(original.getContext());
  CPUOptions pipeline;
  pipeline.promoteToF64 = options.promoteToF64;
  pipeline.runtimeContractions = options.runtimeContractions;
  pipeline.fuse = options.fuse;
  pipeline.maxMemory = options.maxMemory;
  pipeline.storeNarrow = options.storeNarrow;
  pipeline.math = options.exactMath ? HostMath::Exact : HostMath::Library;
  manager.addPass(createSymbolDCEPass()); // what the entry does not need may be impossible here
  buildCPUPipeline(manager, pipeline);
  manager.enableVerifier(false); // after each of sixty passes: once will do
  if (failed(manager.run(*program->module)) || failed(verify(*program->module)))
    return createStringError("@" + name + " could not be lowered for the CPU");
  if (llvm::Error error = dropKernels(*program->module))
    return std::move(error);
  if (auto lowered = program->module->lookupSymbol<LLVM::LLVMFuncOp>(name))
    if (auto plan = lowered->getAttrOfType<StringAttr>(kMemoryPlanAttrName))
      program->plan = plan.str();
  program->checks = takeChecks(*program->module);
  if (auto placed = placeConstants(*program->module, program->constants); !placed)
    return placed.takeError();

  std::string symbol = passByTables(*program->module, name);
  if (options.calls > 0)
    markLittleWork(*program->module, options.calls);

  auto engine =
      Engine::create(*program->module, options.llvmIR, /*onDevice=*/false, options.optimise);
  if (!engine)
    return engine.takeError();
  program->engine = std::move(*engine);
  auto address = program->engine->lookup(symbol);
  if (!address)
    return address.takeError();
  program->entry = reinterpret_cast<void (*)(void **)>(*address);
  return program;
}

//===----------------------------------------------------------------------===//
// Calling convention
//===----------------------------------------------------------------------===//

/// Words of a memref descriptor: two pointers, offset, sizes, strides.
static std::vector<int64_t> describe(const ArrayView &array) {
  size_t rank = array.shape.size();
  std::vector<int64_t> words(3 + 2 * rank);
  words[0] = words[1] = int64_t(reinterpret_cast<intptr_t>(array.data));
  int64_t stride = 1;
  for (size_t dim = rank; dim-- > 0;) {
    words[3 + dim] = array.shape[dim];
    words[3 + rank + dim] = stride;
    stride *= array.shape[dim];
  }
  return words;
}

/// Words that a value is passed in.
static size_t partCount(const Parameter &parameter) {
  return parameter.isTensor ? 3 + 2 * parameter.shape.size() : 1;
}

/// The result that `words` describe, where the program left it.
static ArrayView viewResult(const Parameter &parameter, const int64_t *words) {
  if (!parameter.isTensor)
    return {parameter.type, {}, words};
  ArrayRef<int64_t> shape(words + 3, parameter.shape.size());
  // Results have the identity layout (mp-to-cpu asks for it).
  const char *data = reinterpret_cast<const char *>(words[1]) + words[2] * parameter.type.bytes();
  return {parameter.type, shape, data};
}

llvm::Expected<std::vector<Array>> Program::run(ArrayRef<Array> arguments) {
  llvm::outs().flush(); // what the program prints comes behind
  auto outputs = call(arguments, peak);
  std::fflush(stdout);
  return outputs;
}

llvm::Expected<std::vector<Array>> Program::call(ArrayRef<Array> arguments, int64_t &peak) const {
  std::vector<ArrayView> views;
  for (const Array &argument : arguments)
    views.push_back({argument.type, argument.shape, argument.data.data()});
  std::vector<Array> outputs;
  llvm::Error error = callInPlace(
      views,
      [&](size_t, const ArrayView &result) {
        Array &array = outputs.emplace_back(result.type, result.shape);
        std::memcpy(array.data.data(), result.data, array.data.size());
        return llvm::Error::success();
      },
      peak);
  if (error)
    return std::move(error);
  return outputs;
}

llvm::Error Program::checkViews(ArrayRef<ArrayView> arguments) const {
  std::vector<Array> shapes(arguments.size()); // without elements
  for (auto [array, argument] : llvm::zip_equal(shapes, arguments)) {
    array.type = argument.type;
    array.shape.assign(argument.shape.begin(), argument.shape.end());
  }
  return checkArguments(shapes);
}

llvm::Error Program::callInPlace(ArrayRef<ArrayView> arguments, TakeResult take,
                                 int64_t &peak) const {
  if (llvm::Error error = checkViews(arguments))
    return error;

  std::vector<int64_t> in, out;
  for (auto [argument, parameter] : llvm::zip(arguments, types.arguments)) {
    if (parameter.isTensor) {
      llvm::append_range(in, describe(argument));
      continue;
    }
    in.push_back(0);
    std::memcpy(&in.back(), argument.data, parameter.type.bytes());
  }
  for (const Parameter &result : types.results)
    out.resize(out.size() + partCount(result));
  void *packed[] = {in.data(), out.data()};

  mp_rt_set_memory_limit(int64_t(std::min(support::availableMemory(), uint64_t(INT64_MAX))));
  int64_t code = mp_rt_invoke(entry, packed);
  peak = mp_rt_peak_bytes();
  llvm::Error error =
      code == 0 ? llvm::Error::success() : createStringError(failureText(code, checks));
  const int64_t *words = out.data();
  for (size_t i = 0; !error && i < types.results.size(); ++i) {
    ArrayView result = viewResult(types.results[i], words);
    words += partCount(types.results[i]);
    if (elementCount(result.shape))
      error = take(i, result);
    else
      error = createStringError("result " + llvm::Twine(i) +
                                " has a negative size: " + typeString(result.shape, result.type));
  }
  mp_rt_release();
  return error;
}
