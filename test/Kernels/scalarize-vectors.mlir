// Elementwise ops on vectors, of any rank and with several results, are computed element by element; whatever lowers scalars sees them.
// RUN: mp-opt %s --mp-scalarize-vectors | FileCheck %s
// RUN: mp-run %s --entry=fp8 --device=emulator --chip=sm_80 --compare=%s --seed=3 --max-rel=0

// CHECK-LABEL: func.func private @functions
// CHECK-COUNT-4: math.exp {{.*}} : f32
// CHECK-COUNT-4: arith.cmpf ogt, {{.*}} : f32
// CHECK: vector.from_elements {{.*}} : vector<2x2xi1>
// CHECK-NOT: math.exp {{.*}} : vector
func.func private @functions(%x: vector<2x2xf32>, %y: vector<2x2xf32>) -> vector<2x2xi1> {
  %0 = math.exp %x : vector<2x2xf32>
  %1 = arith.cmpf ogt, %0, %y : vector<2x2xf32>
  return %1 : vector<2x2xi1>
}

// CHECK-LABEL: func.func private @wide
// CHECK-COUNT-2: arith.mului_extended {{.*}} : i32
// CHECK-COUNT-2: vector.from_elements {{.*}} : vector<2xi32>
func.func private @wide(%x: vector<2xi32>, %y: vector<2xi32>) -> (vector<2xi32>, vector<2xi32>) {
  %low, %high = arith.mului_extended %x, %y : vector<2xi32>
  return %low, %high : vector<2xi32>, vector<2xi32>
}

// CHECK-LABEL: func.func private @chosen
// One condition for all elements stays one.
// CHECK-COUNT-2: arith.select %{{[a-z0-9_]+}}, {{.*}} : f32
func.func private @chosen(%c: i1, %x: vector<2xf32>, %y: vector<2xf32>) -> vector<2xf32> {
  %0 = arith.select %c, %x, %y : vector<2xf32>
  return %0 : vector<2xf32>
}

// CHECK-LABEL: func.func private @rows
// CHECK-NOT: vector.multi_reduction
// CHECK-COUNT-2: vector.reduction <add>
func.func private @rows(%x: vector<2x3xf32>, %y: vector<2xf32>) -> vector<2xf32> {
  %0 = vector.multi_reduction <add>, %x, %y [1] : vector<2x3xf32> to vector<2xf32>
  return %0 : vector<2xf32>
}

// No target has conversions of vectors to fp8; of scalars there is a way.
func.func @fp8(%x: vector<4xf32>) -> vector<4xf8E4M3FN> {
  %0 = mp.cast saturate %x : vector<4xf32> to vector<4xf8E4M3FN>
  return %0 : vector<4xf8E4M3FN>
}
