// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matches the traced values of two functions, returns them from both, and compares.

#include "Lockstep.h"

#include "mp/Analysis/Locations.h"
#include "mp/Execution/Compare/Trace.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;

/// The traced values that `value` was computed from, through casts and moves.
static void findSources(Value value, const DenseMap<Value, size_t> &traced,
                        SmallVectorImpl<size_t> &sources, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > 8)
    return;
  for (Value operand : op->getOperands())
    if (auto known = traced.find(operand); known != traced.end())
      sources.push_back(known->second);
    else
      findSources(operand, traced, sources, depth + 1);
}

static bool isFinite(const Array &array) {
  for (int64_t i = 0, e = array.size(); i < e; ++i)
    if (!std::isfinite(array.value(i)))
      return false;
  return true;
}

/// A copy of `module` whose entry returns `values` of its traced ones besides.
static llvm::Expected<OwningOpRef<ModuleOp>> returning(ModuleOp module, StringRef entry,
                                                       ArrayRef<size_t> numbers) {
  OwningOpRef<ModuleOp> copy = module.clone();
  auto function = findEntry(*copy, entry);
  if (!function)
    return function.takeError();
  std::vector<TracedValue> traced = tracedValues(*function);
  SmallVector<Value> values;
  for (size_t number : numbers)
    values.push_back(traced[number].value);
  if (llvm::Error error = returnValues(*function, values))
    return std::move(error);
  return std::move(copy);
}

llvm::Expected<std::vector<LockstepValue>>
mlir::mp::runInLockstep(const Trials &trials, ModuleOp narrow, ModuleOp wide, StringRef entry) {
  auto narrowEntry = findEntry(narrow, entry), wideEntry = findEntry(wide, entry);
  if (!narrowEntry || !wideEntry)
    return llvm::joinErrors(narrowEntry.takeError(), wideEntry.takeError());
  std::vector<TracedValue> left = tracedValues(*narrowEntry), right = tracedValues(*wideEntry);
  SmallVector<size_t> leftNumbers, rightNumbers;
  DenseMap<Value, size_t> known;
  for (auto [i, j] : matchTraces(left, right)) {
    known[right[j].value] = rightNumbers.size();
    leftNumbers.push_back(i);
    rightNumbers.push_back(j);
  }
  auto narrowCopy = returning(narrow, entry, leftNumbers);
  auto wideCopy = returning(wide, entry, rightNumbers);
  if (!narrowCopy || !wideCopy) {
    // Not an error of the search, which goes on without a ranking.
    llvm::consumeError(narrowCopy.takeError());
    llvm::consumeError(wideCopy.takeError());
    return std::vector<LockstepValue>();
  }
  auto narrowValues = trials.runOnce(**narrowCopy), wideValues = trials.runOnce(**wideCopy);
  if (!narrowValues || !wideValues)
    return llvm::joinErrors(narrowValues.takeError(), wideValues.takeError());

  DenseMap<Operation *, unsigned> ordinals;
  wideEntry->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isContraction(op))
      ordinals.try_emplace(op, ordinals.size());
  });
  std::vector<LockstepValue> values;
  const size_t count = rightNumbers.size();
  for (size_t n = 0; n < count; ++n) {
    const Array &result = (*narrowValues)[narrowValues->size() - count + n],
                &exact = (*wideValues)[wideValues->size() - count + n];
    Value value = right[rightNumbers[n]].value;
    LockstepValue &compared = values.emplace_back();
    compared.label = right[rightNumbers[n]].label;
    compared.location = describeLocation(value.getLoc());
    compared.error = std::sqrt(meanSquareError(result, exact));
    compared.isFinite = isFinite(result) || !isFinite(exact);
    SmallVector<size_t> sources;
    findSources(value, known, sources);
    for (size_t source : sources)
      if (source < n)
        compared.inherited = std::max(compared.inherited, values[source].error);
    if (auto ordinal = ordinals.find(value.getDefiningOp()); ordinal != ordinals.end())
      for (auto [place, contraction] : llvm::enumerate(trials.contractions()))
        if (contraction.function == wideEntry->getName() && contraction.ordinal == ordinal->second)
          compared.contraction = unsigned(place);
  }
  return values;
}

std::optional<size_t> mlir::mp::findFirstWrong(ArrayRef<LockstepValue> values, double jump,
                                               double least) {
  for (auto [n, value] : llvm::enumerate(values))
    if (!value.isFinite && std::isfinite(value.inherited))
      return n;
  for (auto [n, value] : llvm::enumerate(values))
    if (value.error > least && value.error >= jump * value.inherited)
      return n;
  return std::nullopt;
}
