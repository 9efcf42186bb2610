// Slices with steps and offsets, two loops of columns that do not merge, a destination that is read, bytes, an index, and
// values that a caller passes as scalars.
#all = affine_map<(a, b, c) -> (a, b, c)>
#swapped = affine_map<(a, b, c) -> (a, c, b)>
#a = affine_map<(a, b, c) -> (a)>
#b = affine_map<(a, b, c) -> (b)>
#none = affine_map<(a, b, c) -> ()>
func.func @f(%x: tensor<5x9x11xf32>, %y: tensor<4x8x3xf32>, %bytes: tensor<3xi8>, %factor: f32) -> tensor<4x3x8xf32> {
  %slice = tensor.extract_slice %x[1, 2, 0] [4, 3, 8] [1, 2, 1] : tensor<5x9x11xf32> to tensor<4x3x8xf32>
  %old = tensor.empty() : tensor<4x3x8xf32>
  %filled = linalg.fill ins(%factor : f32) outs(%old : tensor<4x3x8xf32>) -> tensor<4x3x8xf32>
  %r = mpk.dispatch ins(%slice, %y, %bytes, %factor : tensor<4x3x8xf32>, tensor<4x8x3xf32>, tensor<3xi8>, f32)
      outs(%filled : tensor<4x3x8xf32>) -> tensor<4x3x8xf32> {
  ^bb0(%p: tensor<4x3x8xf32>, %q: tensor<4x8x3xf32>, %w: tensor<3xi8>, %s: f32, %o: tensor<4x3x8xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %sum = linalg.generic {indexing_maps = [#all, #swapped, #a], iterator_types = ["parallel", "reduction", "reduction"]}
        ins(%p, %q : tensor<4x3x8xf32>, tensor<4x8x3xf32>) outs(%z : tensor<4xf32>) {
    ^bb0(%u: f32, %v: f32, %t: f32):
      %0 = arith.mulf %u, %v : f32
      %1 = arith.addf %t, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4xf32>
    %m = linalg.generic {indexing_maps = [#all, #a, #b, #all], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%p, %sum, %w : tensor<4x3x8xf32>, tensor<4xf32>, tensor<3xi8>) outs(%o : tensor<4x3x8xf32>) {
    ^bb0(%u: f32, %v: f32, %byte: i8, %t: f32):
      %i = linalg.index 2 : index
      %j = linalg.index 1 : index
      %ij = arith.addi %i, %j : index
      %k = arith.index_cast %ij : index to i32
      %kf = arith.sitofp %k : i32 to f32
      %bf = arith.sitofp %byte : i8 to f32
      %0 = arith.addf %u, %v : f32
      %1 = arith.mulf %0, %bf : f32
      %2 = arith.addf %1, %kf : f32
      %3 = arith.mulf %t, %s : f32
      %4 = arith.addf %2, %3 : f32
      linalg.yield %4 : f32
    } -> tensor<4x3x8xf32>
    mpk.yield %m : tensor<4x3x8xf32>
  }
  return %r : tensor<4x3x8xf32>
}
