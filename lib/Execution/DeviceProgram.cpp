// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers a function to kernels and host code, and calls it with arrays.

#include "mp/Execution/DeviceProgram.h"

#include "Host/Checks.h"
#include "Host/Constants.h"
#include "Host/Engine.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "mp/Kernels/Host/Passes.h"
#include "mp/Pipelines/HostPipeline.h"
#include "mp/Pipelines/NVVMPipeline.h"
#include "mp/Runtime/Device.h"
#include "mp/Target/Targets.h"

#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace mlir::mp;
using namespace mpcore::emulator;
using llvm::createStringError;

static llvm::Error selectDevice(const std::string &name) {
  mp_rt_use_driver(&emulatedDriverTable());
  if (mp_rt_select_device(name.c_str()) != 0)
    return createStringError(mp_rt_device_error());
  return llvm::Error::success();
}

static BufferSummary summaryOf(ModuleOp module, StringRef entry) {
  BufferSummary summary;
  Operation *function = module.lookupSymbol(entry);
  if (auto plan = function ? function->getAttrOfType<DictionaryAttr>(kBufferPlanAttrName)
                           : DictionaryAttr()) {
    auto number = [&](StringRef name) { return plan.getAs<IntegerAttr>(name).getInt(); };
    summary = {number("buffers"), number("bytes"), number("live_bytes"), number("separate")};
  }
  return summary;
}

llvm::Error DeviceProgram::lower(const DeviceOptions &options) {
  PassManager manager(module->getContext());
  launch = options.launch;
  manager.addPass(createSymbolDCEPass()); // what the entry does not need may be impossible here
  if (!isLoweredForDevices(*module)) {
    auto target = target::lookupTarget(options.chip);
    if (!target)
      return target.takeError();
    NVVMPipelineOptions pipeline;
    pipeline.target = target->name.str();
    if (options.dispatches)
      pipeline.dispatches = *options.dispatches;
    if (options.orderedSums)
      pipeline.sums = SumOrder::Ordered;
    buildNVVMPipeline(manager, pipeline);
    if (launch.chip.empty())
      launch.chip = target->name.str();
  }
  HostPipelineOptions host;
  host.plan = options.planBuffers;
  buildHostPipeline(manager, host);
  if (failed(manager.run(*module)))
    return createStringError("@" + entry + " could not be lowered for " + options.chip);
  plan = summaryOf(*module, entry);
  checks = takeChecks(*module);
  for (auto global : module->getOps<LLVM::GlobalOp>())
    if (global.getSymName().ends_with(kModuleRecordSuffix))
      loaded.push_back(global.getSymName().str());
  auto placed = placeConstants(*module, constants);
  if (!placed)
    return placed.takeError();
  constantSize = *placed;
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<DeviceProgram>>
DeviceProgram::compile(ModuleOp original, StringRef entryName, const DeviceOptions &options) {
  if (llvm::Error error = selectDevice(options.device))
    return std::move(error);
  llvm::Expected<Entry> entry = isolateEntry(original, entryName);
  if (!entry)
    return entry.takeError();
  std::unique_ptr<DeviceProgram> program(new DeviceProgram);
  program->types = std::move(entry->signature);
  program->entry = std::move(entry->name);
  program->module = std::move(entry->module);
  if (llvm::Error error = program->lower(options))
    return std::move(error);
  auto engine = Engine::create(*program->module, nullptr, /*onDevice=*/true);
  if (!engine)
    return engine.takeError();
  program->engine = std::move(*engine);
  auto record = program->engine->lookup((kFunctionRecordPrefix + program->entry).str());
  if (!record)
    return record.takeError();
  program->callable = *record;
  return program;
}

DeviceProgram::~DeviceProgram() {
  for (const std::string &name : loaded) {
    if (!engine)
      break;
    if (auto record = engine->lookup(name))
      mp_rt_unload(static_cast<mp_rt_module *>(*record));
    else
      llvm::consumeError(record.takeError());
  }
}

/// Adds what the emulator counted since the last reset.
static void addCounts(std::vector<KernelCounts> &counts) {
  for (KernelCounts &kernel : emulatedDriver().kernels) {
    auto known =
        llvm::find_if(counts, [&](KernelCounts &other) { return other.name == kernel.name; });
    if (known == counts.end()) {
      counts.push_back(std::move(kernel));
      continue;
    }
    known->launches += kernel.launches;
    known->stats.add(kernel.stats);
  }
}

char DeviceFault::ID;

/// The error of a call that did not return results.
static llvm::Error errorOf(int status, ArrayRef<std::string> checks) {
  if (status > 0)
    return createStringError(failureText(status, checks));
  // Host code says by the same status that an assertion of the program's failed.
  StringRef message = mp_rt_device_error();
  if (message.starts_with("the program failed a check"))
    return createStringError(message);
  return llvm::make_error<DeviceFault>(message);
}

llvm::Expected<std::vector<Array>> DeviceProgram::run(ArrayRef<Array> arguments) {
  if (llvm::Error error = checkArguments(arguments))
    return std::move(error);
  std::vector<mp_rt_array> in(arguments.size()), out(types.results.size());
  for (auto [array, argument] : llvm::zip_equal(in, arguments)) {
    array.data = const_cast<char *>(argument.data.data());
    llvm::copy(argument.shape, array.sizes);
  }
  emulatedDriver().options = launch;
  emulatedDriver().resetCounts();
  emulatedDriver().recordLaunches = records;
  int status = mp_rt_call(static_cast<const mp_rt_function *>(callable), in.data(), out.data());
  addCounts(counts);
  llvm::move(emulatedDriver().launches, std::back_inserter(launched));
  peak = mp_rt_device_peak_bytes();
  if (status != 0)
    return errorOf(status, checks);
  std::vector<Array> results;
  for (auto [parameter, array] : llvm::zip_equal(types.results, out)) {
    Array result(parameter.type, ArrayRef<int64_t>(array.sizes, parameter.shape.size()));
    std::memcpy(result.data.data(), array.data, result.data.size());
    std::free(array.data);
    results.push_back(std::move(result));
  }
  return results;
}

llvm::Error DeviceProgram::call(ArrayRef<mp_rt_tensor> arguments,
                                MutableArrayRef<mp_rt_tensor> results, void *stream) {
  emulatedDriver().options = launch;
  int status =
      mp_rt_call_tensors(static_cast<const mp_rt_function *>(callable), arguments.data(),
                         int(arguments.size()), results.data(), int(results.size()), stream);
  return status == 0 ? llvm::Error::success() : errorOf(status, checks);
}
