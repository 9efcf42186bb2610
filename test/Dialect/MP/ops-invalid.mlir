// RUN: mp-opt %s -split-input-file -verify-diagnostics

func.func @c1_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{all non-scalar operands/results must have the same shape and base type}}
  %0 = mp.cast ieee %x : tensor<4xf32> to tensor<5xbf16>
  return
}

// -----

func.func @c1_dynamic(%x: tensor<4xf32>) {
  // expected-error @+1 {{(C1) expects source and result of one shape and encoding, found 'tensor<4xf32>' and 'tensor<?xbf16>'}}
  %0 = mp.cast ieee %x : tensor<4xf32> to tensor<?xbf16>
  return
}

// -----

func.func @c2_missing(%x: tensor<4xf32>) {
  // expected-error @+1 {{(C2) narrows 'f32' to 'bf16' and so expects an overflow rule, 'ieee' or 'saturate'}}
  %0 = mp.cast %x : tensor<4xf32> to tensor<4xbf16>
  return
}

// -----

func.func @c2_superfluous(%x: tensor<4xbf16>) {
  // expected-error @+1 {{(C2) has an overflow rule, but 'f32' holds every value of 'bf16'}}
  %0 = mp.cast saturate %x : tensor<4xbf16> to tensor<4xf32>
  return
}

// -----

func.func @c2_neither_holds_the_other(%x: f16) {
  // expected-error @+1 {{(C2) narrows 'f16' to 'bf16'}}
  %0 = mp.cast %x : f16 to bf16
  return
}

// -----

func.func @c3_no_bits(%x: tensor<4xf32>) {
  // expected-error @+1 {{(C3) expects random bits exactly with rounding 'sr', found none with rounding 'sr'}}
  %0 = mp.cast sr ieee %x : tensor<4xf32> to tensor<4xbf16>
  return
}

// -----

func.func @c3_bits_without_sr(%x: tensor<4xf32>, %b: tensor<4xi32>) {
  // expected-error @+1 {{(C3) expects random bits exactly with rounding 'sr', found bits with rounding 'rz'}}
  %0 = mp.cast rz ieee %x, %b : tensor<4xf32> to tensor<4xbf16>
  return
}

// -----

func.func @c4_rounding(%x: tensor<4xbf16>) {
  // expected-error @+1 {{(C4) has a rounding, but 'f32' holds every value of 'bf16'}}
  %0 = mp.cast rz %x : tensor<4xbf16> to tensor<4xf32>
  return
}

// -----

func.func @c5_tf32(%x: tensor<4xf32>) {
  // expected-error @+1 {{(C5) does not convert from or to tf32, which is not stored: use 'mp.round tf32'}}
  %0 = mp.cast ieee %x : tensor<4xf32> to tensor<4xtf32>
  return
}

// -----

func.func @unknown_rule(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected [rne|rna|rz|ru|rd|sr] [ieee|saturate], found 'clamp'}}
  %0 = mp.cast clamp %x : tensor<4xf32> to tensor<4xbf16>
  return
}

// -----

func.func @round_c1(%x: tensor<4xbf16>) {
  // expected-error @+1 {{(C1) expects a format whose values 'bf16' holds, found 'f16'}}
  %0 = mp.round f16 %x : tensor<4xbf16>
  return
}

// -----

func.func @precision_of_wrong_arity(%x: f32) {
  // expected-error @+1 {{has 1 operands, but 'mp.precision' speaks of 2}}
  %0 = arith.negf %x {mp.precision = #mp.precision<in = [f32, f32], out = [f32], by = class "E">} : f32
  return
}

// -----

// expected-error @+1 {{expected a float format or '_' as storage, found 'tf32' (a way to compute; its storage is f32)}}
#p = #mp.precision<in = [tf32], out = [f32], by = class "T">
func.func private @f() attributes {x = #p}

// -----

// expected-error @+1 {{expected one of pin, policy, range, class, cost, found 'mood'}}
#p = #mp.precision<in = [], out = [f32], by = mood "T">

// -----

// expected-error @+1 {{expects a storage format in 'mp.pin' of a signature, found tf32}}
func.func private @pin_of_argument(f32 {mp.pin = tf32})

// -----

func.func @pin_of_no_float(%x: f32) {
  // expected-error @+1 {{expects a float type in 'mp.pin', found i32}}
  %0 = arith.negf %x {mp.pin = i32} : f32
  return
}

// -----

// expected-error @+1 {{expects 'mp.range' to be [lo, hi], two floats of one type with lo <= hi}}
func.func private @range_upside_down(f32 {mp.range = [1.0, -1.0]})

// -----

// expected-error @+1 {{has unknown result attribute 'mp.rnage'; known are mp.pin, mp.storage}}
func.func private @unknown_on_a_result() -> (f32 {mp.rnage = [-1.0, 1.0]})

// -----

// expected-error @+1 {{expects a storage format in 'mp.storage', found 3 : i64}}
func.func private @no_format() -> (f32 {mp.storage = 3})

// -----

// expected-error @+1 {{expects a storage format in 'mp.pin' of a signature, found tf32}}
func.func private @no_storage() -> (f32 {mp.pin = tf32})

// -----

// expected-error @+1 {{has unknown argument attribute 'mp.rnage'; known are mp.pin, mp.range, mp.role, mp.state, mp.dim, mp.storage}}
func.func private @misspelt(f32 {mp.rnage = [1.0, 2.0]})

// -----

func.func @decision_without_a_reason(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a reason after 'by'}}
  %0 = arith.addf %x, %x {mp.precision = #mp.precision<in = [bf16, bf16], compute = bf16, acc = f32, out = [f32], by = class "">} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @decision_of_another_kind(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expects #mp.precision in 'mp.precision', found "bf16"}}
  %0 = arith.addf %x, %x {mp.precision = "bf16"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @state_of_an_op(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has 'mp.state', which belongs on a function argument}}
  %0 = arith.addf %x, %x {mp.state = 0 : i64} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{expects a string in 'mp.role', found 3 : i64}}
func.func @role_of_another_kind(%x: tensor<4xf32> {mp.role = 3 : i64}) {
  return
}

// -----

// expected-error @+1 {{expects the index of a result in 'mp.state', found "w"}}
func.func @state_of_another_kind(%x: tensor<4xf32> {mp.state = "w"}) {
  return
}

// -----

// expected-error @+1 {{expects array<i64: ...> in 'mp.dim', found 7 : i64}}
func.func @sizes_of_another_kind(%x: tensor<?xf32> {mp.dim = 7 : i64}) {
  return
}
