// f32 contractions as split products, whatever op says them; what they compute, on the arithmetic of a
// GPU, is as near as f32 itself, where one narrow product is not.

// RUN: split-file %s %t
// RUN: mp-opt %t/forms.mlir --mp-split-contractions | FileCheck %t/forms.mlir
// RUN: mp-opt %t/forms.mlir --mp-split-contractions --mp-split-contractions -o %t/twice.mlir
// RUN: mp-opt %t/forms.mlir --mp-split-contractions | diff - %t/twice.mlir
// RUN: mp-opt %t/invalid.mlir --mp-split-contractions --split-input-file --verify-diagnostics

// RUN: sed 's/SCHEME/bf16x3/' %t/run.mlir > %t/3.mlir
// RUN: sed 's/SCHEME/bf16x6/' %t/run.mlir > %t/6.mlir
// RUN: sed 's/SCHEME/bf16x9/' %t/run.mlir > %t/9.mlir
// RUN: sed 's/SCHEME/tf32x3/' %t/run.mlir > %t/t.mlir
// RUN: sed 's/{mp.split = "SCHEME"}//' %t/run.mlir > %t/plain.mlir
// RUN: mp-opt %t/3.mlir --mp-split-contractions | mp-run - --compare=f64 --numerics=sm_80 --max-rel=2e-5 | FileCheck %s --check-prefix=THREE
// RUN: mp-opt %t/6.mlir --mp-split-contractions | mp-run - --compare=f64 --numerics=sm_80 | FileCheck %s --check-prefix=SIX
// RUN: mp-opt %t/9.mlir --mp-split-contractions | mp-run - --compare=f64 --numerics=sm_80 | FileCheck %s --check-prefix=SIX
// RUN: mp-opt %t/t.mlir --mp-split-contractions | mp-run - --compare=f64 --numerics=sm_80 | FileCheck %s --check-prefix=SIX
// RUN: mp-opt %t/plain.mlir --mp-mixed-precision="format=bf16 table=false" | mp-run - --compare=%t/plain.mlir --numerics=sm_80 | FileCheck %s --check-prefix=ONE

// Kernels compute the same (one adds to what it starts from at the end of a sum, the other at the start).
// RUN: mp-opt %t/3.mlir --mp-split-contractions -o %t/split.mlir
// RUN: mp-run %t/split.mlir --device=emulator --chip=sm_80 --compare=%t/split.mlir --numerics=sm_80 --max-rel=1e-6

// TOSA's forms compute, too, and stand for what they were.
// RUN: mp-opt %t/tosa.mlir --mp-mixed-precision="table=false" -o %t/tosa.out.mlir
// RUN: mp-opt %t/tosa.out.mlir --mp-check-erasure="original=%t/tosa.mlir" -o /dev/null
// RUN: mp-run %t/tosa.out.mlir --compare=%t/tosa.mlir --numerics=sm_80 --max-rel=1e-5

// Infinities and NaN come out as in f32, though the parts of an infinity are infinity and NaN.
// RUN: mp-opt %t/infinite.mlir --mp-split-contractions | mp-run - --compare=%t/infinite.mlir --input="2x4xf32=[inf 1 2 3 nan 1 2 3]" --input="4x2xf32=[1 -1 2 2 3 3 4 4]" | FileCheck %s --check-prefix=INFINITE
// INFINITE: result 0: 2x2xf32, equal to the reference

// ONE: in norm 0.002
// THREE: in norm {{[0-9.]+}}e-06
// SIX: in norm {{[0-9.]+}}e-07

