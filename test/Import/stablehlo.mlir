// RUN: mp-opt --import %s | FileCheck %s --check-prefix=IR
// RUN: mp-opt --import %s | %run_cpu | FileCheck %s
//
// Ops that torch-mlir's lowering of StableHLO leaves, in the generic form, their bodies lowered to
// linalg on tensors without dimensions. Results are worked out by hand from StableHLO's text.

#scalar = affine_map<() -> ()>

func.func private @printMemrefF32(tensor<*xf32>)

// A loop becomes one of scf in place; so does the branch in its body: the first turn adds one, each
// later turn doubles.
// IR-LABEL: @doubles_until_beyond
// IR: scf.while
// IR: scf.condition
// IR: scf.if
func.func @doubles_until_beyond(%x: tensor<f32>, %limit: f32) -> tensor<f32> {
  %turns = arith.constant dense<0> : tensor<i32>
  %last:2 = "stablehlo.while"(%x, %turns) ({
  ^bb0(%a: tensor<f32>, %n: tensor<i32>):
    %out = "tensor.empty"() : () -> tensor<i1>
    %more = "linalg.generic"(%a, %out) <{indexing_maps = [#scalar, #scalar], iterator_types = [], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%v: f32, %o: i1):
      %c = "arith.cmpf"(%v, %limit) <{predicate = 4 : i64}> : (f32, f32) -> i1
      "linalg.yield"(%c) : (i1) -> ()
    }) : (tensor<f32>, tensor<i1>) -> tensor<i1>
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<f32>, %n: tensor<i32>):
    %b = "stablehlo.case"(%n) ({
      %one = arith.constant dense<1.0> : tensor<f32>
      %first = arith.addf %a, %one : tensor<f32>
      "stablehlo.return"(%first) : (tensor<f32>) -> ()
    }, {
      %later = arith.addf %a, %a : tensor<f32>
      "stablehlo.return"(%later) : (tensor<f32>) -> ()
    }) : (tensor<i32>) -> tensor<f32>
    %step = arith.constant dense<1> : tensor<i32>
    %next = arith.addi %n, %step : tensor<i32>
    "stablehlo.return"(%b, %next) : (tensor<f32>, tensor<i32>) -> ()
  }) : (tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
  return %last#0 : tensor<f32>
}

