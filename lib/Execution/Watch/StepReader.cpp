// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds results by role, and rows of rings by the number of their step.

#include "StepReader.h"

#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Numerics/ProbeRecord.h"
#include "mp/Watch/Numbers.h"

#include <cmath>
#include <utility>

using namespace mlir;
using namespace mlir::mp;
using numerics::ProbeColumn;

size_t StepReader::placeOf(llvm::StringRef parameter) const {
  auto named = llvm::find(parameters, parameter);
  if (named != parameters.end())
    return size_t(named - parameters.begin());
  auto probed =
      llvm::find_if(probes, [&](const Probed &known) { return known.info.name == parameter; });
  return parameters.size() + size_t(probes.end() - probed);
}

StepReader::StepReader(func::FuncOp step, const Signature &signature, size_t results) {
  std::vector<bool> isState(results, false);
  for (auto [i, argument] : llvm::enumerate(signature.arguments)) {
    parameters.push_back(argument.name);
    if (!argument.nextValue || size_t(*argument.nextValue) >= results)
      continue;
    const size_t result = size_t(*argument.nextValue);
    isState[result] = true;
    byRole.try_emplace(argument.role, result);
    if (auto info = ProbeInfo::fromAttr(step.getArgAttr(i, kProbeAttrName))) {
      probes.push_back({result, *info});
      continue;
    }
    if (argument.type.isFloat && !argument.shape.empty())
      floatState.push_back(result);
    if (llvm::is_contained(argument.shape, int64_t(-1)))
      resizable.push_back(
          {result, argument.name.empty() ? "argument " + std::to_string(i) : argument.name});
    const std::string type = argument.type.str();
    auto known = llvm::find_if(shares, [&](const StoredShare &share) {
      return share.role == argument.role && share.type == type;
    });
    if (known == shares.end())
      known = shares.insert(shares.end(), {argument.role, type});
    const uint64_t elements = uint64_t(elementCount(argument.shape).value_or(0));
    known->elements += elements;
    known->bytes += elements * argument.type.bytes();
  }
  for (size_t result = 0; result < std::min(results, signature.results.size()); ++result) {
    const Parameter &parameter = signature.results[result];
    if (!isState[result] && parameter.shape.empty() && parameter.type.isFloat)
      scalars.push_back(
          {parameter.name.empty() ? "result " + std::to_string(result) : parameter.name, result});
  }
}

std::vector<std::pair<std::string, double>> StepReader::metrics(ArrayRef<Array> results) const {
  std::vector<std::pair<std::string, double>> values;
  for (const auto &[name, result] : scalars)
    values.push_back({name, results[result].value(0)});
  return values;
}

/// A gradient is called as its parameter is, other values by what they are besides.
static std::string keyOf(const ProbeInfo &info) {
  return info.of == "gradient" ? info.name : info.of + " " + info.name;
}

std::optional<std::vector<double>> StepReader::rowOf(const Probed &probed,
                                                     ArrayRef<Array> results) const {
  // Rows are numbered by calls, of which the counter is one ahead now.
  const double call = results[byRole.at(kRoleProbeCalls.str())].value(0) - 1;
  const Array &ring = results[probed.result];
  const int64_t rows = ring.shape[0], columns = ring.shape[1];
  for (int64_t row = 0; row < rows; ++row) {
    if (ring.value(row * columns) != call)
      continue;
    std::vector<double> record;
    for (int64_t column = 1; column < columns; ++column)
      record.push_back(ring.value(row * columns + column));
    return record;
  }
  return std::nullopt;
}

