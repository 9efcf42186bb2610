// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks the performance model for the times of products, traffic and launches.

#include "mp/Performance/CostModel.h"

#include "Combine.h"

#include "mp/Support/JSON.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/JSON.h"

#include <cmath>

using namespace mpcore::performance;
using llvm::createStringError;
using llvm::StringRef;

/// Rounds up, and stops where sums of many such times would overflow.
static int64_t wholePicoseconds(double time) {
  constexpr double most = 1e15; // a thousand seconds
  return int64_t(std::ceil(std::min(time, most)));
}

llvm::Expected<CostModel> CostModel::create(const target::TargetModel &target, StringRef partName) {
  CostModel costs;
  costs.model = &target;
  for (const target::Part &part : target.parts)
    if (!costs.figures && (partName.empty() || part.name.equals_insensitive(partName)))
      costs.figures = &part;
  if (!costs.figures) {
    auto names = llvm::map_range(target.parts, [](const target::Part &p) { return p.name; });
    return createStringError("target " + target.name + " has no part '" + partName + "'; it has " +
                             llvm::join(names, ", "));
  }
  llvm::Expected<const Part &> part = findPart(costs.figures->name);
  if (!part)
    return part.takeError();
  costs.chosen = &*part;
  const Calibration &streams = calibrationFor(*part, MatrixUnit::Fma, "");
  costs.launchTime = wholePicoseconds(streams[Constant::Launch] * 1e6);
  costs.memoryShare = streams[Constant::MemoryShare];
  return costs;
}

int64_t CostModel::memoryTime(uint64_t bytes) const {
  // 10^9 bytes a second are 10^-3 bytes a picosecond.
  return wholePicoseconds(double(bytes) * 1000 / (figures->memoryGBs * memoryShare));
}

bool CostModel::hasProducts(StringRef format) const {
  return model->peakTera(*figures, format) > 0;
}

int64_t CostModel::asWrittenHere(const MatmulProblem &p) const {
  if (writtenUnit(*chosen, p.format)) {
    if (llvm::Expected<Ranked> fastest = fastestWritten(p, *chosen))
      return wholePicoseconds(fastest->estimate.seconds * 1e12);
    else // too large for every schedule
      llvm::consumeError(fastest.takeError());
  } else if (storageBits(p.format) == 8 && writtenUnit(*chosen, "f16")) {
    // f16 holds such values exactly: operands are cast, and multiplied as f16.
    MatmulProblem wider = p;
    wider.format = "f16";
    auto cast = [&](int64_t outer) {
      return castTime(llvm::SaturatingMultiply<uint64_t>(
                          llvm::SaturatingMultiply<uint64_t>(p.batch, outer), p.k),
                      8, 16);
    };
    return asWrittenHere(wider) + cast(p.m) + cast(p.n);
  }
  return productInLoops(p);
}

std::optional<int64_t> CostModel::productTime(const MatmulProblem &problem) const {
  if (!hasProducts(problem.format))
    return std::nullopt;
  auto [known, isNew] = products.try_emplace(problem, 0);
  if (isNew)
    known->second = asWrittenHere(problem);
  return known->second;
}

int64_t CostModel::timeOf(const MatmulProblem &problem) const {
  std::optional<int64_t> time = productTime(problem);
  return time ? *time : productInLoops(problem);
}

std::optional<int64_t> CostModel::attentionTime(const AttentionProblem &problem) const {
  auto [known, isNew] = attentions.try_emplace(problem);
  if (!isNew)
    return known->second;
  if (llvm::Expected<Ranked> fastest = fastestWritten(problem, *chosen))
    known->second = wholePicoseconds(fastest->estimate.seconds * 1e12);
  else // no kernel here has its format, or its sizes
    llvm::consumeError(fastest.takeError());
  return known->second;
}

int64_t CostModel::productInLoops(const MatmulProblem &p) const {
  constexpr unsigned threads = 128;
  // A warp reads one element of A, 32 that lie together of B, and computes their addresses.
  constexpr double sectors = 5, instructions = 8;
  const double warps = double(p.batch) * double(p.m) * double(p.n) * double(p.k) / 32;
  KernelCounts counts;
  counts.blocks = std::ceil(double(p.batch) * double(p.m) * double(p.n) / threads);
  counts.threads = threads;
  counts.warpInstructions = instructions * warps;
  counts.sectors = sectors * warps;
  counts.uniqueBytes = minimumBytes(p);
  return launchTime + wholePicoseconds(estimate(counts, *chosen).seconds * 1e12);
}

int64_t CostModel::elementwiseTime(uint64_t operations, uint64_t bytes) const {
  const double arithmetic = double(operations) / figures->f32Tera;
  return launchTime + std::max(wholePicoseconds(arithmetic), memoryTime(bytes));
}

int64_t CostModel::castTime(uint64_t elements, unsigned fromBits, unsigned toBits) const {
  const double bytes = double(elements) * (fromBits + toBits) / 8;
  return launchTime + wholePicoseconds(bytes * 1000 / (figures->memoryGBs * memoryShare));
}

llvm::Error CostModel::readMeasured(StringRef text) {
  llvm::Expected<llvm::json::Value> root = mpcore::support::parseJSON(text);
  if (!root)
    return root.takeError();
  const llvm::json::Object *object = root->getAsObject();
  if (!object || object->getString("schema") != "mp-measured-costs" ||
      object->getInteger("version") != 1)
    return createStringError("expected schema mp-measured-costs, version 1");
  std::optional<StringRef> name = object->getString("target");
  if (name != model->name)
    return createStringError("times were measured on '" + name.value_or("") + "', expected '" +
                             model->name + "'");
  const llvm::json::Object *times = object->getObject("picoseconds");
  if (!times)
    return createStringError("expected an object 'picoseconds'");
  llvm::StringMap<int64_t> read;
  for (const auto &[key, value] : *times) {
    std::optional<int64_t> time = value.getAsInteger();
    if (!time || *time < 0)
      return createStringError("time of '" + StringRef(key) +
                               "': expected whole picoseconds, not negative");
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