// A number that is no index chooses the last of three branches.
// IR-LABEL: @chooses
// IR: scf.index_switch
func.func @chooses(%which: tensor<i32>) -> tensor<f32> {
  %0 = "stablehlo.case"(%which) ({
    %a = arith.constant dense<10.0> : tensor<f32>
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }, {
    %b = arith.constant dense<20.0> : tensor<f32>
    "stablehlo.return"(%b) : (tensor<f32>) -> ()
  }, {
    %c = arith.constant dense<30.0> : tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) {mhlo.note = 1 : i32} : (tensor<i32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// Columns in descending order, and where their elements stood.
// IR-LABEL: @sorts_columns
// IR: arith.cmpf ogt
func.func @sorts_columns(%x: tensor<3x2xf32>, %rows: tensor<3x2xi32>) -> (tensor<3x2xf32>, tensor<3x2xi32>) {
  %out = "tensor.empty"() : () -> tensor<i1>
  %0:2 = "stablehlo.sort"(%x, %rows) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %1 = "linalg.generic"(%a, %b, %out) <{indexing_maps = [#scalar, #scalar, #scalar], iterator_types = [], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%v: f32, %w: f32, %o: i1):
      %2 = "arith.cmpf"(%v, %w) <{predicate = 2 : i64}> : (f32, f32) -> i1
      "linalg.yield"(%2) : (i1) -> ()
    }) : (tensor<f32>, tensor<f32>, tensor<i1>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }) : (tensor<3x2xf32>, tensor<3x2xi32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
  return %0#0, %0#1 : tensor<3x2xf32>, tensor<3x2xi32>
}

// Each of two batches adds to columns of its own matrix: the batch is shared, the window lies over
// rows, which stand before the columns. Sums of f16 are in f32.
// IR-LABEL: @adds_to_columns
// IR: arith.extf %{{.*}} : tensor<2x2x3xf16> to tensor<2x2x3xf32>
// IR: arith.addf {{.*}} : f32
// IR: tensor.insert {{.*}} {mp.pin = f32} : tensor<2x2x3xf32>
func.func @adds_to_columns(%x: tensor<2x2x3xf16>, %columns: tensor<2x2x1xi32>, %updates: tensor<2x2x2xf16>) -> tensor<2x2x3xf16> {
  %out = "tensor.empty"() : () -> tensor<f16>
  %0 = "stablehlo.scatter"(%x, %columns, %updates) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [2], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2], index_vector_dim = 2>, unique_indices = false}> ({
  ^bb0(%old: tensor<f16>, %new: tensor<f16>):
    %1 = "linalg.generic"(%old, %new, %out) <{indexing_maps = [#scalar, #scalar, #scalar], iterator_types = [], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%v: f16, %w: f16, %o: f16):
      %2 = "arith.addf"(%v, %w) <{fastmath = #arith.fastmath<none>}> : (f16, f16) -> f16
      "linalg.yield"(%2) : (f16) -> ()
    }) : (tensor<f16>, tensor<f16>, tensor<f16>) -> tensor<f16>
    "stablehlo.return"(%1) : (tensor<f16>) -> ()
  }) : (tensor<2x2x3xf16>, tensor<2x2x1xi32>, tensor<2x2x2xf16>) -> tensor<2x2x3xf16>
  return %0 : tensor<2x2x3xf16>
}

// One window of two rows, written where a single index says; the last does not fit.
func.func @writes_rows(%x: tensor<3x2xf32>, %row: tensor<1xi32>, %update: tensor<2x2xf32>) -> tensor<3x2xf32> {
  %0 = "stablehlo.scatter"(%x, %row, %update) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    "stablehlo.return"(%new) : (tensor<f32>) -> ()
  }) : (tensor<3x2xf32>, tensor<1xi32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// The gradient of a maximum over windows of three with steps of two and one element of padding in
// front: each goes to the first largest of its window.
// IR-LABEL: @to_largest
func.func @to_largest(%x: tensor<5xf32>, %gradient: tensor<3xf32>) -> tensor<5xf32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %truth = "tensor.empty"() : () -> tensor<i1>
  %sum = "tensor.empty"() : () -> tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %gradient, %zero) <{padding = dense<[[1, 1]]> : tensor<1x2xi64>, window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "linalg.generic"(%a, %b, %truth) <{indexing_maps = [#scalar, #scalar, #scalar], iterator_types = [], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%v: f32, %w: f32, %o: i1):
      %2 = "arith.cmpf"(%v, %w) <{predicate = 3 : i64}> : (f32, f32) -> i1
      "linalg.yield"(%2) : (i1) -> ()
    }) : (tensor<f32>, tensor<f32>, tensor<i1>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "linalg.generic"(%a, %b, %sum) <{indexing_maps = [#scalar, #scalar, #scalar], iterator_types = [], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%v: f32, %w: f32, %o: f32):
      %2 = "arith.addf"(%v, %w) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%2) : (f32) -> ()
    }) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<5xf32>, tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// Functions on each element are those of the dialect math, and squares are products.
// IR-LABEL: @functions
// IR: arith.mulf
// IR: math.tan
func.func @functions(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = "chlo.square"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = "chlo.tan"(%0) : (tensor<3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// Integers lose their signs, as in what compares them.
// IR-LABEL: @sorts_unsigned
// IR-SAME: (%{{.*}}: tensor<3xi32>) -> tensor<3xi32>
// IR: arith.cmpi ult
func.func @sorts_unsigned(%x: tensor<3xui32>) -> tensor<3xui32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
    %1 = "builtin.unrealized_conversion_cast"(%a) : (tensor<ui32>) -> tensor<i32>
    %2 = "builtin.unrealized_conversion_cast"(%b) : (tensor<ui32>) -> tensor<i32>
    %3 = "tensor.empty"() : () -> tensor<i1>
    %4 = "linalg.generic"(%1, %2, %3) <{indexing_maps = [#scalar, #scalar, #scalar], iterator_types = [], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%c: i32, %d: i32, %e: i1):
      %5 = "arith.cmpi"(%c, %d) <{predicate = 6 : i64}> : (i32, i32) -> i1
      "linalg.yield"(%5) : (i1) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<i1>) -> tensor<i1>
    "stablehlo.return"(%4) : (tensor<i1>) -> ()
  }) : (tensor<3xui32>) -> tensor<3xui32>
  return %0 : tensor<3xui32>
}

func.func @main() {
  %x = arith.constant dense<1.0> : tensor<f32>
  %limit = arith.constant 10.0 : f32
  %0 = call @doubles_until_beyond(%x, %limit) : (tensor<f32>, f32) -> tensor<f32>
  %1 = tensor.cast %0 : tensor<f32> to tensor<*xf32>
  // 1 + 1, and doubled until it is not below ten.
  // CHECK: [16]
  call @printMemrefF32(%1) : (tensor<*xf32>) -> ()

  %middle = arith.constant dense<1> : tensor<i32>
  %below = arith.constant dense<-1> : tensor<i32>
  %2 = call @chooses(%middle) : (tensor<i32>) -> tensor<f32>
  %3 = tensor.cast %2 : tensor<f32> to tensor<*xf32>
  // CHECK: [20]
  call @printMemrefF32(%3) : (tensor<*xf32>) -> ()
  %4 = call @chooses(%below) : (tensor<i32>) -> tensor<f32>
  %5 = tensor.cast %4 : tensor<f32> to tensor<*xf32>
  // CHECK: [30]
  call @printMemrefF32(%5) : (tensor<*xf32>) -> ()

  %table = arith.constant dense<[[1.0, 5.0], [3.0, 5.0], [2.0, 6.0]]> : tensor<3x2xf32>
  %rows = arith.constant dense<[[0, 0], [1, 1], [2, 2]]> : tensor<3x2xi32>
  %6:2 = call @sorts_columns(%table, %rows) : (tensor<3x2xf32>, tensor<3x2xi32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
  %7 = tensor.cast %6#0 : tensor<3x2xf32> to tensor<*xf32>
  // CHECK: {{\[}}[3, 6],
  // CHECK-NEXT: [2, 5],
  // CHECK-NEXT: [1, 5]]
  call @printMemrefF32(%7) : (tensor<*xf32>) -> ()
  %places = arith.sitofp %6#1 : tensor<3x2xi32> to tensor<3x2xf32>
  %8 = tensor.cast %places : tensor<3x2xf32> to tensor<*xf32>
  // CHECK: {{\[}}[1, 2],
  // CHECK-NEXT: [2, 0],
  // CHECK-NEXT: [0, 1]]
  call @printMemrefF32(%8) : (tensor<*xf32>) -> ()

  %ones = arith.constant dense<1.0> : tensor<2x2x3xf16>
  %columns = arith.constant dense<[[[2], [2]], [[0], [7]]]> : tensor<2x2x1xi32>
  %halves = arith.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]> : tensor<2x2x2xf16>
  %9 = call @adds_to_columns(%ones, %columns, %halves) : (tensor<2x2x3xf16>, tensor<2x2x1xi32>, tensor<2x2x2xf16>) -> tensor<2x2x3xf16>
  %wide = arith.extf %9 : tensor<2x2x3xf16> to tensor<2x2x3xf32>
  %10 = tensor.cast %wide : tensor<2x2x3xf32> to tensor<*xf32>
  // Rows of an update stand before its number: 1 + 1 + 2, and 1 + 3 + 4; 7 is no column.
  // CHECK: [1, 1, 4]
  // CHECK: [1, 1, 8]
  // CHECK: [6, 1, 1]
  // CHECK: [8, 1, 1]
  call @printMemrefF32(%10) : (tensor<*xf32>) -> ()

  %second = arith.constant dense<2> : tensor<1xi32>
  %block = arith.constant dense<[[-1.0, -2.0], [-3.0, -4.0]]> : tensor<2x2xf32>
  %11 = call @writes_rows(%table, %second, %block) : (tensor<3x2xf32>, tensor<1xi32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %12 = tensor.cast %11 : tensor<3x2xf32> to tensor<*xf32>
  // CHECK: {{\[}}[1, 5],
  // CHECK-NEXT: [3, 5],
  // CHECK-NEXT: [-1, -2]]
  call @printMemrefF32(%12) : (tensor<*xf32>) -> ()

  // Windows [-, 4, 4], [4, 2, 9], [9, 1, -].
  %signal = arith.constant dense<[4.0, 4.0, 2.0, 9.0, 1.0]> : tensor<5xf32>
  %gradient = arith.constant dense<[1.0, 10.0, 100.0]> : tensor<3xf32>
  %13 = call @to_largest(%signal, %gradient) : (tensor<5xf32>, tensor<3xf32>) -> tensor<5xf32>
  %14 = tensor.cast %13 : tensor<5xf32> to tensor<*xf32>
  // CHECK: [1, 0, 0, 110, 0]
  call @printMemrefF32(%14) : (tensor<*xf32>) -> ()

  // tan(0), tan(1), tan(4).
  %numbers = arith.constant dense<[0.0, -1.0, 2.0]> : tensor<3xf32>
  %15 = call @functions(%numbers) : (tensor<3xf32>) -> tensor<3xf32>
  %16 = tensor.cast %15 : tensor<3xf32> to tensor<*xf32>
  // CHECK: [0, 1.5574{{.*}}, 1.1578{{.*}}]
  call @printMemrefF32(%16) : (tensor<*xf32>) -> ()

  %unsorted = arith.constant dense<[7, 4294967280, 3]> : tensor<3xi32>
  %17 = call @sorts_unsigned(%unsorted) : (tensor<3xi32>) -> tensor<3xi32>
  %positive = arith.uitofp %17 : tensor<3xi32> to tensor<3xf32>
  %18 = tensor.cast %positive : tensor<3xf32> to tensor<*xf32>
  // CHECK: [3, 7, 4.29497e+09]
  call @printMemrefF32(%18) : (tensor<*xf32>) -> ()
  return
}
