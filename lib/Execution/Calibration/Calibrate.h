// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a function on batches of data and finds magnitudes for the operands of its contractions.

#ifndef MP_LIB_EXECUTION_CALIBRATION_CALIBRATE_H
#define MP_LIB_EXECUTION_CALIBRATION_CALIBRATE_H

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Execution/Inputs.h"
#include "mp/Numerics/Scaling/Calibration.h"
#include "mp/Transforms/Scale/StaticScales.h"

namespace mlir::mp {

/// The way magnitudes are chosen.
struct CalibrationOptions {
  numerics::CalibrationMethod method = numerics::CalibrationMethod::AbsMax;
  double share = 0.9999;                                  ///< of percentile
  numerics::CodeFormat code = numerics::Format::F8E4M3FN; ///< of mse
  std::string text = "absmax";                            ///< as it was asked for
};

/// Parses absmax, percentile[:SHARE], mse[:e4m3|e5m2|int8] or entropy.
llvm::Expected<CalibrationOptions> parseCalibration(llvm::StringRef text);

/// Runs `entry` of a copy of the module once for every whole batch of the inputs given as batches.
llvm::Expected<StaticScales> calibrate(ModuleOp module, llvm::StringRef entry,
                                       const InputOptions &inputs,
                                       const CalibrationOptions &options);

struct MeasuredRanges {
  int64_t batches = 0;
  size_t stated = 0; ///< values that got a range
  size_t left = 0;   ///< not finite, not reached, or with no place for an attribute
};

/// Runs `entry` as `calibrate` does, and states as `mp.range` of every f32 factor of a contraction
/// what elements it had, plus `margin` - 1 times the largest magnitude on both sides. The third
/// element of the attribute says that this was measured. Ranges that are there already stay.
llvm::Expected<MeasuredRanges> stateMeasuredRanges(ModuleOp module, llvm::StringRef entry,
                                                   const InputOptions &inputs, double margin);

/// A line for each operand: what was seen, and what was chosen.
void printScales(llvm::raw_ostream &os, const StaticScales &scales);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_CALIBRATION_CALIBRATE_H
