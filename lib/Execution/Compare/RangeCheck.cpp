// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Execution/RangeCheck.h"

#include "mp/Analysis/FloatRanges.h"
#include "mp/Analysis/Locations.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;

void RangeCheck::add(const RangeCheck &other) {
  values += other.values;
  bounded += other.bounded;
  excess += other.excess;
  measured += other.measured;
  llvm::append_range(violations, other.violations);
}

void RangeCheck::print(llvm::raw_ostream &os) const {
  os << values << " values, " << bounded << " bounded";
  if (measured > 0)
    os << ", bounds " << llvm::format("2^%.1f", excess / measured) << " above what was seen on average";
  os << "; " << violations.size() << " outside\n";
  for (const std::string &violation : violations)
    os << "  " << violation << "\n";
}

/// States the smallest and largest element of an argument; nothing where one is NaN or infinite.
static void stateRange(func::FuncOp function, unsigned index, const Array &array) {
  double lo = 0, hi = 0;
  for (int64_t i = 0, e = array.size(); i < e; ++i) {
    double value = array.value(i);
    if (!std::isfinite(value))
      return;
    lo = i == 0 ? value : std::min(lo, value);
    hi = i == 0 ? value : std::max(hi, value);
  }
  Builder builder(function.getContext());
  function.setArgAttr(index, kRangeAttrName,
                      builder.getArrayAttr({builder.getF64FloatAttr(lo), builder.getF64FloatAttr(hi)}));
}

static bool holds(const ::mp::domains::FloatFacts &facts, double value) {
  if (std::isnan(value))
    return facts.mayNaN;
  if (std::isinf(value))
    return facts.mayInf;
  return facts.range.contains(value) && !(facts.nonZero && value == 0) &&
         !(facts.integerValued && value != std::floor(value));
}

/// What is outside of the facts, or an empty string. `largest` gets the largest magnitude.
static std::string findViolation(const Array &array, const ::mp::domains::FloatFacts &facts,
                                 double &largest) {
  std::string text;
  llvm::raw_string_ostream os(text);
  int64_t length = array.shape.empty() ? 1 : array.shape.back();
  double squares = 0;
  for (int64_t i = 0, e = array.size(); i < e; ++i) {
    double value = array.value(i);
    if (!holds(facts, value)) {
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

RangeCheck mlir::mp::checkRanges(ModuleOp module, func::FuncOp function, ArrayRef<Array> arguments,
                                 ArrayRef<Array> results) {
  for (auto [index, argument] : llvm::enumerate(arguments))
    if (argument.type.isFloat && getFloatFormat(function.getArgument(index).getType()) &&
        !function.getArgAttr(index, kRangeAttrName))
      stateRange(function, index, argument);
  FloatRanges ranges(module);
  RangeCheck check;
  ValueRange returned = function.getBody().front().getTerminator()->getOperands();
  llvm::SmallDenseSet<Value> seen; // a result may be a value inside as well
  for (auto [value, array] : llvm::zip(returned, results)) {
    if (!array.type.isFloat || !seen.insert(value).second)
      continue;
    FloatRange said = ranges.lookup(value);
    double largest = 0;
    ++check.values;
    std::string violation = findViolation(array, said.facts, largest);
    if (!violation.empty()) {
      Operation *def = value.getDefiningOp();
      check.violations.push_back(
          def ? (def->getName().getStringRef() + " at " + describeLocation(def->getLoc()) + ": " +
                 violation)
                    .str()
              : "argument: " + violation);
      continue;
    }
    if (!said.facts.range.isBounded())
      continue;
    ++check.bounded;
    if (largest > 0) {
      ++check.measured;
      check.excess += std::log2(said.facts.mag() / largest);
    }
  }
  return check;
}
