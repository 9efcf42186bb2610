// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders the menu by time, and chooses so that errors of constants cost little.

#include "Combine.h"

#include "llvm/ADT/STLExtras.h"

using namespace mpcore::performance;

/// Ranks the schedules with the constants that `constants` gives for each.
template <class F>
static llvm::Expected<std::vector<Ranked>> rankMenu(std::vector<Schedule> menu,
                                                    const Problem &problem, const Part &part,
                                                    unsigned limit, F &&constants) {
  std::vector<Ranked> ranked;
  for (Schedule &schedule : menu) {
    llvm::Expected<Estimate> e = estimate(problem, schedule, part, constants(schedule));
    if (!e)
      return e.takeError(); // the menu has only what fits
    ranked.push_back({std::move(schedule), *e});
  }
  if (ranked.empty())
    return llvm::createStringError("no schedule of the menu runs '" + toString(problem) + "' on " +
                                   part.name);
  llvm::stable_sort(ranked, [](const Ranked &a, const Ranked &b) {
    return a.estimate.seconds < b.estimate.seconds;
  });
  ranked.resize(std::min<size_t>(ranked.size(), limit));
  return ranked;
}

llvm::Expected<std::vector<Ranked>> mpcore::performance::rank(const Problem &problem,
                                                              const Part &part, unsigned limit) {
  return rankMenu(menu(problem, part), problem, part, limit,
                  [&](const Schedule &schedule) -> const Calibration & {
                    return detail::calibrationOf(problem, schedule, part);
                  });
}

llvm::Expected<std::vector<Ranked>> mpcore::performance::rank(const Problem &problem,
                                                              const Part &part,
                                                              const Calibration &calibration,
                                                              unsigned limit) {
  return rankMenu(menu(problem, part), problem, part, limit,
                  [&](const Schedule &) -> const Calibration & { return calibration; });
}

llvm::Expected<Ranked> mpcore::performance::fastestWritten(const Problem &problem,
                                                           const Part &part) {
  std::vector<Schedule> written;
  if (const auto *matmul = std::get_if<MatmulProblem>(&problem))
    written = writtenMenu(*matmul, part);
  else if (const auto *attention = std::get_if<AttentionProblem>(&problem))
    written = writtenMenu(*attention, part);
  else
    written = menu(problem, part);
  llvm::Expected<std::vector<Ranked>> ranked =
      rankMenu(std::move(written), problem, part,
               /*limit=*/1, [&](const Schedule &schedule) -> const Calibration & {
                 return detail::calibrationOf(problem, schedule, part);
               });
  if (!ranked)
    return ranked.takeError();
  return std::move(ranked->front());
}

static double seconds(const Problem &problem, const Candidate &candidate, const Part &part,
                      const Calibration &c) {
  return estimate(problem, candidate.schedule, candidate.resources, part, c).seconds;
}

std::pair<size_t, double> mpcore::performance::chooseRobustly(const Problem &problem,
                                                              llvm::ArrayRef<Candidate> candidates,
                                                              const Part &part,
                                                              const Calibration &calibration) {
  llvm::SmallVector<double, 64> times;
  for (const Candidate &candidate : candidates)
    times.push_back(seconds(problem, candidate, part, calibration));
  const double fastest = *llvm::min_element(times);
  llvm::SmallVector<size_t, 16> near;
  for (size_t k = 0; k < times.size(); ++k)
    if (times[k] <= 1.05 * fastest)
      near.push_back(k);
  llvm::SmallVector<double, 16> loss(near.size());
  for (unsigned constant = 0; constant < kConstants; ++constant)
    for (double factor : {0.8, 1.2}) {
      Calibration moved = calibration;
      moved.values[constant] *= factor;
      double least = HUGE_VAL;
      for (size_t k = 0; k < candidates.size(); ++k)
        least = std::min(least, times[k] = seconds(problem, candidates[k], part, moved));
      for (auto [n, k] : llvm::enumerate(near))
        loss[n] = std::max(loss[n], times[k] / least - 1);
    }
  const double *safest = llvm::min_element(loss); // the first of equals: the menu's order
  return {near[safest - loss.begin()], *safest};
}

llvm::Expected<Ranked> mpcore::performance::choose(const Problem &problem, const Part &part) {
  std::vector<Candidate> candidates;
  for (Schedule &schedule : menu(problem, part)) {
    llvm::Expected<Resources> resources = resourcesOf(problem, schedule, part);
    if (!resources)
      return resources.takeError(); // the menu has only what fits
    candidates.push_back({std::move(schedule), *resources});
  }
  if (candidates.empty())
    return llvm::createStringError("no schedule of the menu runs '" + toString(problem) + "' on " +
                                   part.name);
  const Calibration &c = detail::calibrationOf(problem, candidates.front().schedule, part);
  const auto [index, atRisk] = chooseRobustly(problem, candidates, part, c);
  Candidate &chosen = candidates[index];
  Estimate e = estimate(problem, chosen.schedule, chosen.resources, part, c);
  return Ranked{std::move(chosen.schedule), e, atRisk};
}
