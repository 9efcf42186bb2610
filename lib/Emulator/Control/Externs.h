// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls, and the functions of the CUDA device runtime that every program may call: __assertfail and
// vprintf.

#ifndef MP_LIB_EMULATOR_CONTROL_EXTERNS_H
#define MP_LIB_EMULATOR_CONTROL_EXTERNS_H

#include "../Decode/Decoder.h"
#include "../State/Lanes.h"

namespace mpcore::emulator {

/// Inst::aux of a call: its .param variables in the caller's frame.
struct CallSite {
  struct Slot {
    uint32_t offset, bytes;
  };
  llvm::ArrayRef<Slot> args, results;
};

/// Returns the function that executes a call of a function that the module only declares; null when
/// it is none of the known ones.
ExecFn externFunction(const FunctionCode &function);
bool isNoReturn(ExecFn fn);
bool isReturn(ExecFn fn);

} // namespace mpcore::emulator

#endif
