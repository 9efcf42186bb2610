// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that passes write.

#ifndef MP_LIB_KERNELS_SERIALIZE_OUTPUTFILE_H
#define MP_LIB_KERNELS_SERIALIZE_OUTPUTFILE_H

#include "mlir/IR/Diagnostics.h"

namespace mlir::mp {

/// Writes DIR/NAME under a temporary name and renames it, so that no reader ever sees half of it.
/// The folder is made if missing; what goes wrong is an error at `loc`.
LogicalResult writeWhole(StringRef dir, StringRef name, StringRef content, Location loc);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_SERIALIZE_OUTPUTFILE_H
