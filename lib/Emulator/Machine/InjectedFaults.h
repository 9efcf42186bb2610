// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A driver that fails where it is told to, for tests of what has to live with failures.

#ifndef MP_LIB_EMULATOR_MACHINE_INJECTEDFAULTS_H
#define MP_LIB_EMULATOR_MACHINE_INJECTEDFAULTS_H

#include "mp/Runtime/DriverAPI.h"
#include "llvm/ADT/StringRef.h"

namespace mpcore::emulator {

/// Returns `driver` with the fault of `specification`, KIND:N. `launch:N` fails the N-th launch of
/// the process and every call from then on, as a device does whose context is lost; `memory:N` and
/// `transfer:N` fail the N-th allocation or copy from the device, once; `flip:N` flips a bit of the
/// N-th copy from the device and tells nobody: bit 22 of the word in the middle, or bit B of it
/// where `flip:N,B` says so. What is not of this form fails the start of the driver with a message.
const mp_cu_driver &withFault(const mp_cu_driver &driver, llvm::StringRef specification);

} // namespace mpcore::emulator

#endif // MP_LIB_EMULATOR_MACHINE_INJECTEDFAULTS_H
