// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// select_and_scatter, the gradient of a pooling.

#ifndef MP_LIB_IMPORT_STABLEHLO_SELECTANDSCATTER_H
#define MP_LIB_IMPORT_STABLEHLO_SELECTANDSCATTER_H

#include "ScalarBody.h"

namespace mlir::mp::import {

/// Writes loops: each element of the source goes to the element of its window that the first body
/// selects, where the second combines it with what is there.
void translateSelectAndScatter(Source &source, const GenericOp &op);

} // namespace mlir::mp::import

#endif // MP_LIB_IMPORT_STABLEHLO_SELECTANDSCATTER_H
