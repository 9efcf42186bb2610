// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// H1 to H6: 8 or 4 bits per layer of ResNet-18 and ResNet-50, least sensitivity within a limit
// halfway between all 4 and all 8 bits. Optima from a MILP solver with zero gap.

#include "HAWQData.h"

#include "mp/Assignment/Solve.h"

#include "llvm/ADT/ArrayRef.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mpcore::assignment;
using namespace mpcore::assignment::test;

namespace {

enum class Limit { Size, Operations, Latency };

struct Instance {
  const char *name;
  llvm::ArrayRef<HAWQLayer> layers;
  Limit limit;
  const char *bits;
  double sensitivity;
};

/// Sensitivity in units of 10^-12. The residual branch has the bits of the main one.
Problem build(const Instance &instance) {
  Problem problem;
  problem.addType("i8");
  problem.addType("i4");
  int64_t all8 = 0, all4 = 0;
  for (const HAWQLayer &layer : instance.layers) {
    int64_t cost8 = 0, cost4 = 0;
    switch (instance.limit) {
    case Limit::Size: // in half bytes
      cost8 = 2 * layer.parameters;
      cost4 = layer.parameters;
      break;
    case Limit::Operations: // bit operations go with the square of the width
      cost8 = 4 * layer.operations;
      cost4 = layer.operations;
      break;
    case Limit::Latency:
      cost8 = layer.latency8;
      cost4 = layer.latency4;
      break;
    }
    all8 += cost8;
    all4 += cost4;
    Node node;
    node.name = "layer";
    node.variants = {{"8", {}, {}, cost8, std::llround(layer.trace * layer.error8 * 1e12)},
                     {"4", {}, {}, cost4, std::llround(layer.trace * layer.error4 * 1e12)}};
    problem.addNode(node);
  }
  if (instance.layers.size() == 19)
    problem.ties = {{4, 6}, {9, 11}, {14, 16}};
  else
    problem.ties = {{0, 3}, {10, 13}, {23, 26}, {42, 45}};
  problem.costBudget = (all8 + all4) / 2;
  return problem;
}

class HAWQ : public testing::TestWithParam<Instance> {};

TEST_P(HAWQ, LeastSensitivityWithinTheLimit) {
  const Instance &instance = GetParam();
  Problem problem = build(instance);
  for (unsigned cap : {200000u, 0u}) { // frontier search allowed, and branch and bound alone
    Solution s = llvm::cantFail(solve(problem, {.stateCap = cap, .searchCap = 5000000}));
    EXPECT_TRUE(s.provenOptimal);
    EXPECT_NEAR(s.score.error * 1e-12, instance.sensitivity, 5e-7);
    std::string bits;
    for (uint32_t label : s.labels)
      bits += label == 0 ? '8' : '4';
    EXPECT_EQ(bits, instance.bits);
  }
}

const Instance instances[] = {
    {"R18Size", resNet18, Limit::Size, "8888888888888884844", 0.074506},
    {"R18Operations", resNet18, Limit::Operations, "8884888848884444444", 0.215689},
    {"R18Latency", resNet18, Limit::Latency, "8888848848884484844", 0.202674},
    {"R50Size", resNet50, Limit::Size, "8888888888888888888888884888888448888488488488844844",
     0.031024},
    {"R50Operations", resNet50, Limit::Operations,
     "8888888848848884884484884888448448448448488488848848", 0.056440},
    {"R50Latency", resNet50, Limit::Latency, "8888888844848888884884884884448448448448448488848848",
     0.054861},
};

INSTANTIATE_TEST_SUITE_P(H1ToH6, HAWQ, testing::ValuesIn(instances),
                         [](const auto &info) { return info.param.name; });

} // namespace
