// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says how contraction kernels get buffers of the host.

#ifndef MP_LIB_KERNELS_EMIT_PASSBUFFERS_H
#define MP_LIB_KERNELS_EMIT_PASSBUFFERS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::mp {

/// True for buffers whose shape, offset and strides are in their type, and for what is no buffer.
bool hasKnownLayout(Type buffer);

/// The type of a buffer that begins at any known place as this does.
Type atAnyPlace(Type buffer);

/// The argument for a buffer: buffers of known layout as they are, unless `asBase`, others as what
/// they are views of.
Value passBuffer(OpBuilder &builder, Value buffer, bool asBase);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_EMIT_PASSBUFFERS_H
