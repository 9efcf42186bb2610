// Ahead of time: an object with the kernels inside, a header, and a C program that calls the functions without MLIR.
// RUN: rm -rf %t && mp-opt %s --mp-to-nvvm="target=sm_80" --mp-host-to-llvm --mp-emit-object="dir=%t name=model" -o /dev/null
// RUN: FileCheck %s --check-prefix=HEADER < %t/model.h
// RUN: %cc -std=c99 -Wall -Werror -I %mp_src/include -I %t %S/Inputs/call-model.c %t/model.o -L%mp_build/lib -lMPRuntime -Wl,-rpath,%mp_build/lib -o %t/program
// RUN: env MP_DEVICE=emulator %t/program | FileCheck %s --check-prefix=CALLED
// The same calls through a shared library in place of the installed driver.
// RUN: env MP_CUDA_DRIVER=%mp_build/lib/libMPEmulatedDriver.so %t/program | FileCheck %s --check-prefix=CALLED
// RUN: env MP_CUDA_DRIVER=%t/nothing.so not %t/program | FileCheck %s --check-prefix=NONE
// RUN: env MP_DEVICE=gpu not %t/program | FileCheck %s --check-prefix=NAME
// RUN: not mp-opt %s --mp-to-nvvm --mp-host-to-llvm --mp-emit-object="dir=%t name=2x" -o /dev/null 2>&1 | FileCheck %s --check-prefix=IDENTIFIER

// HEADER: /* (?x3xf32, 3xf32) -> (?xf32, i32) */
// HEADER-NEXT: extern const mp_rt_function model_rows_function;
// HEADER-NEXT: static inline int model_rows(const mp_rt_array *arguments, mp_rt_array *results) {
// CALLED: rows 2: 7 18
// CALLED: index 1
// CALLED: weights: 0.5 2
// CALLED: twice in one process: 7 18
// NONE: no driver: {{.*}}nothing.so
// NONE-SAME: the device emulator runs kernels without a GPU: MP_DEVICE=emulator
// NAME: MP_DEVICE=gpu: expected cuda or emulator
// IDENTIFIER: error: option 'name': found '2x', expected a C identifier such as 'model'

func.func @rows(%x: tensor<?x3xf32>, %bias: tensor<3xf32>) -> (tensor<?xf32>, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : i32
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %bias : tensor<?x3xf32>, tensor<3xf32>) outs(%i : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  return %r, %c1 : tensor<?xf32>, i32
}

func.func @weights() -> tensor<2xf32> {
  %w = arith.constant dense<[0.5, 2.0]> : tensor<2xf32>
  return %w : tensor<2xf32>
}
