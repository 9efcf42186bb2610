// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells the performance model what an attention kernel computes, and bounds what it rounds.

#include "AttentionProblem.h"

#include "../Plan/KeyBounds.h"
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
  auto varies = [&](ArrayRef<unsigned> loops) { return ShapedType::isDynamic(plan.extent(loops)); };
  problem.keysVary = varies(plan.keys);
  problem.rowsVary = varies(plan.batch) || varies(plan.rows);
  problem.headDim = std::max(plan.loops[plan.depth].size, plan.loops[plan.width].size);
  if (KeyBounds bounds = boundKeys(plan); bounds.upper) {
    problem.causal = true;
    problem.queries = sizeOf({bounds.query});
    problem.heads = sizeOf(plan.rows) / std::max<int64_t>(problem.queries, 1); // of a group
  }
  problem.format = plan.element().isF16() ? "f16" : "bf16";
  return problem;
}

AttentionRounding mlir::mp::roundingOf(const AttentionProblem &problem,
                                       const AttentionSchedule &schedule) {
  const double u = 0x1p-24, format = problem.format == "f16" ? 0x1p-11 : 0x1p-8;
  const double keys = double(problem.keys), atOnce = std::min(schedule.keys, 32u);
  const double apart = 4 * u + (3 * keys + 1) * u + format;
  const unsigned sharers = schedule.splitKeys; // at most
  const double merging = sharers > 1 ? (6 + 2.0 * sharers) * u : 0;
  return {apart + 8 * u * std::ceil(keys / atOnce) + merging, apart};
}
