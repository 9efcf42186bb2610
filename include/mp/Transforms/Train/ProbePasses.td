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
    #map1 = affine_map<(d0) -> (d0)>
    #map2 = affine_map<(d0) -> ()>
    func.func @step(%arg0: tensor<4xf32> {mp.role = "parameter", mp.state = 0 : i64}, %arg1: tensor<i64> {mp.role = "probe_calls", mp.state = 1 : i64}, %arg2: tensor<1x15xf64> {mp.probe = {every = 1 : i64, formats = ["f16"], name = "argument 0", of = "parameter", used = []}, mp.role = "probe", mp.state = 2 : i64}) -> (tensor<4xf32>, tensor<i64>, tensor<1x15xf64>) {
      %0 = mp.probe %arg0 formats [f16] : tensor<4xf32> -> tensor<14xf64>
      %1 = arith.addf %arg0, %arg0 : tensor<4xf32>
      %2 = tensor.empty() : tensor<i64>
      %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg1 : tensor<i64>) outs(%2 : tensor<i64>) {
      ^bb0(%in: i64, %out: i64):
        %c1_i64_3 = arith.constant 1 : i64
        %10 = arith.addi %in, %c1_i64_3 : i64
        linalg.yield %10 : i64
      } -> tensor<i64>
      %extracted = tensor.extract %arg1[] : tensor<i64>
      %c1_i64 = arith.constant 1 : i64
      %4 = arith.remui %extracted, %c1_i64 : i64
      %c0_i64 = arith.constant 0 : i64
      %5 = arith.cmpi eq, %4, %c0_i64 : i64
      %extracted_slice = tensor.extract_slice %arg2[0, 0] [1, 15] [1, 1] : tensor<1x15xf64> to tensor<15xf64>
      %6 = arith.uitofp %extracted : i64 to f64
      %from_elements = tensor.from_elements %6 : tensor<1xf64>
      %7 = tensor.empty() : tensor<15xf64>
      %inserted_slice = tensor.insert_slice %from_elements into %7[0] [1] [1] : tensor<1xf64> into tensor<15xf64>
      %inserted_slice_0 = tensor.insert_slice %0 into %inserted_slice[1] [14] [1] : tensor<14xf64> into tensor<15xf64>
      %from_elements_1 = tensor.from_elements %5 : tensor<i1>
      %8 = tensor.empty() : tensor<15xf64>
      %9 = linalg.generic {indexing_maps = [#map1, #map1, #map2, #map1], iterator_types = ["parallel"]} ins(%inserted_slice_0, %extracted_slice, %from_elements_1 : tensor<15xf64>, tensor<15xf64>, tensor<i1>) outs(%8 : tensor<15xf64>) {
      ^bb0(%in: f64, %in_3: f64, %in_4: i1, %out: f64):
        %10 = arith.select %in_4, %in, %in_3 : f64
        linalg.yield %10 : f64
      } -> tensor<15xf64>
      %inserted_slice_2 = tensor.insert_slice %9 into %arg2[0, 0] [1, 15] [1, 1] : tensor<15xf64> into tensor<1x15xf64>
      return %1, %3, %inserted_slice_2 : tensor<4xf32>, tensor<i64>, tensor<1x15xf64>
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
