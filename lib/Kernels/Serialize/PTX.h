// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From kernels in the LLVM dialect to PTX, and from PTX to machine code.

#ifndef MP_LIB_KERNELS_SERIALIZE_PTX_H
#define MP_LIB_KERNELS_SERIALIZE_PTX_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Target/TargetModel.h"

#include <string>

namespace mlir::mp {

/// PTX of `module` for `model`; diagnostics go to the module's location.
FailureOr<std::string> translateToPTX(gpu::GPUModuleOp module, const target::TargetModel &model,
                                      unsigned optLevel);

/// Refuses PTX with unresolved functions, indirect calls or approximate roots.
LogicalResult checkPTX(StringRef ptx, Location loc);

/// The resources of one kernel as ptxas reported them.
struct KernelResources {
  std::string name;
  unsigned registers = 0, spillBytes = 0, sharedBytes = 0;
};

/// Assembles `ptx`. `resources` receives one entry per kernel.
FailureOr<std::string> assemble(StringRef ptx, const target::TargetModel &model, Location loc,
                                SmallVectorImpl<KernelResources> &resources);

/// A fat binary that holds `cubin` and `ptx`.
FailureOr<std::string> makeFatBinary(StringRef ptx, StringRef cubin,
                                     const target::TargetModel &model, Location loc);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_SERIALIZE_PTX_H
