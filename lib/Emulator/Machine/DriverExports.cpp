// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libMPEmulatedDriver.so: the emulated driver under the names of a driver's entry points. In a
// library of its own, so that nothing else that links the emulator shadows an installed driver.

#include "mp/Emulator/Driver.h"

#define MP_EXPORT(member, name, parameters, names)                                                 \
  extern "C"                                                                                       \
      __attribute__((visibility("default"))) int mp_export_##member parameters __asm__(name);      \
  int mp_export_##member parameters { return mpcore::emulator::emulatedDriverTable().member names; }
MP_CU_ENTRY_POINTS(MP_EXPORT)
