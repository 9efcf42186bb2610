// The last rank takes long before it meets the others.
func.func @main(%x: tensor<2xf32> {comm.shard = 0 : i64}) -> tensor<2xf32> attributes {comm.ranks = 4 : i64} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %many = arith.constant 60000000 : index
  %rank = comm.rank
  %isLast = arith.cmpi eq, %rank, %three : index
  %steps = arith.select %isLast, %many, %one : index
  %start = arith.constant 1.0 : f32
  %factor = arith.constant 0.5 : f32
  // Its fixed point is 1, so that all ranks hold the same.
  %sum = scf.for %i = %zero to %steps step %one iter_args(%value = %start) -> f32 {
    %scaled = arith.mulf %value, %factor : f32
    %next = arith.addf %scaled, %factor : f32
    scf.yield %next : f32
  }
  %scale = tensor.splat %sum : tensor<2xf32>
  %own = arith.mulf %x, %scale : tensor<2xf32>
  %empty = tensor.empty() : tensor<2xf32>
  %0 = comm.all_reduce sum ins(%own : tensor<2xf32>) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
