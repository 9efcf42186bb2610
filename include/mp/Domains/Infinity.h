// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef MP_DOMAINS_INFINITY_H
#define MP_DOMAINS_INFINITY_H

#include <limits>

namespace mpcore::domains {
/// Bounds of what nothing bounds.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
} // namespace mpcore::domains

#endif // MP_DOMAINS_INFINITY_H
