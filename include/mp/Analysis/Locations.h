// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Locations as people know them.

#ifndef MP_ANALYSIS_LOCATIONS_H
#define MP_ANALYSIS_LOCATIONS_H

#include "mlir/IR/Location.h"

namespace mlir::mp {

/// file:line:column, or the name, or "unknown".
std::string describeLocation(Location location);

/// Every name inside `location`, outermost first.
SmallVector<std::string> namesIn(Location location);

} // namespace mlir::mp

#endif // MP_ANALYSIS_LOCATIONS_H
