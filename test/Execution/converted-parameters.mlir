// Parameters converted once give what casts at every call give, bit for bit.
// RUN: split-file %s %t
// RUN: mp-run %t/data.mlir --entry=data --output=@%t/x.npy --output=@%t/w.npy
// RUN: mp-opt %t/model.mlir --mp-mixed-precision="table=false" -o %t/keep.mlir
// RUN: mp-opt %t/model.mlir --mp-mixed-precision="policy=%t/narrow.json table=false" -o %t/narrow.mlir
// RUN: mp-run %t/keep.mlir --entry=model --input=@%t/x.npy --input=@%t/w.npy --output=@%t/keep.npy
// RUN: mp-run %t/narrow.mlir --entry=model_convert_params --input=@%t/w.npy --output=@%t/wn.npy
// RUN: mp-run %t/narrow.mlir --entry=model --input=@%t/x.npy --input=@%t/wn.npy --output=@%t/narrow.npy
// RUN: cmp %t/keep.npy %t/narrow.npy
// The weights do round: without conversion to bf16 the result is another.
// RUN: mp-run %t/model.mlir --entry=model --input=@%t/x.npy --input=@%t/w.npy --output=@%t/wide.npy
// RUN: not cmp %t/wide.npy %t/narrow.npy

//--- data.mlir
func.func @data() -> (tensor<2x3xf32>, tensor<3x2xf32>) {
  %x = arith.constant dense<[[0.1, -1.7, 3.3], [2.9, 0.7, -0.3]]> : tensor<2x3xf32>
  %w = arith.constant dense<[[1.1, 0.9], [-0.37, 2.21], [0.013, -5.3]]> : tensor<3x2xf32>
  return %x, %w : tensor<2x3xf32>, tensor<3x2xf32>
}
//--- model.mlir
func.func @model(%x: tensor<2x3xf32>, %w: tensor<3x2xf32> {mp.role = "parameter"}) -> tensor<2x2xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
//--- narrow.json
{"mp_policy": 1, "parameters": "narrow"}
