// RUN: mp-opt %s --mp-inline-dispatches --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @keeps_order_and_destinations
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[A:.*]] = linalg.exp ins(%[[X]] : tensor<4xf32>) outs(%[[Y]]
// CHECK-NEXT: %[[B:.*]] = linalg.log ins(%[[A]] : tensor<4xf32>) outs(%[[X]]
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @keeps_order_and_destinations(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = mpk.dispatch ins(%x : tensor<4xf32>) outs(%y, %x : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>):
    %1 = linalg.exp ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
    %2 = linalg.log ins(%1 : tensor<4xf32>) outs(%c : tensor<4xf32>) -> tensor<4xf32>
    mpk.yield %1, %2 : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @buffers_are_too_late(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{expected operands on tensors, found buffers: inline dispatches before mp-bufferize}}
  mpk.dispatch ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    mpk.yield %a : tensor<4xf32>
  }
  return
}
