// Group norms of reshaped tensors, as ONNX's exporters write them in TOSA: with a variance by difference they rest on the
// assumption, with a centred one they are proved.
// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=f16" | FileCheck %s

// The root is a power, and divided by as a reciprocal: a norm that is taken on trust.
// CHECK-LABEL: func.func @trusted
// CHECK: tosa.matmul {{.*}}compute = f16{{.*}}evidence = assumed
func.func @trusted(%x: tensor<2x4x8xf32>, %w: tensor<2x8x16xf32>) -> tensor<2x4x16xf32> {
%z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
%z1 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
%sg = tosa.const_shape {values = dense<[2, 2, 16]> : tensor<3xindex>} : () -> !tosa.shape<3>
%sb = tosa.const_shape {values = dense<[2, 4, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
%inv = "tosa.const"() <{values = dense<0.0625> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
%eps = "tosa.const"() <{values = dense<1.0e-5> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
%half = "tosa.const"() <{values = dense<5.0e-1> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
%r = tosa.reshape %x, %sg : (tensor<2x4x8xf32>, !tosa.shape<3>) -> tensor<2x2x16xf32>
%s = tosa.reduce_sum %r {axis = 2 : i32} : (tensor<2x2x16xf32>) -> tensor<2x2x1xf32>
%m = tosa.mul %s, %inv, %z : (tensor<2x2x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x2x1xf32>
%d = tosa.sub %r, %m : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
%q = tosa.mul %r, %r, %z : (tensor<2x2x16xf32>, tensor<2x2x16xf32>, tensor<1xi8>) -> tensor<2x2x16xf32>
%qs = tosa.reduce_sum %q {axis = 2 : i32} : (tensor<2x2x16xf32>) -> tensor<2x2x1xf32>
%qm = tosa.mul %qs, %inv, %z : (tensor<2x2x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x2x1xf32>
%m2 = tosa.mul %m, %m, %z : (tensor<2x2x1xf32>, tensor<2x2x1xf32>, tensor<1xi8>) -> tensor<2x2x1xf32>
%v = tosa.sub %qm, %m2 : (tensor<2x2x1xf32>, tensor<2x2x1xf32>) -> tensor<2x2x1xf32>
%e = tosa.add %v, %eps : (tensor<2x2x1xf32>, tensor<1x1x1xf32>) -> tensor<2x2x1xf32>
%rt = tosa.pow %e, %half : (tensor<2x2x1xf32>, tensor<1x1x1xf32>) -> tensor<2x2x1xf32>
%i = tosa.reciprocal %rt : (tensor<2x2x1xf32>) -> tensor<2x2x1xf32>
%y = tosa.mul %d, %i, %z : (tensor<2x2x16xf32>, tensor<2x2x1xf32>, tensor<1xi8>) -> tensor<2x2x16xf32>
%b = tosa.reshape %y, %sb : (tensor<2x2x16xf32>, !tosa.shape<3>) -> tensor<2x4x8xf32>
%o = tosa.matmul %b, %w, %z1, %z1 : (tensor<2x4x8xf32>, tensor<2x8x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x4x16xf32>
return %o : tensor<2x4x16xf32>
}

// -----

// CHECK-LABEL: func.func @of_another_root
// CHECK: tosa.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @of_another_root(%x: tensor<2x4x8xf32>, %w: tensor<2x8x16xf32>) -> tensor<2x4x16xf32> {
%z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
%z1 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
%sg = tosa.const_shape {values = dense<[2, 2, 16]> : tensor<3xindex>} : () -> !tosa.shape<3>
%sb = tosa.const_shape {values = dense<[2, 4, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
%inv = "tosa.const"() <{values = dense<0.0625> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
%eps = "tosa.const"() <{values = dense<1.0e-5> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
%half = "tosa.const"() <{values = dense<2.5e-1> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
%r = tosa.reshape %x, %sg : (tensor<2x4x8xf32>, !tosa.shape<3>) -> tensor<2x2x16xf32>
%s = tosa.reduce_sum %r {axis = 2 : i32} : (tensor<2x2x16xf32>) -> tensor<2x2x1xf32>
%m = tosa.mul %s, %inv, %z : (tensor<2x2x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x2x1xf32>
%d = tosa.sub %r, %m : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
%q = tosa.mul %r, %r, %z : (tensor<2x2x16xf32>, tensor<2x2x16xf32>, tensor<1xi8>) -> tensor<2x2x16xf32>
%qs = tosa.reduce_sum %q {axis = 2 : i32} : (tensor<2x2x16xf32>) -> tensor<2x2x1xf32>
%qm = tosa.mul %qs, %inv, %z : (tensor<2x2x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x2x1xf32>
%m2 = tosa.mul %m, %m, %z : (tensor<2x2x1xf32>, tensor<2x2x1xf32>, tensor<1xi8>) -> tensor<2x2x1xf32>
%v = tosa.sub %qm, %m2 : (tensor<2x2x1xf32>, tensor<2x2x1xf32>) -> tensor<2x2x1xf32>
%e = tosa.add %v, %eps : (tensor<2x2x1xf32>, tensor<1x1x1xf32>) -> tensor<2x2x1xf32>
%rt = tosa.pow %e, %half : (tensor<2x2x1xf32>, tensor<1x1x1xf32>) -> tensor<2x2x1xf32>
%i = tosa.reciprocal %rt : (tensor<2x2x1xf32>) -> tensor<2x2x1xf32>
%y = tosa.mul %d, %i, %z : (tensor<2x2x16xf32>, tensor<2x2x1xf32>, tensor<1xi8>) -> tensor<2x2x16xf32>
%b = tosa.reshape %y, %sb : (tensor<2x2x16xf32>, !tosa.shape<3>) -> tensor<2x4x8xf32>
%o = tosa.matmul %b, %w, %z1, %z1 : (tensor<2x4x8xf32>, tensor<2x8x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x4x16xf32>
return %o : tensor<2x4x16xf32>
}

// -----

// Mean and root are reshaped back to where x is.
// CHECK-LABEL: func.func @proved
// CHECK: tosa.matmul {{.*}}compute = f16{{.*}}evidence = stated
func.func @proved(%x: tensor<2x6x4xf32>, %y: tensor<2x6x4xf32>, %w: tensor<2x4x3xf32> {mp.range = [-1.0, 1.0]}) -> tensor<2x6x3xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %inverse = "tosa.const"() <{values = dense<0.083333333> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %epsilon = "tosa.const"() <{values = dense<1.0e-5> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %grouped = tosa.const_shape {values = dense<[2, 2, 12]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %times = tosa.const_shape {values = dense<[1, 1, 12]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %whole = tosa.const_shape {values = dense<[2, 6, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %groups = tosa.reshape %x, %grouped : (tensor<2x6x4xf32>, !tosa.shape<3>) -> tensor<2x2x12xf32>
  %sum = tosa.reduce_sum %groups {axis = 2 : i32} : (tensor<2x2x12xf32>) -> tensor<2x2x1xf32>
  %mean = tosa.mul %sum, %inverse, %shift : (tensor<2x2x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x2x1xf32>
  %means = tosa.tile %mean, %times : (tensor<2x2x1xf32>, !tosa.shape<3>) -> tensor<2x2x12xf32>
  %meant = tosa.reshape %means, %whole : (tensor<2x2x12xf32>, !tosa.shape<3>) -> tensor<2x6x4xf32>
  %centred = tosa.sub %x, %meant : (tensor<2x6x4xf32>, tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  %apart = tosa.sub %groups, %mean : (tensor<2x2x12xf32>, tensor<2x2x1xf32>) -> tensor<2x2x12xf32>
  %squares = tosa.mul %apart, %apart, %shift : (tensor<2x2x12xf32>, tensor<2x2x12xf32>, tensor<1xi8>) -> tensor<2x2x12xf32>
  %added = tosa.reduce_sum %squares {axis = 2 : i32} : (tensor<2x2x12xf32>) -> tensor<2x2x1xf32>
  %variance = tosa.mul %added, %inverse, %shift : (tensor<2x2x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x2x1xf32>
  %more = tosa.add %variance, %epsilon : (tensor<2x2x1xf32>, tensor<1x1x1xf32>) -> tensor<2x2x1xf32>
  %root = tosa.rsqrt %more : (tensor<2x2x1xf32>) -> tensor<2x2x1xf32>
  %roots = tosa.tile %root, %times : (tensor<2x2x1xf32>, !tosa.shape<3>) -> tensor<2x2x12xf32>
  %factor = tosa.reshape %roots, %whole : (tensor<2x2x12xf32>, !tosa.shape<3>) -> tensor<2x6x4xf32>
  %turned = tosa.reverse %factor {axis = 1 : i32} : (tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  %norm = tosa.mul %centred, %factor, %shift : (tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<1xi8>) -> tensor<2x6x4xf32>
  %r = tosa.matmul %norm, %w, %zero, %zero : (tensor<2x6x4xf32>, tensor<2x4x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x6x3xf32>
  return %r : tensor<2x6x3xf32>
}

// -----

// They are of another tensor.
// CHECK-LABEL: func.func @of_another
// CHECK: tosa.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @of_another(%x: tensor<2x6x4xf32>, %y: tensor<2x6x4xf32>, %w: tensor<2x4x3xf32> {mp.range = [-1.0, 1.0]}) -> tensor<2x6x3xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %inverse = "tosa.const"() <{values = dense<0.083333333> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %epsilon = "tosa.const"() <{values = dense<1.0e-5> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %grouped = tosa.const_shape {values = dense<[2, 2, 12]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %times = tosa.const_shape {values = dense<[1, 1, 12]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %whole = tosa.const_shape {values = dense<[2, 6, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %groups = tosa.reshape %y, %grouped : (tensor<2x6x4xf32>, !tosa.shape<3>) -> tensor<2x2x12xf32>
  %sum = tosa.reduce_sum %groups {axis = 2 : i32} : (tensor<2x2x12xf32>) -> tensor<2x2x1xf32>
  %mean = tosa.mul %sum, %inverse, %shift : (tensor<2x2x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x2x1xf32>
  %means = tosa.tile %mean, %times : (tensor<2x2x1xf32>, !tosa.shape<3>) -> tensor<2x2x12xf32>
  %meant = tosa.reshape %means, %whole : (tensor<2x2x12xf32>, !tosa.shape<3>) -> tensor<2x6x4xf32>
  %centred = tosa.sub %x, %meant : (tensor<2x6x4xf32>, tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  %apart = tosa.sub %groups, %mean : (tensor<2x2x12xf32>, tensor<2x2x1xf32>) -> tensor<2x2x12xf32>
  %squares = tosa.mul %apart, %apart, %shift : (tensor<2x2x12xf32>, tensor<2x2x12xf32>, tensor<1xi8>) -> tensor<2x2x12xf32>
  %added = tosa.reduce_sum %squares {axis = 2 : i32} : (tensor<2x2x12xf32>) -> tensor<2x2x1xf32>
  %variance = tosa.mul %added, %inverse, %shift : (tensor<2x2x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x2x1xf32>
  %more = tosa.add %variance, %epsilon : (tensor<2x2x1xf32>, tensor<1x1x1xf32>) -> tensor<2x2x1xf32>
  %root = tosa.rsqrt %more : (tensor<2x2x1xf32>) -> tensor<2x2x1xf32>
  %roots = tosa.tile %root, %times : (tensor<2x2x1xf32>, !tosa.shape<3>) -> tensor<2x2x12xf32>
  %factor = tosa.reshape %roots, %whole : (tensor<2x2x12xf32>, !tosa.shape<3>) -> tensor<2x6x4xf32>
  %turned = tosa.reverse %factor {axis = 1 : i32} : (tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  %norm = tosa.mul %centred, %factor, %shift : (tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<1xi8>) -> tensor<2x6x4xf32>
  %r = tosa.matmul %norm, %w, %zero, %zero : (tensor<2x6x4xf32>, tensor<2x4x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x6x3xf32>
  return %r : tensor<2x6x3xf32>
}

// -----

// The roots are of other groups than x is in.
// CHECK-LABEL: func.func @in_another_group
// CHECK: tosa.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @in_another_group(%x: tensor<2x6x4xf32>, %y: tensor<2x6x4xf32>, %w: tensor<2x4x3xf32> {mp.range = [-1.0, 1.0]}) -> tensor<2x6x3xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %inverse = "tosa.const"() <{values = dense<0.083333333> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %epsilon = "tosa.const"() <{values = dense<1.0e-5> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %grouped = tosa.const_shape {values = dense<[2, 2, 12]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %times = tosa.const_shape {values = dense<[1, 1, 12]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %whole = tosa.const_shape {values = dense<[2, 6, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %groups = tosa.reshape %x, %grouped : (tensor<2x6x4xf32>, !tosa.shape<3>) -> tensor<2x2x12xf32>
  %sum = tosa.reduce_sum %groups {axis = 2 : i32} : (tensor<2x2x12xf32>) -> tensor<2x2x1xf32>
  %mean = tosa.mul %sum, %inverse, %shift : (tensor<2x2x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x2x1xf32>
  %means = tosa.tile %mean, %times : (tensor<2x2x1xf32>, !tosa.shape<3>) -> tensor<2x2x12xf32>
  %meant = tosa.reshape %means, %whole : (tensor<2x2x12xf32>, !tosa.shape<3>) -> tensor<2x6x4xf32>
  %centred = tosa.sub %x, %meant : (tensor<2x6x4xf32>, tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  %apart = tosa.sub %groups, %mean : (tensor<2x2x12xf32>, tensor<2x2x1xf32>) -> tensor<2x2x12xf32>
  %squares = tosa.mul %apart, %apart, %shift : (tensor<2x2x12xf32>, tensor<2x2x12xf32>, tensor<1xi8>) -> tensor<2x2x12xf32>
  %added = tosa.reduce_sum %squares {axis = 2 : i32} : (tensor<2x2x12xf32>) -> tensor<2x2x1xf32>
  %variance = tosa.mul %added, %inverse, %shift : (tensor<2x2x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x2x1xf32>
  %more = tosa.add %variance, %epsilon : (tensor<2x2x1xf32>, tensor<1x1x1xf32>) -> tensor<2x2x1xf32>
  %root = tosa.rsqrt %more : (tensor<2x2x1xf32>) -> tensor<2x2x1xf32>
  %roots = tosa.tile %root, %times : (tensor<2x2x1xf32>, !tosa.shape<3>) -> tensor<2x2x12xf32>
  %factor = tosa.reshape %roots, %whole : (tensor<2x2x12xf32>, !tosa.shape<3>) -> tensor<2x6x4xf32>
  %turned = tosa.reverse %factor {axis = 1 : i32} : (tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  %norm = tosa.mul %centred, %turned, %shift : (tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<1xi8>) -> tensor<2x6x4xf32>
  %r = tosa.matmul %norm, %w, %zero, %zero : (tensor<2x6x4xf32>, tensor<2x4x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x6x3xf32>
  return %r : tensor<2x6x3xf32>
}
