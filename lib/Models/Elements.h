// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The float format of a model.

#ifndef MP_LIB_MODELS_ELEMENTS_H
#define MP_LIB_MODELS_ELEMENTS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::mp {

/// Turns every f32 of `module` into `format`, constants by rounding to nearest even; what is
/// beyond its range, such as the mask of attention, becomes the largest, as frontends write it.
void setElements(ModuleOp module, FloatType format);

} // namespace mlir::mp

#endif // MP_LIB_MODELS_ELEMENTS_H
