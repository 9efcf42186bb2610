// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a plan step by step: what is made again and when, and how many bytes live at most.

#include "PlanTables.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mpcore::assignment;
using llvm::ArrayRef;

/// The position of the step that computes each value, and those of all that read it.
static std::vector<std::vector<uint32_t>> findUses(const MemoryProblem &problem) {
  std::vector<std::vector<uint32_t>> uses(problem.values.size());
  for (auto [position, step] : llvm::enumerate(problem.steps)) {
    for (uint32_t value : step.reads)
      if (uses[value].empty() || uses[value].back() != position)
        uses[value].push_back(position);
    if (step.writes)
      uses[*step.writes].push_back(position);
  }
  for (auto [value, positions] : llvm::enumerate(uses))
    if (problem.values[value].isResult)
      positions.push_back(problem.steps.size());
  return uses;
}

std::vector<std::optional<Gap>> mpcore::assignment::findGaps(const MemoryProblem &problem) {
  std::vector<std::optional<Gap>> gaps(problem.values.size());
  for (auto [value, positions] : llvm::enumerate(findUses(problem))) {
    std::optional<Gap> &longest = gaps[value];
    for (size_t i = 1; i < positions.size(); ++i)
      if (positions[i] > positions[i - 1] + 1 &&
          (!longest || positions[i] - positions[i - 1] > longest->to - longest->from))
        longest = Gap{positions[i - 1], positions[i]};
  }
  return gaps;
}

PlanTables::PlanTables(const MemoryProblem &problem)
    : problem(problem), gaps(findGaps(problem)), definitions(problem.values.size()) {
  for (auto [position, step] : llvm::enumerate(problem.steps))
    if (step.writes)
      definitions[*step.writes] = uint32_t(position);
}

bool PlanTables::isPossible(uint32_t value, Keeping keeping) const {
  switch (keeping) {
  case Keeping::Whole: return true;
  case Keeping::Narrow: return gaps[value] && problem.values[value].narrowBytes;
  case Keeping::Recomputed:
    return gaps[value] && definitions[value] && problem.steps[*definitions[value]].isRepeatable;
  }
  return false;
}

namespace {
/// Lays out what runs, in order.
class Scheduler {
public:
  Scheduler(const PlanTables &tables, MemoryPlan &plan)
      : problem(tables.problem), tables(tables), plan(plan), gaps(tables.gaps),
        definitions(tables.definitions), isMadeAgain(problem.values.size()) {}

  void run() {
    for (auto [value, keeping] : llvm::enumerate(plan.keeping))
      if (!tables.isPossible(uint32_t(value), keeping))
        keeping = Keeping::Whole;
    std::vector<std::vector<uint32_t>> narrowedBehind(problem.steps.size());
    for (auto [value, keeping] : llvm::enumerate(plan.keeping))
      if (keeping == Keeping::Narrow)
        narrowedBehind[gaps[value]->from].push_back(uint32_t(value));
    for (position = 0; position != problem.steps.size(); ++position) {
      if (isPutOff(problem.steps[position].writes))
        continue;
      for (uint32_t value : problem.steps[position].reads)
        require(value);
      plan.schedule.push_back({ScheduledStep::Kind::Original, position});
      for (uint32_t value : narrowedBehind[position]) {
        plan.schedule.push_back({ScheduledStep::Kind::ToNarrow, value});
        plan.extra += problem.values[value].castTime;
      }
    }
    for (auto [value, known] : llvm::enumerate(problem.values))
      if (known.isResult)
        require(uint32_t(value));
  }

private:
  /// A read at `position` is behind the begin of the gap.
  bool isGone(uint32_t value) const {
    return plan.keeping[value] != Keeping::Whole && position > gaps[value]->from;
  }

  /// Nothing reads the value before its gap: it is computed behind it, and only there.
  bool isPutOff(std::optional<uint32_t> value) const {
    return value && plan.keeping[*value] == Keeping::Recomputed &&
           gaps[*value]->from == *definitions[*value] &&
           problem.steps[*definitions[*value]].mayWait;
  }

