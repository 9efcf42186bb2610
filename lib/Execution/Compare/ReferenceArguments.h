// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the arguments that a reference is run on.

#ifndef MP_LIB_EXECUTION_COMPARE_REFERENCEARGUMENTS_H
#define MP_LIB_EXECUTION_COMPARE_REFERENCEARGUMENTS_H

#include "mp/Execution/Host/Program.h"
#include "mp/Execution/Inputs.h"

namespace mlir::mp {

struct ReferenceFunction {
  ModuleOp module;
  llvm::StringRef entry;
  const Signature &signature;
  size_t appended; ///< arguments that are state which mp added
};

/// The arguments `given` to a run, `appended` of them state that mp added, as the reference wants
/// them: rounded, widened. State that only one of them has appended has no counterpart.
llvm::Expected<std::vector<Array>> adaptArguments(llvm::ArrayRef<Array> given, size_t appended,
                                                  const ReferenceFunction &reference);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_COMPARE_REFERENCEARGUMENTS_H
