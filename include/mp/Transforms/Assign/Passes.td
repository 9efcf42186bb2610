// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phase 2: a precision for every op.

#ifndef MP_TRANSFORMS_ASSIGN_PASSES
#define MP_TRANSFORMS_ASSIGN_PASSES

include "mlir/Pass/PassBase.td"

def AssignPrecision : Pass<"mp-assign-precision", "::mlir::ModuleOp"> {
  let summary = "Decide the precision of every float op (changes nothing but attributes)";
  let description = [{
    Needs: phase 0 (input). Gives: phase 2, `mp.precision` on every op outside
    bodies that has a float operand or result. Functions that are materialized
    already are left alone, with a remark.

    Only contractions compute in the narrow format, with an f32 accumulator; for
    every other op the decision is how its operands and results are stored. A graph
    that is narrow already keeps what it stores; with `promote=on` its contractions
    and sums accumulate, and its softmax and norms compute, in f32 inside. Each
    decision names the layer that made it, strongest first: pin, policy, range, class, cost.
    `explain` prints what each layer said; `--remarks-filter=mp` gives a remark
    per narrowed op and per contraction left wide, with the reason.

    Storage is placed by the last layer: the assignment of f32 or the narrow format
    to every value that minimises modelled time (`objective=memory`: bytes stored),
    fusion, casts shared by their readers and casts of arguments included, proven
    optimal (docs/concepts/Assignment.md). A value may be stored narrow when every use would
    round it anyway. `never-slower` lets contractions stay in f32 where casts cost
    more than they save. `max-rel-error` lets them compute in f32, in tf32 or as
    split products (`multi-word`, docs/concepts/SplitPrecision.md) so that the error of the results,
    modelled (docs/concepts/Assignment.md), stays within it at the least time;
    `objective=error max-time=` turns the two round. `mp.split` on a contraction asks
    for split products whatever the budget.

    Example (`--mp-assign-precision="format=bf16"`):
    ```mlir
    func.func @dense(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
      %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>)
                         outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
      return %0 : tensor<4x2xf32>
    }
    ```
    becomes
    ```mlir
    func.func @dense(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> attributes {mp.phase = "assigned"} {
      %0 = linalg.matmul {mp.precision = #mp.precision<in = [bf16, bf16, f32], compute = bf16, acc = f32, out = [f32], by = class "T">}
                         ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>)
                         outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
      return %0 : tensor<4x2xf32>
    }
    ```
  }];
  let options = [
    Option<"format", "format", "::mlir::mp::OptionalFormat", "::mlir::mp::OptionalFormat()",
           "Narrow format of contractions: bf16, f16 or tf32, or split products (bf16x6 ...); "
           "bf16 if the policy names none">,
    Option<"target", "target", "::mpcore::target::TargetName", "\"\"",
           "GPU the result is meant for; sm_80 if the policy names none">,
    Option<"policyFile", "policy", "std::string", "\"\"",
           "Built-in policy (inference, training), policy file, or report of an earlier run "
           "(docs/reference/Policies.md)">,
    Option<"explain", "explain", "std::string", "\"\"",
           "Tell the story of the ops at FILE:LINE[:COLUMN], at a location's name, or "
           "@FUNCTION:ORDINAL">,
    Option<"maxUnderflow", "max-underflow", "double", "1e-3",
           "Largest fraction of a constant's non-zero elements that rounding may turn into zero">,
    Option<"saturateConstants", "saturate-constants", "::mlir::mp::SaturatedShare", "\"off\"",
           "Clamp a constant to the largest values of its format where less than this share of "
           "its elements "
           "overflows: off, on (any share short of all) or a number; otherwise it stays wide">,
    Option<"promote", "promote", "::mlir::mp::Switch", "::mlir::mp::Switch::On",
           "Whether sums, softmax and norms that are narrow already compute in f32 inside: on or "
           "off">,
    Option<"objective", "objective", "::mlir::mp::Objective", "::mlir::mp::Objective::Time",
           "What storage is chosen for: time, memory, or error within max-time">,
    Option<"maxRelError", "max-rel-error", "double", "0",
           "Limit of the modelled error of the results relative to them, root mean square; 0 for "
           "none">,
    Option<"minSqnr", "min-sqnr", "double", "0",
           "The same limit as a signal to noise ratio in decibels; 0 for none">,
    Option<"sensitivityFile", "sensitivity", "std::string", "\"\"",
           "File of errors that mp-run --sensitivity has measured, which replace modelled ones "
           "(docs/guides/WatchTraining.md)">,
    Option<"maxTime", "max-time", "double", "0",
           "With objective=error: limit of modelled time in microseconds">,
    Option<"multiWord", "multi-word", "::mlir::mp::Switch", "::mlir::mp::Switch::On",
           "Whether contractions may become split products where error is limited "
           "(docs/concepts/SplitPrecision.md): on or off">,
    Option<"scaleUnproven", "scale-unproven", "::mlir::mp::ScaleUnproven",
           "::mlir::mp::ScaleUnproven::Off",
           "Contractions whose range is not proved for f16 work on factors times powers of two "
           "(docs/concepts/Scaling.md): off, on, "
           "or auto where that is the optimum">,
    Option<"recipe", "recipe", "::mlir::mp::RecipeName", "\"\"",
           "Contractions may work on values scaled by this recipe "
           "(docs/concepts/Scaling.md), where that is the optimum; needs a limit of "
           "error or time, or never-slower">,
    Option<"neverSlower", "never-slower", "bool", "false",
           "Leave contractions in f32 where the model says that their casts cost more than they "
           "save">,
    Option<"assumeDim", "assume-dim", "int64_t", "128",
           "Size that costs assume of a dynamic dimension">,
    Option<"dumpProblem", "dump-problem", "std::string", "\"\"",
           "File for the optimisation problem and its answer as JSON; of several functions, one "
           "each">,
    Option<"costsFile", "costs", "std::string", "\"\"",
           "File of measured times that replace modelled ones, in the form that dump-costs writes "
           "(docs/concepts/Assignment.md)">,
    Option<"dumpCosts", "dump-costs", "std::string", "\"\"",
           "File for the times of contractions, casts and launches that the decision asked for, "
           "as JSON">
  ];
  let dependentDialects = ["::mlir::mp::MPDialect"];
}

#endif // MP_TRANSFORMS_ASSIGN_PASSES