  /// Makes `value` again unless it is there.
  void require(uint32_t value) {
    if (!isGone(value) || isMadeAgain[value])
      return;
    isMadeAgain[value] = true;
    if (plan.keeping[value] == Keeping::Narrow) {
      plan.schedule.push_back({ScheduledStep::Kind::FromNarrow, value});
      plan.extra += problem.values[value].castTime;
      return;
    }
    uint32_t step = *definitions[value];
    for (uint32_t read : problem.steps[step].reads) {
      plan.readsNarrow |= isGone(read) && plan.keeping[read] == Keeping::Narrow;
      require(read);
    }
    plan.schedule.push_back({ScheduledStep::Kind::Again, step});
    plan.extra += isPutOff(value) ? 0 : problem.steps[step].time;
  }

  const MemoryProblem &problem;
  const PlanTables &tables;
  MemoryPlan &plan;
  const std::vector<std::optional<Gap>> &gaps;
  const std::vector<std::optional<uint32_t>> &definitions;
  std::vector<bool> isMadeAgain;
  uint32_t position = 0;
};

/// Follows buffers through a schedule. A value has up to three: as first computed, narrow, and as
/// made again.
class Buffers {
public:
  Buffers(const MemoryProblem &problem, const MemoryPlan &plan) : problem(problem), plan(plan) {}

  int64_t findPeak() {
    size_t count = problem.values.size();
    current.assign(count, 0);
    std::vector<bool> isComputed(count);
    for (const MemoryStep &step : problem.steps)
      if (step.writes)
        isComputed[*step.writes] = true;
    for (size_t value = 0; value != count; ++value)
      if (!isComputed[value])
        open(uint32_t(value), 0);
    for (auto [at, scheduled] : llvm::enumerate(plan.schedule))
      visit(uint32_t(at), scheduled);
    uint32_t end = uint32_t(plan.schedule.size());
    for (auto [value, known] : llvm::enumerate(problem.values))
      if (known.isResult)
        buffers[current[value]].last = end;
    return sweep(end);
  }

private:
  struct Buffer {
    int64_t bytes;
    uint32_t first, last;
  };

  /// A new buffer for a value.
  void open(uint32_t value, uint32_t at) {
    current[value] = uint32_t(buffers.size());
    buffers.push_back({problem.values[value].bytes, at, at});
  }
  void read(uint32_t value, uint32_t at) { buffers[current[value]].last = at; }

  void visit(uint32_t at, const ScheduledStep &scheduled) {
    using Kind = ScheduledStep::Kind;
    switch (scheduled.kind) {
    case Kind::Original:
    case Kind::Again: {
      const MemoryStep &step = problem.steps[scheduled.index];
      for (uint32_t value : step.reads)
        read(value, at);
      if (step.writes)
        open(*step.writes, at);
      scratch.resize(at + 1);
      scratch[at] = step.scratch;
      return;
    }
    case Kind::ToNarrow:
      read(scheduled.index, at);
      open(scheduled.index, at);
      buffers.back().bytes = *problem.values[scheduled.index].narrowBytes;
      return;
    case Kind::FromNarrow:
      read(scheduled.index, at);
      open(scheduled.index, at);
      return;
    }
  }

  int64_t sweep(uint32_t end) {
    std::vector<int64_t> change(end + 2);
    for (const Buffer &buffer : buffers) {
      change[buffer.first] += buffer.bytes;
      change[buffer.last + 1] -= buffer.bytes;
    }
    scratch.resize(end + 1);
    int64_t live = 0, peak = 0;
    for (uint32_t at = 0; at <= end; ++at) {
      live += change[at];
      peak = std::max(peak, live + scratch[at]);
    }
    return peak;
  }

  const MemoryProblem &problem;
  const MemoryPlan &plan;
  std::vector<uint32_t> current; ///< the buffer of each value now
  std::vector<Buffer> buffers;
  std::vector<int64_t> scratch;
};
} // namespace

MemoryPlan PlanTables::evaluate(ArrayRef<Keeping> keeping) const {
  MemoryPlan plan;
  plan.keeping = keeping.vec();
  Scheduler(*this, plan).run();
  plan.peak = Buffers(problem, plan).findPeak();
  return plan;
}

MemoryPlan mpcore::assignment::evaluatePlan(const MemoryProblem &problem,
                                            ArrayRef<Keeping> keeping) {
  return PlanTables(problem).evaluate(keeping);
}
