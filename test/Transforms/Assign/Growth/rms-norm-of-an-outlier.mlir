// RMS norm of activations of which one is 600: its square leaves f16, and a token would vanish.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 8x64xf32=[-1.000 -0.260 0.480 -0.800 -0.060 0.680 -0.600 0.140 0.880 -0.400 0.340 -0.940 -0.200 0.540 -0.740 0.000 0.740 -0.540 0.200 0.940 -0.340 0.400 -0.880 -0.140 0.600 -0.680 0.060 0.800 -0.480 0.260 1.000 -0.280 0.460 -0.820 -0.080 0.660 -0.620 0.120 0.860 -0.420 0.320 -0.960 -0.220 0.520 -0.760 -0.020 0.720 -0.560 0.180 0.920 -0.360 0.380 -0.900 -0.160 0.580 -0.700 0.040 0.780 -0.500 0.240 0.980 -0.300 0.440 -0.840 -0.100 0.640 -0.640 0.100 0.840 -0.440 600 -0.980 -0.240 0.500 -0.780 -0.040 0.700 -0.580 0.160 0.900 -0.380 0.360 -0.920 -0.180 0.560 -0.720 0.020 0.760 -0.520 0.220 0.960 -0.320 0.420 -0.860 -0.120 0.620 -0.660 0.080 0.820 -0.460 0.280 -1.000 -0.260 0.480 -0.800 -0.060 0.680 -0.600 0.140 0.880 -0.400 0.340 -0.940 -0.200 0.540 -0.740 0.000 0.740 -0.540 0.200 0.940 -0.340 0.400 -0.880 -0.140 0.600 -0.680 0.060 0.800 -0.480 0.260 1.000 -0.280 0.460 -0.820 -0.080 0.660 -0.620 0.120 0.860 -0.420 0.320 -0.960 -0.220 0.520 -0.760 -0.020 0.720 -0.560 0.180 0.920 -0.360 0.380 -0.900 -0.160 0.580 -0.700 0.040 0.780 -0.500 0.240 0.980 -0.300 0.440 -0.840 -0.100 0.640 -0.640 0.100 0.840 -0.440 0.300 -0.980 -0.240 0.500 -0.780 -0.040 0.700 -0.580 0.160 0.900 -0.380 0.360 -0.920 -0.180 0.560 -0.720 0.020 0.760 -0.520 0.220 0.960 -0.320 0.420 -0.860 -0.120 0.620 -0.660 0.080 0.820 -0.460 0.280 -1.000 -0.260 0.480 -0.800 -0.060 0.680 -0.600 0.140 0.880 -0.400 0.340 -0.940 -0.200 0.540 -0.740 0.000 0.740 -0.540 0.200 0.940 -0.340 0.400 -0.880 -0.140 0.600 -0.680 0.060 0.800 -0.480 0.260 1.000 -0.280 0.460 -0.820 -0.080 0.660 -0.620 0.120 0.860 -0.420 0.320 -0.960 -0.220 0.520 -0.760 -0.020 0.720 -0.560 0.180 0.920 -0.360 0.380 -0.900 -0.160 0.580 -0.700 0.040 0.780 -0.500 0.240 0.980 -0.300 0.440 -0.840 -0.100 0.640 -0.640 0.100 0.840 -0.440 0.300 -0.980 -0.240 0.500 -0.780 -0.040 0.700 -0.580 0.160 0.900 -0.380 0.360 -0.920 -0.180 0.560 -0.720 0.020 0.760 -0.520 0.220 0.960 -0.320 0.420 -0.860 -0.120 0.620 -0.660 0.080 0.820 -0.460 0.280 -1.000 -0.260 0.480 -0.800 -0.060 0.680 -0.600 0.140 0.880 -0.400 0.340 -0.940 -0.200 0.540 -0.740 0.000 0.740 -0.540 0.200 0.940 -0.340 0.400 -0.880 -0.140 0.600 -0.680 0.060 0.800 -0.480 0.260 1.000 -0.280 0.460 -0.820 -0.080 0.660 -0.620 0.120 0.860 -0.420 0.320 -0.960 -0.220 0.520 -0.760 -0.020 0.720 -0.560 0.180 0.920 -0.360 0.380 -0.900 -0.160 0.580 -0.700 0.040 0.780 -0.500 0.240 0.980 -0.300 0.440 -0.840 -0.100 0.640 -0.640 0.100 0.840 -0.440 0.300 -0.980 -0.240 0.500 -0.780 -0.040 0.700 -0.580 0.160 0.900 -0.380 0.360 -0.920 -0.180 0.560 -0.720 0.020 0.760 -0.520 0.220 0.960 -0.320 0.420 -0.860 -0.120 0.620 -0.660 0.080 0.820 -0.460 0.280 -1.000 -0.260 0.480 -0.800 -0.060 0.680 -0.600 0.140 0.880 -0.400 0.340 -0.940 -0.200 0.540 -0.740 0.000 0.740 -0.540 0.200 0.940 -0.340 0.400 -0.880 -0.140 0.600 -0.680 0.060 0.800 -0.480 0.260 1.000 -0.280 0.460 -0.820 -0.080 0.660 -0.620 0.120 0.860 -0.420 0.320 -0.960 -0.220 0.520 -0.760 -0.020 0.720 -0.560 0.180 0.920 -0.360 0.380 -0.900 -0.160 0.580 -0.700 0.040 0.780 -0.500 0.240 0.980 -0.300 0.440 -0.840 -0.100 0.640 -0.640 0.100 0.840 -0.440 0.300 -0.980 -0.240 0.500 -0.780 -0.040 0.700 -0.580 0.160 0.900 -0.380 0.360 -0.920 -0.180 0.560 -0.720 0.020 0.760 -0.520 0.220 0.960 -0.320 0.420 -0.860 -0.120 0.620 -0.660 0.080 0.820 -0.460 0.280 -1.000 -0.260 0.480 -0.800 -0.060 0.680 -0.600]
// INPUT: 64x32xf32=uniform:2,0.125,0

