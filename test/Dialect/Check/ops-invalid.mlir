// RUN: mp-opt %s --split-input-file --verify-diagnostics

func.func @close_c1_no_limit(%x: tensor<4xf32>) {
  // expected-error @below {{expected at least one limit: ulp, rel or abs}}
  check.expect_close %x, %x : tensor<4xf32>
  return
}

// -----

func.func @close_c1_negative_ulp(%x: tensor<4xf32>) {
  // expected-error @below {{expected a limit that is not negative, found ulp -1}}
  check.expect_close %x, %x ulp -1 : tensor<4xf32>
  return
}

// -----

func.func @close_c1_negative_rel(%x: tensor<4xf32>) {
  // expected-error @below {{expected a limit that is not negative, found rel -5.0}}
  check.expect_close %x, %x rel -5.0e-1 : tensor<4xf32>
  return
}

// -----

func.func @close_c1_twice(%x: tensor<4xf32>) {
  // expected-error @below {{`ulp` clause can appear at most once}}
  check.expect_close %x, %x ulp 1 ulp 2 : tensor<4xf32>
  return
}

// -----

func.func @close_c2_too_wide(%x: tensor<4xf80>) {
  // expected-error @below {{expected elements of at most 64 bits, found 'f80'}}
  check.expect_close %x, %x ulp 1 : tensor<4xf80>
  return
}

// -----

func.func @close_of_integers(%x: tensor<4xi32>) {
  // expected-error @below {{must be float, or tensor or buffer of floats, but got 'tensor<4xi32>'}}
  check.expect_close %x, %x ulp 1 : tensor<4xi32>
  return
}

// -----

func.func @finite_c1_too_wide(%x: f128) {
  // expected-error @below {{expected elements of at most 64 bits, found 'f128'}}
  check.expect_finite %x : f128
  return
}

// -----

func.func @bits_c1_too_wide(%x: i65) {
  // expected-error @below {{expected elements of at most 64 bits, found 'i65'}}
  check.expect_bits %x, %x : i65
  return
}
