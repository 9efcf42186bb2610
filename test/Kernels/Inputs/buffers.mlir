func.func @public(%x: memref<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %0 = memref.load %x[%c0] : memref<4xf32>
  return %0 : f32
}
func.func private @private(%x: memref<4xf32>) -> f32 {
  %0 = func.call @public(%x) : (memref<4xf32>) -> f32
  return %0 : f32
}
