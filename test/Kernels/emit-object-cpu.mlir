// Ahead of time for the host alone: no device is opened, memory and constants stay where they are.
// RUN: rm -rf %t && mp-opt %S/emit-object.mlir --mp-to-cpu --mp-host-to-llvm --mp-emit-object="dir=%t name=model" -o /dev/null
// RUN: FileCheck %s --check-prefix=HEADER < %t/model.h
// RUN: %cc -std=c99 -Wall -Werror -I %mp_src/include -I %t %S/Inputs/call-model.c %t/model.o -L%mp_build/lib -lMPRuntime -lm -Wl,-rpath,%mp_build/lib -o %t/program
// RUN: env MP_CUDA_DRIVER=%t/nothing.so %t/program | FileCheck %S/emit-object.mlir --check-prefix=CALLED
// HEADER: static inline int model_rows(const mp_rt_array *arguments, mp_rt_array *results) {
// HEADER-NEXT: return mp_rt_call_host(&model_rows_function, arguments, results);

// A call that does not fit, and one without data, are told as on a device.
// RUN: %cc -std=c99 -Wall -Werror -I %mp_src/include -I %t %S/Inputs/call-wrongly.c %t/model.o -L%mp_build/lib -lMPRuntime -lm -Wl,-rpath,%mp_build/lib -o %t/wrongly
// RUN: %t/wrongly | FileCheck %s --check-prefix=WRONG
// WRONG: -1: argument 0 of rows: size 1 is 4, expected 3
// WRONG: -1: argument 1 of rows: data is null, expected 12 bytes
// WRONG: 0 arguments unchanged

// mp-emit-object says what is missing.
// RUN: not mp-opt %S/emit-object.mlir --mp-to-cpu --mp-emit-object="dir=%t name=model" -o /dev/null 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: error: has no public function that mp-host-to-llvm prepared

// The type on buffers makes them callable, on public functions alone.
// RUN: mp-opt %S/Inputs/buffers.mlir --mp-keep-types | FileCheck %s --check-prefix=TYPES
// TYPES: func.func @public(%arg0: memref<4xf32>) -> f32 attributes {mpk.cpu_type = (memref<4xf32>) -> f32}
// TYPES: func.func private @private(%arg0: memref<4xf32>) -> f32 {
