// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C header of an object file.

#ifndef MP_LIB_KERNELS_HOST_CHEADER_H
#define MP_LIB_KERNELS_HOST_CHEADER_H

#include "mlir/IR/BuiltinTypes.h"

#include <string>
#include <vector>

namespace mlir::mp {

struct CFunction {
  std::string name; ///< in MLIR
  FunctionType type;
  bool isOnHost; ///< of no part on a device
};

bool isCIdentifier(StringRef text);

/// Symbol of the function's mp_rt_function record.
std::string recordName(StringRef prefix, const CFunction &function);

std::string headerText(StringRef prefix, ArrayRef<CFunction> functions);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_HOST_CHEADER_H
