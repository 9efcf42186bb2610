// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From linalg on tensors to kernels in PTX.

#ifndef MP_PIPELINES_NVVMPIPELINE_H
#define MP_PIPELINES_NVVMPIPELINE_H

#include "mlir/Pass/PassOptions.h"
#include "mp/Kernels/Form/Passes.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {

struct NVVMPipelineOptions : PassPipelineOptions<NVVMPipelineOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("GPU architecture, as in --mp-show-targets"),
                             llvm::cl::init("sm_80")};
  Option<std::string> format{
      *this, "format",
      llvm::cl::desc("Narrow format of contractions (bf16, f16 or tf32): runs mp-mixed-precision "
                     "first; empty takes the module as it is"),
      llvm::cl::init("")};
  Option<EmitFormat> emit{
      *this, "emit", llvm::cl::desc("What the kernels become"),
      llvm::cl::values(clEnumValN(EmitFormat::PTX, "ptx", "PTX assembly"),
                       clEnumValN(EmitFormat::Cubin, "cubin", "machine code of one architecture"),
                       clEnumValN(EmitFormat::Fatbin, "fatbin", "machine code and PTX")),
      llvm::cl::init(EmitFormat::PTX)};
  Option<std::string> dir{*this, "dir", llvm::cl::desc("Folder for the files; created if missing"),
                          llvm::cl::init("")};
  Option<bool> fuse{*this, "fuse", llvm::cl::desc("Fuse elementwise ops"), llvm::cl::init(true)};
  Option<bool> dispatches{
      *this, "dispatches",
      llvm::cl::desc("Run groups of ops as one kernel each, else an op a kernel"),
      llvm::cl::init(true)};
  Option<bool> mma{*this, "mma",
                   llvm::cl::desc("Run contractions on Tensor Cores where types allow"),
                   llvm::cl::init(true)};
  Option<MathAccuracy> math{
      *this, "math", llvm::cl::desc("What math functions become"),
      llvm::cl::values(clEnumValN(MathAccuracy::Exact, "exact",
                                  "polynomials, the same bits on CPU, emulator and GPU"),
                       clEnumValN(MathAccuracy::Approximate, "approximate",
                                  "approximate instructions where there are any")),
      llvm::cl::init(MathAccuracy::Exact)};
  Option<SumOrder> sums{
      *this, "sums", llvm::cl::desc("Order of sums of floats, of rows and of products"),
      llvm::cl::values(
          clEnumValN(SumOrder::Ordered, "ordered", "ascending"),
          clEnumValN(SumOrder::Tree, "tree", "a tree that depends on shape and schedule only")),
      llvm::cl::init(SumOrder::Tree)};
  Option<AttentionForm> attention{
      *this, "attention", llvm::cl::desc("Attention, in dispatches"),
      llvm::cl::values(
          clEnumValN(AttentionForm::Auto, "auto",
                     "one kernel where that is modelled faster, unless sums=ordered"),
          clEnumValN(AttentionForm::Unfused, "unfused",
                     "each product and the softmax a kernel of its own"),
          clEnumValN(AttentionForm::Fused, "fused", "one kernel, whose scores never reach memory")),
      llvm::cl::init(AttentionForm::Auto)};
  /// The form that `attention` asks for; one kernel adds along the keys by tiles, not in order.
  AttentionForm attentionForm() const {
    if (attention != AttentionForm::Auto)
      return attention;
    return sums == SumOrder::Ordered ? AttentionForm::Unfused : AttentionForm::Fused;
  }
  Option<bool> allowSpills{*this, "allow-spills",
                           llvm::cl::desc("Warn about spilled registers instead of failing"),
                           llvm::cl::init(false)};
};

/// Dispatches on tensors, with contractions marked and elementwise ops fused.
void buildFormPipeline(OpPassManager &pm, const NVVMPipelineOptions &options);

/// Tensors to buffers, with contractions marked and elementwise ops fused.
void buildDispatchPipeline(OpPassManager &pm, const NVVMPipelineOptions &options);

/// Buffers to parallel loops and, from them, launches of outlined kernels.
void buildKernelPipeline(OpPassManager &pm, const NVVMPipelineOptions &options);

/// Kernels to the NVVM dialect, checked.
void buildKernelLoweringPipeline(OpPassManager &pm, const NVVMPipelineOptions &options);

/// All of it, and serialisation: `mp-to-nvvm`.
void buildNVVMPipeline(OpPassManager &pm, const NVVMPipelineOptions &options);

/// Registers `mp-to-nvvm` and `mp-to-loops` (the loop nests of the kernels, for the CPU).
void registerNVVMPipelines();

} // namespace mlir::mp

#endif // MP_PIPELINES_NVVMPIPELINE_H
