// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Translates TFLite's non-maximum suppression.

#ifndef MP_LIB_IMPORT_TFLITE_SUPPRESSION_H
#define MP_LIB_IMPORT_TFLITE_SUPPRESSION_H

#include "../Forms/GenericOp.h"

namespace mlir::mp::import {

/// non_max_suppression_v4 and _v5 of boxes, scores, the most to choose, and thresholds of overlap
/// and score: turn by turn the best score that is left, of equal ones the first; what overlaps it
/// as much as the threshold leaves. The places of the chosen, zeros behind them, and their number.
/// The fifth version has a sigma: scores that are left fade by exp(-overlap^2 / 2 sigma); it
/// returns scores, too.
void translateSuppression(Source &source, const GenericOp &op);

} // namespace mlir::mp::import

#endif // MP_LIB_IMPORT_TFLITE_SUPPRESSION_H
