// RUN: mp-opt %s -split-input-file -verify-diagnostics

func.func @fake_quantize_c1_sixteen_bits(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  // expected-error @below {{(C1) expects iN or uiN with N from 2 to 8, or a float of at most 8 bits, found 'i16'}}
  %0 = mp.fake_quantize %x by %s to i16 : tensor<4xf32>, tensor<f32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @fake_quantize_c1_half(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  // expected-error @below {{(C1) expects iN or uiN with N from 2 to 8, or a float of at most 8 bits, found 'f16'}}
  %0 = mp.fake_quantize %x by %s to f16 : tensor<4xf32>, tensor<f32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @fake_quantize_c2_steps_beside(%x: tensor<4x6xf32>, %s: tensor<4x4xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{(C2) expects steps of rank 0, or of rank 2 with 1, the same size or a divisor of it}}
  %0 = mp.fake_quantize %x by %s to i4 : tensor<4x6xf32>, tensor<4x4xf32> to tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @fake_quantize_c3_zero_point_of_a_float(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  // expected-error @below {{(C3) expects no zero point with 'f8E4M3FN', found one}}
  %0 = mp.fake_quantize %x by %s zero %s : tensor<f32> to f8E4M3FN : tensor<4xf32>, tensor<f32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @fake_quantize_c3_zero_points_of_another_shape(%x: tensor<4xf32>, %s: tensor<f32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{(C3) expects zero points of type 'tensor<f32>', found 'tensor<4xf32>'}}
  %0 = mp.fake_quantize %x by %s zero %z : tensor<4xf32> to i4 : tensor<4xf32>, tensor<f32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @fake_quantize_c4_codes_that_do_not_fit(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xi8> {
  // expected-error @below {{(C4) expects a result of f32, or what holds every one of the 'codes' of 'ui8'}}
  %0 = mp.fake_quantize codes %x by %s to ui8 : tensor<4xf32>, tensor<f32> to tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @fake_quantize_c4_values_are_no_integers(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xi8> {
  // expected-error @below {{(C4) expects a result of f32}}
  %0 = mp.fake_quantize %x by %s to i4 : tensor<4xf32>, tensor<f32> to tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @straight_through_c2(%g: tensor<4xf32>, %x: tensor<4xf32>, %s: tensor<3xf32>) -> tensor<4xf32> {
  // expected-error @below {{(C2) expects steps of rank 0}}
  %0 = mp.straight_through %g at %x by %s to i4 : tensor<4xf32>, tensor<3xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @step_gradient_c4(%g: tensor<?xf32>, %x: tensor<?xf32>, %s: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{(C4) expects a static shape, found 'tensor<?xf32>'}}
  %0 = mp.step_gradient %g at %x by %s to i4 : tensor<?xf32>, tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @prune_c1(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @below {{(C1) expects a static multiple of 4 elements along axis 0, found 'tensor<6x4xf32>'}}
  %0 = mp.prune %x keep 2 of 4 axis 0 : tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

func.func @prune_c2(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{(C2) expects to keep from 1 to 3 of 4, found 4}}
  %0 = mp.prune %x keep 4 of 4 axis 0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @prune_c3(%x: tensor<4x8xf32>, %n: tensor<4xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{(C3) expects scores of type tensor<8xf32>, found 'tensor<4xf32>'}}
  %0 = mp.prune %x scored %n : tensor<4xf32> keep 2 of 4 axis 1 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
