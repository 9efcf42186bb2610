// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the errors of a run against f64 with the bounds of ErrorBounds.

#include "mp/Execution/Compare/BoundCheck.h"

#include "mp/Analysis/Error/ErrorBounds.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;

BoundCheck mlir::mp::checkErrors(ModuleOp module, func::FuncOp function, ArrayRef<Array> arguments,
                                 ArrayRef<Array> results, ArrayRef<Array> reference,
                                 StringRef chip) {
  stateRanges(function, arguments);
  ErrorBounds bounds(module, chip);
  BoundCheck check;
  forEachResult(function, results, [&](Value value, size_t index) {
    ++check.values;
    double bound = bounds.lookup(value).abs;
    if (!(bound < std::numeric_limits<double>::infinity()))
      return;
    ++check.bounded;
    // The reference rounds as well, each time by 2^-29 of what f32 does.
    double allowed = bound * (1 + 0x1p-27), largest = 0;
    for (int64_t i = 0, e = results[index].size(); i < e; ++i) {
      double found = results[index].value(i), exact = reference[index].value(i);
      bool isSame = found == exact || (std::isnan(found) && std::isnan(exact)); // infinities, too
      double error = isSame ? 0 : std::fabs(found - exact);
      if (!(error <= allowed)) {
        std::string text;
        llvm::raw_string_ostream(text)
            << describeValue(value) << ": element " << i << " is " << found << " for " << exact
            << ", off by " << error << ", but the analysis says at most " << bound;
        check.violations.push_back(text);
        return;
      }
      largest = std::max(largest, error);
    }
    if (largest > 0) {
      ++check.measured;
      check.excess += std::log2(bound / largest);
    }
  });
  return check;
}
