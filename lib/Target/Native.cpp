// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks the installed driver for its device and finds the target that runs on it.

#include "mp/Target/Native.h"

#include "mp/Runtime/Device.h"
#include "mp/Target/Targets.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mpcore::target;

llvm::Expected<const TargetModel &> mpcore::target::nativeTarget() {
  mp_rt_device_facts facts;
  if (mp_rt_query_device(&facts) != 0)
    return llvm::createStringError(llvm::Twine("target 'native' is the installed GPU: ") +
                                   mp_rt_device_error());
  return targetForCapability(facts.major, facts.minor);
}

void mpcore::target::printNativeDevice(llvm::raw_ostream &os) {
  mp_rt_device_facts facts;
  if (mp_rt_query_device(&facts) != 0) {
    os << "Device here: none (" << mp_rt_device_error() << ")\n";
    return;
  }
  auto target = targetForCapability(facts.major, facts.minor);
  os << llvm::formatv("Device here: {0}, compute capability {1}.{2} (target {3}), {4:f1} GiB, {5} "
                      "multiprocessors at "
                      "{6} MHz, driver for CUDA {7}.{8}\n",
                      facts.name, facts.major, facts.minor, target ? target->name.str() : "none",
                      double(facts.memory_bytes) / (1 << 30), facts.multiprocessors,
                      facts.clock_khz / 1000, facts.driver_version / 1000,
                      facts.driver_version % 1000 / 10);
  if (!target)
    llvm::consumeError(target.takeError());
}
