// Masters in two halves: every row of the split, and the joined f32 bit for bit.

// RUN: mp-run %s --entry=split | FileCheck %s --check-prefix=SPLIT
// SPLIT: result 0: 6xi16 = [16257 16257 16258 -16511 16257 32640]
// SPLIT: result 1: 6xi16 = [-32768 -16384 -32768 -32768 -1 -1]
func.func @split() -> (tensor<6xi16>, tensor<6xi16>) {
  // 3f808000 3f80c000 3f818000 bf808000 3f80ffff 7f7fffff
  %bits = arith.constant dense<[1065385984, 1065402368, 1065451520, -1082097664, 1065418751, 2139095039]> : tensor<6xi32>
  %x = arith.bitcast %bits : tensor<6xi32> to tensor<6xf32>
  %high, %remainder = mp.split_master %x : tensor<6xf32>
  %seen = arith.bitcast %high : tensor<6xbf16> to tensor<6xi16>
  return %seen, %remainder : tensor<6xi16>, tensor<6xi16>
}

// A cast rounds ties to even, where the split rounds them away from zero.
// RUN: mp-run %s --entry=cast | FileCheck %s --check-prefix=CAST
// CAST: result 0: 6xi16 = [16256 16257 16258 -16512 16257 32640]
func.func @cast() -> tensor<6xi16> {
  %bits = arith.constant dense<[1065385984, 1065402368, 1065451520, -1082097664, 1065418751, 2139095039]> : tensor<6xi32>
  %x = arith.bitcast %bits : tensor<6xi32> to tensor<6xf32>
  %narrow = mp.cast ieee %x : tensor<6xf32> to tensor<6xbf16>
  %seen = arith.bitcast %narrow : tensor<6xbf16> to tensor<6xi16>
  return %seen : tensor<6xi16>
}

// Zeros, ties, subnormals, infinities, NaN and 4096 patterns in between: no bit is lost.
// RUN: mp-run %s --entry=round_trip '--input=4096xi32=integers:3,-2147483648,2147483647' | FileCheck %s --check-prefix=TRIP
// TRIP: result 0: i32 = [0]
// RUN: mp-run %s --entry=round_trip '--input=4096xi32=integers:5,-65536,65536' | FileCheck %s --check-prefix=TRIP
// RUN: mp-run %s --entry=round_trip '--input=4096xi32=integers:7,2139029504,2139160576' | FileCheck %s --check-prefix=TRIP
func.func @round_trip(%bits: tensor<4096xi32>) -> tensor<i32> {
  %x = arith.bitcast %bits : tensor<4096xi32> to tensor<4096xf32>
  %high, %remainder = mp.split_master %x : tensor<4096xf32>
  // Hidden from the fold.
  %code = arith.bitcast %high : tensor<4096xbf16> to tensor<4096xi16>
  %again = arith.bitcast %code : tensor<4096xi16> to tensor<4096xbf16>
  %y = mp.join_master %again, %remainder : tensor<4096xbf16>, tensor<4096xi16>
  %back = arith.bitcast %y : tensor<4096xf32> to tensor<4096xi32>
  %differs = arith.xori %back, %bits : tensor<4096xi32>
  %zero = arith.constant dense<0> : tensor<i32>
  %any = linalg.reduce { arith.ori } ins(%differs : tensor<4096xi32>) outs(%zero : tensor<i32>) dimensions = [0]
  return %any : tensor<i32>
}

// Stochastic rounding adds the low 16 random bits below the last place, then cuts.
// RUN: mp-run %s --entry=by_chance | FileCheck %s --check-prefix=CHANCE
// CHANCE: result 0: 6xi16 = [16256 16257 16256 16256 -16511 -16511]
func.func @by_chance() -> tensor<6xi16> {
  // 3f808000 3f808000 3f800001 3f800001 bf80c000 bf80c000 with 7fff 8000 0 1 bfff c000
  %bits = arith.constant dense<[1065385984, 1065385984, 1065353217, 1065353217, -1082081280, -1082081280]> : tensor<6xi32>
  %random = arith.constant dense<[32767, 32768, 0, 1, 49151, 49152]> : tensor<6xi32>
  %x = arith.bitcast %bits : tensor<6xi32> to tensor<6xf32>
  %narrow = mp.cast sr ieee %x, %random : tensor<6xf32> to tensor<6xbf16>
  %seen = arith.bitcast %narrow : tensor<6xbf16> to tensor<6xi16>
  return %seen : tensor<6xi16>
}

// 65536 draws of 1 + 2^-10, an eighth of the way to the next bf16: 8192 go up, give or take 4 sigma (339).
// RUN: mp-run %s --entry=mean --input=i64:1 --input=i64:0 | FileCheck %s --check-prefix=MEAN
// RUN: mp-run %s --entry=mean --input=i64:1 --input=i64:16384 | FileCheck %s --check-prefix=MEAN
// RUN: mp-run %s --entry=mean --input=i64:7 --input=i64:0 | FileCheck %s --check-prefix=MEAN
// MEAN: result 0: i1 = [1]
func.func @mean(%seed: tensor<i64>, %offset: tensor<i64>) -> tensor<i1> {
  %x = arith.constant dense<1.0009765625> : tensor<65536xf32>
  %one = arith.constant dense<1.0> : tensor<65536xbf16>
  %random = mp.random_bits %seed, %offset : tensor<65536xi32>
  %narrow = mp.cast sr ieee %x, %random : tensor<65536xf32> to tensor<65536xbf16>
  %above = arith.cmpf ogt, %narrow, %one : tensor<65536xbf16>
  %ones = arith.extui %above : tensor<65536xi1> to tensor<65536xi32>
  %zero = arith.constant dense<0> : tensor<i32>
  %count = linalg.reduce { arith.addi } ins(%ones : tensor<65536xi32>) outs(%zero : tensor<i32>) dimensions = [0]
  %expected = arith.constant dense<8192> : tensor<i32>
  %difference = arith.subi %count, %expected : tensor<i32>
  %distance = math.absi %difference : tensor<i32>
  %limit = arith.constant dense<339> : tensor<i32>
  %near = arith.cmpi sle, %distance, %limit : tensor<i32>
  return %near : tensor<i1>
}

// RUN: mp-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD
// FOLD-LABEL: func.func @folds(
// FOLD-SAME: %[[X:.*]]: tensor<4xf32>)
// FOLD-NEXT: return %[[X]]
func.func @folds(%x: tensor<4xf32>) -> tensor<4xf32> {
  %high, %remainder = mp.split_master %x : tensor<4xf32>
  %y = mp.join_master %high, %remainder : tensor<4xbf16>, tensor<4xi16>
  return %y : tensor<4xf32>
}
