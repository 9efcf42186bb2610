// The host side step by step: launches and read-backs become calls, then code, then functions others can call.
// RUN: mp-opt %s --mp-to-nvvm --mp-lower-launches | FileCheck %s --check-prefix=CALLS
// RUN: mp-opt %s --mp-to-nvvm --mp-host-to-llvm | FileCheck %s --check-prefix=LLVM
// RUN: mp-opt %s --mp-to-nvvm --mp-host-to-llvm --mp-link-runtime | FileCheck %s --check-prefix=AGAIN
// RUN: sed 's/arith.constant 0 : i32/arith.constant 7 : i32/' %S/Inputs/clears.mlir | not mp-opt --mp-lower-launches 2>&1 | FileCheck %s --check-prefix=FILLS
// RUN: mp-opt %S/Inputs/clears.mlir --mp-lower-launches | FileCheck %s --check-prefix=CLEARS
// RUN: not mp-opt %s --mp-lower-launches --mp-emit-object 2>&1 | FileCheck %s --check-prefix=EARLY

// CALLS-LABEL: func.func @step
// CALLS-SAME: mpk.host_type = (memref<2x300xf32>) -> (memref<2x300xf32>, f32)
// CALLS: %[[SHAPE:.*]] = llvm.alloca
// CALLS: %[[WORDS:.*]] = llvm.alloca
// CALLS-NOT: gpu.
// CALLS: llvm.call @mp_rt_device_launch(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> ()
// CALLS: llvm.call @mp_rt_device_read(%{{.*}}, %{{.*}}) : (i64, i64) -> i64
// CALLS: llvm.mlir.global internal constant @mp_kernels_image("{{.*}}.version
// CALLS: llvm.mlir.global external @mp_kernels_module()
// CALLS: llvm.mlir.global internal @map_0_kernel()

// LLVM-NOT: _mlir_memref_to_llvm
// LLVM-DAG: llvm.func @mp_rt_device_alloc(i64) -> !llvm.ptr
// LLVM-DAG: llvm.func @mp_rt_device_constant(!llvm.ptr) -> !llvm.ptr
// LLVM: llvm.func @step(
// LLVM: llvm.call @mp_rt_device_constant
// LLVM: llvm.func @mp_entry_step(%{{.*}}: !llvm.ptr)
// LLVM: llvm.mlir.global external constant @mp_function_step()

// Nothing is linked twice.
// AGAIN-COUNT-1: llvm.mlir.global external constant @mp_function_step()
// AGAIN-NOT: @mp_function_step()

// CLEARS: llvm.call @mp_rt_device_clear(%{{.*}}, %{{.*}}) : (!llvm.ptr, i64) -> ()
// FILLS: error: 'gpu.memset' op expected zeros for a whole buffer of known size, and no tokens

// EARLY: error: has no public function that mp-host-to-llvm prepared

func.func @step(%x: tensor<2x300xf32>) -> (tensor<2x300xf32>, f32) {
  %w = arith.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<2x300xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %w : tensor<2x300xf32>, tensor<2x1xf32>) outs(%e : tensor<2x300xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<2x300xf32>
  %first = tensor.extract %0[%c0, %c0] : tensor<2x300xf32>
  return %0, %first : tensor<2x300xf32>, f32
}
