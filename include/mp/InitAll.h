// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one list of everything mp registers, used by every tool and by the plugin.

#ifndef MP_INITALL_H
#define MP_INITALL_H

#include "mp/Dialect/Check/CheckDialect.h"
#include "mp/Dialect/Comm/CommDialect.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Dialect/MPK/MPKDialect.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Kernels/Form/Passes.h"
#include "mp/Kernels/Host/Passes.h"
#include "mp/Kernels/Passes.h"
#include "mp/Kernels/Select/Passes.h"
#include "mp/Pipelines/HostPipeline.h"
#include "mp/Pipelines/NVVMPipeline.h"
#include "mp/Pipelines/Pipelines.h"
#include "mp/Transforms/Annotate/Passes.h"
#include "mp/Transforms/Assign/Passes.h"
#include "mp/Transforms/Distribute/Passes.h"
#include "mp/Transforms/Interop/Passes.h"
#include "mp/Transforms/Materialize/Passes.h"
#include "mp/Transforms/Optimize/Passes.h"
#include "mp/Transforms/Prepare/Passes.h"
#include "mp/Transforms/Quantize/Passes.h"
#include "mp/Transforms/Scale/Interfaces.h"
#include "mp/Transforms/Scale/Passes.h"
#include "mp/Transforms/Train/Passes.h"
#include "mp/Transforms/Verify/Passes.h"

namespace mlir::mp {

/// The dialects of mp, and the external models of its interfaces and of upstream's.
inline void registerAllDialects(DialectRegistry &registry) {
  registry.insert<MPDialect, CheckDialect, comm::CommDialect, mpk::MPKDialect>();
  registerPrecisionModels(registry);
  registerScalingInterfaces(registry);
  registerKernelsTranslations(registry);
}

/// The passes and pipelines of mp.
inline void registerAllPasses() {
  registerMPAnnotatePasses();
  registerMPAssignPasses();
  registerMPDistributePasses();
  registerMPInteropPasses();
  registerMPMaterializePasses();
  registerMPFormPasses();
  registerMPHostPasses();
  registerMPKernelsPasses();
  registerMPOptimizePasses();
  registerMPPreparePasses();
  registerMPQuantizePasses();
  registerMPScalePasses();
  registerMPSelectPasses();
  registerMPTrainPasses();
  registerMPVerifyPasses();
  registerMixedPrecisionPipeline();
  registerTrainStepPipeline();
  registerCPUPipeline();
  registerNVVMPipelines();
  registerHostPipeline();
}

} // namespace mlir::mp

#endif // MP_INITALL_H
