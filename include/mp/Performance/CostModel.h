// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times that decisions are made by: those of estimate(), for the kernels that are written here, as
// whole picoseconds, which are the same on every machine. Modelled, not measured; a table of
// measured times can replace single entries.

#ifndef MP_PERFORMANCE_COSTMODEL_H
#define MP_PERFORMANCE_COSTMODEL_H

#include "mp/Performance/Part.h"
#include "mp/Performance/Problem.h"

#include "llvm/ADT/StringMap.h"

#include <map>

namespace mpcore::performance {

/// Not for several threads at once: times that were asked for are kept.
class CostModel {
public:
  /// Uses the first part of `target` unless `partName` names another one; an error lists the parts.
  static llvm::Expected<CostModel> create(const target::TargetModel &target,
                                          llvm::StringRef partName = "");

  const target::TargetModel &target() const { return *model; }
  const Part &part() const { return *chosen; }
  /// Starting and ending a kernel.
  int64_t launch() const { return launchTime; }

  /// Reading and writing `bytes` in all, without a launch.
  int64_t memoryTime(uint64_t bytes) const;

  /// True if the target multiplies `format` natively, at a published rate.
  bool hasProducts(llvm::StringRef format) const;

  /// A product in tiles, as one kernel that reads its factors and writes its sums, on the unit that
  /// kernels here use (writtenUnit): two where blocks share sums. Where mma.sync lacks an 8-bit
  /// format, operands are cast to f16. Nothing if the target has no products of the format.
  std::optional<int64_t> productTime(const MatmulProblem &problem) const;

  /// The same, or productInLoops() where the target has no products of the format.
  int64_t timeOf(const MatmulProblem &problem) const;

  /// Attention as one kernel of 16-bit products. Nothing if kernels here have none for the target,
  /// or for the problem.
  std::optional<int64_t> attentionTime(const AttentionProblem &problem) const;

  /// A product on the scalar units, as loops that are not tiled: a thread for each sum, which reads
  /// both factors of each multiply-add; before it, a kernel that fills the sums.
  int64_t productInLoops(const MatmulProblem &problem) const;

  /// A kernel that computes in f32 and is bound by memory unless `operations` are many.
  int64_t elementwiseTime(uint64_t operations, uint64_t bytes) const;

  /// A cast of its own: reads and writes every element. Casts that another kernel makes cost what
  /// they move.
  int64_t castTime(uint64_t elements, unsigned fromBits, unsigned toBits) const;

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

  int64_t asWrittenHere(const MatmulProblem &problem) const;

  const target::TargetModel *model = nullptr;
  const Part *chosen = nullptr;
  const target::Part *figures = nullptr; ///< of `chosen` in `model`
  int64_t launchTime = 0;
  double memoryShare = 1;
  llvm::StringMap<int64_t> measuredTimes;
  // Asked for so far: ranking schedules takes 30,000 instructions.
  mutable std::map<MatmulProblem, int64_t> products;
  mutable std::map<AttentionProblem, std::optional<int64_t>> attentions;
};

} // namespace mpcore::performance

#endif // MP_PERFORMANCE_COSTMODEL_H
