//

func.func @main() {
  %bytes = arith.constant dense<"0x010001000000000000010100010101010101"> : tensor<2x9xi1>
  // CHECK: dense<{{\[}}[true, false, true, false, false, false, false, false, false], [true, true, false, true, true, true, true, true, true]]> : tensor<2x9xi1>
  %0 = arith.constant dense<[[true, false, true, false, false, false, false, false, false], [true, true, false, true, true, true, true, true, true]]> : tensor<2x9xi1>
  check.expect_bits %bytes, %0 : tensor<2x9xi1>
  // As MLIR 22 writes them.
  %bits = arith.constant dense<"0x05F603"> : tensor<2x9xi1>
  check.expect_bits %bits, %0 : tensor<2x9xi1>
  return
}
