// A contraction whose result chooses indices (a router, top-k or argmax behind it) is left to bf16: of fp8 it sends rows
// elsewhere. What reads it for its values alone is no reason.
// RUN: mp-opt %s --mp-insert-scaling | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=e4m3 target=sm_90a table=false" -o %t.mlir
// RUN: mp-run %t.mlir --entry=routes --compare=%s | FileCheck %s --check-prefix=SAME
// RUN: mp-opt %s --mp-mixed-precision="format=e4m3 table=false explain=@routes:6" -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: mp-opt %s --mp-insert-scaling --remarks-filter=mp -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s --check-prefix=BF16

// SAME: result 0: 64xi64, equal to the reference
// REMARK: not-scaled{{.*}}Reason="class T, but its result chooses indices"
// EXPLAIN: linalg.matmul
// EXPLAIN: in the end: computes in bf16
#square = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @routes
// CHECK: linalg.matmul {{.*}} -> tensor<64x64xf32>
// CHECK: mp.scaled_matmul {{.*}} to tensor<64x128xf32>
// BF16-LABEL: func.func @routes
// BF16: linalg.matmul {{.*}}tensor<64x128xbf16>
// BF16: linalg.matmul {{.*}}tensor<64x128xbf16>
func.func @routes(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>, %v: tensor<128x128xf32>) -> (tensor<64xi64>, tensor<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i64
  %e = tensor.empty() : tensor<64x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %scores = linalg.matmul ins(%x, %w : tensor<64x128xf32>, tensor<128x64xf32>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
  %exp = math.exp %scores : tensor<64x64xf32>
  %e1 = tensor.empty() : tensor<64xf32>
  %e2 = tensor.empty() : tensor<64xi64>
  %m = linalg.fill ins(%low : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
  %k = linalg.fill ins(%none : i64) outs(%e2 : tensor<64xi64>) -> tensor<64xi64>
  %best:2 = linalg.generic {indexing_maps = [#square, #rows, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<64x64xf32>) outs(%m, %k : tensor<64xf32>, tensor<64xi64>) {
  ^bb0(%s: f32, %top: f32, %at: i64):
    %j = linalg.index 1 : index
    %n = arith.index_cast %j : index to i64
    %more = arith.cmpf ogt, %s, %top : f32
    %t = arith.select %more, %s, %top : f32
    %u = arith.select %more, %n, %at : i64
    linalg.yield %t, %u : f32, i64
  } -> (tensor<64xf32>, tensor<64xi64>)
  %e3 = tensor.empty() : tensor<64x128xf32>
  %i3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<64x128xf32>) -> tensor<64x128xf32>
  %y = linalg.matmul ins(%x, %v : tensor<64x128xf32>, tensor<128x128xf32>) outs(%i3 : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %best#1, %y : tensor<64xi64>, tensor<64x128xf32>
}

// The largest value, a comparison that chooses a value, and a code of eight bits name no row.
// CHECK-LABEL: func.func @takes_values
// CHECK-NOT: linalg.matmul
// CHECK: mp.scaled_matmul
// CHECK-NOT: linalg.matmul
// CHECK: return
func.func @takes_values(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>, %i: tensor<64x64xf32>, %e1: tensor<64xf32>) -> (tensor<64xf32>, tensor<64x64xf32>, tensor<64x64xi8>) {
  %scores = linalg.matmul ins(%x, %w : tensor<64x128xf32>, tensor<128x64xf32>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
  %largest = linalg.generic {indexing_maps = [#square, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%scores : tensor<64x64xf32>) outs(%e1 : tensor<64xf32>) {
  ^bb0(%s: f32, %top: f32):
    %t = arith.maximumf %s, %top : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %positive = arith.cmpf ogt, %scores, %i : tensor<64x64xf32>
  %relu = arith.select %positive, %scores, %i : tensor<64x64xi1>, tensor<64x64xf32>
  %codes = arith.fptosi %scores : tensor<64x64xf32> to tensor<64x64xi8>
  return %largest, %relu, %codes : tensor<64xf32>, tensor<64x64xf32>, tensor<64x64xi8>
}

// tosa.argmax, and a comparison that chooses among indices, do.
// CHECK-LABEL: func.func @argmax
// CHECK-NOT: mp.scaled_matmul
// CHECK: tosa.argmax
func.func @argmax(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>, %i: tensor<64x64xf32>) -> tensor<64xi32> {
  %scores = linalg.matmul ins(%x, %w : tensor<64x128xf32>, tensor<128x64xf32>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
  %best = tosa.argmax %scores {axis = 1 : i32} : (tensor<64x64xf32>) -> tensor<64xi32>
  return %best : tensor<64xi32>
}

// CHECK-LABEL: func.func @picks
// CHECK-NOT: mp.scaled_matmul
// CHECK: arith.cmpf
func.func @picks(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>, %i: tensor<64x64xf32>, %a: tensor<64x64xi64>, %b: tensor<64x64xi64>) -> tensor<64x64xi64> {
  %scores = linalg.matmul ins(%x, %w : tensor<64x128xf32>, tensor<128x64xf32>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
  %more = arith.cmpf ogt, %scores, %i : tensor<64x64xf32>
  %row = arith.select %more, %a, %b : tensor<64x64xi1>, tensor<64x64xi64>
  return %row : tensor<64x64xi64>
}
