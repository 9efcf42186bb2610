// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The class assumption in one number.

#ifndef MP_ANALYSIS_ASSUMEDMARGIN_H
#define MP_ANALYSIS_ASSUMEDMARGIN_H

namespace mlir::mp {

/// Arguments and contraction results are assumed to stay this far below a format's limit: growths
/// up to this need no further evidence.
inline constexpr double kAssumedMargin = 16;

} // namespace mlir::mp

#endif // MP_ANALYSIS_ASSUMEDMARGIN_H
