// RUN: mp-opt %s --mp-emit-kernels="target=sm_80 emit=ptx" | FileCheck %s
// RUN: not mp-opt %s --mp-emit-kernels="target=sm_80 emit=spirv" 2>&1 | FileCheck %s --check-prefix=EMIT
// RUN: not mp-opt %s --mp-emit-kernels="target=sm_80 dir=%s" 2>&1 | FileCheck %s --check-prefix=DIR

// EMIT: option 'emit' is 'spirv', expected ptx, cubin or fatbin
// EMIT-NOT: error
// DIR: error: dir={{.*}}: cannot {{create folder|write}}

// CHECK: gpu.binary @mp_kernels [#gpu.object<#nvvm.target<{{.*}}chip = "sm_80"{{.*}}assembly = "{{.*}}.visible .entry k(
module {
  gpu.module @mp_kernels {
    llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
}
