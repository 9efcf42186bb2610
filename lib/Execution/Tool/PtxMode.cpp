// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-run on PTX files: finds the kernel, launches it, compares its arrays.

#include "PtxMode.h"

#include "PtxArguments.h"
#include "Run.h"
#include "mp/Execution/Compare/Comparison.h"
#include "mp/Execution/DeviceProgram.h"
#include "mp/Execution/Inputs.h"
#include "mp/Execution/KernelEstimates.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

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

static llvm::Error readBack(const RunOptions &options, RunFiles &files, emulator::Device &device,
                            std::vector<DeviceArray> &buffers) {
  size_t wanted = options.outputs.empty() ? buffers.size() : options.outputs.size();
  if (wanted > buffers.size())
    return createStringError(llvm::formatv(
        "--output given {0} times, but only {1} inputs are arrays", wanted, buffers.size()));
  for (size_t i = 0; i < wanted; ++i) {
    DeviceArray &buffer = buffers[buffers.size() - wanted + i];
    auto *data = reinterpret_cast<uint8_t *>(buffer.array.data.data());
    if (llvm::Error error = device.read(buffer.address, {data, buffer.array.data.size()}))
      return error;
    if (options.outputs.empty())
      printArray(llvm::outs(), "array " + std::to_string(i), buffer.array);
    else if (llvm::Error error = files.writeResult(i, buffer.array))
      return error;
  }
  return llvm::Error::success();
}

namespace {
/// An element that is not what --expect says.
struct Difference {
  size_t buffer, reported; // among the arrays, among those that were asked for
  int64_t element;
  double found, expected;
};
} // namespace

/// The first difference in the last arrays, if any.
static llvm::Expected<std::optional<Difference>>
firstDifference(const RunOptions &options, emulator::Device &device,
                const std::vector<DeviceArray> &buffers) {
  if (options.expected.size() > buffers.size())
    return createStringError(
        llvm::formatv("--expect given {0} times, but only {1} inputs are arrays",
                      options.expected.size(), buffers.size()));
  const double limit = options.maxRelative.value_or(0);
  for (size_t i = 0; i < options.expected.size(); ++i) {
    const size_t at = buffers.size() - options.expected.size() + i;
    Array found = buffers[at].array;
    llvm::Expected<Array> expected = readInput(options.expected[i]);
    if (expected && !(expected->type == found.type))
      expected = convertTo(std::move(*expected), found.type);
    if (!expected)
      return expected.takeError();
    if (expected->size() != found.size())
      return createStringError(llvm::formatv("--expect={0}: expected {1} elements, found {2}",
                                             options.expected[i], found.size(), expected->size()));
    if (llvm::Error error =
            device.read(buffers[at].address,
                        {reinterpret_cast<uint8_t *>(found.data.data()), found.data.size()}))
      return std::move(error);
    double largest = 0;
    for (int64_t k = 0; k < found.size(); ++k)
      largest = std::max(largest, std::fabs(expected->value(k)));
    for (int64_t k = 0; k < found.size(); ++k) {
      const double x = found.value(k), y = expected->value(k);
      if (found.pattern(k) == expected->pattern(k) || std::fabs(x - y) <= limit * largest ||
          (std::isnan(x) && std::isnan(y)))
        continue;
      return Difference{at, i, k, x, y};
    }
  }
  return std::nullopt;
}

/// Runs once more from the start and tells who wrote the element.
template <class Launch>
static llvm::Error explain(const RunOptions &options, const emulator::KernelInfo &kernel,
                           const Difference &d, emulator::LaunchOptions launch, Launch &&start) {
  emulator::Device device;
  auto arguments = placeArguments(options.inputs.inputs, kernel, device);
  if (!arguments)
    return arguments.takeError();
  const DeviceArray &buffer = arguments->arrays[d.buffer];
  const unsigned bytes = buffer.array.type.bytes();
  launch.watch = {buffer.address + d.element * bytes, bytes};
  llvm::Expected<emulator::LaunchStats> stats = start(device, *arguments, launch);
  if (!stats)
    return stats.takeError();
  std::string what;
  llvm::raw_string_ostream(what) << "array " << d.reported << ", element " << d.element
                                 << llvm::format(": expected %.9g, found %.9g", d.expected,
                                                 d.found);
  if (!stats->watched)
    return createStringError("wrong value: " + what + ", which the kernel did not write");
  emulator::Fault fault = *stats->watched;
  fault.message = what + (fault.message.empty() ? "" : "\n  " + fault.message);
  return llvm::make_error<emulator::FaultError>(std::move(fault));
}

