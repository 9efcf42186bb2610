// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Execution/Program.h"

#include "Checks.h"
#include "Constants.h"
#include "Engine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "mp/Pipelines/Pipelines.h"
#include "mp/Runtime/Runtime.h"
#include "mp/Transforms/Interop/Passes.h"
#include "llvm/Support/TargetSelect.h"

#include <cstdio>
#include <cstring>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;
namespace numerics = ::mp::numerics;

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

llvm::Expected<std::unique_ptr<Program>>
Program::compile(ModuleOp original, StringRef entryName, const ProgramOptions &options) {
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

  PassManager manager(original.getContext());
  CPUOptions pipeline;
  pipeline.promoteToF64 = options.promoteToF64;
  pipeline.runtimeContractions = options.runtimeContractions;
  pipeline.math = options.exactMath ? HostMath::Exact : HostMath::Library;
  manager.addPass(createSymbolDCEPass()); // what the entry does not need may be impossible here
  buildCPUPipeline(manager, pipeline);
  if (failed(manager.run(*program->module)))
    return createStringError("@" + name + " could not be lowered for the CPU");
  program->checks = takeChecks(*program->module);
  if (llvm::Error error = placeConstants(*program->module, program->constants))
    return std::move(error);

  auto engine = createEngine(*program->module, options.llvmIR, /*onDevice=*/false);
  if (!engine)
    return engine.takeError();
  program->engine = std::move(*engine);
  auto address = program->engine->lookupPacked("_mlir_ciface_" + name);
  if (!address)
    return address.takeError();
  program->entry = *address;
  return program;
}

//===----------------------------------------------------------------------===//
// Calling convention
//===----------------------------------------------------------------------===//

/// Words of a memref descriptor: two pointers, offset, sizes, strides.
static std::vector<int64_t> describe(const Array &array) {
  size_t rank = array.shape.size();
  std::vector<int64_t> words(3 + 2 * rank);
  words[0] = words[1] = int64_t(reinterpret_cast<intptr_t>(array.data.data()));
  int64_t stride = 1;
  for (size_t dim = rank; dim-- > 0;) {
    words[3 + dim] = array.shape[dim];
    words[3 + rank + dim] = stride;
    stride *= array.shape[dim];
  }
  return words;
}

namespace {

/// Where each result lies in the struct that a C wrapper fills.
struct ResultLayout {
  std::vector<size_t> offsets;
  size_t bytes = 0;

  explicit ResultLayout(ArrayRef<Parameter> results) {
    for (const Parameter &result : results) {
      size_t size = result.isTensor ? 8 * (3 + 2 * result.shape.size()) : result.type.bytes();
      size_t alignment = result.isTensor ? 8 : size;
      bytes = (bytes + alignment - 1) / alignment * alignment;
      offsets.push_back(bytes);
      bytes += size;
    }
  }
};

} // namespace

static llvm::Expected<Array> takeResult(const Parameter &parameter, const char *at, size_t index) {
  if (!parameter.isTensor) {
    Array array(parameter.type, {});
    std::memcpy(array.data.data(), at, array.data.size());
    return array;
  }
  size_t rank = parameter.shape.size();
  std::vector<int64_t> words(3 + 2 * rank);
  std::memcpy(words.data(), at, words.size() * 8);
  ArrayRef<int64_t> shape(words.data() + 3, rank);
  if (!elementCount(shape))
    return createStringError(llvm::Twine("result ") + llvm::Twine(index) + " has a negative size: " +
                             typeString(shape, parameter.type));
  Array array(parameter.type, shape);
  // Results have the identity layout (mp-to-cpu asks for it).
  const char *data = reinterpret_cast<const char *>(words[1]) + words[2] * parameter.type.bytes();
  std::memcpy(array.data.data(), data, array.data.size());
  return array;
}

llvm::Expected<std::vector<Array>> Program::run(ArrayRef<Array> arguments) {
  if (llvm::Error error = checkArguments(arguments))
    return std::move(error);

  ResultLayout layout(types.results);
  std::vector<char> results(layout.bytes + 8);
  bool single = types.results.size() == 1 && !types.results.front().isTensor;
  void *resultAddress = results.data();
  // The packed call takes the address of each parameter of the C wrapper: the
  // result struct's address first, a lone scalar result last.
  std::vector<void *> packed;
  if (!types.results.empty() && !single)
    packed.push_back(&resultAddress);
  std::vector<std::vector<int64_t>> descriptors;
  std::vector<void *> addresses(arguments.size());
  descriptors.reserve(arguments.size());
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    if (!types.arguments[i].isTensor) {
      packed.push_back(const_cast<char *>(argument.data.data()));
      continue;
    }
    descriptors.push_back(describe(argument));
    addresses[i] = descriptors.back().data();
    packed.push_back(&addresses[i]);
  }
  if (single)
    packed.push_back(resultAddress);

  llvm::outs().flush(); // what the program prints comes behind
  int64_t code = mp_rt_invoke(entry, packed.data());
  std::fflush(stdout);
  peak = mp_rt_peak_bytes();
  std::vector<Array> outputs;
  llvm::Error error = llvm::Error::success();
  if (code != 0)
    error = llvm::joinErrors(std::move(error), createStringError(failureText(code, checks)));
  for (size_t i = 0; code == 0 && i < types.results.size(); ++i) {
    auto output = takeResult(types.results[i], results.data() + layout.offsets[i], i);
    if (!output) {
      error = llvm::joinErrors(std::move(error), output.takeError());
      break;
    }
    outputs.push_back(std::move(*output));
  }
  mp_rt_release();
  if (error)
    return std::move(error);
  return outputs;
}
