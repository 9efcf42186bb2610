// RUN: mp-opt %s --split-input-file --verify-diagnostics

func.func @probe_c1(%x: tensor<4xf64>) -> tensor<11xf64> {
  // expected-error @below {{(C1) expects a tensor of f32 or narrower floats, found 'tensor<4xf64>'}}
  %0 = mp.probe %x : tensor<4xf64> -> tensor<11xf64>
  return %0 : tensor<11xf64>
}

// -----

func.func @probe_c2(%x: tensor<4xf32>) -> tensor<17xf64> {
  // expected-error @below {{(C2) expects formats narrower than f32, with sign and zero, each once, found [f16, f16]}}
  %0 = mp.probe %x formats [f16, f16] : tensor<4xf32> -> tensor<17xf64>
  return %0 : tensor<17xf64>
}

// -----

func.func @probe_c2_wide(%x: tensor<4xf32>) -> tensor<14xf64> {
  // expected-error @below {{(C2) expects formats narrower than f32, with sign and zero, each once, found [f32]}}
  %0 = mp.probe %x formats [f32] : tensor<4xf32> -> tensor<14xf64>
  return %0 : tensor<14xf64>
}

// -----

func.func @probe_c3(%x: tensor<4xf32>) -> tensor<11xf64> {
  // expected-error @below {{(C3) expects a record of 14 f64, found 'tensor<11xf64>'}}
  %0 = mp.probe %x formats [f16] : tensor<4xf32> -> tensor<11xf64>
  return %0 : tensor<11xf64>
}

// -----

// expected-error @below {{expects a dictionary with name, of, formats, used and every in 'mp.probe', found "w"}}
func.func @probe_attribute(%x: tensor<1x12xf64> {mp.probe = "w"}) {
  return
}
