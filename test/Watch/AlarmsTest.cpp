// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sick run for every rule, and healthy runs in which none fires.

#include "../../lib/Watch/SkipRule.h"

#include "mp/Watch/Alarms.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>
#include <set>

using namespace mpcore::watch;

namespace {
/// A loss as trainings have it: a power law times autocorrelated noise with heavy tails.
class Losses {
public:
  Losses(unsigned seed, double phi) : random(seed), phi(phi) {}
  double at(int64_t step) {
    noise = phi * noise + std::sqrt(1 - phi * phi) * innovation(random) / std::sqrt(5.0 / 3);
    return (1.5 + 2.5 * std::pow(1 + double(step) / 50, -0.4)) * (1 + 0.04 * noise);
  }

private:
  std::mt19937 random;
  std::student_t_distribution<double> innovation{5};
  double phi, noise = 0;
};

/// Steps `from` to `to` of a run; the alarms told, by rule.
template <typename Make>
std::set<std::string> alarmsOf(Watcher &watcher, int64_t from, int64_t to, Make make,
                               int64_t *first = nullptr) {
  std::set<std::string> rules;
  for (int64_t step = from; step < to; ++step) {
    StepReading reading = make(step);
    reading.step = step;
    for (const Alert &alert : watcher.judge(reading))
      if (alert.grade == Grade::Alarm) {
        if (first && rules.empty())
          *first = step;
        rules.insert(alert.rule);
        EXPECT_FALSE(alert.reason.empty());
        EXPECT_FALSE(alert.advice.empty());
      }
  }
  return rules;
}

StepReading lossOf(double loss) {
  StepReading reading;
  reading.loss = loss;
  return reading;
}

/// A reading with one gradient of norm 1 and one that a test changes.
StepReading gradients(double norm, double zeroShare = 0) {
  StepReading reading;
  reading.values.push_back({"other", true, 1, 0, 0, {}});
  reading.values.push_back({"layer", true, norm, zeroShare, 0, {}});
  return reading;
}

using Rules = std::set<std::string>;
} // namespace

TEST(Alarms, HealthyLossesRaiseNone) {
  for (double phi : {0.0, 0.5, 0.9})
    for (unsigned seed = 0; seed < 10; ++seed) {
      Losses losses(seed, phi);
      Watcher watcher;
      EXPECT_EQ(alarmsOf(watcher, 0, 2000,
                         [&](int64_t step) {
                           StepReading reading = lossOf(losses.at(step));
                           reading.gradientNorm = losses.at(step) / 3;
                           return reading;
                         }),
                Rules())
          << "phi " << phi << ", seed " << seed;
    }
}

TEST(Alarms, AConstantLossHasNoDeviationToDivideBy) {
  Watcher watcher;
  auto at = [](int64_t step) { return lossOf(step < 1000 ? 2 : step < 1200 ? 2.02 : 3.2); };
  EXPECT_EQ(alarmsOf(watcher, 0, 1200, at), Rules()) << "one per cent more is no alarm";
  int64_t first = 0;
  EXPECT_EQ(alarmsOf(watcher, 1200, 1300, at, &first), Rules({"loss-shift"}));
  EXPECT_LE(first, 1216);
}

TEST(Alarms, ADivergingLossIsToldSoon) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    Losses losses(seed, 0.5);
    Watcher watcher;
    auto at = [&](int64_t step) {
      return lossOf(losses.at(step) * std::pow(1.02, std::max<int64_t>(0, step - 600)));
    };
    int64_t first = 0;
    EXPECT_EQ(alarmsOf(watcher, 0, 700, at, &first), Rules({"loss-shift"}));
    EXPECT_GT(first, 600);
    EXPECT_LE(first, 660);
  }
}

TEST(Alarms, OneHighLossIsANoteAndNoAlarm) {
  Losses losses(1, 0.5);
  Watcher watcher;
  auto at = [&](int64_t step) { return lossOf(losses.at(step) * (step == 500 ? 3 : 1)); };
  EXPECT_EQ(alarmsOf(watcher, 0, 600, at), Rules());
  EXPECT_EQ(watcher.counts().count({"loss-spike", ""}), 1u);
}

TEST(Alarms, GradientsThatGrowAreTold) {
  Losses losses(2, 0.5);
  Watcher watcher;
  auto at = [&](int64_t step) {
    StepReading reading = lossOf(2);
    reading.gradientNorm = losses.at(step) * (step < 400 ? 1 : 4);
    return reading;
  };
  EXPECT_EQ(alarmsOf(watcher, 0, 500, at), Rules({"gradient-shift"}));
}

TEST(Alarms, WhatIsNoNumberIsToldAtOnceUnlessSkipped) {
  Watcher watcher;
  StepReading reading = lossOf(NAN);
  reading.skipped = true;
  EXPECT_TRUE(watcher.judge(reading).empty());
  reading.skipped = false;
  auto alerts = watcher.judge(reading);
  ASSERT_EQ(alerts.size(), 1u);
  EXPECT_EQ(alerts[0].rule, "non-finite");
  StepReading state;
  state.isStateFinite = false;
  EXPECT_EQ(watcher.judge(state)[0].place, "state");
  StepReading value;
  value.values.push_back({"w", true, 1, 0, 3, {}});
  EXPECT_EQ(watcher.judge(value)[0].place, "w");
}

