// Tiles each op that says in `tile` by how much; in the order of the text.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %quantize = transform.structured.match ops{["mp.quantize"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.structured.tile_using_for %quantize tile_sizes [2, 64] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %blocks = transform.structured.match ops{["mp.block_quantize"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.structured.tile_using_for %blocks tile_sizes [128, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %hadamard = transform.structured.match ops{["mp.hadamard"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.structured.tile_using_forall %hadamard tile_sizes [1, 8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %amax = transform.structured.match ops{["mp.amax"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.structured.tile_using_for %amax tile_sizes [1, 128] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %scales = transform.structured.match ops{["mp.compute_scale"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.structured.tile_using_for %scales tile_sizes [2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    // Rows, columns, and blocks of what is summed; with the product goes what dequantises it.
    %back = transform.structured.match ops{["mp.dequantize"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loops:2 = transform.structured.tile_using_for %back tile_sizes [2, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %product = transform.structured.match ops{["mp.scaled_matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.structured.tile_using_for %product tile_sizes [2, 4, 128] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
