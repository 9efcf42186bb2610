// RUN: mp-opt %s --split-input-file --verify-diagnostics

func.func @once(%s: tensor<4xi64>, %x: f64) -> tensor<4xi64> {
  // expected-error @+1 {{(C1) expects each version once, found "a" twice}}
  %0 = mp.select_version %s by(%x) signals ["x"] versions ["a", "a"] otherwise 0 hold 0 rules []
  return %0 : tensor<4xi64>
}

// -----

func.func @otherwise(%s: tensor<4xi64>, %x: f64) -> tensor<4xi64> {
  // expected-error @+1 {{(C1) expects at least two versions and 'otherwise' among them, found 2 and 2}}
  %0 = mp.select_version %s by(%x) signals ["x"] versions ["a", "b"] otherwise 2 hold 0 rules []
  return %0 : tensor<4xi64>
}

// -----

func.func @hold(%s: tensor<4xi64>, %x: f64) -> tensor<4xi64> {
  // expected-error @+1 {{(C2) expects 'hold' to be at least 0, found -1}}
  %0 = mp.select_version %s by(%x) signals ["x"] versions ["a", "b"] otherwise 1 hold -1 rules []
  return %0 : tensor<4xi64>
}

// -----

func.func @limits(%s: tensor<4xi64>, %x: f64) -> tensor<4xi64> {
  // expected-error @+1 {{(C3) expects rules with a signal below 1, a version below 2, 'from' below 'below'}}
  %0 = mp.select_version %s by(%x) signals ["x"] versions ["a", "b"] otherwise 1 hold 0
    rules [{signal = 0, version = 0, from = 2.0 : f64, below = 2.0 : f64}]
  return %0 : tensor<4xi64>
}

// -----

func.func @signal(%s: tensor<4xi64>, %x: f64) -> tensor<4xi64> {
  // expected-error @+1 {{(C3) expects rules with a signal below 1}}
  %0 = mp.select_version %s by(%x) signals ["x"] versions ["a", "b"] otherwise 1 hold 0 rules [{signal = 1, version = 0, nan}]
  return %0 : tensor<4xi64>
}

// -----

func.func @names(%s: tensor<4xi64>, %x: f64) -> tensor<4xi64> {
  // expected-error @+1 {{(C4) expects a name for each of 1 signals, found 0}}
  %0 = mp.select_version %s by(%x) signals [] versions ["a", "b"] otherwise 1 hold 0 rules []
  return %0 : tensor<4xi64>
}

// -----

// expected-error @+1 {{'mp.versions' to have strings in 'versions' and 'reasons', on a function}}
func.func @said(%s: tensor<4xi64>) attributes {mp.versions = {versions = ["a"]}} {
  return
}