/// Counts at which a binomial tail falls below 1e-6, by scipy.stats.binom.sf.
TEST(Alarms, TailsAreThoseOfTheBinomialDistribution) {
  const std::pair<int64_t, int64_t> at200[] = {{100, 7}, {200, 9}, {500, 14}, {1000, 20}},
                                    at2000[] = {{100, 4}, {200, 5}, {500, 6}, {1000, 7}};
  for (auto [trials, count] : at200) {
    EXPECT_LT(binomialTail(trials, 1.0 / 200, count), 1e-6);
    EXPECT_GE(binomialTail(trials, 1.0 / 200, count - 1), 1e-6);
  }
  for (auto [trials, count] : at2000) {
    EXPECT_LT(binomialTail(trials, 1.0 / 2000, count), 1e-6) << trials;
    EXPECT_GE(binomialTail(trials, 1.0 / 2000, count - 1), 1e-6) << trials;
  }
}

static StepReading skip(bool skipped, double scale = 65536) {
  StepReading reading;
  reading.skipped = skipped;
  reading.scale = scale;
  return reading;
}

TEST(Alarms, TheFirstDescentOfAScaleIsNoAlarmButEightSkipsLaterAre) {
  Watcher watcher;
  EXPECT_EQ(alarmsOf(watcher, 0, 22, [](int64_t) { return skip(true); }), Rules());
  EXPECT_EQ(alarmsOf(watcher, 22, 200, [](int64_t) { return skip(false); }), Rules());
  EXPECT_EQ(alarmsOf(watcher, 200, 207, [](int64_t) { return skip(true); }), Rules({"skips"}))
      << "seven of a hundred";
  Watcher rare;
  auto probing = [](int64_t step) { return skip(step > 60 && step % 200 == 0); };
  EXPECT_EQ(alarmsOf(rare, 0, 3000, probing), Rules()) << "one probing overflow per growth";
}

TEST(Alarms, AScaleAtItsFloorIsTold) {
  AlarmOptions options;
  options.scaleFloor = 1;
  Watcher watcher(options);
  EXPECT_EQ(alarmsOf(watcher, 0, 3, [](int64_t) { return skip(false, 1); }), Rules());
  EXPECT_EQ(alarmsOf(watcher, 3, 4, [](int64_t) { return skip(true, 1); }), Rules({"scale-floor"}));
  Watcher below;
  EXPECT_EQ(alarmsOf(below, 0, 99, [](int64_t) { return skip(false, 0.5); }), Rules());
  EXPECT_EQ(alarmsOf(below, 99, 100, [](int64_t) { return skip(false, 0.5); }),
            Rules({"scale-floor"}));
}

TEST(Alarms, ALayerThatDiesIsNamed) {
  Watcher watcher;
  auto at = [](int64_t step) { return step < 300 ? gradients(0.5) : gradients(0, 1); };
  int64_t first = 0;
  EXPECT_EQ(alarmsOf(watcher, 0, 320, at, &first), Rules({"layer-vanishes"}));
  EXPECT_EQ(first, 307);
  EXPECT_EQ(watcher.counts().count({"layer-vanishes", "layer"}), 1u);
  Watcher frozen;
  EXPECT_EQ(alarmsOf(frozen, 0, 320, [](int64_t) { return gradients(0, 1); }), Rules())
      << "what never moved is frozen";
}

TEST(Alarms, ALayerThatLosesItsShareIsTold) {
  Watcher watcher;
  auto at = [](int64_t step) { return gradients(step < 300 ? 0.5 : 0.5 * 0x1p-7); };
  EXPECT_EQ(alarmsOf(watcher, 0, 330, at), Rules({"layer-vanishes"}));
  Watcher sparse;
  auto embedding = [](int64_t step) { return gradients(step < 300 ? 0.5 : 0.5 * 0x1p-7, 0.9); };
  EXPECT_EQ(alarmsOf(sparse, 0, 330, embedding), Rules()) << "an embedding is sparse";
}

static StepReading shares(double flushed, double overflow, bool inUse, bool isScaled,
                          double lost = 1) {
  StepReading reading = gradients(1);
  reading.values[1].formats.push_back({"f16", overflow, flushed, lost, inUse, isScaled});
  return reading;
}

TEST(Alarms, FlushedGradientsAreToldWhileTheLossIsSilent) {
  Watcher watcher;
  int64_t first = 0;
  EXPECT_EQ(alarmsOf(
                watcher, 0, 20, [](int64_t) { return shares(0.4, 0, true, false); }, &first),
            Rules({"flushed"}));
  EXPECT_LT(first, 16);
  Watcher asked;
  EXPECT_EQ(alarmsOf(asked, 0, 20, [](int64_t) { return shares(0.4, 0.1, false, false); }), Rules())
      << "a format that is not in use is a question";
  Watcher converged;
  EXPECT_EQ(alarmsOf(converged, 0, 20, [](int64_t) { return shares(0.4, 0, true, false, 1e-4); }),
            Rules())
      << "what is flushed is nothing beside the rest";
}

