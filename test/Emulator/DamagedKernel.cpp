// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two blocks of 128 threads, 8192 words of memory, and a limit of instructions.

#include "DamagedKernel.h"
#include "mp/Emulator/Device.h"
#include "mp/Emulator/Module.h"
#include "mp/Emulator/TensorMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <cstring>

using namespace mpcore::emulator;

static void expectWords(llvm::Error error) {
  if (llvm::toString(std::move(error)).empty())
    llvm::report_fatal_error("an error says nothing");
}

/// Returns what fits a parameter of so many bytes: an address, a tensor map, or a small number.
static KernelArg argumentFor(const KernelParam &parameter, DevicePtr memory) {
  std::vector<uint8_t> bytes(parameter.bytes);
  if (parameter.bytes == 8) {
    std::memcpy(bytes.data(), &memory, 8);
  } else if (parameter.bytes == 128) {
    TensorMap map;
    map.type = TensorMap::Type::F16, map.rank = 2, map.address = memory,
    map.swizzle = TensorMap::Swizzle::B128;
    map.dims = {64, 64}, map.strides = {128}, map.box = {64, 64};
    llvm::copy(map.encode(), bytes.begin());
  } else if (!bytes.empty()) {
    bytes[0] = 8;
  }
  return KernelArg::bytes(bytes);
}

test::Outcome mpcore::emulator::test::runDamaged(const std::string &text, bool reverse) {
  auto module = loadModule(text, "damaged.ptx");
  if (!module) {
    expectWords(module.takeError());
    return Outcome::Refused;
  }
  Outcome outcome = Outcome::Ran;
  for (const KernelInfo &kernel : (*module)->kernels()) {
    Device device;
    DevicePtr memory = llvm::cantFail(device.alloc(32768));
    std::vector<uint32_t> ones(8192, 1);
    llvm::cantFail(device.write(memory, {reinterpret_cast<const uint8_t *>(ones.data()), 32768}));
    std::vector<KernelArg> args;
    for (const KernelParam &parameter : kernel.params)
      args.push_back(argumentFor(parameter, memory));
    LaunchOptions options;
    options.threads = 1;
    options.reverse = reverse;
    options.maxInstructions = options.maxLaunchInstructions = 200000;
    auto stats = device.launch(**module, kernel.name, {2}, {128}, 0, args, options);
    if (stats)
      continue;
    expectWords(stats.takeError());
    outcome = Outcome::Faulted;
  }
  return outcome;
}
