// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PtxMode.h"

#include "mp/Emulator/Device.h"
#include "mp/Execution/Comparison.h"
#include "mp/Execution/Files.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;
namespace emulator = ::mp::emulator;

namespace {

/// An array argument in device memory.
struct Buffer {
  Array array;
  emulator::DevicePtr address;
};

} // namespace

static ArrayRef<uint8_t> bytesOf(const Array &array) {
  return {reinterpret_cast<const uint8_t *>(array.data.data()), array.data.size()};
}

/// The kernel asked for, or the only one.
static llvm::Expected<const emulator::KernelInfo *> chooseKernel(const emulator::Module &module,
                                                                 StringRef name) {
  std::string names;
  for (const emulator::KernelInfo &kernel : module.kernels()) {
    if (kernel.name == name || (name.empty() && module.kernels().size() == 1))
      return &kernel;
    names += " " + kernel.name;
  }
  return createStringError("--kernel=" + name + ": expected one of" +
                           (names.empty() ? " none: the file has no kernel" : names));
}

static llvm::Error collectArguments(const RunOptions &options, const emulator::KernelInfo &kernel,
                                    emulator::Device &device, std::vector<Buffer> &buffers,
                                    std::vector<emulator::KernelArg> &arguments) {
  if (options.inputs.inputs.size() != kernel.params.size())
    return createStringError(llvm::formatv("--input given {0} times, but {1} has {2} parameters",
                                           options.inputs.inputs.size(), kernel.name,
                                           kernel.params.size()));
  for (auto [index, text] : llvm::enumerate(options.inputs.inputs)) {
    auto array = readInput(text);
    if (!array)
      return createStringError(llvm::formatv("--input {0}: ", index) + llvm::toString(array.takeError()));
    const emulator::KernelParam &parameter = kernel.params[index];
    bool byValue = !StringRef(text).starts_with("@") && array->shape.empty();
    unsigned size = byValue ? array->type.bytes() : 8;
    if (size != parameter.bytes)
      return createStringError(llvm::formatv("--input {0}: expected {1} bytes for parameter {2}, found {3}",
                                             index, parameter.bytes, parameter.name,
                                             byValue ? llvm::Twine(size).str() : "an address of 8"));
    if (byValue) {
      arguments.push_back(emulator::KernelArg::bytes(bytesOf(*array)));
      continue;
    }
    auto address = device.alloc(array->data.size());
    if (!address)
      return address.takeError();
    if (llvm::Error error = device.write(*address, bytesOf(*array)))
      return error;
    arguments.push_back(emulator::KernelArg::value(*address));
    buffers.push_back({std::move(*array), *address});
  }
  return llvm::Error::success();
}

static llvm::Error readBack(const RunOptions &options, emulator::Device &device,
                            std::vector<Buffer> &buffers) {
  size_t wanted = options.outputs.empty() ? buffers.size() : options.outputs.size();
  if (wanted > buffers.size())
    return createStringError(llvm::formatv("--output given {0} times, but only {1} inputs are arrays",
                                           wanted, buffers.size()));
  for (size_t i = 0; i < wanted; ++i) {
    Buffer &buffer = buffers[buffers.size() - wanted + i];
    auto *data = reinterpret_cast<uint8_t *>(buffer.array.data.data());
    if (llvm::Error error = device.read(buffer.address, {data, buffer.array.data.size()}))
      return error;
    if (options.outputs.empty())
      printArray(llvm::outs(), "array " + std::to_string(i), buffer.array);
    else if (llvm::Error error = writeNpy(options.outputs[i], buffer.array))
      return error;
  }
  return llvm::Error::success();
}

int mlir::mp::runPtx(const RunOptions &options) {
  auto fail = [](int status, llvm::Error error) {
    llvm::errs() << "mp-run: error: " << llvm::toString(std::move(error)) << "\n";
    return status;
  };
  auto text = llvm::MemoryBuffer::getFileOrSTDIN(options.file);
  if (!text)
    return fail(2, createStringError("cannot read '" + options.file + "': " + text.getError().message()));
  auto module = emulator::loadModule((*text)->getBuffer(), options.file);
  if (!module)
    return fail(2, module.takeError());
  auto kernel = chooseKernel(**module, options.kernel);
  if (!kernel)
    return fail(2, kernel.takeError());
  emulator::Device device;
  std::vector<Buffer> buffers;
  std::vector<emulator::KernelArg> arguments;
  if (llvm::Error error = collectArguments(options, **kernel, device, buffers, arguments))
    return fail(2, std::move(error));
  emulator::LaunchOptions launch;
  launch.chip = options.chip;
  emulator::Dim3 grid{options.grid[0], options.grid[1], options.grid[2]};
  emulator::Dim3 block{options.block[0], options.block[1], options.block[2]};
  auto stats = device.launch(**module, (*kernel)->name, grid, block, options.sharedBytes, arguments, launch);
  if (!stats)
    return fail(1, stats.takeError());
  llvm::outs() << stats->printed;
  if (llvm::Error error = readBack(options, device, buffers))
    return fail(2, std::move(error));
  return 0;
}