TEST(Alarms, AnOverflowIsToldWhereNothingScales) {
  Watcher watcher, scaled;
  EXPECT_EQ(alarmsOf(watcher, 0, 2, [](int64_t) { return shares(0, 1e-3, true, false); }),
            Rules({"overflow"}));
  EXPECT_EQ(alarmsOf(scaled, 0, 2, [](int64_t) { return shares(0, 1e-3, true, true); }), Rules());
}

TEST(Alarms, MemoryThatGrowsTowardsItsLimitIsTold) {
  AlarmOptions options;
  options.memoryLimit = 2e9;
  auto of = [](double bytes) {
    StepReading reading;
    reading.bytes = bytes;
    return reading;
  };
  Watcher leaking(options), steady(options), slow(options);
  EXPECT_EQ(alarmsOf(leaking, 0, 100, [&](int64_t step) { return of(1e9 + 2e6 * step); }),
            Rules({"memory"}));
  EXPECT_EQ(alarmsOf(steady, 0, 100, [&](int64_t step) { return of(1.9e9 + 1e6 * (step % 3)); }),
            Rules());
  EXPECT_EQ(alarmsOf(slow, 0, 100, [&](int64_t step) { return of(1e9 + 1e3 * step); }), Rules());

  // Memory that is nearly used up is a note, however steady.
  Watcher near(options), far(options);
  std::vector<Alert> told = near.judge(of(1.61e9));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told.front().rule, "memory-near");
  EXPECT_EQ(told.front().grade, Grade::Note);
  EXPECT_TRUE(far.judge(of(1.59e9)).empty());
}

TEST(Alarms, StepsThatStallAreANote) {
  Watcher watcher;
  auto at = [](int64_t step) {
    StepReading reading;
    reading.seconds = step < 200 || step % 8 > 4 ? 0.01 : 0.05;
    return reading;
  };
  EXPECT_EQ(alarmsOf(watcher, 0, 220, at), Rules());
  EXPECT_EQ(watcher.counts().count({"stall", ""}), 1u);
  Watcher once;
  alarmsOf(once, 0, 220, [](int64_t step) {
    StepReading reading;
    reading.seconds = step % 50 ? 0.01 : 0.05;
    return reading;
  });
  EXPECT_TRUE(once.counts().empty());
}

/// The text of each suggestion is told by no other rule than where it is in the table.
TEST(Alarms, EveryRuleHasSuggestionsAndEachIsTold) {
  for (const Rule &rule : rules()) {
    EXPECT_FALSE(rule.suggestions.empty()) << rule.name.str();
    for (const Suggestion &suggestion : rule.suggestions) {
      EXPECT_NE(adviceOf(rule.name).find(suggestion.text.str()), std::string::npos);
      EXPECT_EQ(adviceOf(rule.name, {suggestion.id}), suggestion.text.str());
    }
  }
}

TEST(Alarms, AChangeOfRateSilencesShiftsForAWhile) {
  Watcher watcher;
  auto at = [](int64_t step) { return lossOf(step < 400 ? 2 : 4); };
  alarmsOf(watcher, 0, 400, at);
  watcher.noteChange(400);
  EXPECT_EQ(alarmsOf(watcher, 400, 527, at), Rules());
}

TEST(Alarms, AResumedWatcherSaysWhatAnUndisturbedOneSays) {
  Losses losses(7, 0.5);
  std::vector<StepReading> readings;
  for (int64_t step = 0; step < 700; ++step) {
    StepReading reading = gradients(step < 420 ? 0.5 : 0.5 * 0x1p-8);
    reading.loss = losses.at(step) * (step < 600 ? 1 : 3);
    reading.skipped = step == 300;
    reading.values[1].formats.push_back({"f16", 0, step < 500 ? 0.01 : 0.2, 1, true, true});
    readings.push_back(reading);
  }
  auto at = [&](int64_t step) { return readings[step]; };
  Watcher whole;
  for (int64_t cut : {100, 410, 605}) {
    Watcher first, undisturbed, second;
    alarmsOf(first, 0, cut, at);
    alarmsOf(undisturbed, 0, cut, at);
    ASSERT_FALSE(bool(second.fromJSON(first.toJSON())));
    int64_t atFirst = 0, atSecond = 0;
    EXPECT_EQ(alarmsOf(undisturbed, cut, 700, at, &atFirst),
              alarmsOf(second, cut, 700, at, &atSecond));
    EXPECT_EQ(atFirst, atSecond) << "cut at " << cut;
  }
  EXPECT_EQ(llvm::toString(whole.fromJSON(llvm::json::Value(nullptr))),
            "the state of the watcher: expected an object 'loss', found none");
}
