// Tiles that would change what is computed are refused, with what would do.

// RUN: mp-opt %s --transform-interpreter --split-input-file --verify-diagnostics

func.func @half_of_a_block(%x: tensor<4x256xf32>) -> (tensor<4x256xf8E4M3FN>, tensor<4x2xf32>) {
  // expected-remark @below {{is not tiled by 64 along loop d1, expected multiples of 128, which share a scale or a sum}}
  // expected-error @below {{to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %q, %s = mp.block_quantize %x by <form = encode, pow2 = none, on_zero = one, on_nonfinite = one, limit = f32> : tensor<4x256xf32> to tensor<4x256xf8E4M3FN>, tensor<4x2xf32>
  return %q, %s : tensor<4x256xf8E4M3FN>, tensor<4x2xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["mp.block_quantize"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.sequence %op : !transform.any_op failures(suppress) {
    ^bb0(%one: !transform.any_op):
      transform.structured.tile_using_for %one tile_sizes [0, 64] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    }
    transform.yield
  }
}

// -----

func.func @across_two_scales(%x: tensor<4x256xf32>, %enc: tensor<4x2xf32>) -> tensor<4x256xf8E4M3FN> {
  // expected-remark @below {{is not tiled by a number not known along loop d1, expected multiples of 128, or tiles that divide that}}
  // expected-error @below {{to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %q = mp.quantize saturate %x by %enc : tensor<4x256xf32>, tensor<4x2xf32> to tensor<4x256xf8E4M3FN>
  return %q : tensor<4x256xf8E4M3FN>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["mp.quantize"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.sequence %op : !transform.any_op failures(suppress) {
    ^bb0(%one: !transform.any_op):
      transform.structured.tile_using_for %one tile_sizes [0, 96] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    }
    transform.yield
  }
}

// -----

// One scale for all that is summed: the sum is scaled once.
func.func @part_of_a_sum(%a: tensor<4x256xf8E4M3FN>, %s: tensor<f32>, %b: tensor<256x8xf8E4M3FN>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-remark @below {{is not tiled by 128 along loop d2, expected all of it, which share a scale or a sum}}
  // expected-error @below {{to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %p = mp.scaled_matmul %a by(%s) with %b by(%s) onto %c maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
     : tensor<4x256xf8E4M3FN> by(tensor<f32>) with tensor<256x8xf8E4M3FN> by(tensor<f32>) to tensor<4x8xf32>
  return %p : tensor<4x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["mp.scaled_matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.sequence %op : !transform.any_op failures(suppress) {
    ^bb0(%one: !transform.any_op):
      transform.structured.tile_using_for %one tile_sizes [0, 0, 128] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    }
    transform.yield
  }
}
