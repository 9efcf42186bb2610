// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that constant weights multiply, on a grid fitted to data.

#ifndef MP_LIB_EXECUTION_CALIBRATION_ROUNDACTIVATIONS_H
#define MP_LIB_EXECUTION_CALIBRATION_ROUNDACTIVATIONS_H

#include "Calibrate.h"
#include "mp/Numerics/Scaling/UniformGrid.h"

namespace mlir::mp {

struct ActivationCodes {
  unsigned bits = 0; ///< 2 to 8; 0: values stay as they are
  bool isUnsigned = false;
};

/// Parses iN or uiN.
llvm::Expected<ActivationCodes> parseActivationCodes(StringRef text);

/// `value` on the grid, computed by `mp.fake_quantize` before `user`.
Value roundToGrid(Operation *user, Value value, const ActivationCodes &codes,
                  const numerics::UniformGrid &grid);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_CALIBRATION_ROUNDACTIVATIONS_H
