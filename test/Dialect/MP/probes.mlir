// RUN: mp-opt %s | mp-opt | FileCheck %s

// CHECK-LABEL: func.func @probed
func.func @probed(%g: tensor<4x?xbf16>, %scale: tensor<f32>, %ring: tensor<1x12xf64> {mp.probe = {every = 1 : i64, formats = [], name = "w", of = "gradient", used = []}, mp.role = "probe"}) -> (tensor<17xf64>, tensor<75xf64>) {
  // CHECK: mp.probe %{{.*}} by %{{.*}} formats [f16, f8E4M3FN] : tensor<4x?xbf16> -> tensor<17xf64>
  %0 = mp.probe %g by %scale formats [f16, f8E4M3FN] : tensor<4x?xbf16> -> tensor<17xf64>
  // CHECK: mp.probe %{{.*}} histogram : tensor<4x?xbf16> -> tensor<75xf64>
  %1 = mp.probe %g histogram : tensor<4x?xbf16> -> tensor<75xf64>
  return %0, %1 : tensor<17xf64>, tensor<75xf64>
}
