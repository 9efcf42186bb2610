// The object holds a fat binary as well as it holds PTX; the emulator, which runs PTX only, says so.
// REQUIRES: ptxas
// RUN: rm -rf %t && mp-opt %s --mp-to-nvvm="target=sm_80 emit=fatbin dir=%t" --mp-host-to-llvm --mp-emit-object="dir=%t name=one" -o /dev/null
// RUN: printf '#include "one.h"\n#include <stdio.h>\nint main(void) { float x[2] = {1, 2}; mp_rt_array a = {x, {2}}, r; if (one_double(&a, &r)) puts(mp_rt_device_error()); return 0; }\n' > %t/main.c
// RUN: %cc -I %mp_src/include -I %t %t/main.c %t/one.o -L%mp_build/lib -lMPRuntime -Wl,-rpath,%mp_build/lib -o %t/program
// RUN: env MP_DEVICE=emulator %t/program | FileCheck %s
// RUN: %python -c "import sys; o, f = (open(p, 'rb').read() for p in sys.argv[1:]); sys.exit(f not in o)" %t/one.o %t/mp_kernels.fatbin

// CHECK: loading kernels for PTX emulator: CUDA_ERROR_INVALID_IMAGE (the emulator runs PTX only: lower with emit=ptx)
func.func @double(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = arith.addf %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
