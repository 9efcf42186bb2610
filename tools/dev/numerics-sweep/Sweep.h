// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The array conversion of f32 patterns against a judge.

#ifndef MP_TOOLS_DEV_NUMERICSSWEEP_SWEEP_H
#define MP_TOOLS_DEV_NUMERICSSWEEP_SWEEP_H

#include "Judge.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace mp::numerics::sweep {

/// Where the judge is asked. Results are computed and looked at for every pattern in either case.
enum class Ask {
  Each, ///< at every pattern
  Ends, ///< at the first and last pattern of each run of equal results: conversions are monotone
        ///< over the patterns of one sign, so that a monotone judge agrees in between as well
};

struct Options {
  Ask ask = Ask::Each;
  uint64_t step = 1; ///< every Nth pattern
  unsigned jobs = 0; ///< threads; 0: one per processor
};

/// Results are counted, two for each pattern: one for each overflow rule.
struct Counts {
  uint64_t judged =
      0; ///< equal to their neighbours' up to the next two that the judge was asked about
  uint64_t asked = 0;   ///< of these, compared with an answer for their own pattern
  uint64_t skipped = 0; ///< the judge has no answer
  uint64_t different = 0;
};

class Sweep {
public:
  Sweep(const Judge &judge, const Task &task, const Options &options)
      : judge(judge), task(task), options(options) {}

  /// The first differences go to stdout.
  Counts run();

private:
  struct Buffers;
  template <typename Element> void check(const Buffers &buffers, size_t count);
  void work();
  void compare(uint32_t bits, Overflow overflow, uint64_t actual, const test::Oracle &expected);

  const Judge &judge;
  Task task;
  Options options;
  std::atomic<uint64_t> next = 0, judged = 0, asked = 0, skipped = 0, different = 0;
  std::mutex printing;
};

} // namespace mp::numerics::sweep

#endif // MP_TOOLS_DEV_NUMERICSSWEEP_SWEEP_H
