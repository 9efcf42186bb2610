// target=native asks the driver which GPU is installed; without one the error says why.
// RUN: env MP_CUDA_DRIVER=%mp_build/lib/libMPEmulatedDriver.so MP_EMULATED_CHIP=sm_89 mp-opt %s --mp-to-nvvm="target=native" | FileCheck %s
// RUN: env MP_CUDA_DRIVER=%mp_build/lib/libMPEmulatedDriver.so MP_EMULATED_CHIP=sm_89 mp-opt %s --mp-to-nvvm="target=native dispatches=true" | FileCheck %s
// RUN: not env MP_CUDA_DRIVER=%t.missing.so mp-opt %s --mp-to-nvvm="target=native" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not env MP_CUDA_DRIVER=%mp_build/lib/libMPEmulatedDriver.so MP_EMULATED_CHIP=sm_61 mp-opt %s --mp-to-nvvm="target=native" 2>&1 | FileCheck %s --check-prefix=OLD

// CHECK: #nvvm.target<{{.*}}chip = "sm_89"
// NONE: error: {{.*}}: target 'native' is the installed GPU: no driver: {{.*}}missing.so
// OLD: error: {{.*}}: no target for compute capability 6.1; the oldest known is 7.0
func.func @double(%x: tensor<300xf32>) -> tensor<300xf32> {
  %0 = arith.addf %x, %x : tensor<300xf32>
  return %0 : tensor<300xf32>
}
