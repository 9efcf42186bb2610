// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Numerics/Scaling/Calibration.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace mpcore::numerics;

namespace {

std::vector<float> normal(size_t count, float factor = 1) {
  std::mt19937 random(1);
  std::normal_distribution<float> distribution;
  std::vector<float> values(count);
  for (float &value : values)
    value = distribution(random) * factor;
  return values;
}

TEST(Calibration, CountsEveryMagnitudeOnce) {
  MagnitudeHistogram histogram;
  const float first[] = {0, 1, -2, 0.5f},
              second[] = {-8, std::nanf(""), std::numeric_limits<float>::infinity()};
  histogram.add(first);
  EXPECT_EQ(histogram.bins().size(), MagnitudeHistogram::firstBins);
  histogram.add(second);
  EXPECT_EQ(histogram.largest(), 8);
  EXPECT_EQ(histogram.total(), 5u);
  EXPECT_EQ(histogram.nonFinite(), 2u);
  // Bins are added, not widened: 1 is the upper edge of the 1024th of 2048 up to 2.
  EXPECT_EQ(histogram.bins().size(), 4 * MagnitudeHistogram::firstBins);
  EXPECT_EQ(histogram.bins()[1023], 1u);
  EXPECT_EQ(histogram.edge(1023), 1);
  EXPECT_EQ(histogram.bins()[0], 1u);
  EXPECT_EQ(histogram.bins().back(), 1u);
}

TEST(Calibration, PercentileIsAnEdgeWithThatShareBelow) {
  std::vector<float> values;
  for (int i = 1; i <= 1000; ++i)
    values.push_back(float(i));
  MagnitudeHistogram histogram;
  histogram.add(values);
  for (double share : {0.5, 0.9, 0.999}) {
    double edge = histogram.percentile(share);
    EXPECT_GE(std::floor(edge), share * 1000);
    EXPECT_LE(edge, share * 1000 + 1000.0 / MagnitudeHistogram::firstBins + 1);
  }
  EXPECT_EQ(histogram.percentile(1), 1000);
}

/// Sum of squared errors of the values themselves, cut at `amax`.
double squaredError(const std::vector<float> &values, double amax, CodeFormat code) {
  float encode = float(code.largest() / amax), decode = 1 / encode;
  double error = 0;
  for (float value : values) {
    double difference = double(value) - double(code.decode(code.encode(value * encode))) * decode;
    error += difference * difference;
  }
  return error;
}

TEST(Calibration, LeastSquaresBeatsTheLargestWhereOneValueIsFarOut) {
  std::vector<float> values = normal(100000);
  values.push_back(40);
  MagnitudeHistogram histogram;
  histogram.add(values);
  for (CodeFormat code : {CodeFormat::integer(8), CodeFormat::integer(4)}) {
    double found = calibrate(histogram, CalibrationMethod::MSE, code, 1);
    EXPECT_LT(found, 40);
    double least = squaredError(values, found, code);
    EXPECT_LT(least, squaredError(values, 40, code));
    // Nothing much better lies elsewhere: bins stand for what is in them.
    for (double other = 1; other < 40; other *= 1.1)
      EXPECT_LT(least, 1.05 * squaredError(values, other, code)) << other;
  }
  EXPECT_EQ(calibrate(histogram, CalibrationMethod::AbsMax, CodeFormat::integer(8), 1), 40);
}

TEST(Calibration, EntropyCutsOffTheTailAndNothingOfAFlatRange) {
  std::vector<float> values = normal(100000);
  values.push_back(40);
  MagnitudeHistogram tailed;
  tailed.add(values);
  double cut = calibrate(tailed, CalibrationMethod::Entropy, CodeFormat::integer(8), 1);
  EXPECT_LT(cut, 10);
  EXPECT_GT(cut, 2);
  std::vector<float> flat;
  for (int i = 1; i <= 4096; ++i)
    flat.push_back(float(i) / 4096);
  MagnitudeHistogram even;
  even.add(flat);
  EXPECT_GT(calibrate(even, CalibrationMethod::Entropy, CodeFormat::integer(8), 1), 0.99);
}

TEST(Calibration, NothingSeenHasNoMagnitude) {
  MagnitudeHistogram histogram;
  const float zeros[] = {0, 0, 0};
  histogram.add(zeros);
  for (CalibrationMethod method : {CalibrationMethod::AbsMax, CalibrationMethod::Percentile,
                                   CalibrationMethod::MSE, CalibrationMethod::Entropy}) {
    EXPECT_EQ(calibrate(histogram, method, Format::F8E4M3FN, 0.999), 0);
    EXPECT_EQ(parseCalibrationMethod(toString(method)), method);
  }
}

} // namespace
