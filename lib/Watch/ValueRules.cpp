// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small gradient is normal, one that is all zero or has lost its share is not; a flushed gradient
// does not show in the loss for hundreds of steps.

#include "ValueRules.h"

#include "mp/Watch/Numbers.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mpcore;
using namespace mpcore::watch;

static constexpr double kAllZero = 1 - 1e-6;

std::vector<Alert> ValueRules::add(const ValueReading &reading, double total,
                                   const AlarmOptions &options) {
  std::vector<Alert> alerts;
  if (reading.nonFinite > 0)
    alerts.push_back({Grade::Alarm, "non-finite", reading.name, 0, reading.nonFinite,
                      shortNumber(reading.nonFinite) +
                          " elements are infinite or NaN in a step that was not skipped",
                      adviceOf("non-finite", {"trace", "loss-scale"})});
  if (reading.isGradient && reading.nonFinite == 0)
    judgeGradient(reading, total, options, alerts);
  for (const FormatShares &format : reading.formats)
    if (format.inUse)
      judgeFormat(reading, format, options, alerts);
  ++readings;
  return alerts;
}

void ValueRules::judgeGradient(const ValueReading &reading, double total,
                               const AlarmOptions &options, std::vector<Alert> &alerts) {
  const bool isZero = reading.zeroShare >= kAllZero;
  zeroInARow = isZero ? zeroInARow + 1 : 0;
  hasMoved |= !isZero;
  // A value that never moves is frozen, or an expert without tokens: no fault of the run.
  if (hasMoved && zeroInARow >= int64_t(kPersistent))
    alerts.push_back({Grade::Alarm, "layer-vanishes", reading.name, 0, double(zeroInARow),
                      "its gradient has been zero for " + std::to_string(zeroInARow) + " steps",
                      adviceOf("layer-vanishes")});
  if (isZero || !(total > 0) || !(reading.norm > 0))
    return;
  const double share = std::log2(reading.norm / total);
  shares.add(share);
  if (readings >= kReferenceFrom && readings < kReferenceTo) {
    early.add(share);
    isSparse |= reading.zeroShare > 0.5;
  }
  if (readings < kReferenceTo || isSparse || early.size() == 0)
    return;
  const double fallen = early.median() - shares.median();
  if (fallen > options.vanishedBits)
    alerts.push_back({Grade::Alarm, "layer-vanishes", reading.name, 0, fallen,
                      "its share of the gradients' norm is 2^-" + shortNumber(fallen) +
                          " of what it was in steps 50 to 250, limit 2^-" +
                          shortNumber(options.vanishedBits),
                      adviceOf("layer-vanishes")});
}

void ValueRules::judgeFormat(const ValueReading &reading, const FormatShares &format,
                             const AlarmOptions &options, std::vector<Alert> &alerts) {
  Window &recent = flushed.try_emplace(format.format, kPersistent).first->second;
  Window &reference =
      earlyFlushed.try_emplace(format.format, size_t(kReferenceTo - kReferenceFrom)).first->second;
  recent.add(format.flushed);
  if (readings >= kReferenceFrom && readings < kReferenceTo)
    reference.add(format.flushed);
  const double usual = reference.full() ? reference.median() : 0;
  const double share = recent.median();
  // Most elements of some gradients are nothing beside the largest once training has converged.
  if (recent.full() && share > options.flushedShare && share > 2 * usual &&
      format.lost > options.lostNorm)
    alerts.push_back(
        {Grade::Alarm, "flushed", reading.name, 0, share,
         shortNumber(100 * share) + " % of its elements that are not zero become zero in " +
             format.format + ", limit " + shortNumber(100 * options.flushedShare) +
             " % and twice the " + shortNumber(100 * usual) + " % of steps 50 to 250; up to " +
             shortNumber(100 * format.lost) + " % of its norm is lost, limit " +
             shortNumber(100 * options.lostNorm) + " %",
         adviceOf("flushed")});
  if (format.overflow > 0 && !format.isScaled)
    alerts.push_back(
        {Grade::Alarm, "overflow", reading.name, 0, format.overflow,
         shortNumber(100 * format.overflow) + " % of its finite elements overflow " + format.format,
         adviceOf("overflow")});
}

template <typename Windows> static llvm::json::Object windowsToJSON(const Windows &windows) {
  llvm::json::Object object;
  for (const auto &[name, window] : windows)
    object[name] = window.toJSON();
  return object;
}

static void windowsFromJSON(const llvm::json::Object *object, size_t capacity,
                            std::map<std::string, Window> &windows) {
  if (!object)
    return;
  for (const auto &[name, value] : *object)
    if (auto *array = value.getAsArray())
      windows.try_emplace(name.str(), capacity).first->second.fromJSON(*array);
}

llvm::json::Value ValueRules::toJSON() const {
  return llvm::json::Object{{"readings", readings},
                            {"zero_in_a_row", zeroInARow},
                            {"has_moved", hasMoved},
                            {"is_sparse", isSparse},
                            {"shares", shares.toJSON()},
                            {"early", early.toJSON()},
                            {"flushed", windowsToJSON(flushed)},
                            {"early_flushed", windowsToJSON(earlyFlushed)}};
}

void ValueRules::fromJSON(const llvm::json::Object &object) {
  readings = object.getInteger("readings").value_or(0);
  zeroInARow = object.getInteger("zero_in_a_row").value_or(0);
  hasMoved = object.getBoolean("has_moved").value_or(false);
  isSparse = object.getBoolean("is_sparse").value_or(false);
  if (auto *array = object.getArray("shares"))
    shares.fromJSON(*array);
  if (auto *array = object.getArray("early"))
    early.fromJSON(*array);
  windowsFromJSON(object.getObject("flushed"), kPersistent, flushed);
  windowsFromJSON(object.getObject("early_flushed"), size_t(kReferenceTo - kReferenceFrom),
                  earlyFlushed);
}
