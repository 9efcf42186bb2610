// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device memory of one call of compiled code.
#ifndef MP_LIB_RUNTIME_DEVICEMEMORY_H
#define MP_LIB_RUNTIME_DEVICEMEMORY_H

#include "DeviceState.h"

namespace mpcore::runtime {

/// Memory that the running call holds until it frees it or ends.
mp_cu_address allocateForCall(OpenDevice &device, int64_t bytes);

/// Takes memory from the running call and leaves it to the caller; false if it is not the call's.
bool handOver(mp_cu_address address);

/// Frees what the call of this thread still holds.
void releaseCall(OpenDevice &device);

/// Forgets it: the device does not answer any more.
void forgetCall();

} // namespace mpcore::runtime

#endif // MP_LIB_RUNTIME_DEVICEMEMORY_H
