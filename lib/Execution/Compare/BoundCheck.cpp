// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States the ranges of arguments before an analysis, and prints what a check of bounds found.

#include "mp/Execution/Compare/BoundCheck.h"

#include "mp/Analysis/Locations.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;

void BoundCheck::add(const BoundCheck &other) {
  values += other.values;
  bounded += other.bounded;
  excess += other.excess;
  measured += other.measured;
  llvm::append_range(violations, other.violations);
}

void BoundCheck::print(llvm::raw_ostream &os) const {
  os << values << " values, " << bounded << " bounded";
  if (measured > 0)
    os << ", bounds " << llvm::format("2^%.1f", excess / measured)
       << " above what was seen on average";
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
  function.setArgAttr(
      index, kRangeAttrName,
      builder.getArrayAttr({builder.getF64FloatAttr(lo), builder.getF64FloatAttr(hi)}));
}

void mlir::mp::stateRanges(func::FuncOp function, ArrayRef<Array> arguments) {
  for (auto [index, argument] : llvm::enumerate(arguments))
    if (argument.type.isFloat && getFloatFormat(function.getArgument(index).getType()) &&
        !function.getArgAttr(index, kRangeAttrName))
      stateRange(function, index, argument);
}

void mlir::mp::forEachResult(func::FuncOp function, ArrayRef<Array> results,
                             llvm::function_ref<void(Value, size_t)> visit) {
  ValueRange returned = function.getBody().front().getTerminator()->getOperands();
  llvm::SmallDenseSet<Value> seen;
  for (size_t i = 0; i < std::min<size_t>(returned.size(), results.size()); ++i)
    if (results[i].type.isFloat && seen.insert(returned[i]).second)
      visit(returned[i], i);
}

std::string mlir::mp::describeValue(Value value) {
  Operation *def = value.getDefiningOp();
  return def ? (def->getName().getStringRef() + " at " + describeLocation(def->getLoc())).str()
             : "argument";
}
