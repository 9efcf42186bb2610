// Upstream's own way to take an op apart; it wants ops of one result.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %ops = transform.structured.match ops{["mp.amax", "mp.quantize", "mp.dequantize", "mp.hadamard", "mp.random_bits", "mp.scaled_matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.structured.decompose_interface %ops : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
