// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times by roofline: the longer of arithmetic at the documented peak and memory traffic at the
// documented bandwidth, each times an assumed efficiency, plus a launch. Modelled, not measured; a
// table of measured times can replace single entries. Results are whole picoseconds, the same on
// every machine.

#ifndef MP_TARGET_COSTMODEL_H
#define MP_TARGET_COSTMODEL_H

#include "mp/Target/TargetModel.h"

#include "llvm/ADT/StringMap.h"

#include <map>

namespace mpcore::target {

/// Shares of the peak that good kernels reach on large shapes.
struct Efficiency {
  double tensorCore = 0.6;
  double fmaUnits = 0.7;
  double memory = 0.8;
};

class CostModel {
public:
  /// Uses the first part of `target` unless `partName` names another one; an error lists the parts.
  static llvm::Expected<CostModel> create(const TargetModel &target, llvm::StringRef partName = "",
                                          Efficiency efficiency = {},
                                          int64_t launchPicoseconds = 2500000);

  const TargetModel &target() const { return *model; }
  const Part &part() const { return *chosen; }
  int64_t launch() const { return launchTime; }

  /// Reading and writing `bytes` in all, without a launch.
  int64_t memoryTime(uint64_t bytes) const;

  /// `multiplyAdds` products of `format` summed into `accumulator` (empty: the usual one), `parts`
  /// times over for split-precision schemes, with `bytes` of traffic, as one kernel. "f32" runs on
  /// the FMA units. Nothing if the target has no native products of the format or no published
  /// rate.
  std::optional<int64_t> contractionTime(llvm::StringRef format, llvm::StringRef accumulator,
                                         uint64_t multiplyAdds, uint64_t bytes,
                                         unsigned parts = 1) const;

  /// A kernel that computes in f32 and is bound by memory unless `operations` are many.
  int64_t elementwiseTime(uint64_t operations, uint64_t bytes) const;

  /// A cast of its own: reads and writes every element. Fused casts cost nothing of their own.
  int64_t castTime(uint64_t elements, unsigned fromBits, unsigned toBits) const;

  /// Operations (two per multiply-add) per byte at which arithmetic takes as long as traffic, at
  /// the peaks; 0 without a rate.
  double breakEvenFlopsPerByte(llvm::StringRef format) const;

  /// Reads measured times:
  ///   { "schema": "mp-measured-costs", "version": 1, "target": "sm_90a",
  ///     "picoseconds": {"KEY": 1234, ...} }
  /// Keys are chosen by the caller, but for "launch", which is launch(). An error for another
  /// target or negative times.
  llvm::Error readMeasured(llvm::StringRef text);
  std::optional<int64_t> measured(llvm::StringRef key) const;
  const llvm::StringMap<int64_t> &getMeasured() const { return measuredTimes; }
  /// Writes times in that form.
  void writeTimes(const std::map<std::string, int64_t> &times, llvm::raw_ostream &os) const;

private:
  CostModel() = default;
  int64_t arithmeticTime(double operations, double tera, double share) const;

  const TargetModel *model = nullptr;
  const Part *chosen = nullptr;
  Efficiency efficiency;
  int64_t launchTime = 0;
  llvm::StringMap<int64_t> measuredTimes;
};

} // namespace mpcore::target

#endif // MP_TARGET_COSTMODEL_H
