// Runs values that f16 has no room for: they are made inside, of moderate inputs. Products that can
// be narrow are, and the errors stay theirs.
//
// RUN: mp-sweep --run %s | %python %S/../Inputs/errors.py f16=4e-3 bf16=2e-2 | FileCheck %s
// CHECK: 52 functions: 0 above the limit, 0 not run
// Keeping everything wide would pass too, so: how many products are narrow.
// RUN: mp-opt %s --mp-mixed-precision="format=f16" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NARROW
// NARROW: 28 of 28 contractions f16

func.func @sums_many_ones_linalg(%x: tensor<4x4096xf32>, %w: tensor<4096x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>) {
  %s1 = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<4x4096xf32>
  %g3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x4096xf32>) outs(%e2 : tensor<4x4096xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s1 : f32
    linalg.yield %q : f32
  } -> tensor<4x4096xf32>
  %s4 = arith.constant 1.0 : f32
  %e5 = tensor.empty() : tensor<4x4096xf32>
  %g6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g3 : tensor<4x4096xf32>) outs(%e5 : tensor<4x4096xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %s4 : f32
    linalg.yield %q : f32
  } -> tensor<4x4096xf32>
  %e7 = tensor.empty() : tensor<4xf32>
  %f8 = linalg.fill ins(%s1 : f32) outs(%e7 : tensor<4xf32>) -> tensor<4xf32>
  %g9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%g6 : tensor<4x4096xf32>) outs(%f8 : tensor<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  %e10 = tensor.empty() : tensor<4x4xf32>
  %f11 = linalg.fill ins(%s1 : f32) outs(%e10 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm12 = linalg.matmul ins(%x, %w : tensor<4x4096xf32>, tensor<4096x4xf32>) outs(%f11 : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %g9, %mm12 : tensor<4xf32>, tensor<4x4xf32>
}

func.func @softmax_of_4096_linalg(%x: tensor<4x4096xf32>, %w: tensor<4096x4xf32>) -> (tensor<4x4096xf32>, tensor<4x4xf32>) {
  %s1 = arith.constant 100.0 : f32
  %e2 = tensor.empty() : tensor<4x4096xf32>
  %g3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x4096xf32>) outs(%e2 : tensor<4x4096xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s1 : f32
    linalg.yield %q : f32
  } -> tensor<4x4096xf32>
  %s4 = arith.constant 0xFF800000 : f32
  %e5 = tensor.empty() : tensor<4xf32>
  %f6 = linalg.fill ins(%s4 : f32) outs(%e5 : tensor<4xf32>) -> tensor<4xf32>
  %g7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%g3 : tensor<4x4096xf32>) outs(%f6 : tensor<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.maximumf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  %e8 = tensor.empty() : tensor<4x4096xf32>
  %g9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g3, %g7 : tensor<4x4096xf32>, tensor<4xf32>) outs(%e8 : tensor<4x4096xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.subf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<4x4096xf32>
  %v10 = math.exp %g9 : tensor<4x4096xf32>
  %s11 = arith.constant 0.0 : f32
  %e12 = tensor.empty() : tensor<4xf32>
  %f13 = linalg.fill ins(%s11 : f32) outs(%e12 : tensor<4xf32>) -> tensor<4xf32>
  %g14 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v10 : tensor<4x4096xf32>) outs(%f13 : tensor<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  %e15 = tensor.empty() : tensor<4x4096xf32>
  %g16 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%v10, %g14 : tensor<4x4096xf32>, tensor<4xf32>) outs(%e15 : tensor<4x4096xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.divf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<4x4096xf32>
  %e17 = tensor.empty() : tensor<4x4xf32>
  %f18 = linalg.fill ins(%s11 : f32) outs(%e17 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm19 = linalg.matmul ins(%x, %w : tensor<4x4096xf32>, tensor<4096x4xf32>) outs(%f18 : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %g16, %mm19 : tensor<4x4096xf32>, tensor<4x4xf32>
}

func.func @mean_of_65536_linalg(%x: tensor<2x65536xf32>, %w: tensor<65536x4xf32>) -> (tensor<2xf32>, tensor<2x4xf32>) {
  %s1 = arith.constant 100.0 : f32
  %e2 = tensor.empty() : tensor<2x65536xf32>
  %g3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x65536xf32>) outs(%e2 : tensor<2x65536xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s1 : f32
    linalg.yield %q : f32
  } -> tensor<2x65536xf32>
  %s4 = arith.constant 8.0 : f32
  %e5 = tensor.empty() : tensor<2x65536xf32>
  %g6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g3 : tensor<2x65536xf32>) outs(%e5 : tensor<2x65536xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %s4 : f32
    linalg.yield %q : f32
  } -> tensor<2x65536xf32>
  %s7 = arith.constant 0.0 : f32
  %e8 = tensor.empty() : tensor<2xf32>
  %f9 = linalg.fill ins(%s7 : f32) outs(%e8 : tensor<2xf32>) -> tensor<2xf32>
  %g10 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%g6 : tensor<2x65536xf32>) outs(%f9 : tensor<2xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<2xf32>
  %s11 = arith.constant 1.52587890625e-05 : f32
  %e12 = tensor.empty() : tensor<2xf32>
  %g13 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g10 : tensor<2xf32>) outs(%e12 : tensor<2xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s11 : f32
    linalg.yield %q : f32
  } -> tensor<2xf32>
  %e14 = tensor.empty() : tensor<2x4xf32>
  %f15 = linalg.fill ins(%s7 : f32) outs(%e14 : tensor<2x4xf32>) -> tensor<2x4xf32>
  %mm16 = linalg.matmul ins(%x, %w : tensor<2x65536xf32>, tensor<65536x4xf32>) outs(%f15 : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %g13, %mm16 : tensor<2xf32>, tensor<2x4xf32>
}

func.func @divides_by_summed_exponentials_linalg(%x: tensor<8x64xf32>, %w: tensor<64x8xf32>) -> (tensor<8x64xf32>, tensor<8x8xf32>) {
  %s1 = arith.constant 60.0 : f32
  %e2 = tensor.empty() : tensor<8x64xf32>
  %g3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x64xf32>) outs(%e2 : tensor<8x64xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s1 : f32
    linalg.yield %q : f32
  } -> tensor<8x64xf32>
  %v4 = math.exp %g3 : tensor<8x64xf32>
  %s5 = arith.constant 0.0 : f32
  %e6 = tensor.empty() : tensor<8xf32>
  %f7 = linalg.fill ins(%s5 : f32) outs(%e6 : tensor<8xf32>) -> tensor<8xf32>
  %g8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v4 : tensor<8x64xf32>) outs(%f7 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %s9 = arith.constant 1.0e-08 : f32
  %e10 = tensor.empty() : tensor<8xf32>
  %g11 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g8 : tensor<8xf32>) outs(%e10 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %s9 : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %e12 = tensor.empty() : tensor<8x64xf32>
  %g13 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%v4, %g11 : tensor<8x64xf32>, tensor<8xf32>) outs(%e12 : tensor<8x64xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.divf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<8x64xf32>
  %e14 = tensor.empty() : tensor<8x8xf32>
  %f15 = linalg.fill ins(%s5 : f32) outs(%e14 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %mm16 = linalg.matmul ins(%x, %w : tensor<8x64xf32>, tensor<64x8xf32>) outs(%f15 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %g13, %mm16 : tensor<8x64xf32>, tensor<8x8xf32>
}

func.func @normalises_linalg(%x: tensor<8x64xf32>, %w: tensor<64x8xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x8xf32>) {
  %s1 = arith.constant 2000.0 : f32
  %e2 = tensor.empty() : tensor<8x64xf32>
  %g3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x64xf32>) outs(%e2 : tensor<8x64xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s1 : f32
    linalg.yield %q : f32
  } -> tensor<8x64xf32>
  %s4 = arith.constant 300.0 : f32
  %e5 = tensor.empty() : tensor<8x64xf32>
  %g6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g3 : tensor<8x64xf32>) outs(%e5 : tensor<8x64xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %s4 : f32
    linalg.yield %q : f32
  } -> tensor<8x64xf32>
  %v7 = arith.mulf %g6, %g6 : tensor<8x64xf32>
  %s8 = arith.constant 0.0 : f32
  %e9 = tensor.empty() : tensor<8xf32>
  %f10 = linalg.fill ins(%s8 : f32) outs(%e9 : tensor<8xf32>) -> tensor<8xf32>
  %g11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v7 : tensor<8x64xf32>) outs(%f10 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %s12 = arith.constant 1.0e-12 : f32
  %e13 = tensor.empty() : tensor<8xf32>
  %g14 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g11 : tensor<8xf32>) outs(%e13 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.maximumf %a0, %s12 : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %v15 = math.sqrt %g14 : tensor<8xf32>
  %e16 = tensor.empty() : tensor<8x64xf32>
  %g17 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g6, %v15 : tensor<8x64xf32>, tensor<8xf32>) outs(%e16 : tensor<8x64xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.divf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<8x64xf32>
  %e18 = tensor.empty() : tensor<8xf32>
  %f19 = linalg.fill ins(%s8 : f32) outs(%e18 : tensor<8xf32>) -> tensor<8xf32>
  %g20 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%g6 : tensor<8x64xf32>) outs(%f19 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %s21 = arith.constant 0.015625 : f32
  %e22 = tensor.empty() : tensor<8xf32>
  %g23 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g20 : tensor<8xf32>) outs(%e22 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s21 : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %e24 = tensor.empty() : tensor<8x64xf32>
  %g25 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g6, %g23 : tensor<8x64xf32>, tensor<8xf32>) outs(%e24 : tensor<8x64xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.subf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<8x64xf32>
  %v26 = arith.mulf %g25, %g25 : tensor<8x64xf32>
  %e27 = tensor.empty() : tensor<8xf32>
  %f28 = linalg.fill ins(%s8 : f32) outs(%e27 : tensor<8xf32>) -> tensor<8xf32>
  %g29 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v26 : tensor<8x64xf32>) outs(%f28 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %e30 = tensor.empty() : tensor<8xf32>
  %g31 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g29 : tensor<8xf32>) outs(%e30 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s21 : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %s32 = arith.constant 1.0e-05 : f32
  %e33 = tensor.empty() : tensor<8xf32>
  %g34 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g31 : tensor<8xf32>) outs(%e33 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %s32 : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %v35 = math.rsqrt %g34 : tensor<8xf32>
  %e36 = tensor.empty() : tensor<8x64xf32>
  %g37 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g25, %v35 : tensor<8x64xf32>, tensor<8xf32>) outs(%e36 : tensor<8x64xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.mulf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<8x64xf32>
  %e38 = tensor.empty() : tensor<8x8xf32>
  %f39 = linalg.fill ins(%s8 : f32) outs(%e38 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %mm40 = linalg.matmul ins(%x, %w : tensor<8x64xf32>, tensor<64x8xf32>) outs(%f39 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %g17, %g37, %mm40 : tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x8xf32>
}

func.func @rms_norm_of_thousands_linalg(%x: tensor<8x64xf32>, %w: tensor<64x8xf32>) -> tensor<8x8xf32> {
  %s1 = arith.constant 20000.0 : f32
  %e2 = tensor.empty() : tensor<8x64xf32>
  %g3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x64xf32>) outs(%e2 : tensor<8x64xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s1 : f32
    linalg.yield %q : f32
  } -> tensor<8x64xf32>
  %v4 = arith.mulf %g3, %g3 : tensor<8x64xf32>
  %s5 = arith.constant 0.0 : f32
  %e6 = tensor.empty() : tensor<8xf32>
  %f7 = linalg.fill ins(%s5 : f32) outs(%e6 : tensor<8xf32>) -> tensor<8xf32>
  %g8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v4 : tensor<8x64xf32>) outs(%f7 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %s9 = arith.constant 0.015625 : f32
  %e10 = tensor.empty() : tensor<8xf32>
  %g11 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g8 : tensor<8xf32>) outs(%e10 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s9 : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %s12 = arith.constant 1.0e-05 : f32
  %e13 = tensor.empty() : tensor<8xf32>
  %g14 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g11 : tensor<8xf32>) outs(%e13 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %s12 : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %v15 = math.rsqrt %g14 : tensor<8xf32>
  %e16 = tensor.empty() : tensor<8x64xf32>
  %g17 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g3, %v15 : tensor<8x64xf32>, tensor<8xf32>) outs(%e16 : tensor<8x64xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.mulf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<8x64xf32>
  %e18 = tensor.empty() : tensor<8x8xf32>
  %f19 = linalg.fill ins(%s5 : f32) outs(%e18 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %mm20 = linalg.matmul ins(%g17, %w : tensor<8x64xf32>, tensor<64x8xf32>) outs(%f19 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %mm20 : tensor<8x8xf32>
}

func.func @layer_norm_with_large_mean_linalg(%x: tensor<8x64xf32>, %w: tensor<64x8xf32>) -> (tensor<8x64xf32>, tensor<8x8xf32>) {
  %s1 = arith.constant 10.0 : f32
  %e2 = tensor.empty() : tensor<8x64xf32>
  %g3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x64xf32>) outs(%e2 : tensor<8x64xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s1 : f32
    linalg.yield %q : f32
  } -> tensor<8x64xf32>
  %s4 = arith.constant 500.0 : f32
  %e5 = tensor.empty() : tensor<8x64xf32>
  %g6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g3 : tensor<8x64xf32>) outs(%e5 : tensor<8x64xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %s4 : f32
    linalg.yield %q : f32
  } -> tensor<8x64xf32>
  %s7 = arith.constant 0.0 : f32
  %e8 = tensor.empty() : tensor<8xf32>
  %f9 = linalg.fill ins(%s7 : f32) outs(%e8 : tensor<8xf32>) -> tensor<8xf32>
  %g10 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%g6 : tensor<8x64xf32>) outs(%f9 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %s11 = arith.constant 0.015625 : f32
  %e12 = tensor.empty() : tensor<8xf32>
  %g13 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g10 : tensor<8xf32>) outs(%e12 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s11 : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %e14 = tensor.empty() : tensor<8x64xf32>
  %g15 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g6, %g13 : tensor<8x64xf32>, tensor<8xf32>) outs(%e14 : tensor<8x64xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.subf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<8x64xf32>
  %v16 = arith.mulf %g15, %g15 : tensor<8x64xf32>
  %e17 = tensor.empty() : tensor<8xf32>
  %f18 = linalg.fill ins(%s7 : f32) outs(%e17 : tensor<8xf32>) -> tensor<8xf32>
  %g19 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v16 : tensor<8x64xf32>) outs(%f18 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %e20 = tensor.empty() : tensor<8xf32>
  %g21 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g19 : tensor<8xf32>) outs(%e20 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s11 : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %s22 = arith.constant 1.0e-05 : f32
  %e23 = tensor.empty() : tensor<8xf32>
  %g24 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g21 : tensor<8xf32>) outs(%e23 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %s22 : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %v25 = math.rsqrt %g24 : tensor<8xf32>
  %e26 = tensor.empty() : tensor<8x64xf32>
  %g27 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g15, %v25 : tensor<8x64xf32>, tensor<8xf32>) outs(%e26 : tensor<8x64xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.mulf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<8x64xf32>
  %e28 = tensor.empty() : tensor<8x8xf32>
  %f29 = linalg.fill ins(%s7 : f32) outs(%e28 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %mm30 = linalg.matmul ins(%x, %w : tensor<8x64xf32>, tensor<64x8xf32>) outs(%f29 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %g27, %mm30 : tensor<8x64xf32>, tensor<8x8xf32>
}

func.func @cosine_of_near_vectors_linalg(%x: tensor<8x64xf32>, %w: tensor<64x8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) {
  %s1 = arith.constant 1.0001 : f32
  %e2 = tensor.empty() : tensor<8x64xf32>
  %g3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x64xf32>) outs(%e2 : tensor<8x64xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s1 : f32
    linalg.yield %q : f32
  } -> tensor<8x64xf32>
  %v4 = arith.mulf %x, %g3 : tensor<8x64xf32>
  %s5 = arith.constant 0.0 : f32
  %e6 = tensor.empty() : tensor<8xf32>
  %f7 = linalg.fill ins(%s5 : f32) outs(%e6 : tensor<8xf32>) -> tensor<8xf32>
  %g8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v4 : tensor<8x64xf32>) outs(%f7 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %v9 = arith.mulf %x, %x : tensor<8x64xf32>
  %e10 = tensor.empty() : tensor<8xf32>
  %f11 = linalg.fill ins(%s5 : f32) outs(%e10 : tensor<8xf32>) -> tensor<8xf32>
  %g12 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v9 : tensor<8x64xf32>) outs(%f11 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %v13 = arith.mulf %g3, %g3 : tensor<8x64xf32>
  %e14 = tensor.empty() : tensor<8xf32>
  %f15 = linalg.fill ins(%s5 : f32) outs(%e14 : tensor<8xf32>) -> tensor<8xf32>
  %g16 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v13 : tensor<8x64xf32>) outs(%f15 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %v17 = arith.mulf %g12, %g16 : tensor<8xf32>
  %v18 = math.sqrt %v17 : tensor<8xf32>
  %v19 = arith.divf %g8, %v18 : tensor<8xf32>
  %s20 = arith.constant 0.5 : f32
  %e21 = tensor.empty() : tensor<8xf32>
  %g22 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%v19 : tensor<8xf32>) outs(%e21 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s20 : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %s23 = arith.constant 1.0 : f32
  %e24 = tensor.empty() : tensor<8xf32>
  %g25 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g22 : tensor<8xf32>) outs(%e24 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.subf %s23, %a0 : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %e26 = tensor.empty() : tensor<8x8xf32>
  %f27 = linalg.fill ins(%s5 : f32) outs(%e26 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %mm28 = linalg.matmul ins(%x, %w : tensor<8x64xf32>, tensor<64x8xf32>) outs(%f27 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %g25, %mm28 : tensor<8xf32>, tensor<8x8xf32>
}

func.func @attention_with_key_bias_linalg(%query: tensor<16x32xf32>, %key: tensor<32x16xf32>, %v: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %s1 = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<16x16xf32>
  %f3 = linalg.fill ins(%s1 : f32) outs(%e2 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %mm4 = linalg.matmul ins(%query, %key : tensor<16x32xf32>, tensor<32x16xf32>) outs(%f3 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %s5 = arith.constant 120.0 : f32
  %e6 = tensor.empty() : tensor<16x16xf32>
  %g7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%mm4 : tensor<16x16xf32>) outs(%e6 : tensor<16x16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %s5 : f32
    linalg.yield %q : f32
  } -> tensor<16x16xf32>
  %s8 = arith.constant 0xFF800000 : f32
  %e9 = tensor.empty() : tensor<16xf32>
  %f10 = linalg.fill ins(%s8 : f32) outs(%e9 : tensor<16xf32>) -> tensor<16xf32>
  %g11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%g7 : tensor<16x16xf32>) outs(%f10 : tensor<16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.maximumf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  %e12 = tensor.empty() : tensor<16x16xf32>
  %g13 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g7, %g11 : tensor<16x16xf32>, tensor<16xf32>) outs(%e12 : tensor<16x16xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.subf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<16x16xf32>
  %v14 = math.exp %g13 : tensor<16x16xf32>
  %e15 = tensor.empty() : tensor<16xf32>
  %f16 = linalg.fill ins(%s1 : f32) outs(%e15 : tensor<16xf32>) -> tensor<16xf32>
  %g17 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v14 : tensor<16x16xf32>) outs(%f16 : tensor<16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  %e18 = tensor.empty() : tensor<16x16xf32>
  %g19 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%v14, %g17 : tensor<16x16xf32>, tensor<16xf32>) outs(%e18 : tensor<16x16xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.divf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<16x16xf32>
  %e20 = tensor.empty() : tensor<16x8xf32>
  %f21 = linalg.fill ins(%s1 : f32) outs(%e20 : tensor<16x8xf32>) -> tensor<16x8xf32>
  %mm22 = linalg.matmul ins(%g19, %v : tensor<16x16xf32>, tensor<16x8xf32>) outs(%f21 : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %mm22 : tensor<16x8xf32>
}

func.func @logsumexp_linalg(%x: tensor<8x64xf32>, %w: tensor<64x8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) {
  %s1 = arith.constant 400.0 : f32
  %e2 = tensor.empty() : tensor<8x64xf32>
  %g3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x64xf32>) outs(%e2 : tensor<8x64xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s1 : f32
    linalg.yield %q : f32
  } -> tensor<8x64xf32>
  %s4 = arith.constant 0xFF800000 : f32
  %e5 = tensor.empty() : tensor<8xf32>
  %f6 = linalg.fill ins(%s4 : f32) outs(%e5 : tensor<8xf32>) -> tensor<8xf32>
  %g7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%g3 : tensor<8x64xf32>) outs(%f6 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.maximumf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %e8 = tensor.empty() : tensor<8x64xf32>
  %g9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g3, %g7 : tensor<8x64xf32>, tensor<8xf32>) outs(%e8 : tensor<8x64xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.subf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<8x64xf32>
  %v10 = math.exp %g9 : tensor<8x64xf32>
  %s11 = arith.constant 0.0 : f32
  %e12 = tensor.empty() : tensor<8xf32>
  %f13 = linalg.fill ins(%s11 : f32) outs(%e12 : tensor<8xf32>) -> tensor<8xf32>
  %g14 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v10 : tensor<8x64xf32>) outs(%f13 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %v15 = math.log %g14 : tensor<8xf32>
  %v16 = arith.addf %v15, %g7 : tensor<8xf32>
  %e17 = tensor.empty() : tensor<8x8xf32>
  %f18 = linalg.fill ins(%s11 : f32) outs(%e17 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %mm19 = linalg.matmul ins(%x, %w : tensor<8x64xf32>, tensor<64x8xf32>) outs(%f18 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %v16, %mm19 : tensor<8xf32>, tensor<8x8xf32>
}

func.func @long_contraction_linalg(%x: tensor<2x50001xf32>, %w: tensor<50001x4xf32>) -> tensor<2x4xf32> {
  %s1 = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<2x4xf32>
  %f3 = linalg.fill ins(%s1 : f32) outs(%e2 : tensor<2x4xf32>) -> tensor<2x4xf32>
  %mm4 = linalg.matmul ins(%x, %w : tensor<2x50001xf32>, tensor<50001x4xf32>) outs(%f3 : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %mm4 : tensor<2x4xf32>
}

func.func @log_of_small_probabilities_linalg(%x: tensor<8x64xf32>, %w: tensor<64x8xf32>) -> (tensor<8x64xf32>, tensor<8x8xf32>) {
  %v1 = math.absf %x : tensor<8x64xf32>
  %s2 = arith.constant 1.0e-05 : f32
  %e3 = tensor.empty() : tensor<8x64xf32>
  %g4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%v1 : tensor<8x64xf32>) outs(%e3 : tensor<8x64xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s2 : f32
    linalg.yield %q : f32
  } -> tensor<8x64xf32>
  %s5 = arith.constant 1.0e-06 : f32
  %e6 = tensor.empty() : tensor<8x64xf32>
  %g7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g4 : tensor<8x64xf32>) outs(%e6 : tensor<8x64xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %s5 : f32
    linalg.yield %q : f32
  } -> tensor<8x64xf32>
  %v8 = math.log %g7 : tensor<8x64xf32>
  %s9 = arith.constant 0.0 : f32
  %e10 = tensor.empty() : tensor<8x8xf32>
  %f11 = linalg.fill ins(%s9 : f32) outs(%e10 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %mm12 = linalg.matmul ins(%x, %w : tensor<8x64xf32>, tensor<64x8xf32>) outs(%f11 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %v8, %mm12 : tensor<8x64xf32>, tensor<8x8xf32>
}

func.func @running_sum_linalg(%x: tensor<2x256xf32>, %w: tensor<256x4xf32>, %t: tensor<256x256xf32>) -> (tensor<2xf32>, tensor<2x4xf32>) {
  %s1 = arith.constant 16.0 : f32
  %e2 = tensor.empty() : tensor<2x256xf32>
  %g3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x256xf32>) outs(%e2 : tensor<2x256xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s1 : f32
    linalg.yield %q : f32
  } -> tensor<2x256xf32>
  %s4 = arith.constant 8.0 : f32
  %e5 = tensor.empty() : tensor<2x256xf32>
  %g6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g3 : tensor<2x256xf32>) outs(%e5 : tensor<2x256xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %s4 : f32
    linalg.yield %q : f32
  } -> tensor<2x256xf32>
  %s7 = arith.constant 1.0 : f32
  %e8 = tensor.empty() : tensor<2x256xf32>
  %g9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g6 : tensor<2x256xf32>) outs(%e8 : tensor<2x256xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s7 : f32
    linalg.yield %q : f32
  } -> tensor<2x256xf32>
  %s10 = arith.constant 0.0 : f32
  %e11 = tensor.empty() : tensor<2xf32>
  %f12 = linalg.fill ins(%s10 : f32) outs(%e11 : tensor<2xf32>) -> tensor<2xf32>
  %g13 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%g9 : tensor<2x256xf32>) outs(%f12 : tensor<2xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<2xf32>
  %e14 = tensor.empty() : tensor<2x4xf32>
  %f15 = linalg.fill ins(%s10 : f32) outs(%e14 : tensor<2x4xf32>) -> tensor<2x4xf32>
  %mm16 = linalg.matmul ins(%x, %w : tensor<2x256xf32>, tensor<256x4xf32>) outs(%f15 : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %g13, %mm16 : tensor<2xf32>, tensor<2x4xf32>
}

func.func @sums_many_ones_tosa(%x: tensor<4x4096xf32>, %w: tensor<4096x4xf32>) -> (tensor<4x1xf32>, tensor<4x4xf32>) {
  %s1 = "tosa.const"() <{values = dense<0.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %z3 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v2 = tosa.mul %x, %s1, %z3 : (tensor<4x4096xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x4096xf32>
  %s4 = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v5 = tosa.add %v2, %s4 : (tensor<4x4096xf32>, tensor<1x1xf32>) -> tensor<4x4096xf32>
  %v6 = tosa.reduce_sum %v5 {axis = 1 : i32} : (tensor<4x4096xf32>) -> tensor<4x1xf32>
  %z8 = tosa.const_shape {values = dense<[1, 4, 4096]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r7 = tosa.reshape %x, %z8 : (tensor<4x4096xf32>, !tosa.shape<3>) -> tensor<1x4x4096xf32>
  %z10 = tosa.const_shape {values = dense<[1, 4096, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r9 = tosa.reshape %w, %z10 : (tensor<4096x4xf32>, !tosa.shape<3>) -> tensor<1x4096x4xf32>
  %z12 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm11 = tosa.matmul %r7, %r9, %z12, %z12 : (tensor<1x4x4096xf32>, tensor<1x4096x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  %z14 = tosa.const_shape {values = dense<[4, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r13 = tosa.reshape %mm11, %z14 : (tensor<1x4x4xf32>, !tosa.shape<2>) -> tensor<4x4xf32>
  return %v6, %r13 : tensor<4x1xf32>, tensor<4x4xf32>
}

func.func @softmax_of_4096_tosa(%x: tensor<4x4096xf32>, %w: tensor<4096x4xf32>) -> (tensor<4x4096xf32>, tensor<4x4xf32>) {
  %s1 = "tosa.const"() <{values = dense<100.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %z3 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v2 = tosa.mul %x, %s1, %z3 : (tensor<4x4096xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x4096xf32>
  %v4 = tosa.reduce_max %v2 {axis = 1 : i32} : (tensor<4x4096xf32>) -> tensor<4x1xf32>
  %v5 = tosa.sub %v2, %v4 : (tensor<4x4096xf32>, tensor<4x1xf32>) -> tensor<4x4096xf32>
  %v6 = tosa.exp %v5 : (tensor<4x4096xf32>) -> tensor<4x4096xf32>
  %v7 = tosa.reduce_sum %v6 {axis = 1 : i32} : (tensor<4x4096xf32>) -> tensor<4x1xf32>
  %v8 = tosa.reciprocal %v7 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v9 = tosa.mul %v6, %v8, %z3 : (tensor<4x4096xf32>, tensor<4x1xf32>, tensor<1xi8>) -> tensor<4x4096xf32>
  %z11 = tosa.const_shape {values = dense<[1, 4, 4096]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r10 = tosa.reshape %x, %z11 : (tensor<4x4096xf32>, !tosa.shape<3>) -> tensor<1x4x4096xf32>
  %z13 = tosa.const_shape {values = dense<[1, 4096, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r12 = tosa.reshape %w, %z13 : (tensor<4096x4xf32>, !tosa.shape<3>) -> tensor<1x4096x4xf32>
  %z15 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm14 = tosa.matmul %r10, %r12, %z15, %z15 : (tensor<1x4x4096xf32>, tensor<1x4096x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  %z17 = tosa.const_shape {values = dense<[4, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r16 = tosa.reshape %mm14, %z17 : (tensor<1x4x4xf32>, !tosa.shape<2>) -> tensor<4x4xf32>
  return %v9, %r16 : tensor<4x4096xf32>, tensor<4x4xf32>
}

func.func @mean_of_65536_tosa(%x: tensor<2x65536xf32>, %w: tensor<65536x4xf32>) -> (tensor<2x1xf32>, tensor<2x4xf32>) {
  %s1 = "tosa.const"() <{values = dense<100.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %z3 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v2 = tosa.mul %x, %s1, %z3 : (tensor<2x65536xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2x65536xf32>
  %s4 = "tosa.const"() <{values = dense<8.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v5 = tosa.add %v2, %s4 : (tensor<2x65536xf32>, tensor<1x1xf32>) -> tensor<2x65536xf32>
  %v6 = tosa.reduce_sum %v5 {axis = 1 : i32} : (tensor<2x65536xf32>) -> tensor<2x1xf32>
  %s7 = "tosa.const"() <{values = dense<1.52587890625e-05> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v8 = tosa.mul %v6, %s7, %z3 : (tensor<2x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2x1xf32>
  %z10 = tosa.const_shape {values = dense<[1, 2, 65536]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r9 = tosa.reshape %x, %z10 : (tensor<2x65536xf32>, !tosa.shape<3>) -> tensor<1x2x65536xf32>
  %z12 = tosa.const_shape {values = dense<[1, 65536, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r11 = tosa.reshape %w, %z12 : (tensor<65536x4xf32>, !tosa.shape<3>) -> tensor<1x65536x4xf32>
  %z14 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm13 = tosa.matmul %r9, %r11, %z14, %z14 : (tensor<1x2x65536xf32>, tensor<1x65536x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x4xf32>
  %z16 = tosa.const_shape {values = dense<[2, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r15 = tosa.reshape %mm13, %z16 : (tensor<1x2x4xf32>, !tosa.shape<2>) -> tensor<2x4xf32>
  return %v8, %r15 : tensor<2x1xf32>, tensor<2x4xf32>
}

func.func @divides_by_summed_exponentials_tosa(%x: tensor<8x64xf32>, %w: tensor<64x8xf32>) -> (tensor<8x64xf32>, tensor<8x8xf32>) {
  %s1 = "tosa.const"() <{values = dense<60.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %z3 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v2 = tosa.mul %x, %s1, %z3 : (tensor<8x64xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %v4 = tosa.exp %v2 : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %v5 = tosa.reduce_sum %v4 {axis = 1 : i32} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %s6 = "tosa.const"() <{values = dense<1.0e-08> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v7 = tosa.add %v5, %s6 : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %v8 = tosa.reciprocal %v7 : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %v9 = tosa.mul %v4, %v8, %z3 : (tensor<8x64xf32>, tensor<8x1xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %z11 = tosa.const_shape {values = dense<[1, 8, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r10 = tosa.reshape %x, %z11 : (tensor<8x64xf32>, !tosa.shape<3>) -> tensor<1x8x64xf32>
  %z13 = tosa.const_shape {values = dense<[1, 64, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r12 = tosa.reshape %w, %z13 : (tensor<64x8xf32>, !tosa.shape<3>) -> tensor<1x64x8xf32>
  %z15 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm14 = tosa.matmul %r10, %r12, %z15, %z15 : (tensor<1x8x64xf32>, tensor<1x64x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8xf32>
  %z17 = tosa.const_shape {values = dense<[8, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r16 = tosa.reshape %mm14, %z17 : (tensor<1x8x8xf32>, !tosa.shape<2>) -> tensor<8x8xf32>
  return %v9, %r16 : tensor<8x64xf32>, tensor<8x8xf32>
}

func.func @normalises_tosa(%x: tensor<8x64xf32>, %w: tensor<64x8xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x8xf32>) {
  %s1 = "tosa.const"() <{values = dense<2000.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %z3 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v2 = tosa.mul %x, %s1, %z3 : (tensor<8x64xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %s4 = "tosa.const"() <{values = dense<300.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v5 = tosa.add %v2, %s4 : (tensor<8x64xf32>, tensor<1x1xf32>) -> tensor<8x64xf32>
  %v6 = tosa.mul %v5, %v5, %z3 : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %v7 = tosa.reduce_sum %v6 {axis = 1 : i32} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %s8 = "tosa.const"() <{values = dense<1.0e-12> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v9 = tosa.maximum %v7, %s8 : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %v11 = tosa.rsqrt %v9 : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %v12 = tosa.reciprocal %v11 : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %v13 = tosa.reciprocal %v12 : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %v14 = tosa.mul %v5, %v13, %z3 : (tensor<8x64xf32>, tensor<8x1xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %v15 = tosa.reduce_sum %v5 {axis = 1 : i32} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %s16 = "tosa.const"() <{values = dense<0.015625> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v17 = tosa.mul %v15, %s16, %z3 : (tensor<8x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<8x1xf32>
  %v18 = tosa.sub %v5, %v17 : (tensor<8x64xf32>, tensor<8x1xf32>) -> tensor<8x64xf32>
  %v19 = tosa.mul %v18, %v18, %z3 : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %v20 = tosa.reduce_sum %v19 {axis = 1 : i32} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %v21 = tosa.mul %v20, %s16, %z3 : (tensor<8x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<8x1xf32>
  %s22 = "tosa.const"() <{values = dense<1.0e-05> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v23 = tosa.add %v21, %s22 : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %v24 = tosa.rsqrt %v23 : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %v25 = tosa.mul %v18, %v24, %z3 : (tensor<8x64xf32>, tensor<8x1xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %z27 = tosa.const_shape {values = dense<[1, 8, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r26 = tosa.reshape %x, %z27 : (tensor<8x64xf32>, !tosa.shape<3>) -> tensor<1x8x64xf32>
  %z29 = tosa.const_shape {values = dense<[1, 64, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r28 = tosa.reshape %w, %z29 : (tensor<64x8xf32>, !tosa.shape<3>) -> tensor<1x64x8xf32>
  %z31 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm30 = tosa.matmul %r26, %r28, %z31, %z31 : (tensor<1x8x64xf32>, tensor<1x64x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8xf32>
  %z33 = tosa.const_shape {values = dense<[8, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r32 = tosa.reshape %mm30, %z33 : (tensor<1x8x8xf32>, !tosa.shape<2>) -> tensor<8x8xf32>
  return %v14, %v25, %r32 : tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x8xf32>
}

func.func @rms_norm_of_thousands_tosa(%x: tensor<8x64xf32>, %w: tensor<64x8xf32>) -> tensor<8x8xf32> {
  %s1 = "tosa.const"() <{values = dense<20000.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %z3 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v2 = tosa.mul %x, %s1, %z3 : (tensor<8x64xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %v4 = tosa.mul %v2, %v2, %z3 : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %v5 = tosa.reduce_sum %v4 {axis = 1 : i32} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %s6 = "tosa.const"() <{values = dense<0.015625> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v7 = tosa.mul %v5, %s6, %z3 : (tensor<8x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<8x1xf32>
  %s8 = "tosa.const"() <{values = dense<1.0e-05> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v9 = tosa.add %v7, %s8 : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %v10 = tosa.rsqrt %v9 : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %v11 = tosa.mul %v2, %v10, %z3 : (tensor<8x64xf32>, tensor<8x1xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %z13 = tosa.const_shape {values = dense<[1, 8, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r12 = tosa.reshape %v11, %z13 : (tensor<8x64xf32>, !tosa.shape<3>) -> tensor<1x8x64xf32>
  %z15 = tosa.const_shape {values = dense<[1, 64, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r14 = tosa.reshape %w, %z15 : (tensor<64x8xf32>, !tosa.shape<3>) -> tensor<1x64x8xf32>
  %z17 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm16 = tosa.matmul %r12, %r14, %z17, %z17 : (tensor<1x8x64xf32>, tensor<1x64x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8xf32>
  %z19 = tosa.const_shape {values = dense<[8, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r18 = tosa.reshape %mm16, %z19 : (tensor<1x8x8xf32>, !tosa.shape<2>) -> tensor<8x8xf32>
  return %r18 : tensor<8x8xf32>
}

func.func @layer_norm_with_large_mean_tosa(%x: tensor<8x64xf32>, %w: tensor<64x8xf32>) -> (tensor<8x64xf32>, tensor<8x8xf32>) {
  %s1 = "tosa.const"() <{values = dense<10.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %z3 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v2 = tosa.mul %x, %s1, %z3 : (tensor<8x64xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %s4 = "tosa.const"() <{values = dense<500.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v5 = tosa.add %v2, %s4 : (tensor<8x64xf32>, tensor<1x1xf32>) -> tensor<8x64xf32>
  %v6 = tosa.reduce_sum %v5 {axis = 1 : i32} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %s7 = "tosa.const"() <{values = dense<0.015625> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v8 = tosa.mul %v6, %s7, %z3 : (tensor<8x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<8x1xf32>
  %v9 = tosa.sub %v5, %v8 : (tensor<8x64xf32>, tensor<8x1xf32>) -> tensor<8x64xf32>
  %v10 = tosa.mul %v9, %v9, %z3 : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %v11 = tosa.reduce_sum %v10 {axis = 1 : i32} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %v12 = tosa.mul %v11, %s7, %z3 : (tensor<8x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<8x1xf32>
  %s13 = "tosa.const"() <{values = dense<1.0e-05> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v14 = tosa.add %v12, %s13 : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %v15 = tosa.rsqrt %v14 : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %v16 = tosa.mul %v9, %v15, %z3 : (tensor<8x64xf32>, tensor<8x1xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %z18 = tosa.const_shape {values = dense<[1, 8, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r17 = tosa.reshape %x, %z18 : (tensor<8x64xf32>, !tosa.shape<3>) -> tensor<1x8x64xf32>
  %z20 = tosa.const_shape {values = dense<[1, 64, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r19 = tosa.reshape %w, %z20 : (tensor<64x8xf32>, !tosa.shape<3>) -> tensor<1x64x8xf32>
  %z22 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm21 = tosa.matmul %r17, %r19, %z22, %z22 : (tensor<1x8x64xf32>, tensor<1x64x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8xf32>
  %z24 = tosa.const_shape {values = dense<[8, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r23 = tosa.reshape %mm21, %z24 : (tensor<1x8x8xf32>, !tosa.shape<2>) -> tensor<8x8xf32>
  return %v16, %r23 : tensor<8x64xf32>, tensor<8x8xf32>
}

func.func @cosine_of_near_vectors_tosa(%x: tensor<8x64xf32>, %w: tensor<64x8xf32>) -> (tensor<8x1xf32>, tensor<8x8xf32>) {
  %s1 = "tosa.const"() <{values = dense<1.0001> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %z3 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v2 = tosa.mul %x, %s1, %z3 : (tensor<8x64xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %v4 = tosa.mul %x, %v2, %z3 : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %v5 = tosa.reduce_sum %v4 {axis = 1 : i32} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %v6 = tosa.mul %x, %x, %z3 : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %v7 = tosa.reduce_sum %v6 {axis = 1 : i32} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %v8 = tosa.mul %v2, %v2, %z3 : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %v9 = tosa.reduce_sum %v8 {axis = 1 : i32} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %v10 = tosa.mul %v7, %v9, %z3 : (tensor<8x1xf32>, tensor<8x1xf32>, tensor<1xi8>) -> tensor<8x1xf32>
  %v12 = tosa.rsqrt %v10 : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %v13 = tosa.reciprocal %v12 : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %v14 = tosa.reciprocal %v13 : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %v15 = tosa.mul %v5, %v14, %z3 : (tensor<8x1xf32>, tensor<8x1xf32>, tensor<1xi8>) -> tensor<8x1xf32>
  %s16 = "tosa.const"() <{values = dense<0.5> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v17 = tosa.mul %v15, %s16, %z3 : (tensor<8x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<8x1xf32>
  %s18 = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v19 = tosa.sub %s18, %v17 : (tensor<1x1xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
  %z21 = tosa.const_shape {values = dense<[1, 8, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r20 = tosa.reshape %x, %z21 : (tensor<8x64xf32>, !tosa.shape<3>) -> tensor<1x8x64xf32>
  %z23 = tosa.const_shape {values = dense<[1, 64, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r22 = tosa.reshape %w, %z23 : (tensor<64x8xf32>, !tosa.shape<3>) -> tensor<1x64x8xf32>
  %z25 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm24 = tosa.matmul %r20, %r22, %z25, %z25 : (tensor<1x8x64xf32>, tensor<1x64x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8xf32>
  %z27 = tosa.const_shape {values = dense<[8, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r26 = tosa.reshape %mm24, %z27 : (tensor<1x8x8xf32>, !tosa.shape<2>) -> tensor<8x8xf32>
  return %v19, %r26 : tensor<8x1xf32>, tensor<8x8xf32>
}

func.func @attention_with_key_bias_tosa(%query: tensor<16x32xf32>, %key: tensor<32x16xf32>, %v: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %z2 = tosa.const_shape {values = dense<[1, 16, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r1 = tosa.reshape %query, %z2 : (tensor<16x32xf32>, !tosa.shape<3>) -> tensor<1x16x32xf32>
  %z4 = tosa.const_shape {values = dense<[1, 32, 16]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r3 = tosa.reshape %key, %z4 : (tensor<32x16xf32>, !tosa.shape<3>) -> tensor<1x32x16xf32>
  %z6 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm5 = tosa.matmul %r1, %r3, %z6, %z6 : (tensor<1x16x32xf32>, tensor<1x32x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x16xf32>
  %z8 = tosa.const_shape {values = dense<[16, 16]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r7 = tosa.reshape %mm5, %z8 : (tensor<1x16x16xf32>, !tosa.shape<2>) -> tensor<16x16xf32>
  %s9 = "tosa.const"() <{values = dense<120.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v10 = tosa.add %r7, %s9 : (tensor<16x16xf32>, tensor<1x1xf32>) -> tensor<16x16xf32>
  %v11 = tosa.reduce_max %v10 {axis = 1 : i32} : (tensor<16x16xf32>) -> tensor<16x1xf32>
  %v12 = tosa.sub %v10, %v11 : (tensor<16x16xf32>, tensor<16x1xf32>) -> tensor<16x16xf32>
  %v13 = tosa.exp %v12 : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %v14 = tosa.reduce_sum %v13 {axis = 1 : i32} : (tensor<16x16xf32>) -> tensor<16x1xf32>
  %v15 = tosa.reciprocal %v14 : (tensor<16x1xf32>) -> tensor<16x1xf32>
  %z17 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v16 = tosa.mul %v13, %v15, %z17 : (tensor<16x16xf32>, tensor<16x1xf32>, tensor<1xi8>) -> tensor<16x16xf32>
  %z19 = tosa.const_shape {values = dense<[1, 16, 16]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r18 = tosa.reshape %v16, %z19 : (tensor<16x16xf32>, !tosa.shape<3>) -> tensor<1x16x16xf32>
  %z21 = tosa.const_shape {values = dense<[1, 16, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r20 = tosa.reshape %v, %z21 : (tensor<16x8xf32>, !tosa.shape<3>) -> tensor<1x16x8xf32>
  %mm22 = tosa.matmul %r18, %r20, %z6, %z6 : (tensor<1x16x16xf32>, tensor<1x16x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x8xf32>
  %z24 = tosa.const_shape {values = dense<[16, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r23 = tosa.reshape %mm22, %z24 : (tensor<1x16x8xf32>, !tosa.shape<2>) -> tensor<16x8xf32>
  return %r23 : tensor<16x8xf32>
}

func.func @logsumexp_tosa(%x: tensor<8x64xf32>, %w: tensor<64x8xf32>) -> (tensor<8x1xf32>, tensor<8x8xf32>) {
  %s1 = "tosa.const"() <{values = dense<400.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %z3 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v2 = tosa.mul %x, %s1, %z3 : (tensor<8x64xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %v4 = tosa.reduce_max %v2 {axis = 1 : i32} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %v5 = tosa.sub %v2, %v4 : (tensor<8x64xf32>, tensor<8x1xf32>) -> tensor<8x64xf32>
  %v6 = tosa.exp %v5 : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %v7 = tosa.reduce_sum %v6 {axis = 1 : i32} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %v8 = tosa.log %v7 : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %v9 = tosa.add %v8, %v4 : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
  %z11 = tosa.const_shape {values = dense<[1, 8, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r10 = tosa.reshape %x, %z11 : (tensor<8x64xf32>, !tosa.shape<3>) -> tensor<1x8x64xf32>
  %z13 = tosa.const_shape {values = dense<[1, 64, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r12 = tosa.reshape %w, %z13 : (tensor<64x8xf32>, !tosa.shape<3>) -> tensor<1x64x8xf32>
  %z15 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm14 = tosa.matmul %r10, %r12, %z15, %z15 : (tensor<1x8x64xf32>, tensor<1x64x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8xf32>
  %z17 = tosa.const_shape {values = dense<[8, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r16 = tosa.reshape %mm14, %z17 : (tensor<1x8x8xf32>, !tosa.shape<2>) -> tensor<8x8xf32>
  return %v9, %r16 : tensor<8x1xf32>, tensor<8x8xf32>
}

func.func @long_contraction_tosa(%x: tensor<2x50001xf32>, %w: tensor<50001x4xf32>) -> tensor<2x4xf32> {
  %z2 = tosa.const_shape {values = dense<[1, 2, 50001]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r1 = tosa.reshape %x, %z2 : (tensor<2x50001xf32>, !tosa.shape<3>) -> tensor<1x2x50001xf32>
  %z4 = tosa.const_shape {values = dense<[1, 50001, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r3 = tosa.reshape %w, %z4 : (tensor<50001x4xf32>, !tosa.shape<3>) -> tensor<1x50001x4xf32>
  %z6 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm5 = tosa.matmul %r1, %r3, %z6, %z6 : (tensor<1x2x50001xf32>, tensor<1x50001x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x4xf32>
  %z8 = tosa.const_shape {values = dense<[2, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r7 = tosa.reshape %mm5, %z8 : (tensor<1x2x4xf32>, !tosa.shape<2>) -> tensor<2x4xf32>
  return %r7 : tensor<2x4xf32>
}

func.func @log_of_small_probabilities_tosa(%x: tensor<8x64xf32>, %w: tensor<64x8xf32>) -> (tensor<8x64xf32>, tensor<8x8xf32>) {
  %v1 = tosa.abs %x : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %s2 = "tosa.const"() <{values = dense<1.0e-05> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %z4 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v3 = tosa.mul %v1, %s2, %z4 : (tensor<8x64xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %s5 = "tosa.const"() <{values = dense<1.0e-06> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v6 = tosa.add %v3, %s5 : (tensor<8x64xf32>, tensor<1x1xf32>) -> tensor<8x64xf32>
  %v7 = tosa.log %v6 : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %z9 = tosa.const_shape {values = dense<[1, 8, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r8 = tosa.reshape %x, %z9 : (tensor<8x64xf32>, !tosa.shape<3>) -> tensor<1x8x64xf32>
  %z11 = tosa.const_shape {values = dense<[1, 64, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r10 = tosa.reshape %w, %z11 : (tensor<64x8xf32>, !tosa.shape<3>) -> tensor<1x64x8xf32>
  %z13 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm12 = tosa.matmul %r8, %r10, %z13, %z13 : (tensor<1x8x64xf32>, tensor<1x64x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8xf32>
  %z15 = tosa.const_shape {values = dense<[8, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r14 = tosa.reshape %mm12, %z15 : (tensor<1x8x8xf32>, !tosa.shape<2>) -> tensor<8x8xf32>
  return %v7, %r14 : tensor<8x64xf32>, tensor<8x8xf32>
}

func.func @running_sum_tosa(%x: tensor<2x256xf32>, %w: tensor<256x4xf32>, %t: tensor<256x256xf32>) -> (tensor<2x1xf32>, tensor<2x4xf32>) {
  %s1 = "tosa.const"() <{values = dense<16.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %z3 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v2 = tosa.mul %x, %s1, %z3 : (tensor<2x256xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2x256xf32>
  %s4 = "tosa.const"() <{values = dense<8.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v5 = tosa.add %v2, %s4 : (tensor<2x256xf32>, tensor<1x1xf32>) -> tensor<2x256xf32>
  %s6 = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v7 = tosa.mul %v5, %s6, %z3 : (tensor<2x256xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2x256xf32>
  %v8 = tosa.reduce_sum %v7 {axis = 1 : i32} : (tensor<2x256xf32>) -> tensor<2x1xf32>
  %z10 = tosa.const_shape {values = dense<[1, 2, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r9 = tosa.reshape %x, %z10 : (tensor<2x256xf32>, !tosa.shape<3>) -> tensor<1x2x256xf32>
  %z12 = tosa.const_shape {values = dense<[1, 256, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r11 = tosa.reshape %w, %z12 : (tensor<256x4xf32>, !tosa.shape<3>) -> tensor<1x256x4xf32>
  %z14 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm13 = tosa.matmul %r9, %r11, %z14, %z14 : (tensor<1x2x256xf32>, tensor<1x256x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x4xf32>
  %z16 = tosa.const_shape {values = dense<[2, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r15 = tosa.reshape %mm13, %z16 : (tensor<1x2x4xf32>, !tosa.shape<2>) -> tensor<2x4xf32>
  return %v8, %r15 : tensor<2x1xf32>, tensor<2x4xf32>
}
