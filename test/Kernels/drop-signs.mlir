// RUN: mp-opt %s --mp-drop-signs | FileCheck %s

// An op that computes says the sign itself, and stays as it is.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %{{.*}}: tensor<4xi8> {mpk.unsigned}, %{{.*}}: tensor<4xi32>, %{{.*}}: i1) -> (tensor<4xi8> {mpk.unsigned}, i64 {mpk.unsigned}, tensor<4xi16>)
// CHECK: arith.constant dense<[1, -1, 0, -128]> : tensor<4xi8>
// CHECK: arith.divui {{.*}} : tensor<4xi32>
// CHECK: call @inner({{.*}}) : (tensor<4xi8>) -> tensor<4xi8>
// CHECK-NOT: mpk.unsigned
// CHECK: func.func private @inner(%{{.*}}: tensor<4xi8>) -> tensor<4xi8>
// CHECK: func.func private @outside(memref<?xi16>)
func.func @main(%x: tensor<4xui8>, %y: tensor<4xi32>, %c: i1) -> (tensor<4xui8>, ui64, tensor<4xsi16>) {
  %0 = arith.constant dense<[1, 255, 0, 128]> : tensor<4xui8>
  %1 = arith.divui %y, %y : tensor<4xi32>
  %2 = call @inner(%x) : (tensor<4xui8>) -> tensor<4xui8>
  %c0 = arith.constant 0 : index
  %big = arith.constant dense<18446744073709551615> : tensor<1xui64>
  %3 = tensor.extract %big[%c0] : tensor<1xui64>
  %4 = arith.constant dense<-1> : tensor<4xsi16>
  %5 = arith.select %c, %0, %2 : tensor<4xui8>
  return %5, %3, %4 : tensor<4xui8>, ui64, tensor<4xsi16>
}
func.func private @inner(%x: tensor<4xui8>) -> tensor<4xui8> {
  return %x : tensor<4xui8>
}
func.func private @outside(memref<?xui16>)
