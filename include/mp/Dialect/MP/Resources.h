// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Data of constants, which may lie beside the module.

#ifndef MP_DIALECT_MP_RESOURCES_H
#define MP_DIALECT_MP_RESOURCES_H

#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::mp {

/// A resource of this name with a copy of these bytes; where there is one of that name and these
/// bytes already, that one, so that what is converted twice is stored once and named alike. Other
/// bytes under the name get a name of their own.
DenseResourceElementsAttr getOrAddResource(ShapedType type, StringRef name, ArrayRef<char> bytes);

/// Reads the elements of a dense or resource constant of floats of at most 32 bits as f32, a
/// splat's as often as there are elements; nullopt of anything else, and where data are missing.
std::optional<SmallVector<float, 0>> readFloats(Attribute constant);
std::optional<SmallVector<float, 0>> readFloats(Value constant);

} // namespace mlir::mp

#endif // MP_DIALECT_MP_RESOURCES_H