//--- forms.mlir
// Two parts of each factor, three products: the two small ones in one accumulator, the leading one in
// another. Both contractions share the parts of %x.
// CHECK-LABEL: func.func @named
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[V:.*]]: tensor<8x2xf32>, %[[W:.*]]: tensor<8x2xf32>, %[[I:.*]]: tensor<4x2xf32>)
// CHECK-DAG: %[[X0:.*]] = mp.cast ieee %[[X]] {inserted}
// CHECK-DAG: %[[X1:.*]] = mp.split_residual bf16 of %[[X]] after %[[X0]] {inserted}
// CHECK-DAG: %[[X2:.*]] = mp.split_residual bf16 of %[[X]] after %[[X0]], %[[X1]] {inserted}
// CHECK-DAG: %[[V0:.*]] = mp.cast ieee %[[V]] {inserted}
// CHECK-DAG: %[[V1:.*]] = mp.split_residual bf16 of %[[V]] after %[[V0]] {inserted}
// CHECK: %[[Z:.*]] = linalg.fill {{.*}} outs(%[[I]]
// CHECK: %[[A:.*]] = linalg.matmul ins(%[[X1]], %[[V0]] {{.*}} outs(%[[Z]]
// CHECK: %[[B:.*]] = linalg.matmul ins(%[[X0]], %[[V1]] {{.*}} outs(%[[A]]
// CHECK: %[[C:.*]] = linalg.matmul ins(%[[X0]], %[[V0]] {{.*}} outs(%[[Z]]
// CHECK: mp.join_split %[[C]], %[[B]], %[[I]] {inserted}
// CHECK-NOT: of %[[X]]
// CHECK-COUNT-6: linalg.matmul
// CHECK: mp.join_split
// CHECK-NOT: mp.split
func.func @named(%x: tensor<4x8xf32>, %v: tensor<8x2xf32>, %w: tensor<8x2xf32>, %i: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %0 = linalg.matmul {mp.split = "bf16x3"} ins(%x, %v : tensor<4x8xf32>, tensor<8x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = linalg.matmul {mp.split = "bf16x6"} ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0, %1 : tensor<4x2xf32>, tensor<4x2xf32>
}

// Parts of constants are constants; what adds to zeros starts from them. Generic ops widen parts in their bodies.
// CHECK-LABEL: func.func @generic
// CHECK-DAG: dense<1.000980e-01> : tensor<8x2xbf16>
// CHECK-DAG: dense<-9.77{{.*}}e-05> : tensor<8x2xbf16>
// CHECK-COUNT-3: linalg.generic {{.*}} ins({{.*}} : tensor<4x8xbf16>, tensor<8x2xbf16>) outs({{.*}} : tensor<4x2xf32>)
// CHECK: mp.join_split %{{[^,]*}}, %{{[^,]*}} {inserted}
func.func @generic(%x: tensor<4x8xf32>) -> tensor<4x2xf32> {
  %w = arith.constant dense<0.1> : tensor<8x2xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x2xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%i : tensor<4x2xf32>) attrs = {mp.split = "bf16x3"} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @dynamic
// CHECK-COUNT-3: linalg.batch_matmul ins({{.*}}bf16
// CHECK: mp.join_split
func.func @dynamic(%x: tensor<?x?x?xf32>, %w: tensor<?x?x?xf32>, %i: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %0 = linalg.batch_matmul {mp.split = "bf16x3"} ins(%x, %w : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%i : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @convolution
// CHECK-COUNT-3: linalg.conv_2d_nhwc_hwcf {{.*}}bf16
// CHECK: mp.join_split
func.func @convolution(%x: tensor<1x6x6x4xf32>, %w: tensor<3x3x4x8xf32>, %i: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>, mp.split = "bf16x3"}
       ins(%x, %w : tensor<1x6x6x4xf32>, tensor<3x3x4x8xf32>) outs(%i : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  return %0 : tensor<1x4x4x8xf32>
}

// TOSA has no accumulator to go on with: sums of small products are joins, too. Of convolutions the leading
// product keeps the bias.
// CHECK-LABEL: func.func @tosa
// CHECK-DAG: mp.round tf32
// CHECK-DAG: mp.split_residual tf32 of
// CHECK: tosa.matmul {{.*}} : (tensor<1x4x8xbf16>, tensor<1x8x2xbf16>, tensor<1xbf16>, tensor<1xbf16>) -> tensor<1x4x2xf32>
// CHECK-COUNT-2: tosa.matmul
// CHECK: mp.join_split
// CHECK-SAME: {inserted}
// CHECK: tosa.conv2d %{{[^,]*}}, %{{[^,]*}}, %cst
// CHECK: tosa.conv2d %{{[^,]*}}, %{{[^,]*}}, %cst
// CHECK: tosa.conv2d %{{[^,]*}}, %{{[^,]*}}, %arg4
// CHECK: mp.join_split
func.func @tosa(%x: tensor<1x4x8xf32>, %w: tensor<1x8x2xf32>, %y: tensor<1x6x6x4xf32>, %f: tensor<8x3x3x4xf32>, %bias: tensor<8xf32>) -> (tensor<1x4x2xf32>, tensor<1x4x4x8xf32>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %w, %z, %z {mp.split = "bf16x3"} : (tensor<1x4x8xf32>, tensor<1x8x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x2xf32>
  %1 = tosa.conv2d %y, %f, %bias, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, mp.split = "tf32x3"}
       : (tensor<1x6x6x4xf32>, tensor<8x3x3x4xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x8xf32>
  return %0, %1 : tensor<1x4x2xf32>, tensor<1x4x4x8xf32>
}

//--- invalid.mlir
func.func @uniform(%y: tensor<1x6x6x4xf32>, %f: tensor<8x3x3x4xf32>, %bias: tensor<8xf32>) -> tensor<1x4x4x8xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-error @+1 {{carries 'mp.split' = "bf16x3", but cannot be computed so: it would return its parts' format: only tf32 parts are f32}}
  %1 = tosa.conv2d %y, %f, %bias, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, mp.split = "bf16x3"}
       : (tensor<1x6x6x4xf32>, tensor<8x3x3x4xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x8xf32>
  return %1 : tensor<1x4x4x8xf32>
}

// -----

func.func @narrow(%x: tensor<4x8xbf16>, %w: tensor<8x2xbf16>, %i: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // expected-error @+1 {{but cannot be computed so: a factor is no ranked tensor of f32}}
  %0 = linalg.matmul {mp.split = "bf16x3"} ins(%x, %w : tensor<4x8xbf16>, tensor<8x2xbf16>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

func.func @none(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{but cannot be computed so: it is no contraction}}
  %0 = math.exp %x {mp.split = "bf16x3"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- run.mlir
func.func @main(%x: tensor<64x256xf32>, %w: tensor<256x64xf32>, %i: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = linalg.matmul {mp.split = "SCHEME"} ins(%x, %w : tensor<64x256xf32>, tensor<256x64xf32>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

//--- tosa.mlir
func.func @main(%x: tensor<1x64x128xf32>, %w: tensor<1x128x32xf32>, %y: tensor<1x10x10x8xf32>, %f: tensor<16x3x3x8xf32>, %b: tensor<16xf32>) -> (tensor<1x64x32xf32>, tensor<1x8x8x16xf32>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %w, %z, %z {mp.split = "bf16x3"} : (tensor<1x64x128xf32>, tensor<1x128x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x64x32xf32>
  %1 = tosa.conv2d %y, %f, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, mp.split = "tf32x3"}
       : (tensor<1x10x10x8xf32>, tensor<16x3x3x8xf32>, tensor<16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x16xf32>
  return %0, %1 : tensor<1x64x32xf32>, tensor<1x8x8x16xf32>
}

//--- infinite.mlir
func.func @main(%x: tensor<2x4xf32>, %w: tensor<4x2xf32>) -> tensor<2x2xf32> {
  %c = arith.constant dense<0.0> : tensor<2x2xf32>
  %0 = linalg.matmul {mp.split = "bf16x6"} ins(%x, %w : tensor<2x4xf32>, tensor<4x2xf32>) outs(%c : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
