// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pipelines: an options struct and a builder each, and a registered name.

#ifndef MP_PIPELINES_PIPELINES_H
#define MP_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mp/Transforms/Options.h"

namespace mlir::mp {

/// Options of `mp-mixed-precision`.
struct MixedPrecisionOptions : PassPipelineOptions<MixedPrecisionOptions> {
  Option<OptionalFormat> format{
      *this, "format",
      llvm::cl::desc("Narrow format of contractions: bf16, f16, tf32, or e4m3 or "
                     "e5m2 with scales; bf16 if the policy names none")};
  Option<RecipeName> recipe{*this, "recipe",
                            llvm::cl::desc("What contractions read scaled, and how "
                                           "(docs/concepts/Scaling.md); current if the format "
                                           "is e4m3 or e5m2, else nothing")};
  Option<std::string> scales{
      *this, "scales",
      llvm::cl::desc(
          "Magnitudes that mp-run --calibrate wrote, for recipes with one scale per activation"),
      llvm::cl::init("")};
  Option<ScaleUnproven> scaleUnproven{
      *this, "scale-unproven",
      llvm::cl::desc("Contractions whose range is not proved for f16 work on operands times powers "
                     "of two: off, on, or "
                     "auto where that is the optimum (other formats need no proof)"),
      llvm::cl::init(ScaleUnproven::Off)};
  Option<bool> clampUnproven{
      *this, "clamp-unproven",
      llvm::cl::desc("Contractions whose range is not proved for f16 read their operands clamped "
                     "to what f16 holds (other formats "
                     "need no proof)"),
      llvm::cl::init(false)};
  Option<bool> prescaleNorms{*this, "prescale-norms",
                             llvm::cl::desc("Norms whose squares may overflow, as far as ranges "
                                            "say, work on values times powers of two"),
                             llvm::cl::init(false)};
  Option<TargetName> target{
      *this, "target",
      llvm::cl::desc("GPU the result is meant for; sm_80 if the policy names none")};
  Option<std::string> policy{
      *this, "policy",
      llvm::cl::desc("Built-in policy (inference, training), policy file, or report of an earlier "
                     "run (docs/reference/Policies.md)"),
      llvm::cl::init("")};
  Option<std::string> explain{
      *this, "explain",
      llvm::cl::desc("Tell the story of the ops at FILE:LINE[:COLUMN], at a location's name, or "
                     "@FUNCTION:ORDINAL"),
      llvm::cl::init("")};
  Option<double> maxUnderflow{
      *this, "max-underflow",
      llvm::cl::desc("Largest fraction of a constant's non-zero elements that may become zero"),
      llvm::cl::init(1e-3)};
  Option<SaturatedShare> saturateConstants{
      *this, "saturate-constants",
      llvm::cl::desc(
          "Clamp a constant to the largest values of its format where less than this share of its "
          "elements overflows: off, on (any share short of all) or a number"),
      llvm::cl::init("off")};
  Option<Switch> promote{
      *this, "promote",
      llvm::cl::desc("Whether what is narrow already accumulates in f32 inside: on or off"),
      llvm::cl::init(Switch::On)};
  Option<Objective> objective{*this, "objective",
                              llvm::cl::desc("What storage is chosen for: time, memory or error"),
                              llvm::cl::init(Objective::Time)};
  Option<double> maxRelError{
      *this, "max-rel-error",
      llvm::cl::desc("Limit of the modelled relative error of the results; 0 for none"),
      llvm::cl::init(0)};
  Option<double> minSqnr{*this, "min-sqnr",
                         llvm::cl::desc("The same limit in decibels; 0 for none"),
                         llvm::cl::init(0)};
  Option<std::string> sensitivity{
      *this, "sensitivity",
      llvm::cl::desc(
          "File of errors that mp-run --sensitivity has measured, which replace modelled "
          "ones where error is limited"),
      llvm::cl::init("")};
  Option<double> maxTime{
      *this, "max-time",
      llvm::cl::desc("With objective=error: limit of modelled time in microseconds"),
      llvm::cl::init(0)};
  Option<double> certify{*this, "certify",
                         llvm::cl::desc("Bound the error of every result for arguments within this "
                                        "of 0, or as mp.range says; 0: not"),
                         llvm::cl::init(0)};
  Option<Switch> multiWord{
      *this, "multi-word",
      llvm::cl::desc(
          "Whether contractions may become split products where error is limited: on or off"),
      llvm::cl::init(Switch::On)};
  Option<bool> neverSlower{
      *this, "never-slower",
      llvm::cl::desc("Leave contractions in f32 where the model says that casts cost more"),
      llvm::cl::init(false)};
  Option<int64_t> assumeDim{*this, "assume-dim",
                            llvm::cl::desc("Size that costs assume of a dynamic dimension"),
                            llvm::cl::init(128)};
  Option<std::string> dumpProblem{
      *this, "dump-problem",
      llvm::cl::desc("File for the optimisation problem of storage and its answer as JSON"),
      llvm::cl::init("")};
  Option<std::string> costs{
      *this, "costs",
      llvm::cl::desc("File of measured times that replace modelled ones, as dump-costs writes it"),
      llvm::cl::init("")};
  Option<std::string> dumpCosts{
      *this, "dump-costs",
      llvm::cl::desc(
          "File for the times of contractions, casts and launches that were asked for, as JSON"),
      llvm::cl::init("")};
  Option<std::string> report{*this, "report", llvm::cl::desc("File for the report as JSON"),
                             llvm::cl::init("")};
  Option<std::string> against{
      *this, "against",
      llvm::cl::desc("JSON report of an earlier run: decisions that differ are printed and shown "
                     "on the page"),
      llvm::cl::init("")};
  Option<std::string> html{*this, "html", llvm::cl::desc("File for the report as one HTML page"),
                           llvm::cl::init("")};
  Option<std::string> dot{*this, "dot",
                          llvm::cl::desc("File for the graph with its formats, for Graphviz"),
                          llvm::cl::init("")};
  Option<std::string> viewer{
      *this, "viewer", llvm::cl::desc("Folder for the graph and its overlays for Model Explorer"),
      llvm::cl::init("")};
  Option<std::string> errors{
      *this, "errors",
      llvm::cl::desc("JSON of mp-run --compare --per-op, to be shown in the report"),
      llvm::cl::init("")};
  Option<bool> verify{*this, "verify", llvm::cl::desc("Check the contract of every phase"),
                      llvm::cl::init(true)};
  Option<bool> table{*this, "table", llvm::cl::desc("Print the table to standard error"),
                     llvm::cl::init(true)};
};

class Report;

/// Phases 0 to 4: decide, insert casts, optimise them. `report`, if given, is filled in, also with
/// the explanation, which else goes to standard error.
void buildMixedPrecisionPipeline(OpPassManager &manager, const MixedPrecisionOptions &options,
                                 std::shared_ptr<Report> report = nullptr);

void registerMixedPrecisionPipeline();

/// Options of `mp-train-step`: those of `mp-mixed-precision`, and what is done before.
struct TrainStepOptions : MixedPrecisionOptions {
  Option<std::string> function{
      *this, "function",
      llvm::cl::desc("The train step; may be left out with one public function or a @main"),
      llvm::cl::init("")};
  Option<LossScaleChoice> lossScale{
      *this, "loss-scale",
      llvm::cl::desc(
          "Rule of the loss scale (torch, apex, megatron, deepspeed, jmp, ...), none, or "
          "auto: torch for f16, none for formats with the range of f32"),
      llvm::cl::init("auto")};
  Option<double> initialScale{*this, "initial-scale",
                              llvm::cl::desc("First loss scale; 0: the rule's"), llvm::cl::init(0)};
  Option<int64_t> interval{*this, "interval",
                           llvm::cl::desc("Clean steps before the scale grows; 0: the rule's"),
                           llvm::cl::init(0)};
  Option<bool> nameOverflows{
      *this, "name-overflows",
      llvm::cl::desc("Append the number of the argument whose gradient overflowed first, in the "
                     "latest step that was skipped"),
      llvm::cl::init(false)};
  Option<double> clipNorm{*this, "clip-norm",
                          llvm::cl::desc("Largest common norm of the gradients; 0: any"),
                          llvm::cl::init(0)};
  Option<double> clipValue{*this, "clip-value",
                           llvm::cl::desc("Largest magnitude of a gradient's element; 0: any"),
                           llvm::cl::init(0)};
  Option<int64_t> accumulate{*this, "accumulate",
                             llvm::cl::desc("Micro-batches to an update, by the mean of their "
                                            "gradients in f32"),
                             llvm::cl::init(1)};
  Option<bool> gradientNorm{*this, "gradient-norm",
                            llvm::cl::desc("Append the norm of the gradients to the results, as "
                                           "clipping does"),
                            llvm::cl::init(false)};
  Option<support::OptionalWord<MasterWeights>> master{
      *this, "master",
      llvm::cl::desc(
          "keep: parameters stay f32 in the signature, their own masters; f32, remainder, "
          "stochastic or none: they are stored in the format, with that master")};
  Option<support::OptionalWord<MomentStorage>> moments{
      *this, "moments",
      llvm::cl::desc("What the optimizer's moments are stored in: keep, bf16 or fp8 (to nearest), "
                     "bf16-stochastic or fp8-stochastic")};
  Option<bool> probeGradients{
      *this, "probe-gradients",
      llvm::cl::desc("Append a probe of each gradient (mp-insert-probes) while roles can be found: "
                     "recipes with scaled values leave none to look for"),
      llvm::cl::init(false)};
};

/// Phases 0, T, 2 to 4 of a whole train step. `report`, if given, is filled in.
void buildTrainStepPipeline(OpPassManager &manager, const TrainStepOptions &options,
                            std::shared_ptr<Report> report = nullptr);

void registerTrainStepPipeline();

/// The source of math functions in a program for the host.
enum class HostMath { Library, Exact };
inline auto wordsOf(HostMath) {
  using enum HostMath;
  static constexpr support::Word<HostMath> all[] = {
      {Library, "libm", "calls of the C library"},
      {Exact, "exact", "polynomials, the same bits as in kernels of mp-to-nvvm"}};
  return llvm::ArrayRef(all);
}

/// Options of `mp-to-cpu`.
struct CPUOptions : PassPipelineOptions<CPUOptions> {
  Option<bool> promoteToF64{*this, "promote-to-f64",
                            llvm::cl::desc("Compute everything in f64, as a reference"),
                            llvm::cl::init(false)};
  Option<HostMath> math{*this, "math", llvm::cl::desc("What math functions become"),
                        llvm::cl::init(HostMath::Library)};
  Option<bool> runtimeContractions{
      *this, "runtime-contractions",
      llvm::cl::desc("Contractions call libMPRuntime (else: plain loops in the order written)"),
      llvm::cl::init(true)};
  Option<bool> fuse{
      *this, "fuse",
      llvm::cl::desc("Elementwise ops that one other reads share its loops, with the same bits"),
      llvm::cl::init(false)};
  Option<int64_t> maxMemory{
      *this, "max-memory",
      llvm::cl::desc("Bytes that what a function computes may take at a time (mp-recompute)"),
      llvm::cl::init(0)};
  Option<OptionalStoredFormat> storeNarrow{
      *this, "store-narrow",
      llvm::cl::desc("Format in which values may be stored for that: none, bf16 or f16")};
};

/// TOSA to linalg, arith, tensor and scf; nothing happens to other ops.
void buildTosaToLinalgPipeline(OpPassManager &manager);

/// Any phase up to 4 to the LLVM dialect for the host. Public functions get C
/// wrappers (`_mlir_ciface_NAME`) and never write to their arguments; the code
/// calls libMPRuntime.
void buildCPUPipeline(OpPassManager &manager, const CPUOptions &options);

/// Its last part: loops over buffers and scalars to the LLVM dialect. Arithmetic in formats the
/// host lacks is done in f32 and rounded.
void buildScalarsToLLVMPipeline(OpPassManager &manager, HostMath functions = HostMath::Library);

void registerCPUPipeline();

} // namespace mlir::mp

#endif // MP_PIPELINES_PIPELINES_H
