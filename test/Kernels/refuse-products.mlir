// Products whose epilogue no kernel takes say what it is about it.
// RUN: mp-opt %s --mp-refuse-dispatches --remarks-filter=".*" 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: sed "s/schedule = <matmul>//" %s | mp-opt --mp-refuse-dispatches --remarks-filter=".*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BARE
// RUN: sed "s/schedule = <matmul>/schedule = <map>/" %s | mp-opt --mp-refuse-dispatches --remarks-filter=".*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MAP

// BARE: it has a product and no schedule, expected schedule = <matmul>
// MAP: its schedule is of family 'map', expected 'matmul', or 'attention' for two products

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// CHECK-LABEL: func.func @has_two_contractions
// CHECK-NOT: mpk.dispatch
// REMARK: no family of kernels takes this dispatch: {{.*}}it has two contractions{{.*}}it takes the plain route
func.func @has_two_contractions(%i0: tensor<64x64xbf16>, %i1: tensor<64x64xbf16>, %o: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = mpk.dispatch ins(%i0, %i1 : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%o : tensor<64x64xf32>) schedule = <matmul> -> tensor<64x64xf32> {
  ^bb0(%x0: tensor<64x64xbf16>, %x1: tensor<64x64xbf16>, %y: tensor<64x64xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16"}
        ins(%x0, %x1 : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%z : tensor<64x64xf32>) {
    ^bb0(%p: bf16, %q: bf16, %s: f32):
      %wp = arith.extf %p : bf16 to f32
      %wq = arith.extf %q : bf16 to f32
      %m = arith.mulf %wp, %wq : f32
      %r = arith.addf %s, %m : f32
      linalg.yield %r : f32
    } -> tensor<64x64xf32>
    %2 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16"}
        ins(%x0, %x1 : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%1 : tensor<64x64xf32>) {
    ^bb0(%p: bf16, %q: bf16, %s: f32):
      %wp = arith.extf %p : bf16 to f32
      %wq = arith.extf %q : bf16 to f32
      %m = arith.mulf %wp, %wq : f32
      %r = arith.addf %s, %m : f32
      linalg.yield %r : f32
    } -> tensor<64x64xf32>
    mpk.yield %2 : tensor<64x64xf32>
  }
  return %0 : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @reads_in_two_ways
// CHECK-NOT: mpk.dispatch
// REMARK: no family of kernels takes this dispatch: {{.*}}a tensor is read in two ways{{.*}}it takes the plain route
func.func @reads_in_two_ways(%i0: tensor<64x64xbf16>, %i1: tensor<64x64xbf16>, %i2: tensor<64x64xf32>, %o: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = mpk.dispatch ins(%i0, %i1, %i2 : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) schedule = <matmul> -> tensor<64x64xf32> {
  ^bb0(%x0: tensor<64x64xbf16>, %x1: tensor<64x64xbf16>, %x2: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16"}
        ins(%x0, %x1 : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%z : tensor<64x64xf32>) {
    ^bb0(%p: bf16, %q: bf16, %s: f32):
      %wp = arith.extf %p : bf16 to f32
      %wq = arith.extf %q : bf16 to f32
      %m = arith.mulf %wp, %wq : f32
      %r = arith.addf %s, %m : f32
      linalg.yield %r : f32
    } -> tensor<64x64xf32>
    %2 = linalg.generic {indexing_maps = [#id, #id, affine_map<(m, n) -> (n, m)>, #id], iterator_types = ["parallel", "parallel"]}
        ins(%1, %x2, %x2 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) outs(%y : tensor<64x64xf32>) {
    ^bb0(%v0: f32, %v1: f32, %v2: f32, %w: f32):
      %r = arith.addf %v0, %v1 : f32
      %t = arith.addf %r, %v2 : f32
      linalg.yield %t : f32
    } -> tensor<64x64xf32>
    mpk.yield %2 : tensor<64x64xf32>
  }
  return %0 : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @gathers_without_index
// CHECK-NOT: mpk.dispatch
// REMARK: no family of kernels takes this dispatch: {{.*}}its elementwise part gathers elements{{.*}}it takes the plain route
func.func @gathers_without_index(%i0: tensor<64x64xbf16>, %i1: tensor<64x64xbf16>, %i2: tensor<64x64xf32>, %o: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = mpk.dispatch ins(%i0, %i1, %i2 : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) schedule = <matmul> -> tensor<64x64xf32> {
  ^bb0(%x0: tensor<64x64xbf16>, %x1: tensor<64x64xbf16>, %x2: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16"}
        ins(%x0, %x1 : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%z : tensor<64x64xf32>) {
    ^bb0(%p: bf16, %q: bf16, %s: f32):
      %wp = arith.extf %p : bf16 to f32
      %wq = arith.extf %q : bf16 to f32
      %m = arith.mulf %wp, %wq : f32
      %r = arith.addf %s, %m : f32
      linalg.yield %r : f32
    } -> tensor<64x64xf32>
    %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%1 : tensor<64x64xf32>) outs(%y : tensor<64x64xf32>) {
    ^bb0(%v0: f32, %w: f32):
      %i = arith.fptosi %v0 : f32 to i64
      %j = arith.index_cast %i : i64 to index
      %g = tensor.extract %x2[%j, %j] : tensor<64x64xf32>
      %r = arith.addf %v0, %g : f32
      linalg.yield %r : f32
    } -> tensor<64x64xf32>
    mpk.yield %2 : tensor<64x64xf32>
  }
  return %0 : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @reads_sums_of_loops
// CHECK-NOT: mpk.dispatch
// REMARK: no family of kernels takes this dispatch: {{.*}}a tensor is not read by plain loops{{.*}}it takes the plain route
func.func @reads_sums_of_loops(%i0: tensor<64x64xbf16>, %i1: tensor<64x64xbf16>, %i2: tensor<127xf32>, %o: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = mpk.dispatch ins(%i0, %i1, %i2 : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<127xf32>) outs(%o : tensor<64x64xf32>) schedule = <matmul> -> tensor<64x64xf32> {
  ^bb0(%x0: tensor<64x64xbf16>, %x1: tensor<64x64xbf16>, %x2: tensor<127xf32>, %y: tensor<64x64xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16"}
        ins(%x0, %x1 : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%z : tensor<64x64xf32>) {
    ^bb0(%p: bf16, %q: bf16, %s: f32):
      %wp = arith.extf %p : bf16 to f32
      %wq = arith.extf %q : bf16 to f32
      %m = arith.mulf %wp, %wq : f32
      %r = arith.addf %s, %m : f32
      linalg.yield %r : f32
    } -> tensor<64x64xf32>
    %2 = linalg.generic {indexing_maps = [#id, affine_map<(m, n) -> (m + n)>, #id], iterator_types = ["parallel", "parallel"]}
        ins(%1, %x2 : tensor<64x64xf32>, tensor<127xf32>) outs(%y : tensor<64x64xf32>) {
    ^bb0(%v0: f32, %v1: f32, %w: f32):
      %r = arith.addf %v0, %v1 : f32
      linalg.yield %r : f32
    } -> tensor<64x64xf32>
    mpk.yield %2 : tensor<64x64xf32>
  }
  return %0 : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @splits_a_dimension
// CHECK-NOT: mpk.dispatch
// REMARK: no family of kernels takes this dispatch: {{.*}}a reshape in it splits a dimension{{.*}}it takes the plain route
func.func @splits_a_dimension(%i0: tensor<64x64xbf16>, %i1: tensor<64x64xbf16>, %o: tensor<32x2x64xf32>) -> tensor<32x2x64xf32> {
  %0 = mpk.dispatch ins(%i0, %i1 : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%o : tensor<32x2x64xf32>) schedule = <matmul> -> tensor<32x2x64xf32> {
  ^bb0(%x0: tensor<64x64xbf16>, %x1: tensor<64x64xbf16>, %y: tensor<32x2x64xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16"}
        ins(%x0, %x1 : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%z : tensor<64x64xf32>) {
    ^bb0(%p: bf16, %q: bf16, %s: f32):
      %wp = arith.extf %p : bf16 to f32
      %wq = arith.extf %q : bf16 to f32
      %m = arith.mulf %wp, %wq : f32
      %r = arith.addf %s, %m : f32
      linalg.yield %r : f32
    } -> tensor<64x64xf32>
    %2 = tensor.expand_shape %1 [[0, 1], [2]] output_shape [32, 2, 64] : tensor<64x64xf32> into tensor<32x2x64xf32>
    %3 = linalg.exp ins(%2 : tensor<32x2x64xf32>) outs(%y : tensor<32x2x64xf32>) -> tensor<32x2x64xf32>
    mpk.yield %3 : tensor<32x2x64xf32>
  }
  return %0 : tensor<32x2x64xf32>
}
