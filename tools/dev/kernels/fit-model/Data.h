// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measurements by others, as text files.

#ifndef MP_TOOLS_DEV_FITMODEL_DATA_H
#define MP_TOOLS_DEV_FITMODEL_DATA_H

#include "mp/Performance/Estimate.h"

namespace fitmodel {

struct Point {
  const mpcore::performance::Part *part;
  mpcore::performance::Problem problem;
  std::optional<mpcore::performance::Schedule> schedule; ///< of the kernel; none: the best there is
  double microseconds;
  std::string source;
};

/// Reads one of two forms; lines that begin with # are comments. Errors name file and line.
///   part;problem;value;unit;source         the problem as parseProblem reads it, and the value in
///                                          us, TFLOP/s or GB/s of the minimum of bytes; a sixth
///                                          field is the schedule as parseSchedule reads it
///   device,types,batch,m,n,k,us            matrix products as OpenXLA lists them: sm_90 or
///                                          sm_100_B200, bf16xbf16->bf16; f32 there means tf32
llvm::Expected<std::vector<Point>> readPoints(llvm::StringRef file);

} // namespace fitmodel

#endif // MP_TOOLS_DEV_FITMODEL_DATA_H
