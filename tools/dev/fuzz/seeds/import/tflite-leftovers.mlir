

func.func @main() {
  %x = arith.constant dense<[[1.0, 4.0, -2.0, 4.0, 0.5], [-1.0, -3.0, -2.0, -8.0, -2.0]]> : tensor<2x5xf32>
  %0:2 = call @topk(%x) : (tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  %1 = arith.constant dense<[[4.0, 4.0, 1.0], [-1.0, -2.0, -2.0]]> : tensor<2x3xf32>
  %2 = arith.constant dense<[[1, 3, 0], [0, 2, 4]]> : tensor<2x3xi32>
  check.expect_bits %0#0, %1 : tensor<2x3xf32>
  check.expect_bits %0#1, %2 : tensor<2x3xi32>
  %3:2 = call @sums(%x) : (tensor<2x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>)
  %4 = arith.constant dense<[[1.0, 5.0, 3.0, 7.0, 7.5], [-1.0, -4.0, -6.0, -14.0, -16.0]]> : tensor<2x5xf32>
  %5 = arith.constant dense<[[-1.0, -3.0, -2.0, -8.0, -2.0], [0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<2x5xf32>
  check.expect_bits %3#0, %4 : tensor<2x5xf32>
  check.expect_bits %3#1, %5 : tensor<2x5xf32>

  // The second and third update meet.
  %at = arith.constant dense<[[0, 1], [1, 0], [1, 0]]> : tensor<3x2xi32>
  %u = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %6 = call @scattered(%at, %u) : (tensor<3x2xi32>, tensor<3x2xf32>) -> tensor<2x2x2xf32>
  %7 = arith.constant dense<[[[0.0, 0.0], [1.0, 2.0]], [[8.0, 10.0], [0.0, 0.0]]]> : tensor<2x2x2xf32>
  check.expect_bits %6, %7 : tensor<2x2x2xf32>
  // Segment 1 has nothing; -1 is dropped.
  %ids = arith.constant dense<[2, -1, 0]> : tensor<3xi32>
  %8:2 = call @segments(%u, %ids) : (tensor<3x2xf32>, tensor<3xi32>) -> (tensor<3x2xf32>, tensor<3x2xf32>)
  %9 = arith.constant dense<[[5.0, 6.0], [0.0, 0.0], [1.0, 2.0]]> : tensor<3x2xf32>
  %10 = arith.constant dense<[[5.0, 6.0], [-3.40282347E+38, -3.40282347E+38], [1.0, 2.0]]> : tensor<3x2xf32>
  check.expect_bits %8#0, %9 : tensor<3x2xf32>
  check.expect_bits %8#1, %10 : tensor<3x2xf32>

  %true = arith.constant dense<true> : tensor<i1>
  %false = arith.constant dense<false> : tensor<i1>
  %11 = call @branch(%true, %u) : (tensor<i1>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %12 = arith.negf %u : tensor<3x2xf32>
  check.expect_bits %11, %12 : tensor<3x2xf32>
  %13 = call @branch(%false, %u) : (tensor<i1>, tensor<3x2xf32>) -> tensor<3x2xf32>
  check.expect_bits %13, %u : tensor<3x2xf32>

  %two = arith.constant dense<2> : tensor<1xi32>
  %14 = call @sliced(%x, %two) : (tensor<2x5xf32>, tensor<1xi32>) -> tensor<?x?xf32>
  %15 = tensor.cast %14 : tensor<?x?xf32> to tensor<2x3xf32>
  %16 = arith.constant dense<[[-2.0, 4.0, 0.5], [-2.0, -8.0, -2.0]]> : tensor<2x3xf32>
  check.expect_bits %15, %16