// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records what a program prints, as numbers to compare.

#ifndef MP_EXECUTION_HOST_PRINTRECORDER_H
#define MP_EXECUTION_HOST_PRINTRECORDER_H

#include "mp/Execution/Array.h"

#include <vector>

namespace mlir::mp {

/// While it lives, keeps every number that programs run by this thread print, and stops their
/// clock. One at a time.
class PrintRecorder {
public:
  /// `quiet`: nothing reaches standard output.
  explicit PrintRecorder(bool quiet);
  ~PrintRecorder();
  PrintRecorder(const PrintRecorder &) = delete;
  PrintRecorder &operator=(const PrintRecorder &) = delete;

  /// An f64 array of rank 1.
  Array numbers() const;

private:
  std::vector<double> heard;
};

} // namespace mlir::mp

#endif // MP_EXECUTION_HOST_PRINTRECORDER_H
