// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phase T: statistics of values, taken within the step.

#ifndef MP_TRANSFORMS_TRAIN_PROBEPASSES
#define MP_TRANSFORMS_TRAIN_PROBEPASSES

include "mlir/Pass/PassBase.td"

def InsertProbes : Pass<"mp-insert-probes", "::mlir::ModuleOp"> {
  let summary = "Append records of chosen values to a step (exact)";
  let description = [{
    Needs: a function of one block, in any phase before 5; for gradients, a train
    step. Gives: an `mp.probe` behind each value chosen by `select`, and its
    record as appended state: a ring of `ring` rows, each the number of a call and
    the record made in it, written in every call whose number is a multiple of
    `every`. A number of -1 is a row that was not written yet. All probes share a
    counter of calls. The argument of a ring says by `mp.probe` what it is of.

    - `gradients`: what the optimizer takes over. Where the loss is scaled, counts are
      of the scaled values, as they are stored, and measures have the scale taken out.
    - `casts`: what `mp.cast` narrows, with the formats that it narrows to.
    - `contractions`, `parameters`, `results`: what they say.
    - `name=REGEX`: results of ops in whose location's name it is found.

    A record is never guarded: that of a step which was skipped says why it was.
    Nothing else of the step changes, not in a bit.

    Example (`--mp-insert-probes="select=parameters formats=f16"`):
    ```mlir
    func.func @step(%w: tensor<4xf32> {mp.role = "parameter", mp.state = 0 : i64}) -> tensor<4xf32> {
      %0 = arith.addf %w, %w : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    #map = affine_map<() -> ()>
    #map1 = affine_map<(d0, d1) -> (d0, d1)>
    #map2 = affine_map<(d0, d1) -> ()>
    func.func @step(%arg0: tensor<4xf32> {mp.role = "parameter", mp.state = 0 : i64}, %arg1: tensor<i64> {mp.role = "probe_calls", mp.state = 1 : i64}, %arg2: tensor<1x15xf64> {mp.probe = {every = 1 : i64, formats = ["f16"], name = "argument 0", of = "parameter", used = []}, mp.role = "probe", mp.state = 2 : i64}) -> (tensor<4xf32>, tensor<i64>, tensor<1x15xf64>) {
      %0 = mp.probe %arg0 formats [f16] : tensor<4xf32> -> tensor<14xf64>
      %1 = arith.addf %arg0, %arg0 : tensor<4xf32>
      %2 = tensor.empty() : tensor<i64>
      %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg1 : tensor<i64>) outs(%2 : tensor<i64>) {
      ^bb0(%in: i64, %out: i64):
        %c1_i64 = arith.constant 1 : i64
        %6 = arith.addi %in, %c1_i64 : i64
        linalg.yield %6 : i64
      } -> tensor<i64>
      %4 = tensor.empty() : tensor<1x15xf64>
      %5 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg2, %arg1 : tensor<1x15xf64>, tensor<i64>) outs(%4 : tensor<1x15xf64>) {
      ^bb0(%in: f64, %in_0: i64, %out: f64):
        %c1_i64 = arith.constant 1 : i64
        %6 = arith.remui %in_0, %c1_i64 : i64
        %c0_i64 = arith.constant 0 : i64
        %7 = arith.cmpi eq, %6, %c0_i64 : i64
        %8 = linalg.index 1 : index
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %9 = arith.cmpi eq, %8, %c0 : index
        %10 = arith.maxsi %8, %c1 : index
        %11 = arith.subi %10, %c1 : index
        %extracted = tensor.extract %0[%11] : tensor<14xf64>
        %12 = arith.uitofp %in_0 : i64 to f64
        %13 = arith.select %9, %12, %extracted : f64
        %14 = arith.select %7, %13, %in : f64
        linalg.yield %14 : f64
      } -> tensor<1x15xf64>
      return %1, %3, %5 : tensor<4xf32>, tensor<i64>, tensor<1x15xf64>
    }
    func.func @step_init() -> (tensor<i64>, tensor<1x15xf64>) attributes {mp.init_of = @step} {
      %cst = arith.constant dense<0> : tensor<i64>
      %cst_0 = arith.constant dense<-1.000000e+00> : tensor<1x15xf64>
      return %cst, %cst_0 : tensor<i64>, tensor<1x15xf64>
    }
    ```
  }];
  let options = [
    Option<"function", "function", "std::string", "\"\"",
           "The step; may be left out where the module has one public function or a @main">,
    ListOption<"select", "select", "std::string",
               "What is probed: gradients, casts, contractions, parameters, results, name=REGEX">,
    ListOption<"formats", "formats", "::mlir::mp::ProbedFormat",
               "Formats whose overflow, flush and subnormal numbers are counted: f16, bf16, e4m3, "
               "e5m2, or MLIR's names">,
    Option<"histogram", "histogram", "bool", "false", "Count elements by exponent, too">,
    Option<"every", "every", "int64_t", "1", "Calls from one record to the next">,
    Option<"ringSize", "ring", "int64_t", "1", "Records that are kept">
  ];
  let dependentDialects = ["::mlir::mp::MPDialect", "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // MP_TRANSFORMS_TRAIN_PROBEPASSES
