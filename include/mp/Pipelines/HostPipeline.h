// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host side of a module of kernels, to the LLVM dialect.

#ifndef MP_PIPELINES_HOSTPIPELINE_H
#define MP_PIPELINES_HOSTPIPELINE_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::mp {

struct HostPipelineOptions : PassPipelineOptions<HostPipelineOptions> {
  Option<bool> plan{
      *this, "plan",
      llvm::cl::desc("Let buffers share memory (off: one allocation each, kept until the call "
                     "ends, which lets the emulator see reads of what nobody wrote)"),
      llvm::cl::init(true)};
};

/// Lowers what mp-to-nvvm leaves on the host to the LLVM dialect, calling libMPRuntime:
/// `mp-host-to-llvm`.
void buildHostPipeline(OpPassManager &pm, const HostPipelineOptions &options);

void registerHostPipeline();

} // namespace mlir::mp

#endif // MP_PIPELINES_HOSTPIPELINE_H
