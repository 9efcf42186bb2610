// RUN: mp-opt %s --split-input-file --mp-emit-dispatches=sums=tree | FileCheck %s
// RUN: mp-opt %s --split-input-file --mp-emit-dispatches | FileCheck %s --check-prefix=ORDERED

#rc = affine_map<(r, c) -> (r, c)>
#r = affine_map<(r, c) -> (r)>

// 16 threads have a row of 64 columns; 10 rows are 2 blocks of 8 rows. In order, a thread has one.
// CHECK-LABEL: func.func @adds_rows
// CHECK-DAG: %[[BLOCKS:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[THREADS:.*]] = arith.constant 128 : index
// CHECK: gpu.launch_func @mp_kernels::@rows_0 blocks in (%[[BLOCKS]], {{.*}}) threads in (%[[THREADS]],
// CHECK: gpu.func @rows_0(%{{.*}}: memref<10x64xf32>, %{{.*}}: memref<10xf32>) kernel
// CHECK-COUNT-4: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl
// ORDERED-LABEL: func.func @adds_rows
// ORDERED: gpu.func @rows_0
// ORDERED-NOT: nvvm.shfl
// ORDERED: arith.addf
func.func @adds_rows(%x: memref<10x64xf32>, %y: memref<10xf32>) {
  mpk.dispatch ins(%x : memref<10x64xf32>) outs(%y : memref<10xf32>) {
  ^bb0(%a: tensor<10x64xf32>, %b: tensor<10xf32>):
    %0 = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]}
        ins(%a : tensor<10x64xf32>) outs(%b : tensor<10xf32>) {
    ^bb0(%v: f32, %s: f32):
      %1 = arith.addf %s, %v : f32
      linalg.yield %1 : f32
    } -> tensor<10xf32>
    mpk.yield %0 : tensor<10xf32>
  }
  return
}

// -----

// A maximum has one result in any order: threads share its rows in either case.
// ORDERED-LABEL: func.func @shares_rows_of_maxima
// ORDERED: nvvm.shfl.sync bfly
// CHECK-LABEL: func.func @shares_rows_of_maxima
func.func @shares_rows_of_maxima(%x: memref<10x64xf32>, %y: memref<10xf32>) {
  mpk.dispatch ins(%x : memref<10x64xf32>) outs(%y : memref<10xf32>) {
  ^bb0(%a: tensor<10x64xf32>, %b: tensor<10xf32>):
    %0 = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]}
        ins(%a : tensor<10x64xf32>) outs(%b : tensor<10xf32>) {
    ^bb0(%v: f32, %s: f32):
      %1 = arith.maximumf %s, %v : f32
      linalg.yield %1 : f32
    } -> tensor<10xf32>
    mpk.yield %0 : tensor<10xf32>
  }
  return
}

// -----

// Blocks share a row of more than 65536 elements, also where the model chose their threads.
// CHECK-LABEL: func.func @shares_a_long_row
// CHECK: gpu.launch_func @mp_kernels::@parts_0
// CHECK: gpu.launch_func @mp_kernels::@rows_0
// ORDERED-LABEL: func.func @shares_a_long_row
// ORDERED-NOT: @parts
// ORDERED: gpu.func @rows_0
func.func @shares_a_long_row(%x: memref<1x1048576xf32>, %y: memref<1xf32>) {
  mpk.dispatch ins(%x : memref<1x1048576xf32>) outs(%y : memref<1xf32>) schedule = <rows, "threads-per-row=1024 rows-per-block=1 residence=reread"> {
  ^bb0(%a: tensor<1x1048576xf32>, %b: tensor<1xf32>):
    %0 = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]}
        ins(%a : tensor<1x1048576xf32>) outs(%b : tensor<1xf32>) {
    ^bb0(%v: f32, %s: f32):
      %1 = arith.addf %s, %v : f32
      linalg.yield %1 : f32
    } -> tensor<1xf32>
    mpk.yield %0 : tensor<1xf32>
  }
  return
}

