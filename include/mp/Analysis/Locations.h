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

/// The parts of a name but the last, as a path: "blocks/1/attention" of "blocks.1.attention.query".
/// Empty for a name of one part.
std::string folderOf(StringRef name);

} // namespace mlir::mp

#endif // MP_ANALYSIS_LOCATIONS_H
