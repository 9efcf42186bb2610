// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants whose data lie beside the module.

#ifndef MP_DIALECT_MP_RESOURCES_H
#define MP_DIALECT_MP_RESOURCES_H

#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::mp {

/// A resource of this name with a copy of these bytes; where there is one of that name and these
/// bytes already, that one, so that what is converted twice is stored once and named alike. Other
/// bytes under the name get a name of their own.
DenseResourceElementsAttr getOrAddResource(ShapedType type, StringRef name, ArrayRef<char> bytes);

} // namespace mlir::mp

#endif // MP_DIALECT_MP_RESOURCES_H
