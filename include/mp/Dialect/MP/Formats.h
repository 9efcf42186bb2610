// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Float types of the IR as formats of lib/Numerics.

#ifndef MP_DIALECT_MP_FORMATS_H
#define MP_DIALECT_MP_FORMATS_H

#include "mlir/IR/Types.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Numerics/Format.h"

#include <optional>

namespace mlir::mp {

/// The format of a float, or of the elements of a shaped type; nothing for other types and floats
/// that lib/Numerics does not know.
std::optional<numerics::Format> getNumericsFormat(Type type);

} // namespace mlir::mp

#endif // MP_DIALECT_MP_FORMATS_H
