// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the values of a run with the facts of the range analysis.

#include "mp/Execution/Compare/BoundCheck.h"

#include "mp/Analysis/Ranges/RangeAnalysis.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;

static bool isWithin(const domains::FloatFacts &facts, double value) {
  if (std::isnan(value))
    return facts.mayNaN;
  if (std::isinf(value))
    return facts.mayInf;
  return facts.range.contains(value) && !(facts.nonZero && value == 0) &&
         !(facts.integerValued && value != std::floor(value));
}

/// Describes what is outside of the facts, or returns an empty string. `largest` gets the largest
/// magnitude.
static std::string findViolation(const Array &array, const domains::FloatFacts &facts,
                                 double &largest) {
  std::string text;
  llvm::raw_string_ostream os(text);
  int64_t length = array.shape.empty() ? 1 : array.shape.back();
  double squares = 0;
  for (int64_t i = 0, e = array.size(); i < e; ++i) {
    double value = array.value(i);
    if (!isWithin(facts, value)) {
      os << "element " << i << " is " << value << ", but the analysis says " << facts;
      return text;
    }
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(value));
    squares = i % length == 0 ? value * value : squares + value * value;
    if (i % length + 1 == length && std::isfinite(squares) &&
        std::sqrt(squares) > facts.norm2 * (1 + 1e-12)) { // the check's own rounding
      os << "row " << i / length << " has norm " << std::sqrt(squares) << ", but the analysis says "
         << facts;
      return text;
    }
  }
  return text;
}

BoundCheck mlir::mp::checkRanges(ModuleOp module, func::FuncOp function, ArrayRef<Array> arguments,
                                 ArrayRef<Array> results) {
  stateRanges(function, arguments);
  ModuleRanges ranges(module);
  BoundCheck check;
  forEachResult(function, results, [&](Value value, size_t index) {
    const RangeState &said = ranges.lookup(value);
    double largest = 0;
    ++check.values;
    std::string violation = findViolation(results[index], said.facts, largest);
    if (!violation.empty()) {
      check.violations.push_back(describeValue(value) + ": " + violation);
      return;
    }
    if (!said.facts.range.isBounded())
      return;
    ++check.bounded;
    if (largest > 0) {
      ++check.measured;
      check.excess += std::log2(said.facts.mag() / largest);
    }
  });
  return check;
}
