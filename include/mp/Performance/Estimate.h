// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modelled times of kernels. `docs/concepts/Performance.md` has the formulas, the constants and
// their errors. Nothing here was measured: what constants were fitted to is in `Evidence`.

#ifndef MP_PERFORMANCE_ESTIMATE_H
#define MP_PERFORMANCE_ESTIMATE_H

#include "mp/Performance/Calibration.h"
#include "mp/Performance/Schedule.h"

#include <array>

namespace llvm::json {
class Value;
} // namespace llvm::json

namespace mpcore::performance {

/// A kernel is bound by one of these.
enum class Bound : uint8_t {
  Tensor,       ///< matrix units, the clock under load included
  Issue,        ///< warp instructions per cycle
  SharedMemory, ///< bytes per cycle, bank conflicts included
  L2,           ///< bytes from the second-level cache
  Memory,       ///< bytes from device memory
  Latency,      ///< too few bytes or too few steps in flight
  Launch,       ///< starting and ending the kernel
};
inline constexpr unsigned kBounds = 7;
llvm::StringRef toString(Bound bound);

struct Estimate {
  double seconds = 0;
  /// The resource that takes longest when each is taken alone.
  Bound bound = Bound::Launch;
  /// Seconds of each resource alone, by Bound.
  std::array<double, kBounds> alone{};
  double blocks = 0; ///< of the grid
  double waves = 0;  ///< blocks over those that run at once
  double occupancy = 0;
  double bytes = 0;        ///< that cross the memory interface, modelled
  double minimumBytes = 0; ///< that must
  Evidence evidence;

  double &operator[](Bound b) { return alone[unsigned(b)]; }
  double operator[](Bound b) const { return alone[unsigned(b)]; }
  double microseconds() const { return seconds * 1e6; }
};

/// The time of a problem by a schedule. An error says why the schedule cannot run it on the part.
llvm::Expected<Estimate> estimate(const Problem &problem, const Schedule &schedule,
                                  const Part &part);
/// The same with other constants, for fitting and for asking how robust a choice is; the last form
/// takes what resourcesOf said, for callers that ask often.
llvm::Expected<Estimate> estimate(const Problem &problem, const Schedule &schedule,
                                  const Part &part, const Calibration &calibration);
Estimate estimate(const Problem &problem, const Schedule &schedule, const Resources &resources,
                  const Part &part, const Calibration &calibration);

struct Ranked {
  Schedule schedule;
  Estimate estimate;
  /// Bounds how much longer than the best of the menu a choice takes while any one constant
  /// is a fifth larger or smaller, as a share.
  double atRisk = 0;
};

/// The schedules of the menu that can run the problem, fastest first, at most `limit`; equal times
/// keep the menu's order. An error if none can.
llvm::Expected<std::vector<Ranked>> rank(const Problem &problem, const Part &part,
                                         unsigned limit = ~0u);
llvm::Expected<std::vector<Ranked>> rank(const Problem &problem, const Part &part,
                                         const Calibration &calibration, unsigned limit = ~0u);
/// The fastest of the schedules that kernels here are written for (writtenMenu). An error if none
/// can run the problem.
llvm::Expected<Ranked> fastestWritten(const Problem &problem, const Part &part);

/// A schedule and what resourcesOf said of it.
struct Candidate {
  Schedule schedule;
  Resources resources;
};

/// The index of the candidate to launch when the constants are uncertain: of those within 5 % of
/// the fastest, the one that loses least against the best when any one constant is a fifth larger
/// or smaller; and how much that is, as a share of the best's time.
std::pair<size_t, double> chooseRobustly(const Problem &problem,
                                         llvm::ArrayRef<Candidate> candidates, const Part &part,
                                         const Calibration &calibration);

/// The schedule that chooseRobustly takes of the menu. An error if the menu has none that runs.
llvm::Expected<Ranked> choose(const Problem &problem, const Part &part);

/// The least time any kernel could take: multiply-adds at the documented peak or the minimum of
/// bytes at the documented bandwidth, without a launch.
double speedOfLight(const Problem &problem, const Part &part);

/// Counts of a kernel that exists, of all its blocks: from the emulator or from a cubin.
struct KernelCounts {
  double blocks = 0;
  unsigned threads = 0;     ///< per block
  unsigned registers = 0;   ///< per thread; 0 if unknown
  unsigned sharedBytes = 0; ///< per block
  double warpInstructions = 0;
  double sharedWavefronts = 0; ///< cycles of shared memory
  double sectors = 0;          ///< of 32 bytes, between multiprocessors and L2
  /// Multiply-adds by unit and format ("bf16").
  struct Products {
    MatrixUnit unit;
    std::string format;
    double multiplyAdds;
  };
  llvm::SmallVector<Products, 2> products;
  double uniqueBytes = 0; ///< of memory that is read or written; 0 if unknown: the sectors'
};

/// The time of one launch with these counts.
Estimate estimate(const KernelCounts &counts, const Part &part);

/// {"microseconds": ..., "bound": "memory", "alone": {...}, ...}
llvm::json::Value toJSON(const Estimate &estimate);

} // namespace mpcore::performance

#endif // MP_PERFORMANCE_ESTIMATE_H