watch::StepReading StepReader::read(int64_t step, ArrayRef<Array> results, bool checkState) {
  watch::StepReading reading;
  reading.step = step;
  auto scalarOf = [&](StringRef role) -> std::optional<double> {
    auto found = byRole.find(role.str());
    if (found == byRole.end())
      return std::nullopt;
    return results[found->second].value(0);
  };
  if (!scalars.empty())
    reading.loss = results[scalars.front().second].value(0);
  reading.scale = scalarOf(kRoleLossScale);
  reading.gradientNorm = scalarOf(kRoleGradientNorm);
  if (auto count = scalarOf(kRoleSkippedSteps)) {
    reading.skipped = *count > skipped;
    skipped = *count;
  }
  double squares = 0;
  bool hasGradients = false;
  for (const Probed &probed : probes) {
    auto row = rowOf(probed, results);
    if (!row)
      continue;
    const numerics::ProbeRecord record{*row};
    watch::ValueReading value;
    value.name = keyOf(probed.info);
    value.isGradient = probed.info.of == "gradient";
    value.norm = record.norm();
    value.zeroShare = record.finite() > 0 ? record.get(ProbeColumn::Zeros) / record.finite() : 0;
    value.nonFinite = record.get(ProbeColumn::NaNs) + record.get(ProbeColumn::Infinities);
    // The loss scale is taken out of measures of gradients, not out of counts.
    const double scale = value.isGradient && probed.info.isScaled ? reading.scale.value_or(1) : 1;
    const double nonzero = record.finite() - record.get(ProbeColumn::Zeros);
    for (auto [index, format] : llvm::enumerate(probed.info.formats)) {
      const double flushed = record.flushed(index);
      const double lost = flushed > 0
                              ? std::sqrt(flushed * nonzero) *
                                    numerics::rangeLimits(format).flushedUpTo / (value.norm * scale)
                              : 0;
      value.formats.push_back({numerics::toString(format).str(), record.overflowing(index), flushed,
                               std::min(lost, 1.0), llvm::is_contained(probed.info.used, format),
                               probed.info.isScaled});
    }
    if (value.isGradient) {
      hasGradients = true;
      squares += value.nonFinite > 0 ? INFINITY : value.norm * value.norm;
    }
    reading.values.push_back(std::move(value));
  }
  if (hasGradients && !reading.gradientNorm)
    reading.gradientNorm = std::sqrt(squares);
  for (Resizable &state : resizable) {
    const int64_t before = std::exchange(state.size, results[state.result].size());
    if (before > 0 && state.size > before)
      reading.growing = state.name;
  }
  for (size_t result : checkState ? ArrayRef<size_t>(floatState) : ArrayRef<size_t>())
    for (int64_t i = 0, e = results[result].size(); i < e && reading.isStateFinite; ++i)
      reading.isStateFinite = std::isfinite(results[result].value(i));
  return reading;
}

llvm::json::Object StepReader::recordsToJSON(ArrayRef<Array> results) const {
  llvm::json::Object values;
  for (const Probed &probed : probes) {
    auto row = rowOf(probed, results);
    if (!row)
      continue;
    const numerics::ProbeRecord record{*row};
    llvm::json::Object value{
        {"of", probed.info.of},
        {"norm", watch::numberOrNull(record.norm())},
        {"mean", watch::numberOrNull(record.get(ProbeColumn::Mean))},
        {"deviation", watch::numberOrNull(record.deviation())},
        {"least_magnitude", watch::numberOrNull(record.get(ProbeColumn::LeastMagnitude))},
        {"largest_magnitude", watch::numberOrNull(record.get(ProbeColumn::LargestMagnitude))},
        {"elements", record.get(ProbeColumn::Elements)},
        {"zero", record.get(ProbeColumn::Zeros)},
        {"nan", record.get(ProbeColumn::NaNs)},
        {"infinite", record.get(ProbeColumn::Infinities)}};
    llvm::json::Object formats;
    for (auto [index, format] : llvm::enumerate(probed.info.formats))
      formats[numerics::toString(format)] =
          llvm::json::Object{{"overflow", record.overflowing(index)},
                             {"flushed", record.flushed(index)},
                             {"subnormal", record.subnormal(index)}};
    value["formats"] = std::move(formats);
    if (probed.info.hasHistogram)
      value["histogram"] =
          llvm::json::Array(ArrayRef<double>(*row).take_back(numerics::kProbeBins));
    values[keyOf(probed.info)] = std::move(value);
  }
  return values;
}

void StepReader::readScaleRule(func::FuncOp step, watch::AlarmOptions &options) {
  step.walk([&](UpdateLossScaleOp update) {
    options.scaleInterval = update.getRule().getInterval();
    if (FloatAttr least = update.getRule().getMin())
      options.scaleFloor = least.getValueAsDouble();
  });
}
