// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums placements over functions and formats times and bytes for people.

#include "mp/Analysis/Cost/Placement.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::mp;

static int64_t times(int64_t amount, int64_t calls) {
  int64_t product;
  return llvm::MulOverflow(amount, calls, product) ? std::numeric_limits<int64_t>::max() : product;
}

static void add(int64_t &sum, int64_t amount) {
  if (llvm::AddOverflow(sum, amount, sum))
    sum = std::numeric_limits<int64_t>::max();
}

Placement mlir::mp::sumPlacements(llvm::ArrayRef<Placement> placements) {
  Placement sum;
  sum.part = placements.front().part;
  sum.objective = placements.front().objective;
  sum.provenOptimal = true;
  sum.baselines = placements.front().baselines;
  for (PaintedPlacement &painted : sum.baselines)
    painted.cost = painted.casts = painted.castBytes = 0;
  for (const Placement &one : placements) {
    add(sum.before, times(one.before, one.calls));
    add(sum.after, times(one.after, one.calls));
    add(sum.lowerBound, times(one.lowerBound, one.calls));
    sum.maxRelError = one.maxRelError;
    if (one.modelledError)
      sum.modelledError = std::max(sum.modelledError.value_or(0), *one.modelledError);
    sum.hasUnmodelled |= one.hasUnmodelled;
    sum.casts += one.casts;
    add(sum.castBytes, times(one.castBytes, one.calls));
    sum.provenOptimal &= one.provenOptimal;
    sum.assumedSizes |= one.assumedSizes;
    sum.assumedTrips |= one.assumedTrips;
    for (auto [mine, theirs] : llvm::zip_equal(sum.baselines, one.baselines)) {
      add(mine.cost, times(theirs.cost, one.calls));
      mine.casts += theirs.casts;
      add(mine.castBytes, times(theirs.castBytes, one.calls));
    }
  }
  return sum;
}

static std::string format(double value, llvm::ArrayRef<const char *> units) {
  while (value >= 999.5 && units.size() > 1) {
    value /= 1000;
    units = units.drop_front();
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(value < 100 ? "%.3g %s" : "%.0f %s", value,
                                                 units.front());
  return text;
}

std::string mlir::mp::formatTime(int64_t picoseconds) {
  return format(picoseconds, {"ps", "ns", "us", "ms", "s"});
}

std::string mlir::mp::formatBytes(int64_t bytes) {
  return format(bytes, {"B", "kB", "MB", "GB", "TB"});
}

std::string mlir::mp::formatAmount(int64_t amount, llvm::StringRef objective) {
  return objective == "memory" ? formatBytes(amount) : formatTime(amount);
}
