// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the row, or else the contraction, that a NaN or an infinity comes from.

#include "ObservedModule.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;

void FiniteCheck::see(int64_t seenPlace, ArrayRef<float> elements) {
  if (value)
    return;
  const float *bad = llvm::find_if(elements, [](float x) { return !std::isfinite(x); });
  if (bad == elements.end())
    return;
  value = *bad;
  place = size_t(seenPlace);
  element = bad - elements.begin();
}

static StringRef spell(double value) {
  return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
}

/// The first row of what was fed that is not finite, and the element there.
static std::optional<std::pair<int64_t, int64_t>> findBadRow(const Array &rows) {
  if (!rows.type.isFloat || rows.shape.empty())
    return std::nullopt;
  int64_t size = rows.size() / std::max<int64_t>(rows.shape[0], 1);
  for (int64_t index = 0; index < rows.size(); ++index)
    if (!std::isfinite(rows.value(index)))
      return std::pair(index / size, index % size);
  return std::nullopt;
}

llvm::Error FiniteCheck::check(const ObservedModule &observed, const Signature &signature,
                               int64_t batch, ArrayRef<Array> arguments,
                               ArrayRef<BatchedInput> batches) const {
  if (!value)
    return llvm::Error::success();
  ObservedModule::Place where = observed.places[place];
  std::string text;
  llvm::raw_string_ostream message(text);
  message << option << ": expected rows that give finite values; in batch " << batch
          << ", operand #" << where.factor.operand << " of contraction " << where.factor.contraction
          << " of '@" << where.function.getName() << "' holds " << spell(*value) << " at element "
          << element;
  for (const BatchedInput &input : batches) {
    const Array &fed = arguments[input.argument];
    auto bad = findBadRow(fed);
    if (!bad)
      continue;
    const std::string &name = signature.arguments[input.argument].name;
    const int64_t row = batch * fed.shape[0] + bad->first;
    message << "; row " << row << " of argument " << input.argument
            << (name.empty() ? "" : " ('" + name + "')") << " holds "
            << spell(fed.value(bad->first * (fed.size() / fed.shape[0]) + bad->second))
            << " at element " << bad->second;
    return llvm::createStringError(text);
  }
  message << "; the rows are finite, so that it is computed: mp-run --break-on=nan,inf finds where";
  return llvm::createStringError(text);
}
