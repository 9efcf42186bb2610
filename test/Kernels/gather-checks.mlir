// Embeddings as torch writes them, which assert that indices are rows of the table, are one kernel with what reads them: it checks the same for each element
// that there is, and for none of the lanes beyond. Row 0 is none here, as a lane beyond would read it.
// RUN: mp-opt %s --mp-to-nvvm="target=sm_80" -o %t.mlir && FileCheck %s < %t.mlir
// RUN: mp-run %s --input="3x5xi64=[1 2 3 4 5][6 1 2 3 4][5 6 6 6 6]" --input=seed --input=seed --seed=1 --device=emulator --chip=sm_80 --compare=%s --max-rel=0
// RUN: not mp-run %s --input="3x5xi64=[1 2 3 4 5][6 1 2 3 4][5 6 6 6 7]" --input=seed --input=seed --seed=1 --device=emulator --chip=sm_80 2>&1 | FileCheck %s --check-prefix=BEYOND
// RUN: not mp-run %s --input="3x5xi64=[1 2 0 4 5][6 1 2 3 4][5 6 6 6 6]" --input=seed --input=seed --seed=1 --device=emulator --chip=sm_80 2>&1 | FileCheck %s --check-prefix=BEFORE

#rows = affine_map<(i, j, k) -> (i, j)>
#all = affine_map<(i, j, k) -> (i, j, k)>
#at = affine_map<(i, j, k) -> (j, k)>

// CHECK-LABEL: func.func @main
// CHECK-COUNT-1: gpu.launch_func
// CHECK-NOT: gpu.launch_func
// BEYOND: assertion 'index must be smaller than dim size' failed
// BEFORE: assertion 'index must be larger than 0' failed
func.func @main(%ids: tensor<3x5xi64>, %table: tensor<7x72xf32>, %places: tensor<5x72xf32>) -> tensor<3x5x72xf32> {
  %c0 = arith.constant 0 : i64
  %c7 = arith.constant 7 : index
  %e = tensor.empty() : tensor<3x5x72xf32>
  %0 = linalg.generic {indexing_maps = [#rows, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%ids : tensor<3x5xi64>) outs(%e : tensor<3x5x72xf32>) {
  ^bb0(%id: i64, %out: f32):
    %row = arith.index_cast %id : i64 to index
    %column = linalg.index 2 : index
    %below = arith.cmpi slt, %row, %c7 : index
    cf.assert %below, "index must be smaller than dim size"
    %above = arith.cmpi sgt, %id, %c0 : i64
    cf.assert %above, "index must be larger than 0"
    %x = tensor.extract %table[%row, %column] : tensor<7x72xf32>
    linalg.yield %x : f32
  } -> tensor<3x5x72xf32>
  %1 = linalg.generic {indexing_maps = [#all, #at, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%0, %places : tensor<3x5x72xf32>, tensor<5x72xf32>) outs(%e : tensor<3x5x72xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<3x5x72xf32>
  return %1 : tensor<3x5x72xf32>
}
