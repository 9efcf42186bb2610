// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies of StableHLO's sort, scatter and select_and_scatter. Once torch-mlir has lowered what
// stands in them, they compute on tensors without dimensions:
//
//   ^bb0(%a: tensor<f32>, %b: tensor<f32>):
//     %0 = "tensor.empty"() : () -> tensor<i1>
//     %1 = "linalg.generic"(%a, %b, %0) <{...}> ({
//     ^bb0(%x: f32, %y: f32, %out: i1):
//       %2 = "arith.cmpf"(%x, %y) <{predicate = 2 : i64}> : (f32, f32) -> i1
//       "linalg.yield"(%2) : (i1) -> ()
//     }) : (tensor<f32>, tensor<f32>, tensor<i1>) -> tensor<i1>
//     "stablehlo.return"(%1) : (tensor<i1>) -> ()

#ifndef MP_LIB_IMPORT_STABLEHLO_SCALARBODY_H
#define MP_LIB_IMPORT_STABLEHLO_SCALARBODY_H

#include "../Forms/GenericOp.h"

namespace mlir::mp::import {

/// Writes what `region` computes as statements on scalars, its arguments replaced by those given.
/// Returns what it yields; nothing, with an error recorded, where it does more than linalg on
/// tensors without dimensions.
std::optional<Values> writeScalarBody(Source &source, LoopText &text, const GenericRegion &region,
                                      ArrayRef<std::string> arguments);

} // namespace mlir::mp::import

#endif // MP_LIB_IMPORT_STABLEHLO_SCALARBODY_H
