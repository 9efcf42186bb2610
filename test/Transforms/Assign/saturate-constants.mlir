// Clamping constants that overflow: off by default, counted, known to the checker of erasure, never at the price of
// an infinity that is meant.
// RUN: split-file %s %t
// RUN: mp-opt %t/in.mlir --mp-mixed-precision="format=f16 saturate-constants=on report=%t/report.json" -o %t/out.mlir 2>&1 | FileCheck %t/in.mlir --check-prefix=TABLE
// RUN: FileCheck %t/in.mlir <%t/out.mlir
// RUN: FileCheck %t/in.mlir --check-prefix=JSON <%t/report.json
// RUN: mp-opt %t/out.mlir --mp-check-erasure="original=%t/in.mlir" -o /dev/null
// RUN: mp-opt %t/out.mlir --mp-mixed-precision="format=f16 saturate-constants=on" 2>/dev/null | diff - %t/out.mlir
// RUN: mp-opt %t/in.mlir --mp-mixed-precision="format=f16 saturate-constants=on policy=%t/report.json table=false" | diff - %t/out.mlir
// RUN: mp-run %t/out.mlir --entry=moved --input=2x2xf32=1 --compare=%t/clamped.mlir --max-rel=0
// RUN: mp-opt %t/out.mlir --mp-casts-to-upstream | FileCheck %t/in.mlir --check-prefix=UPSTREAM

// A clamped constant without the mark, or clamped to less, is not the original's.
// RUN: sed "s/mp.saturated = 2 : i64//" %t/out.mlir > %t/unmarked.mlir
// RUN: not mp-opt %t/unmarked.mlir --mp-check-erasure="original=%t/in.mlir" 2>&1 | FileCheck %t/in.mlir --check-prefix=UNMARKED
// RUN: sed "s/6.550400e+04/6.540800e+04/" %t/out.mlir > %t/less.mlir
// RUN: not mp-opt %t/less.mlir --mp-check-erasure="original=%t/in.mlir" 2>&1 | FileCheck %t/in.mlir --check-prefix=UNMARKED

// RUN: not mp-opt %t/in.mlir --mp-mixed-precision="saturate-constants=2" 2>&1 | FileCheck %t/in.mlir --check-prefix=OPTION
// RUN: not mp-opt %t/in.mlir --mp-mixed-precision="saturate-constants=yes" 2>&1 | FileCheck %t/in.mlir --check-prefix=OPTION

//--- in.mlir
// TABLE: 4 of 5 contractions f16
// TABLE: 1 contraction left as found: a constant that holds infinities reaches 1e+05, beyond the largest f16 65504
// TABLE: 6 elements of 3 constants clamped to the largest of the format (saturate-constants)
// JSON: "saturated_constants": [
// JSON: "elements": 2,
// JSON-NEXT: "function": "shared",
// UPSTREAM-NOT: mp.
// UNMARKED: error
// OPTION: option 'saturate-constants' is '{{2|yes}}', expected off, on or a share of elements from 0 to 1

// A reader of the constant itself reads what was written.
// CHECK-LABEL: func.func @shared
// CHECK-DAG: arith.constant dense<{{.*}}1.000000e+05{{.*}}> : tensor<2x2xf32>
// CHECK-DAG: arith.constant {mp.saturated = 2 : i64} dense<{{\[\[}}1.000000e+00, 6.550400e+04], [-6.550400e+04, 2.000000e+00]]> : tensor<2x2xf16>
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<2x2xf16>, tensor<2x2xf16>)
// CHECK: linalg.add {{.*}} tensor<2x2xf32>
func.func @shared(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = arith.constant dense<[[1.0, 1.0e5], [-1.0e5, 2.0]]> : tensor<2x2xf32>
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = linalg.add ins(%0, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// Through moves, in both dialects, and where somebody else reads the moved constant.
// CHECK-LABEL: func.func @moved
// CHECK: %[[W:.*]] = linalg.transpose
// CHECK: mp.cast saturate %[[W]] {inserted} : tensor<2x2xf32> to tensor<2x2xf16>
// CHECK: return %{{.*}}, %[[W]]
func.func @moved(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = arith.constant dense<[[1.0, 1.0e5], [-1.0e5, 2.0]]> : tensor<2x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %t = linalg.transpose ins(%w : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) permutation = [1, 0]
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %t : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %t : tensor<2x2xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: func.func @in_tosa
// CHECK: "tosa.const"() <{values = dense<{{.*}}6.550400e+04{{.*}}> : tensor<2x2xf16>}> {mp.saturated = 2 : i64}
func.func @in_tosa(%x: tensor<1x2x2xf32>) -> tensor<1x2x2xf32> {
  %w = "tosa.const"() <{values = dense<[[1.0, 1.0e5], [-1.0e5, 2.0]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
  %s = tosa.const_shape {values = dense<[1, 2, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r = tosa.reshape %w, %s : (tensor<2x2xf32>, !tosa.shape<3>) -> tensor<1x2x2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %r, %z, %z : (tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32>
  return %0 : tensor<1x2x2xf32>
}

// An infinity is meant: nothing beside it is clamped. Where the rest fits, all is rounded.
// CHECK-LABEL: func.func @means_infinity
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<2x2xf32>, tensor<2x2xf32>)
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<2x2xf16>, tensor<2x2xf16>)
func.func @means_infinity(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = arith.constant dense<[[0x7F800000, 1.0e5], [-1.0e5, 2.0]]> : tensor<2x2xf32>
  %v = arith.constant dense<[[0x7F800000, 1.0], [-1.0, 2.0]]> : tensor<2x2xf32>
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = linalg.matmul ins(%x, %v : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<2x2xf32>
}

//--- clamped.mlir
func.func @moved(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = arith.constant dense<[[1.0, 1.0e5], [-1.0e5, 2.0]]> : tensor<2x2xf32>
  %c = arith.constant dense<[[1.0, 6.5504e4], [-6.5504e4, 2.0]]> : tensor<2x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %t = linalg.transpose ins(%w : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) permutation = [1, 0]
  %d = linalg.transpose ins(%c : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) permutation = [1, 0]
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %d : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %t : tensor<2x2xf32>, tensor<2x2xf32>
}