// CHECK-LABEL: func.func @linalg
// CHECK: arith.addf {{.*}} : f32
// CHECK: math.rsqrt {{.*}} : {{.*}}f32
// CHECK: linalg.matmul ins({{.*}} : tensor<8x64x{{b?}}f16>, tensor<64x32x{{b?}}f16>
func.func @linalg(%x: tensor<8x64xf32>, %w: tensor<64x32xf32>) -> tensor<8x32xf32> {
  %v1 = arith.mulf %x, %x : tensor<8x64xf32>
  %s2 = arith.constant 0.0 : f32
  %e3 = tensor.empty() : tensor<8xf32>
  %f4 = linalg.fill ins(%s2 : f32) outs(%e3 : tensor<8xf32>) -> tensor<8xf32>
  %g5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v1 : tensor<8x64xf32>) outs(%f4 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %s6 = arith.constant 0.015625 : f32
  %e7 = tensor.empty() : tensor<8xf32>
  %g8 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g5 : tensor<8xf32>) outs(%e7 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s6 : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %s9 = arith.constant 1.0e-05 : f32
  %e10 = tensor.empty() : tensor<8xf32>
  %g11 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g8 : tensor<8xf32>) outs(%e10 : tensor<8xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %s9 : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %v12 = math.rsqrt %g11 : tensor<8xf32>
  %e13 = tensor.empty() : tensor<8x64xf32>
  %g14 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %v12 : tensor<8x64xf32>, tensor<8xf32>) outs(%e13 : tensor<8x64xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.mulf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<8x64xf32>
  %e15 = tensor.empty() : tensor<8x32xf32>
  %f16 = linalg.fill ins(%s2 : f32) outs(%e15 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %mm17 = linalg.matmul ins(%g14, %w : tensor<8x64xf32>, tensor<64x32xf32>) outs(%f16 : tensor<8x32xf32>) -> tensor<8x32xf32>
  return %mm17 : tensor<8x32xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.reduce_sum {{.*}}f32>) -> tensor<{{.*}}xf32>
// CHECK: tosa.rsqrt {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.matmul {{.*}}: (tensor<1x8x64x{{b?}}f16>, tensor<1x64x32x{{b?}}f16>
func.func @tosa(%x: tensor<8x64xf32>, %w: tensor<64x32xf32>) -> tensor<8x32xf32> {
  %z2 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v1 = tosa.mul %x, %x, %z2 : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %v3 = tosa.reduce_sum %v1 {axis = 1 : i32} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %s4 = "tosa.const"() <{values = dense<0.015625> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v5 = tosa.mul %v3, %s4, %z2 : (tensor<8x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<8x1xf32>
  %s6 = "tosa.const"() <{values = dense<1.0e-05> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v7 = tosa.add %v5, %s6 : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %v8 = tosa.rsqrt %v7 : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %v9 = tosa.mul %x, %v8, %z2 : (tensor<8x64xf32>, tensor<8x1xf32>, tensor<1xi8>) -> tensor<8x64xf32>
  %z11 = tosa.const_shape {values = dense<[1, 8, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r10 = tosa.reshape %v9, %z11 : (tensor<8x64xf32>, !tosa.shape<3>) -> tensor<1x8x64xf32>
  %z13 = tosa.const_shape {values = dense<[1, 64, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r12 = tosa.reshape %w, %z13 : (tensor<64x32xf32>, !tosa.shape<3>) -> tensor<1x64x32xf32>
  %z15 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm14 = tosa.matmul %r10, %r12, %z15, %z15 : (tensor<1x8x64xf32>, tensor<1x64x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x32xf32>
  %z17 = tosa.const_shape {values = dense<[8, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r16 = tosa.reshape %mm14, %z17 : (tensor<1x8x32xf32>, !tosa.shape<2>) -> tensor<8x32xf32>
  return %r16 : tensor<8x32xf32>
}
