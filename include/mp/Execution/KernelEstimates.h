// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modelled times of kernels from what the emulator counted of them.

#ifndef MP_EXECUTION_KERNELESTIMATES_H
#define MP_EXECUTION_KERNELESTIMATES_H

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Emulator/Driver.h"
#include "mp/Performance/Estimate.h"
#include "llvm/Support/JSON.h"

namespace mlir::mp {

namespace performance = mpcore::performance;

/// Makes launches count what estimates need; with `sampleBlocks`, runs so many blocks of each.
void prepareForEstimates(emulator::LaunchOptions &options, uint64_t sampleBlocks);

/// Tells whether warps multiply matrices by an opcode of PTX: mma, wmma.mma or wgmma.mma_async.
bool isMatrixProduct(llvm::StringRef opcode);

/// The multiply-adds of such an opcode (mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32) that
/// warps executed so often. A sparse product counts as the dense one that takes as long. Nothing if
/// the opcode's shape or format is unknown.
std::optional<performance::KernelCounts::Products> productsOf(llvm::StringRef opcode,
                                                              double executed);

/// Counts of a launch as the performance model of `part` takes them: an instruction that f64 units
/// execute as so many as the part begins in its time. The emulator does not know registers.
performance::KernelCounts countsOf(const emulator::LaunchStats &stats,
                                   const performance::Part &part);

/// All launches of one kernel. Seconds are modelled, bytes are counted.
struct KernelEstimate {
  std::string name;
  uint64_t launches = 0;
  double seconds = 0;
  /// Seconds of the launches that each resource binds.
  std::array<double, performance::kBounds> boundSeconds{};
  double occupancy = 0, waves = 0; ///< means over launches
  double bytes = 0;                ///< of sectors between multiprocessors and L2
  double touchedBytes = 0;         ///< of sectors, each counted once in a launch
  double speedOfLight = 0;         ///< seconds at the part's documented peaks
  performance::Evidence evidence;  ///< of the first launch
  performance::Bound bound() const;
};

struct FunctionEstimate {
  const performance::Part *part = nullptr;
  std::vector<KernelEstimate> kernels; ///< in the order of first launches
  /// Each is a sentence on what the figures leave out: products that the part has no rate of,
  /// blocks that do not fit on it.
  std::vector<std::string> leftOut;
  uint64_t launches = 0;
  uint64_t blocks = 0, sampledBlocks = 0; ///< of all launches; those that ran
  double seconds = 0, speedOfLight = 0;
  double bytes = 0, touchedBytes = 0; ///< sums over kernels
  double minimumBytes = 0;            ///< of arguments, constants and results; 0 if unknown
};

FunctionEstimate estimateLaunches(llvm::ArrayRef<emulator::LaunchRecord> launches,
                                  const performance::Part &part, double minimumBytes);

/// Prints what the figures rest on, a line for each kernel, longest first, and one for all.
void printEstimates(llvm::raw_ostream &os, const FunctionEstimate &estimate);
llvm::json::Object estimatesToJSON(const FunctionEstimate &estimate);

/// The launches in order, one behind the other, in the Trace Event Format that Perfetto reads. They
/// last as long as the model says of `part`, or, without one, as long as the emulator took.
llvm::json::Value traceLaunches(llvm::ArrayRef<emulator::LaunchRecord> launches,
                                const performance::Part *part);

} // namespace mlir::mp

#endif // MP_EXECUTION_KERNELESTIMATES_H
