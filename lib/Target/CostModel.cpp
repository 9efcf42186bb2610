// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes roofline times from the peak rates of a target.

#include "mp/Target/CostModel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/JSON.h"

#include <cmath>

using namespace mpcore::target;
using llvm::StringRef;

static llvm::Error error(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// Rounds up, and stops where sums of many such times would overflow.
static int64_t wholePicoseconds(double time) {
  constexpr double most = 1e15; // a thousand seconds
  return int64_t(std::ceil(std::min(time, most)));
}

llvm::Expected<CostModel> CostModel::create(const TargetModel &target, StringRef partName,
                                            Efficiency efficiency, int64_t launchPicoseconds) {
  CostModel costs;
  costs.model = &target;
  costs.efficiency = efficiency;
  costs.launchTime = launchPicoseconds;
  for (const Part &part : target.parts)
    if (!costs.chosen && (partName.empty() || part.name.equals_insensitive(partName)))
      costs.chosen = &part;
  if (!costs.chosen) {
    auto names = llvm::map_range(target.parts, [](const Part &p) { return p.name; });
    return error("target " + target.name + " has no part '" + partName + "'; it has " +
                 llvm::join(names, ", "));
  }
  return costs;
}

int64_t CostModel::memoryTime(uint64_t bytes) const {
  // 10^9 bytes a second are 10^-3 bytes a picosecond.
  return wholePicoseconds(double(bytes) * 1000 / (chosen->memoryGBs * efficiency.memory));
}

int64_t CostModel::arithmeticTime(double operations, double tera, double share) const {
  return wholePicoseconds(operations / (tera * share)); // 10^12 a second is one a picosecond
}

std::optional<int64_t> CostModel::contractionTime(StringRef format, StringRef accumulator,
                                                  uint64_t multiplyAdds, uint64_t bytes,
                                                  unsigned parts) const {
  double tera = model->peakTera(*chosen, format, accumulator);
  if (tera <= 0)
    return std::nullopt;
  double share = format == "f32" ? efficiency.fmaUnits : efficiency.tensorCore;
  int64_t arithmetic = arithmeticTime(2.0 * double(multiplyAdds) * parts, tera, share);
  return launchTime + std::max(arithmetic, memoryTime(bytes));
}

int64_t CostModel::elementwiseTime(uint64_t operations, uint64_t bytes) const {
  int64_t arithmetic = arithmeticTime(double(operations), chosen->f32Tera, efficiency.fmaUnits);
  return launchTime + std::max(arithmetic, memoryTime(bytes));
}

int64_t CostModel::castTime(uint64_t elements, unsigned fromBits, unsigned toBits) const {
  double bytes = double(elements) * (fromBits + toBits) / 8;
  return launchTime + wholePicoseconds(bytes * 1000 / (chosen->memoryGBs * efficiency.memory));
}

double CostModel::breakEvenFlopsPerByte(StringRef format) const {
  return model->peakTera(*chosen, format) * 1000 / chosen->memoryGBs;
}

llvm::Error CostModel::readMeasured(StringRef text) {
  llvm::Expected<llvm::json::Value> root = llvm::json::parse(text);
  if (!root)
    return root.takeError();
  const llvm::json::Object *object = root->getAsObject();
  if (!object || object->getString("schema") != "mp-measured-costs" ||
      object->getInteger("version") != 1)
    return error("expected schema mp-measured-costs, version 1");
  std::optional<StringRef> name = object->getString("target");
  if (name != model->name)
    return error("times were measured on '" + name.value_or("") + "', expected '" + model->name +
                 "'");
  const llvm::json::Object *times = object->getObject("picoseconds");
  if (!times)
    return error("expected an object 'picoseconds'");
  llvm::StringMap<int64_t> read;
  for (const auto &[key, value] : *times) {
    std::optional<int64_t> time = value.getAsInteger();
    if (!time || *time < 0)
      return error("time of '" + StringRef(key) + "': expected whole picoseconds, not negative");
    read[StringRef(key)] = *time;
  }
  measuredTimes = std::move(read);
  launchTime = measured("launch").value_or(launchTime);
  return llvm::Error::success();
}

void CostModel::writeTimes(const std::map<std::string, int64_t> &times,
                           llvm::raw_ostream &os) const {
  llvm::json::Object entries;
  for (const auto &[key, time] : times)
    entries[key] = time;
  os << llvm::formatv("{0:2}",
                      llvm::json::Value(llvm::json::Object{{"schema", "mp-measured-costs"},
                                                           {"version", 1},
                                                           {"target", model->name},
                                                           {"picoseconds", std::move(entries)}}))
     << "\n";
}

std::optional<int64_t> CostModel::measured(StringRef key) const {
  auto it = measuredTimes.find(key);
  return it == measuredTimes.end() ? std::nullopt : std::optional(it->second);
}
