// RUN: mp-opt %s --mp-mixed-precision="format=bf16 report=%t.json" -o /dev/null 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
// RUN: not mp-opt %s --mp-mixed-precision="format=bf16 report=/no/such/folder/r.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOFILE

// CHECK: mp: 8 ops: 1 of 1 contractions bf16 with f32 accumulation; 1 casts (1 of arguments); 576 B -> 512 B read and written
// CHECK: T  contractions 1 bf16
// CHECK: R  products, quotients, exponentials 1 f32

// JSON: "casts": [
// JSON: "from": "f32"
// JSON: "of_argument": true
// JSON: "to": "bf16"
// JSON: "mp_report": 1
// JSON: "class": "T"
// JSON: "op": "linalg.matmul"

// NOFILE: error: cannot write output file '/no/such/folder/r.json': No such file or directory
func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = arith.constant 0.0 : f32
  %w = arith.constant dense<0.5> : tensor<4x2xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x2xf32>) outs(%f : tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = math.exp %0 : tensor<4x2xf32>
  %p = tensor.empty() : tensor<4x4xf32>
  %2 = tensor.insert_slice %1 into %p[0, 0] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
