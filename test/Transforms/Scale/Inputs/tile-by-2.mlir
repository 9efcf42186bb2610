// An op without loops is left.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %ops = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.foreach %ops : !transform.any_op {
    ^bb0(%op: !transform.any_op):
      transform.sequence %op : !transform.any_op failures(suppress) {
      ^bb0(%one: !transform.any_op):
        %tiled, %loops = transform.structured.tile_using_for %one tile_sizes [2] : (!transform.any_op) -> (!transform.any_op, !transform.op<"scf.for">)
      }
    }
    transform.yield
  }
}
