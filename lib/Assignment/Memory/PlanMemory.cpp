// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks for the plan of least time within a limit of memory: through all where they are few, else
// from several beginnings downhill.

#include "PlanTables.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mpcore::assignment;
using llvm::ArrayRef;

/// Downhill no more are looked at.
static constexpr uint64_t kMostLooks = 60000;
static constexpr unsigned kSegments[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};

namespace {
class MemorySearch {
public:
  MemorySearch(const MemoryProblem &problem, int64_t limit)
      : problem(problem), tables(problem), limit(limit) {
    for (uint32_t value = 0; value != problem.values.size(); ++value) {
      std::vector<Keeping> choices;
      for (Keeping choice : {Keeping::Narrow, Keeping::Recomputed})
        if (problem.values[value].bytes > 0 && tables.isPossible(value, choice))
          choices.push_back(choice);
      if (!choices.empty())
        open.push_back({value, std::move(choices)});
    }
  }

  MemoryAnswer run(uint64_t exhaustive) {
    std::vector<Keeping> all(problem.values.size(), Keeping::Whole);
    consider(all);
    if (best.isWithin) {
      best.isProven = true; // nothing takes less time than doing everything once
      best.checkpointing = 0;
    } else if (countChoices(exhaustive) <= exhaustive) {
      lookThroughAll(all, 0);
      best.isProven = true;
    } else {
      lookDownhill();
    }
    for (unsigned segments : kSegments) {
      MemoryPlan plan = tables.evaluate(keepBorders(problem, segments));
      if (plan.peak <= limit)
        best.checkpointing = std::min(best.checkpointing.value_or(plan.extra), plan.extra);
    }
    best.looked = looked;
    return std::move(best);
  }

private:
  struct Open {
    uint32_t value;
    std::vector<Keeping> choices; ///< other than Whole
  };

  uint64_t countChoices(uint64_t enough) const {
    uint64_t count = 1;
    for (const Open &each : open)
      if ((count *= each.choices.size() + 1) > enough)
        break;
    return count;
  }

  /// Less time, then fewer bytes; out of the limit fewer bytes, then less time.
  bool isBetter(const MemoryPlan &plan) const {
    bool within = plan.peak <= limit;
    if (plan.readsNarrow)
      return false;
    if (within != best.isWithin || !hasBest)
      return within || !hasBest;
    auto key = [&](const MemoryPlan &p) {
      return within ? std::pair(p.extra, p.peak) : std::pair(p.peak, p.extra);
    };
    return key(plan) < key(best.plan);
  }

  MemoryPlan consider(ArrayRef<Keeping> keeping) {
    MemoryPlan plan = tables.evaluate(keeping);
    ++looked;
    if (isBetter(plan)) {
      best.plan = plan;
      best.isWithin = plan.peak <= limit;
      hasBest = true;
    }
    return plan;
  }

  void lookThroughAll(std::vector<Keeping> &keeping, size_t at) {
    if (at == open.size()) {
      consider(keeping);
      return;
    }
    lookThroughAll(keeping, at + 1);
    for (Keeping choice : open[at].choices) {
      keeping[open[at].value] = choice;
      lookThroughAll(keeping, at + 1);
    }
    keeping[open[at].value] = Keeping::Whole;
  }

  void lookDownhill() {
    improve(std::vector<Keeping>(problem.values.size(), Keeping::Whole));
    for (unsigned segments : kSegments)
      if (segments <= open.size() + 1)
        improve(keepBorders(problem, segments));
  }

  /// Takes the best change of one value after the other until none helps: down to the limit first,
  /// then to less time.
  void improve(std::vector<Keeping> keeping) {
    MemoryPlan now = consider(keeping);
    while (now.peak > limit && lowerPeak(keeping, now)) {
    }
    while (now.peak <= limit && lowerTime(keeping, now)) {
    }
  }

  /// Takes the change that saves most bytes for its time.
  bool lowerPeak(std::vector<Keeping> &keeping, MemoryPlan &now) {
    double most = 0;
    std::optional<Open> change;
    MemoryPlan changed;
    for (const Open &each : open)
      tryOthers(keeping, each, [&](Keeping choice, MemoryPlan plan) {
        double saved = double(now.peak - std::max(plan.peak, limit));
        double rate = saved / double(std::max<int64_t>(plan.extra - now.extra, 1));
        if (plan.peak < now.peak && rate > most) {
          most = rate;
          change = Open{each.value, {choice}};
          changed = std::move(plan);
        }
      });
    if (!change)
      return false;
    keeping[change->value] = change->choices[0];
    now = std::move(changed);
    return true;
  }

  /// Shows `use` what each other choice for one value gives.
  template <typename Use> void tryOthers(std::vector<Keeping> &keeping, const Open &each, Use use) {
    const Keeping before = keeping[each.value];
    std::vector<Keeping> choices{Keeping::Whole};
    choices.insert(choices.end(), each.choices.begin(), each.choices.end());
    for (Keeping choice : choices) {
      if (choice == before || looked >= kMostLooks)
        continue;
      keeping[each.value] = choice;
      if (MemoryPlan plan = consider(keeping); !plan.readsNarrow)
        use(choice, std::move(plan));
    }
    keeping[each.value] = before;
  }

  /// Takes each change that saves time within the limit.
  bool lowerTime(std::vector<Keeping> &keeping, MemoryPlan &now) {
    bool any = false;
    for (const Open &each : open) {
      Keeping chosen = keeping[each.value];
      tryOthers(keeping, each, [&](Keeping choice, MemoryPlan plan) {
        if (plan.peak > limit || plan.extra >= now.extra)
          return;
        chosen = choice;
        now = std::move(plan);
        any = true;
      });
      keeping[each.value] = chosen;
    }
    return any;
  }

  const MemoryProblem &problem;
  PlanTables tables;
  int64_t limit;
  std::vector<Open> open;
  MemoryAnswer best;
  bool hasBest = false;
  uint64_t looked = 0;
};
} // namespace

MemoryAnswer mpcore::assignment::planMemory(const MemoryProblem &problem, int64_t limit,
                                            uint64_t exhaustive) {
  return MemorySearch(problem, limit).run(exhaustive);
}

std::vector<Keeping> mpcore::assignment::keepBorders(const MemoryProblem &problem,
                                                     unsigned segments) {
  std::vector<std::optional<Gap>> gaps = findGaps(problem);
  // The segment of each position, by bytes of what is computed up to it and read behind a gap.
  int64_t total = 0;
  std::vector<int64_t> upTo;
  for (const MemoryStep &step : problem.steps) {
    upTo.push_back(total);
    if (step.writes && gaps[*step.writes])
      total += problem.values[*step.writes].bytes;
  }
  auto segmentOf = [&](uint32_t position) {
    return total == 0 ? 0 : upTo[position] * int64_t(segments) / total;
  };
  std::vector<Keeping> keeping(problem.values.size(), Keeping::Whole);
  for (auto [position, step] : llvm::enumerate(problem.steps))
    if (step.writes && gaps[*step.writes] &&
        segmentOf(uint32_t(position)) == segmentOf(gaps[*step.writes]->from))
      keeping[*step.writes] = Keeping::Recomputed;
  return keeping;
}
