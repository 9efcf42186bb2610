// A kernel cannot be handed these.
// RUN: mp-opt %s --split-input-file --mp-outline-kernels --verify-diagnostics

func.func @vector(%v: vector<512xf32>, %x: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{takes a vector that the host computed: 'vector<512xf32>'; at most 256 elements can be passed}}
  gpu.launch blocks(%a, %b, %c) in (%d = %c1, %e = %c1, %f = %c1) threads(%g, %h, %i) in (%j = %c1, %k = %c1, %l = %c1) {
    %0 = vector.extract %v[0] : f32 from vector<512xf32>
    memref.store %0, %x[%a] : memref<4xf32>
    gpu.terminator
  }
  return
}

// -----

func.func @unranked(%x: memref<*xf32>) {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{uses a buffer that is no strided memref: 'memref<*xf32>'}}
  gpu.launch blocks(%a, %b, %c) in (%d = %c1, %e = %c1, %f = %c1) threads(%g, %h, %i) in (%j = %c1, %k = %c1, %l = %c1) {
    %0 = memref.cast %x : memref<*xf32> to memref<4xf32>
    %1 = memref.load %0[%a] : memref<4xf32>
    memref.store %1, %0[%a] : memref<4xf32>
    gpu.terminator
  }
  return
}
