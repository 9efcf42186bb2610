func.func @clears() {
  %counters = memref.alloc() : memref<1024xi32>
  %zero = arith.constant 0 : i32
  gpu.memset %counters, %zero : memref<1024xi32>, i32
  return
}
