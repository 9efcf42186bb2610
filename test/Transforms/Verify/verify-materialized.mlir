// RUN: mp-opt %s --split-input-file --verify-diagnostics --mp-verify-materialized

func.func @not_there_yet(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mp.phase = "assigned"} {
  %0 = math.exp %x {mp.precision = #mp.precision<in = [f32], compute = f32, out = [f32], by = class "R">} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @keeps_a_decision(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mp.phase = "materialized"} {
  // expected-error @+1 {{still has 'mp.precision', which mp-insert-casts takes away}}
  %0 = math.exp %x {mp.precision = #mp.precision<in = [f32], compute = f32, out = [f32], by = class "R">} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @joins_f64_and_bf16(%x: tensor<4xf64>) -> tensor<4xbf16> attributes {mp.phase = "materialized"} {
  // expected-error @+1 {{was inserted between 'f64' and 'bf16'; f64 stays f64, it is never joined to a narrow format}}
  %0 = mp.cast ieee %x {inserted} : tensor<4xf64> to tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

func.func @users_may_join_them(%x: tensor<4xf64>) -> tensor<4xbf16> attributes {mp.phase = "materialized"} {
  %0 = mp.cast ieee %x : tensor<4xf64> to tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

func.func @changes_nothing(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mp.phase = "materialized"} {
  // expected-error @+1 {{was inserted but converts 'f32' to itself}}
  %0 = mp.cast %x {inserted} : tensor<4xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @accumulates_narrow(%x: tensor<4x4xf32>, %init: tensor<4x4xbf16>) -> tensor<4x4xbf16> attributes {mp.phase = "materialized"} {
  %0 = mp.cast ieee %x {inserted} : tensor<4x4xf32> to tensor<4x4xbf16>
  // expected-error @+1 {{was narrowed and accumulates in 'bf16'; contractions accumulate in f32}}
  %1 = linalg.matmul ins(%0, %0 : tensor<4x4xbf16>, tensor<4x4xbf16>) outs(%init : tensor<4x4xbf16>) -> tensor<4x4xbf16>
  return %1 : tensor<4x4xbf16>
}

// -----

func.func @keeps_a_split(%a: tensor<4x4xf32>, %z: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {mp.phase = "materialized"} {
  // expected-error @+1 {{still has 'mp.split', which mp-split-contractions takes away}}
  %0 = linalg.matmul {mp.split = "bf16x3"} ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @keeps_a_wish_for_scales(%a: tensor<4x4xf32>, %z: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {mp.phase = "materialized"} {
  // expected-error @+1 {{still has 'mp.scaled', which mp-scale-contractions takes away}}
  %0 = linalg.matmul {mp.scaled = "current"} ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @returns_tf32(%x: tensor<4xtf32>) -> tensor<4xtf32> attributes {mp.phase = "materialized"} {
  // expected-error @+1 {{returns 'tensor<4xtf32>'; tf32 is not stored, see 'mp.round tf32'}}
  %0 = arith.addf %x, %x : tensor<4xtf32>
  return %0 : tensor<4xtf32>
}
