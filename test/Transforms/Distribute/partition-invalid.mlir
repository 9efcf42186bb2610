// RUN: mp-opt %s --split-input-file --verify-diagnostics --mp-partition="ranks=4 batch=true"

// expected-error@+1 {{argument #0 of type 'tensor<6x8xf32>' is to be held in parts along dimension 0, expected a static size there that is a multiple of 4 ranks}}
func.func @uneven(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  return %x : tensor<6x8xf32>
}

// -----

// expected-error@+1 {{argument #0 of type 'tensor<?x8xf32>' is to be held in parts along dimension 0, expected a static size}}
func.func @dynamic(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}

// -----

// expected-error@+1 {{is for one of 2 ranks already, expected a function for one process}}
func.func @twice(%x: tensor<8xf32>) -> tensor<8xf32> attributes {comm.ranks = 2 : i64} {
  return %x : tensor<8xf32>
}

// -----

// expected-error@+1 {{has 2 blocks, expected one}}
func.func @blocks(%x: tensor<8xf32>) -> tensor<8xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<8xf32>
}

// -----

// expected-error@+1 {{mp-partition: is called by another function, which would have to hold parts, too; run --inline first}}
func.func @called(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}
func.func private @calls(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = call @called(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----
// expected-error@above {{mp-partition: which public function is the train step? Say 'function=NAME'; there are @first, @second}}
func.func @first(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func @second(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
