// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The emulator behind the entry points of a CUDA driver: programs written for the driver run
// without a GPU. libMPEmulatedDriver.so exports them under the driver's names.

#ifndef MP_EMULATOR_DRIVER_H
#define MP_EMULATOR_DRIVER_H

#include "mp/Emulator/Device.h"
#include "mp/Runtime/DriverAPI.h"

namespace mpcore::emulator {

/// All launches of one kernel.
struct KernelCounts {
  std::string name;
  uint64_t launches = 0;
  LaunchStats stats;
};

/// One launch.
struct LaunchRecord {
  std::string kernel;
  LaunchStats stats;
};

/// The one emulated device of the process. Not thread-safe: set options between launches.
struct EmulatedDriver {
  LaunchOptions options;              ///< of launches from now on
  std::vector<KernelCounts> kernels;  ///< since the last reset, in the order of first launches
  bool recordLaunches = false;        ///< whether `launches` grows
  std::vector<LaunchRecord> launches; ///< since the last reset, in order
  void resetCounts() {
    kernels.clear();
    launches.clear();
  }
};

EmulatedDriver &emulatedDriver();

/// Returns `code`; cuGetErrorString tells what the error says.
int reportDriverError(int code, llvm::Error error);

/// The entry points as a table for mp_rt_use_driver.
const mp_cu_driver &emulatedDriverTable();

} // namespace mpcore::emulator

#endif
