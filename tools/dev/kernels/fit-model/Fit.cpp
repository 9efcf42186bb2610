// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Fit.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Parallel.h"

#include <cmath>

using namespace fitmodel;
using namespace mpcore::performance;

llvm::Expected<std::vector<Sample>> fitmodel::prepare(llvm::ArrayRef<const Point *> points) {
  std::vector<Sample> samples;
  for (const Point *point : points) {
    Sample sample{point, {}};
    std::vector<Schedule> schedules =
        point->schedule ? std::vector{*point->schedule} : menu(point->problem, *point->part);
    for (Schedule &schedule : schedules) {
      llvm::Expected<Resources> r = resourcesOf(point->problem, schedule, *point->part);
      if (!r)
        return r.takeError();
      sample.menu.push_back({std::move(schedule), *r});
    }
    if (sample.menu.empty())
      return llvm::createStringError("no schedule runs '" + toString(point->problem) + "' on " +
                                     point->part->name);
    samples.push_back(std::move(sample));
  }
  return samples;
}

static double seconds(const Sample &sample, size_t choice, const Calibration &constants) {
  auto &[schedule, resources] = sample.menu[choice];
  return estimate(sample.point->problem, schedule, resources, *sample.point->part, constants)
      .seconds;
}

/// The fastest of the menu and its time.
static std::pair<size_t, double> best(const Sample &sample, const Calibration &constants) {
  std::pair<size_t, double> best = {0, seconds(sample, 0, constants)};
  for (size_t k = 1; k < sample.menu.size(); ++k)
    if (double t = seconds(sample, k, constants); t < best.second)
      best = {k, t};
  return best;
}

double fitmodel::logError(const Sample &sample, const Calibration &constants) {
  return std::log(best(sample, constants).second * 1e6 / sample.point->microseconds);
}

Errors fitmodel::summarize(std::vector<double> logErrors) {
  Errors e;
  if (logErrors.empty())
    return e;
  for (double &x : logErrors) {
    e.bias += x / logErrors.size();
    x = std::abs(x);
    e.mean += x / logErrors.size();
  }
  llvm::sort(logErrors);
  auto quantile = [&](double q) { return logErrors[size_t(q * (logErrors.size() - 1))]; };
  e.median = quantile(0.5), e.p90 = quantile(0.9);
  return e;
}

namespace {
/// The loss over logarithms of the free constants.
struct Loss {
  llvm::ArrayRef<const Sample *> samples;
  llvm::ArrayRef<Constant> free;
  Calibration constants;

  /// One standard deviation from a prior costs as much as 0.15 % of mean error.
  static constexpr double kPriorWeight = 0.0015;

  Calibration at(llvm::ArrayRef<double> x) const {
    Calibration c = constants;
    for (auto [constant, value] : llvm::zip_equal(free, x))
      c[constant] = std::exp(value);
    return c;
  }
  double operator()(llvm::ArrayRef<double> x) const {
    const Calibration c = at(x);
    double loss = 0;
    for (const Sample *sample : samples)
      loss += std::abs(logError(*sample, c)) / samples.size();
    for (auto [constant, value] : llvm::zip_equal(free, x)) {
      const Prior prior = priorOf(constant);
      const double deviations = (value - std::log(prior.value)) / prior.spread;
      loss += kPriorWeight * deviations * deviations;
    }
    return loss;
  }
};

using Vector = std::vector<double>;
} // namespace

/// a + t (b - a)
static Vector between(const Vector &a, const Vector &b, double t) {
  Vector result(a.size());
  for (size_t k = 0; k < a.size(); ++k)
    result[k] = a[k] + t * (b[k] - a[k]);
  return result;
}

/// Nelder and Mead, "A simplex method for function minimization", The Computer Journal 7 (1965),
/// with their coefficients, from a simplex of the given edge lengths.
static Vector minimize(const Loss &loss, const Vector &start, const Vector &edges, unsigned steps) {
  const size_t n = start.size();
  std::vector<std::pair<double, Vector>> simplex = {{loss(start), start}};
  for (size_t k = 0; k < n; ++k) {
    Vector corner = start;
    corner[k] += edges[k];
    simplex.push_back({loss(corner), corner});
  }
  auto better = [](auto &a, auto &b) { return a.first < b.first; };
  for (unsigned step = 0; step < steps; ++step) {
    llvm::sort(simplex, better);
    if (simplex.back().first - simplex.front().first < 1e-6)
      break;
    Vector centre(n);
    for (size_t k = 0; k < n; ++k)
      for (size_t j = 0; j < n; ++j)
        centre[j] += simplex[k].second[j] / n;
    auto &worst = simplex.back();
    auto probe = [&](double t) {
      Vector x = between(centre, worst.second, t);
      return std::pair(loss(x), x);
    };
    auto reflected = probe(-1);
    if (reflected.first < simplex.front().first) {
      auto expanded = probe(-2);
      worst = expanded.first < reflected.first ? expanded : reflected;
    } else if (reflected.first < simplex[n - 1].first) {
      worst = reflected;
    } else {
      auto contracted = probe(reflected.first < worst.first ? -0.5 : 0.5);
      if (contracted.first < std::min(reflected.first, worst.first)) {
        worst = contracted;
      } else {
        for (size_t k = 1; k <= n; ++k) {
          simplex[k].second = between(simplex[0].second, simplex[k].second, 0.5);
          simplex[k].first = loss(simplex[k].second);
        }
      }
    }
  }
  return llvm::min_element(simplex, better)->second;
}

Calibration fitmodel::fit(llvm::ArrayRef<const Sample *> samples, llvm::ArrayRef<Constant> free,
                          const Calibration &start) {
  Loss loss{samples, free, start};
  // The loss has many valleys: from the priors with small and large first steps in both
  // directions, and each time once more from where it ended, since simplices collapse early.
  const double firstSteps[] = {0.4, -0.4, 1.2, -1.2};
  std::pair<double, Vector> found[std::size(firstSteps)];
  llvm::parallelFor(0, std::size(firstSteps), [&](size_t start) {
    Vector x, edges;
    for (Constant c : free) {
      x.push_back(std::log(priorOf(c).value));
      edges.push_back(firstSteps[start] * priorOf(c).spread);
    }
    for (unsigned round = 0; round < 2; ++round)
      x = minimize(loss, x, edges, /*steps=*/400);
    found[start] = {loss(x), x};
  });
  return loss.at(llvm::min_element(found)->second);
}

/// The fold of a problem, the same for all batches of a product.
static unsigned foldOf(const Point &point, unsigned folds) {
  Problem problem = point.problem;
  if (auto *p = std::get_if<MatmulProblem>(&problem))
    p->batch = 1;
  // A hash of the text that does not change from run to run.
  uint64_t hash = 1469598103934665603u;
  for (char c : toString(problem))
    hash = (hash ^ uint8_t(c)) * 1099511628211u;
  return unsigned((hash >> 20) % folds);
}

std::vector<double> fitmodel::crossValidate(llvm::ArrayRef<Sample> samples,
                                            llvm::ArrayRef<Constant> free, const Calibration &start,
                                            unsigned folds) {
  std::vector<double> errors;
  for (unsigned fold = 0; fold < folds; ++fold) {
    std::vector<const Sample *> seen, unseen;
    for (const Sample &sample : samples)
      (foldOf(*sample.point, folds) == fold ? unseen : seen).push_back(&sample);
    if (unseen.empty() || seen.empty())
      continue;
    const Calibration constants = fit(seen, free, start);
    for (const Sample *sample : unseen)
      errors.push_back(logError(*sample, constants));
  }
  return errors;
}
