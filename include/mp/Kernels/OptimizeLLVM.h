// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's default pipeline for a module and a machine, as all who generate code run it.

#ifndef MP_KERNELS_OPTIMIZELLVM_H
#define MP_KERNELS_OPTIMIZELLVM_H

#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

namespace mlir::mp {

/// `level` is 0 to 3, as of -O; larger counts as 3.
void optimizeLLVM(llvm::Module &module, llvm::TargetMachine &machine, unsigned level,
                  const llvm::PipelineTuningOptions &tuning = {});

} // namespace mlir::mp

#endif // MP_KERNELS_OPTIMIZELLVM_H