// -----

// One of 65536 is not worth a second launch.
// CHECK-LABEL: func.func @has_a_row
// CHECK-NOT: @parts
// CHECK: gpu.func @rows_0
func.func @has_a_row(%x: memref<1x65536xf32>, %y: memref<1xf32>) {
  mpk.dispatch ins(%x : memref<1x65536xf32>) outs(%y : memref<1xf32>) schedule = <rows, "threads-per-row=512 rows-per-block=1 residence=reread"> {
  ^bb0(%a: tensor<1x65536xf32>, %b: tensor<1xf32>):
    %0 = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]}
        ins(%a : tensor<1x65536xf32>) outs(%b : tensor<1xf32>) {
    ^bb0(%v: f32, %s: f32):
      %1 = arith.addf %s, %v : f32
      linalg.yield %1 : f32
    } -> tensor<1xf32>
    mpk.yield %0 : tensor<1xf32>
  }
  return
}

// -----

// A schedule counts the bytes of an access, whatever its elements are.
// CHECK-LABEL: func.func @accesses_are_as_wide_as_asked
// CHECK: gpu.func @map_0
// CHECK: llvm.load {{.*}} -> vector<2xf32>
// CHECK-NOT: vector<4xf32>
func.func @accesses_are_as_wide_as_asked(%x: memref<4096xf32>, %y: memref<4096xf32>) {
  mpk.dispatch ins(%x : memref<4096xf32>) outs(%y : memref<4096xf32>) schedule = <map, "vector=8"> {
  ^bb0(%a: tensor<4096xf32>, %b: tensor<4096xf32>):
    %0 = linalg.exp ins(%a : tensor<4096xf32>) outs(%b : tensor<4096xf32>) -> tensor<4096xf32>
    mpk.yield %0 : tensor<4096xf32>
  }
  return
}

// -----

// Equal dispatches are one kernel; with 16-byte accesses.
// CHECK-LABEL: func.func @is_one_kernel
// CHECK: gpu.launch_func @mp_kernels::@map_0
// CHECK: gpu.launch_func @mp_kernels::@map_0
// CHECK: gpu.func @map_0
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK: llvm.store {{.*}} : vector<4xf32>
// CHECK-NOT: gpu.func
func.func @is_one_kernel(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>) {
  mpk.dispatch ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
    %0 = linalg.exp ins(%a : tensor<64xf32>) outs(%b : tensor<64xf32>) -> tensor<64xf32>
    mpk.yield %0 : tensor<64xf32>
  }
  mpk.dispatch ins(%y : memref<64xf32>) outs(%z : memref<64xf32>) {
  ^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
    %0 = linalg.exp ins(%a : tensor<64xf32>) outs(%b : tensor<64xf32>) -> tensor<64xf32>
    mpk.yield %0 : tensor<64xf32>
  }
  return
}

// -----

// Views and unknown sizes are pointers, offsets, sizes and strides; no launch where there is nothing to do.
// CHECK-LABEL: func.func @knows_no_size
// CHECK: %[[BASE:.*]], %[[OFFSET:.*]], %{{.*}}, %[[STRIDE:.*]] = memref.extract_strided_metadata
// CHECK: scf.if
// CHECK: gpu.launch_func
// CHECK: gpu.func @map_0(%{{.*}}: memref<f32>, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: memref<f32>, %{{.*}}: index)
func.func @knows_no_size(%x: memref<?xf32, strided<[?], offset: ?>>, %y: memref<?xf32>) {
  mpk.dispatch ins(%x : memref<?xf32, strided<[?], offset: ?>>) outs(%y : memref<?xf32>) {
  ^bb0(%a: tensor<?xf32>, %b: tensor<?xf32>):
    %0 = linalg.exp ins(%a : tensor<?xf32>) outs(%b : tensor<?xf32>) -> tensor<?xf32>
    mpk.yield %0 : tensor<?xf32>
  }
  return
}
