// RUN: mp-opt %s --mp-assign-precision=format=f16 --mp-write-proofs=file=%t.json -o %t.assigned.mlir
// RUN: mp-opt %t.assigned.mlir --mp-check-proofs="proofs=%t.json summary" -o /dev/null 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=JSON %s < %t.json
// RUN: mp-opt %s --mp-check-proofs="proofs=%t.json" -o /dev/null
// RUN: mp-opt %s --mp-assign-precision=format=f16 --mp-check-proofs=summary -o /dev/null 2>&1 | FileCheck %s
// RUN: echo '{' > %t.no.json
// RUN: not mp-opt %s --mp-check-proofs=proofs=%t.no.json -o /dev/null 2>&1 | FileCheck --check-prefix=NONE %s
// RUN: not mp-opt %s --mp-check-proofs=proofs=%t.missing -o /dev/null 2>&1 | FileCheck --check-prefix=MISSING %s
// RUN: not mp-opt %s --mp-write-proofs -o /dev/null 2>&1 | FileCheck --check-prefix=NOFILE %s
// RUN: not mp-opt %s --mp-write-proofs=file=%t.missing/a.json -o /dev/null 2>&1 | FileCheck --check-prefix=NOFOLDER %s
// RUN: cp %s %t.kept.mlir
// RUN: not mp-opt %t.kept.mlir --mp-write-proofs=file=%t.kept.mlir -o /dev/null 2>&1 | FileCheck --check-prefix=OVER %s
// RUN: cmp %s %t.kept.mlir
// RUN: not mp-opt %s --mp-write-proofs=file=%t.both -o %t.both 2>&1 | FileCheck --check-prefix=BOTH %s
// RUN: not mp-opt %s --mp-write-proofs=file=/dev/full -o /dev/null 2>&1 | FileCheck --check-prefix=FULL %s
// RUN: sed -e 's/"high": 8.0*[0-9]*/"high": 7.5/' %t.json > %t.tight.json
// RUN: not mp-opt %s --mp-check-proofs=proofs=%t.tight.json -o /dev/null 2>&1 | FileCheck --check-prefix=TIGHT %s
// The softmax of rows: the difference from the largest is not positive, the sum of exponentials at
// least 1, the quotient at most 1.

// CHECK: claims: {{[1-9][0-9]*}} confirmed, 0 not checked, 0 refused
// CHECK: factors: 2 confirmed, 0 rest on what is not checked, 0 refused
// JSON-DAG: "rule": "group-maximum"
// JSON-DAG: "rule": "shifted-exponentials"
// JSON-DAG: "rule": "dominated-quotient"
// NONE: error: mp-check-proofs: '{{.*}}' is no derivation: {{.*}} [MP203]
// MISSING: error: mp-check-proofs: cannot read '{{.*}}missing': No such file or directory [MP201]
// NOFILE: error: mp-write-proofs: option 'file' is empty, expected the file to write
// NOFOLDER: error: cannot write output file '{{.*}}a.json': No such file or directory [MP301]
// OVER: error: file={{.*}}kept.mlir is the file that is read as {{.*}}kept.mlir; name another output [MP302]
// BOTH: error: {{.*}}both{{.*}} [MP303]
// FULL: error: cannot write output file '/dev/full': No space left on device [MP301]
// TIGHT: error: mp-check-proofs: %15#0 of @main, by shifted-exponentials: claims [0.999996, 7.5] or NaN, {{.*}}, expected at least [0.999996, 8.0000{{.*}}] or NaN

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x2xf32> {mp.range = [-1.0, 1.0]}, %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %m0 = linalg.fill ins(%ninf : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.generic {indexing_maps=[#map, #row], iterator_types=["parallel","reduction"]} ins(%x : tensor<4x8xf32>) outs(%m0 : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.maximumf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %ee = tensor.empty() : tensor<4x8xf32>
  %ex = linalg.generic {indexing_maps=[#map, #row, #map], iterator_types=["parallel","parallel"]} ins(%x, %m : tensor<4x8xf32>, tensor<4xf32>) outs(%ee : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    %s = math.exp %r : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps=[#map, #row], iterator_types=["parallel","reduction"]} ins(%ex : tensor<4x8xf32>) outs(%s0 : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %p = linalg.generic {indexing_maps=[#map, #row, #map], iterator_types=["parallel","parallel"]} ins(%ex, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%ee : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %0 = linalg.matmul ins(%p, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
