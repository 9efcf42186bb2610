// The loop nests of the kernels run on a CPU, points in ascending and in descending order, and agree
// with numbers known beforehand: a race between points would show.
// DEFINE: %{run} = mlir-runner -e main -entry-point-result=void -shared-libs=%mlir_lib_dir/libmlir_c_runner_utils.so,%mlir_lib_dir/libmlir_runner_utils.so
// DEFINE: %{lower} = mlir-opt --expand-strided-metadata --lower-affine --convert-scf-to-cf --convert-math-to-llvm --convert-arith-to-llvm --convert-index-to-llvm --finalize-memref-to-llvm --convert-func-to-llvm --convert-cf-to-llvm --reconcile-unrealized-casts
// RUN: mp-opt %s --mp-to-loops="order=forward" | %{lower} | %{run} | FileCheck %s
// RUN: mp-opt %s --mp-to-loops="order=reverse" | %{lower} | %{run} | FileCheck %s

func.func private @printF32(f32)
func.func private @printNewline()

// Row sums of i * 4 + j over a 3 x 4 matrix: 6, 22, 38; then e^0.
// CHECK: 6
// CHECK: 22
// CHECK: 38
// CHECK: 1
func.func @main() {
  %e = tensor.empty() : tensor<3x4xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<3x4xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c4 = arith.constant 4 : index
    %p = arith.muli %i, %c4 : index
    %s = arith.addi %p, %j : index
    %k = arith.index_cast %s : index to i32
    %v = arith.sitofp %k : i32 to f32
    linalg.yield %v : f32
  } -> tensor<3x4xf32>
  %z = arith.constant dense<0.0> : tensor<3xf32>
  %y = linalg.reduce ins(%x : tensor<3x4xf32>) outs(%z : tensor<3xf32>) dimensions = [1]
    (%in: f32, %acc: f32) {
      %0 = arith.addf %in, %acc : f32
      linalg.yield %0 : f32
    }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %v = tensor.extract %y[%i] : tensor<3xf32>
    func.call @printF32(%v) : (f32) -> ()
    func.call @printNewline() : () -> ()
  }
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %exp = math.exp %zero : tensor<1xf32>
  %r = tensor.extract %exp[%c0] : tensor<1xf32>
  func.call @printF32(%r) : (f32) -> ()
  func.call @printNewline() : () -> ()
  return
}
