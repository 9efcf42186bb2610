// A running sum over 256 positions, then a product.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 8x256xf32=uniform:1,8,8
// INPUT: 256x4xf32=uniform:2,0.1,0

// CHECK-LABEL: func.func @linalg
// CHECK: arith.addf {{.*}} : f32
func.func @linalg(%x: tensor<8x256xf32>, %w: tensor<256x4xf32>) -> tensor<8x4xf32> {
  %s1 = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<8x256xf32>
  %f3 = linalg.fill ins(%s1 : f32) outs(%e2 : tensor<8x256xf32>) -> tensor<8x256xf32>
  %v4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<8x256xf32>) outs(%f3 : tensor<8x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %c = arith.cmpi ule, %j, %i : index
    %q = arith.select %c, %a, %s1 : f32
    %p = arith.addf %o, %q : f32
    linalg.yield %p : f32
  } -> tensor<8x256xf32>
  %e5 = tensor.empty() : tensor<8x4xf32>
  %f6 = linalg.fill ins(%s1 : f32) outs(%e5 : tensor<8x4xf32>) -> tensor<8x4xf32>
  %mm7 = linalg.matmul ins(%v4, %w : tensor<8x256xf32>, tensor<256x4xf32>) outs(%f6 : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %mm7 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.reduce_sum {{.*}}f32>) -> tensor<{{.*}}xf32>
func.func @tosa(%x: tensor<8x256xf32>, %w: tensor<256x4xf32>) -> tensor<8x4xf32> {
  %c1 = "tosa.const"() <{values = dense<[[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0, 32.0, 33.0, 34.0, 35.0, 36.0, 37.0, 38.0, 39.0, 40.0, 41.0, 42.0, 43.0, 44.0, 45.0, 46.0, 47.0, 48.0, 49.0, 50.0, 51.0, 52.0, 53.0, 54.0, 55.0, 56.0, 57.0, 58.0, 59.0, 60.0, 61.0, 62.0, 63.0, 64.0, 65.0, 66.0, 67.0, 68.0, 69.0, 70.0, 71.0, 72.0, 73.0, 74.0, 75.0, 76.0, 77.0, 78.0, 79.0, 80.0, 81.0, 82.0, 83.0, 84.0, 85.0, 86.0, 87.0, 88.0, 89.0, 90.0, 91.0, 92.0, 93.0, 94.0, 95.0, 96.0, 97.0, 98.0, 99.0, 100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 106.0, 107.0, 108.0, 109.0, 110.0, 111.0, 112.0, 113.0, 114.0, 115.0, 116.0, 117.0, 118.0, 119.0, 120.0, 121.0, 122.0, 123.0, 124.0, 125.0, 126.0, 127.0, 128.0, 129.0, 130.0, 131.0, 132.0, 133.0, 134.0, 135.0, 136.0, 137.0, 138.0, 139.0, 140.0, 141.0, 142.0, 143.0, 144.0, 145.0, 146.0, 147.0, 148.0, 149.0, 150.0, 151.0, 152.0, 153.0, 154.0, 155.0, 156.0, 157.0, 158.0, 159.0, 160.0, 161.0, 162.0, 163.0, 164.0, 165.0, 166.0, 167.0, 168.0, 169.0, 170.0, 171.0, 172.0, 173.0, 174.0, 175.0, 176.0, 177.0, 178.0, 179.0, 180.0, 181.0, 182.0, 183.0, 184.0, 185.0, 186.0, 187.0, 188.0, 189.0, 190.0, 191.0, 192.0, 193.0, 194.0, 195.0, 196.0, 197.0, 198.0, 199.0, 200.0, 201.0, 202.0, 203.0, 204.0, 205.0, 206.0, 207.0, 208.0, 209.0, 210.0, 211.0, 212.0, 213.0, 214.0, 215.0, 216.0, 217.0, 218.0, 219.0, 220.0, 221.0, 222.0, 223.0, 224.0, 225.0, 226.0, 227.0, 228.0, 229.0, 230.0, 231.0, 232.0, 233.0, 234.0, 235.0, 236.0, 237.0, 238.0, 239.0, 240.0, 241.0, 242.0, 243.0, 244.0, 245.0, 246.0, 247.0, 248.0, 249.0, 250.0, 251.0, 252.0, 253.0, 254.0, 255.0]]]> : tensor<1x1x256xf32>}> : () -> tensor<1x1x256xf32>
  %z3 = tosa.const_shape {values = dense<[1, 256, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r2 = tosa.reshape %c1, %z3 : (tensor<1x1x256xf32>, !tosa.shape<3>) -> tensor<1x256x1xf32>
  %v4 = tosa.greater_equal %r2, %c1 : (tensor<1x256x1xf32>, tensor<1x1x256xf32>) -> tensor<1x256x256xi1>
  %z6 = tosa.const_shape {values = dense<[8, 1, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r5 = tosa.reshape %x, %z6 : (tensor<8x256xf32>, !tosa.shape<3>) -> tensor<8x1x256xf32>
  %s7 = "tosa.const"() <{values = dense<0.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %v8 = tosa.select %v4, %r5, %s7 : (tensor<1x256x256xi1>, tensor<8x1x256xf32>, tensor<1x1x1xf32>) -> tensor<8x256x256xf32>
  %v9 = tosa.reduce_sum %v8 {axis = 2 : i32} : (tensor<8x256x256xf32>) -> tensor<8x256x1xf32>
  %z11 = tosa.const_shape {values = dense<[8, 256]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r10 = tosa.reshape %v9, %z11 : (tensor<8x256x1xf32>, !tosa.shape<2>) -> tensor<8x256xf32>
  %z13 = tosa.const_shape {values = dense<[1, 8, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r12 = tosa.reshape %r10, %z13 : (tensor<8x256xf32>, !tosa.shape<3>) -> tensor<1x8x256xf32>
  %z15 = tosa.const_shape {values = dense<[1, 256, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r14 = tosa.reshape %w, %z15 : (tensor<256x4xf32>, !tosa.shape<3>) -> tensor<1x256x4xf32>
  %z17 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm16 = tosa.matmul %r12, %r14, %z17, %z17 : (tensor<1x8x256xf32>, tensor<1x256x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x4xf32>
  %z19 = tosa.const_shape {values = dense<[8, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r18 = tosa.reshape %mm16, %z19 : (tensor<1x8x4xf32>, !tosa.shape<2>) -> tensor<8x4xf32>
  return %r18 : tensor<8x4xf32>
}
