// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phase T: several versions of one step in one module.

#ifndef MP_TRANSFORMS_TRAIN_VERSIONPASSES
#define MP_TRANSFORMS_TRAIN_VERSIONPASSES

include "mlir/Pass/PassBase.td"

def MergeVersions : Pass<"mp-merge-versions", "::mlir::ModuleOp"> {
  let summary = "Put versions of a step into one module, and choose one in each call (exact)";
  let description = [{
    Needs: modules before phase 5, each with the step in another precision: this one, and
    those of the files that `plan` names. Gives: private functions of all, and under
    the step's name a function with the step's arguments and results that lets
    `mp.select_version` choose and calls the version. What versions have appended
    (loss scales, their counts) is appended for each and waits while another version
    runs. The state of the choice and its signals are appended behind that.

    A call computes what the chosen version computes, bit for bit. Versions share the
    state of the step itself, so that none may store it in another type.

    The plan is JSON:

    ```text
    {"mp_versions": 1,
     "versions": [{"name": "f32"}, {"name": "bf16", "file": "bf16.mlir"} ],
     "otherwise": "bf16", "hold": 500,
     "rules": [{"signal": "step", "below": 100, "version": "f32", "reason": "warm-up"},
               {"signal": "loss-ratio", "from": 2, "nan": true, "version": "f32"} ]}
    ```

    Signals: `step` (calls before), `loss-ratio` (the last loss over the running mean of
    those before, each worth a tenth; the loss is the first scalar result that is no
    state), `skip-rate` (running mean of skipped steps, each worth a hundredth),
    `rows` (the first dimension of the first argument in which calls may differ, such as
    the batch), `argument N` (a scalar float, such as a learning rate), `result N` (the
    same of the call before; NaN in the first), `seconds` (that the call before took)
    and `bytes` (of memory in use). The last two are the caller's to measure: it writes
    both into the argument of the role `version_measured` before each call, as `mp-run`
    and `mp-train` do; they are NaN until it does.
  }];
  let options = [
    Option<"function", "function", "std::string", "\"\"",
           "The step; may be left out where a module has one public function or a @main">,
    Option<"plan", "plan", "std::string", "\"\"", "File with versions and rules">
  ];
  let dependentDialects = ["::mlir::mp::MPDialect", "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // MP_TRANSFORMS_TRAIN_VERSIONPASSES
