// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Estimates of all families share these rules and constants.

#ifndef MP_LIB_PERFORMANCE_COMBINE_H
#define MP_LIB_PERFORMANCE_COMBINE_H

#include "mp/Performance/Estimate.h"

#include <cmath>
#include <initializer_list>

namespace mpcore::performance::detail {

/// The time of activities that run side by side: the longest, and more where others come close to
/// it, since they then get in each other's way. The norm of order 8 adds 9 % for two equal ones.
inline double together(std::initializer_list<double> times) {
  double longest = 0, sum = 0;
  for (double t : times)
    longest = std::max(longest, t);
  if (longest == 0)
    return 0;
  for (double t : times) {
    const double share = t / longest, square = share * share, fourth = square * square;
    sum += fourth * fourth;
  }
  return longest * std::sqrt(std::sqrt(std::sqrt(sum)));
}

/// Seconds from asking device memory for bytes until they are there, on an idle machine; about the
/// same on all parts (0.6 to 0.8 us in published pointer chases of sm_70 to sm_90). From L2: about
/// half.
inline constexpr double kMemoryLatency = 0.7e-6, kL2Latency = 0.35e-6;

/// Bytes of shared memory per cycle and multiprocessor: 32 banks of 4.
inline constexpr double kSharedBytesPerCycle = 128;
/// Bytes per cycle that one multiprocessor takes from L2 at most.
inline constexpr double kL2PortBytesPerCycle = 64;
/// Warp instructions per cycle and multiprocessor: four schedulers.
inline constexpr double kIssuePerCycle = 4;

/// The resource that takes longest alone.
inline Bound bindingOf(const Estimate &e) {
  unsigned longest = 0;
  for (unsigned b = 1; b < kBounds; ++b)
    if (e.alone[b] > e.alone[longest])
      longest = b;
  return Bound(longest);
}

inline double ceilDiv(double a, double b) { return std::ceil(a / b); }

/// The constants of the unit that a schedule uses for the problem's format.
const Calibration &calibrationOf(const Problem &problem, const Schedule &schedule,
                                 const Part &part);

/// Families, each for its own schedules. `r` is what resourcesOf said.
Estimate estimateMatmul(const MatmulProblem &p, const MatmulSchedule &s, const Resources &r,
                        const Part &part, const Calibration &c);
Estimate estimateAttention(const AttentionProblem &p, const AttentionSchedule &s,
                           const Resources &r, const Part &part, const Calibration &c);
Estimate estimateMap(const MapProblem &p, const MapSchedule &s, const Resources &r,
                     const Part &part, const Calibration &c);
Estimate estimateRows(const RowProblem &p, const RowSchedule &s, const Resources &r,
                      const Part &part, const Calibration &c);
Estimate estimateColumns(const ColumnReductionProblem &p, const ColumnReductionSchedule &s,
                         const Resources &r, const Part &part, const Calibration &c);
Estimate estimateTranspose(const TransposeProblem &p, const TransposeSchedule &s,
                           const Resources &r, const Part &part, const Calibration &c);

} // namespace mpcore::performance::detail

#endif // MP_LIB_PERFORMANCE_COMBINE_H
