// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The GPU that is installed here, as its driver describes it.

#ifndef MP_TARGET_NATIVE_H
#define MP_TARGET_NATIVE_H

#include "mp/Target/TargetModel.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mpcore::target {

/// The target of the device that libMPRuntime opens; an error says why there is none.
llvm::Expected<const TargetModel &> nativeTarget();

/// One line: name, target, memory, multiprocessors, clock and driver, or why there is no device.
void printNativeDevice(llvm::raw_ostream &os);

} // namespace mpcore::target

#endif // MP_TARGET_NATIVE_H
