// RUN: mp-opt %s --mp-verify-host --split-input-file --verify-diagnostics

func.func @read_on_purpose(%x: memref<index>) -> index {
  %0 = memref.load %x[] {mpk.host_read} : memref<index>
  return %0 : index
}

// -----

func.func @silent_read(%x: memref<index>) -> index {
  // expected-error @+1 {{reads device memory on the host}}
  %0 = memref.load %x[] : memref<index>
  return %0 : index
}

// -----

func.func @silent_write(%x: memref<f32>, %v: f32) {
  // expected-error @+1 {{writes device memory on the host}}
  memref.store %v, %x[] : memref<f32>
  return
}

// -----

func.func @left_behind(%x: memref<4xf32>) {
  // expected-error @+1 {{was not mapped to a kernel}}
  linalg.exp ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
  return
}
