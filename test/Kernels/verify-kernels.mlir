// RUN: mp-opt %s --pass-pipeline="builtin.module(gpu.module(mp-verify-kernels))" --split-input-file --verify-diagnostics

gpu.module @vendor_library {
  llvm.func @__nv_expf(f32) -> f32
  llvm.func @k(%x: f32) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error @+1 {{calls '__nv_expf' of the vendor's device library}}
    %0 = llvm.call @__nv_expf(%x) : (f32) -> f32
    llvm.return
  }
}

// -----

gpu.module @device_heap {
  llvm.func @malloc(i64) -> !llvm.ptr
  llvm.func @k(%n: i64) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error @+1 {{allocates memory in a kernel}}
    %0 = llvm.call @malloc(%n) : (i64) -> !llvm.ptr
    llvm.return
  }
}

// -----

gpu.module @indirect {
  llvm.func @k(%f: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error @+1 {{is an indirect call}}
    llvm.call %f() : !llvm.ptr, () -> ()
    llvm.return
  }
}

// -----

gpu.module @left_behind {
  llvm.func @k(%x: f32) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error @+1 {{was left behind by the conversion}}
    %0 = math.exp %x : f32
    llvm.return
  }
}

// -----

gpu.module @rough_root {
  llvm.func @k(%x: f32) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error @+1 {{takes an approximate square root}}
    %0 = llvm.call_intrinsic "llvm.nvvm.sqrt.approx.f"(%x) : (f32) -> f32
    llvm.return
  }
}

// -----

gpu.module @extended {
  llvm.func @k(%p: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error @+1 {{makes a number of 'f80', which no GPU computes in: expected formats of at most 64 bits}}
    %0 = llvm.load %p : !llvm.ptr -> f80
    llvm.return
  }
}