static llvm::Error writeReport(RunFiles &files, const RunOptions &options,
                               const std::string &kernel, const emulator::LaunchStats &stats,
                               const std::optional<FunctionEstimate> &estimate) {
  llvm::json::Object report{{"version", 1},
                            {"file", llvm::json::fixUTF8(options.file)},
                            {"kernels", kernelsToJSON({{kernel, 1, stats}})}};
  if (estimate)
    report["estimate"] = estimatesToJSON(*estimate);
  return files.writeJSON(std::move(report));
}

Status mlir::mp::runPtx(const RunOptions &options) {
  RunFiles files;
  if (llvm::Error error = files.open(options))
    return reportError(Status::BadInput, std::move(error));
  auto text = support::readFile(options.file, options.file);
  if (!text)
    return reportError(Status::BadInput, text.takeError());
  auto module = emulator::loadModule((*text)->getBuffer(), options.file);
  if (!module)
    return reportError(Status::BadInput, module.takeError());
  auto kernel = chooseKernel(**module, options.kernel);
  if (!kernel)
    return reportError(Status::BadInput, kernel.takeError());
  emulator::Device device;
  auto arguments = placeArguments(options.inputs.inputs, **kernel, device);
  if (!arguments)
    return reportError(Status::BadInput, arguments.takeError());
  emulator::LaunchOptions launch;
  launch.chip = options.chip;
  launch.reverse = options.reverse;
  launch.maxInstructions = launch.maxLaunchInstructions = options.maxInstructions;
  if (!options.estimate.empty())
    prepareForEstimates(launch, options.sampleBlocks);
  emulator::Dim3 grid{options.grid[0], options.grid[1], options.grid[2]};
  emulator::Dim3 block{options.block[0], options.block[1], options.block[2]};
  auto start = [&](emulator::Device &device, const PtxArguments &arguments,
                   const emulator::LaunchOptions &launch) {
    return device.launch(**module, (*kernel)->name, grid, block, options.sharedBytes,
                         arguments.values, launch);
  };
  auto stats = start(device, *arguments, launch);
  if (!stats) {
    bool isFault = stats.errorIsA<emulator::FaultError>();
    return reportError(isFault ? Status::Failed : Status::BadInput, stats.takeError());
  }
  llvm::outs() << stats->printed;
  if (!options.sampleBlocks) // else blocks that did not run left them as they were
    if (llvm::Error error = readBack(options, files, device, arguments->arrays))
      return reportError(Status::BadInput, std::move(error));
  // Results may go to standard output as a file: counts do not stand among them.
  bool piped = llvm::is_contained(options.outputs, "-");
  llvm::raw_ostream &os = piped ? llvm::errs() : llvm::outs();
  stats->print(os);
  std::optional<FunctionEstimate> estimate;
  if (!options.estimate.empty()) {
    estimate = estimateLaunches({{(*kernel)->name, *stats}},
                                llvm::cantFail(performance::findPart(options.estimate)),
                                /*minimumBytes=*/0);
    printEstimates(os, *estimate);
  }
  auto difference = firstDifference(options, device, arguments->arrays);
  if (!difference)
    return reportError(Status::BadInput, difference.takeError());
  if (*difference)
    return reportError(Status::Failed, explain(options, **kernel, **difference, launch, start));
  if (llvm::Error error = writeReport(files, options, (*kernel)->name, *stats, estimate))
    return reportError(Status::BadInput, std::move(error));
  return Status::Done;
}
