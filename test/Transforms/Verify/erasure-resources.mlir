// RUN: mp-opt %s --mp-mixed-precision -o %t.converted.mlir
// RUN: mp-opt %t.converted.mlir --mp-check-erasure="original=%s" -o /dev/null
// RUN: sed -e 's/0x040000000100000000000000/0x040000000200000000000000/' %t.converted.mlir > %t.other.mlir
// RUN: not mp-opt %t.other.mlir --mp-check-erasure="original=%s" -o /dev/null 2>&1 | FileCheck --check-prefix=OTHER %s

// Resources of both files are in one context, under different names: integers are compared by their bytes, too.
// OTHER: error: 'linalg.generic' op operand #0 is not the original's, nor a cast of it or a constant rounded from it

func.func @compares_integers_of_resources(%x: tensor<2x2xf32>, %init: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %index = arith.constant dense_resource<rows> : tensor<2xi32>
  %p = linalg.matmul ins(%x, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%index : tensor<2xi32>) outs(%init : tensor<2x2xf32>) {
  ^bb0(%row: i32, %out: f32):
    %r = arith.index_cast %row : i32 to index
    %j = linalg.index 1 : index
    %e = tensor.extract %p[%r, %j] : tensor<2x2xf32>
    linalg.yield %e : f32
  } -> tensor<2x2xf32>
  return %g : tensor<2x2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      rows: "0x040000000100000000000000"
    }
  }
#-}
