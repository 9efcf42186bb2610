// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the files that implement Error.h.

#ifndef MP_LIB_DOMAINS_ERRORDETAIL_H
#define MP_LIB_DOMAINS_ERRORDETAIL_H

#include "mp/Domains/Error.h"
#include "mp/Domains/Rounding.h"

#include <cmath>

namespace mpcore::domains::detail {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

/// Row norm of differences of at most `perElement` each; inf without a known length.
double rowBound(double perElement, RowLength rowLength);

/// Lets the components bound each other; `exact`: facts of the exact result.
ErrorFacts finish(ErrorFacts error, const FloatFacts &exact, const Arithmetic &arithmetic);

/// Adds one rounding in `arithmetic` to errors that came in.
ErrorFacts rounded(ErrorFacts inherited, const FloatFacts &exact, const Arithmetic &arithmetic);

} // namespace mpcore::domains::detail

#endif // MP_LIB_DOMAINS_ERRORDETAIL_H
