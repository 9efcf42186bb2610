// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From linalg on tensors to kernels in PTX.

#ifndef MP_PIPELINES_NVVMPIPELINE_H
#define MP_PIPELINES_NVVMPIPELINE_H

#include "mlir/Pass/PassOptions.h"
#include "mp/Kernels/Form/Passes.h"
#include "mp/Kernels/Passes.h"
#include "mp/Kernels/Select/Passes.h"
#include "mp/Transforms/Options.h"

namespace mlir::mp {

/// Says what math functions become: `Auto` leaves them exact but for those that
/// `mp-choose-functions` marks.
enum class MathChoice { Exact, Auto, Approximate };
inline auto wordsOf(MathChoice) {
  using enum MathChoice;
  static constexpr support::Word<MathChoice> all[] = {
      {Exact, "exact", "polynomials, the same bits on CPU, emulator and GPU"},
      {Auto, "auto", "exact, or approximate where a rounding behind a function hides it"},
      {Approximate, "approximate", "approximate instructions where there are any"}};
  return llvm::ArrayRef(all);
}

struct NVVMPipelineOptions : PassPipelineOptions<NVVMPipelineOptions> {
  Option<TargetName> target{*this, "target",
                            llvm::cl::desc("GPU architecture, as in --mp-show-targets"),
                            llvm::cl::init("sm_80")};
  Option<OptionalFormat> format{
      *this, "format",
      llvm::cl::desc("Narrow format of contractions (bf16, f16 or tf32): runs mp-mixed-precision "
                     "first; empty takes the module as it is")};
  Option<EmitFormat> emit{*this, "emit", llvm::cl::desc("What the kernels become"),
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
  Option<bool> sparse{
      *this, "sparse",
      llvm::cl::desc(
          "Multiply by constant weights with two of each four zero as mma.sp does, where "
          "that is modelled to be faster: what zeros would meet is not read"),
      llvm::cl::init(false)};
  Option<MathChoice> math{*this, "math", llvm::cl::desc("What math functions become"),
                          llvm::cl::init(MathChoice::Exact)};
  /// Returns the accuracy of functions that `mp-choose-functions` did not mark.
  MathAccuracy accuracy() const {
    return math == MathChoice::Approximate ? MathAccuracy::Approximate : MathAccuracy::Exact;
  }
  Option<double> functionBudget{
      *this, "function-budget",
      llvm::cl::desc("With math=auto: relative error that elements of results may have by "
                     "approximate functions"),
      llvm::cl::init(0)};
  Option<SumOrder> sums{*this, "sums",
                        llvm::cl::desc("Order of sums of floats, of rows and of products"),
                        llvm::cl::init(SumOrder::Tree)};
  Option<support::OptionalWord<AttentionForm>> attention{
      *this, "attention",
      llvm::cl::desc("Attention, in dispatches; auto: one kernel where that is modelled faster, "
                     "unless sums=ordered")};
  /// The form that `attention` asks for; one kernel adds along the keys by tiles, not in order.
  AttentionForm attentionForm() const {
    if (attention)
      return *attention;
    return sums == SumOrder::Ordered ? AttentionForm::Unfused : AttentionForm::Fused;
  }
  Option<bool> excessPrecision{
      *this, "excess-precision",
      llvm::cl::desc("Ops of one kernel hand bf16 and f16 to each other without rounding"),
      llvm::cl::init(false)};
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
