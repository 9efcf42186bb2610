// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The array conversion of f32 patterns against a reference.

#ifndef MP_TOOLS_DEV_NUMERICSSWEEP_SWEEP_H
#define MP_TOOLS_DEV_NUMERICSSWEEP_SWEEP_H

#include "Reference.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace mpcore::numerics::sweep {

/// The patterns at which the reference is asked. Results are computed and looked at for every
/// pattern in either case.
enum class Ask {
  Each, ///< at every pattern
  Ends, ///< at the first and last pattern of each run of equal results: conversions are monotone
        ///< over the patterns of one sign, so that a monotone reference agrees in between as well
};

struct Options {
  Ask ask = Ask::Each;
  uint64_t step = 1; ///< every Nth pattern
  unsigned jobs = 0; ///< threads; 0: one per processor
};

/// Results are counted, two for each pattern: one for each overflow rule.
struct Counts {
  uint64_t checked =
      0; ///< equal to their neighbours' up to the next two that the reference was asked about
  uint64_t asked = 0;   ///< of these, compared with an answer for their own pattern
  uint64_t skipped = 0; ///< the reference has no answer
  uint64_t different = 0;
};

class Sweep {
public:
  Sweep(const Reference &reference, const Task &task, const Options &options)
      : reference(reference), task(task), options(options) {}

  /// The first differences go to stdout.
  Counts run();

private:
  struct Buffers;
  template <typename Element> void check(const Buffers &buffers, size_t count);
  void work();
  void compare(uint32_t bits, Overflow overflow, uint64_t actual, const test::Oracle &expected);

  const Reference &reference;
  Task task;
  Options options;
  std::atomic<uint64_t> next = 0, checked = 0, asked = 0, skipped = 0, different = 0;
  std::mutex printing;
};

} // namespace mpcore::numerics::sweep

#endif // MP_TOOLS_DEV_NUMERICSSWEEP_SWEEP_H
