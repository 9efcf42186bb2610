// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses among the schedules of attention that are written for mma.sync.

#include "AttentionChoice.h"

#include "../Plan/KeyBounds.h"
#include "StreamProblem.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using namespace mpcore::performance;

AttentionProblem mlir::mp::problemOf(const AttentionPlan &plan) {
  auto sizeOf = [&](ArrayRef<unsigned> loops) {
    int64_t size = 1;
    for (unsigned loop : loops) {
      int64_t known = plan.loops[loop].size;
      size *= ShapedType::isDynamic(known) ? kAssumedSize : known;
    }
    return size;
  };
  AttentionProblem problem;
  problem.batch = sizeOf(plan.batch);
  problem.queries = sizeOf(plan.rows);
  problem.keys = sizeOf(plan.keys);
  problem.headDim = std::max(plan.loops[plan.depth].size, plan.loops[plan.width].size);
  if (KeyBounds bounds = boundKeys(plan); bounds.upper) {
    problem.causal = true;
    problem.queries = sizeOf({bounds.query});
    problem.heads = sizeOf(plan.rows) / std::max<int64_t>(problem.queries, 1); // of a group
  }
  problem.format = plan.element().isF16() ? "f16" : "bf16";
  return problem;
}

/// Blocks that share the keys of a row so that memory is read from most of the multiprocessors,
/// each of two tiles at least.
static unsigned splitsFor(const AttentionProblem &problem, int64_t rows, unsigned queries,
                          unsigned keys, const Part &part) {
  const double blocks = double(problem.batch) * std::ceil(double(rows) / queries);
  unsigned splits = 1;
  while (splits < kMostKeySplits && blocks * splits < 0.8 * part.multiprocessors() &&
         problem.keys >= int64_t(4) * splits * keys)
    splits *= 2;
  return splits;
}

llvm::Expected<Ranked> mlir::mp::chooseAttention(const AttentionProblem &problem,
                                                 const Part &part) {
  if (!part.plain->memory.cpAsync)
    return llvm::createStringError(part.name +
                                   " has no cp.async, by which tiles of attention come");
  std::optional<Ranked> best;
  std::string refusals;
  const int64_t rows = problem.queries * problem.heads;
  for (auto [queries, warps] : {std::pair(128u, 4u), {128u, 8u}, {64u, 4u}, {32u, 2u}, {16u, 1u}})
    for (unsigned keys : {64u, 32u})
      for (unsigned splits : {1u, splitsFor(problem, rows, queries, keys, part)}) {
        // 32 rows a warp leave no registers for the masks of a wider head: ptxas spills.
        if (queries / warps == 32 && problem.headDim > 64)
          continue;
        if (queries < 64 && rows > queries) // fewer warps are for those that would have no row
          continue;
        AttentionSchedule schedule{MatrixUnit::MmaSync, queries, keys, warps, 2, splits, false};
        llvm::Expected<Estimate> found = estimate(problem, schedule, part);
        if (!found) {
          refusals = llvm::toString(found.takeError());
          continue;
        }
        if (splits > 1) // the kernel that merges parts
          found->seconds += (*found)[Bound::Launch];
        if (!best || found->seconds < best->estimate.seconds)
          best = Ranked{schedule, *found};
      }
  if (!best)
    return llvm::createStringError(refusals);
  return *best;
}

AttentionRounding mlir::mp::roundingOf(const AttentionProblem &problem,
                                       const AttentionSchedule &schedule) {
  const double u = 0x1p-24, format = problem.format == "f16" ? 0x1p-11 : 0x1p-8;
  const double keys = double(problem.keys), atOnce = std::min(schedule.keys, 32u);
  const double apart = 4 * u + (3 * keys + 1) * u + format;
  const double merging = schedule.splitKeys > 1 ? (6 + 2.0 * schedule.splitKeys) * u : 0;
  return {apart + 8 * u * std::ceil(keys / atOnce) + merging, apart};
}
