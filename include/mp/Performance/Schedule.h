// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A schedule says how a kernel computes a problem: tiles, warps, stages, splits. It is plain data
// with a text form.

#ifndef MP_PERFORMANCE_SCHEDULE_H
#define MP_PERFORMANCE_SCHEDULE_H

#include "mp/Performance/Part.h"
#include "mp/Performance/Problem.h"

namespace mpcore::performance {

/// An operand tile gets into shared memory through registers, by cp.async or by TMA.
enum class Copy : uint8_t { Loads, Async, Bulk };
llvm::StringRef toString(Copy copy);

struct MatmulSchedule {
  MatrixUnit unit = MatrixUnit::MmaSync;
  unsigned m = 128, n = 128, k = 64; ///< tile of a block and depth of a step, in elements
  unsigned warpsM = 2, warpsN = 2;   ///< that multiply; of wgmma: warps of consumer warpgroups
  unsigned stages = 3;               ///< tiles in shared memory
  Copy copy = Copy::Async;
  unsigned clusterM = 1, clusterN = 1; ///< blocks that share operand tiles by multicast
  unsigned splitK = 1;                 ///< blocks that share the sum of one tile of C
  /// Stores of a tile run while the next one is multiplied (persistent blocks).
  bool overlappedStores = false;
  /// Groups of warpsM x warpsN warps of mma.sync that share the sum within a block: each multiplies
  /// k products of a step, and their sums are added in the end.
  unsigned slices = 1;

  /// Products of a step of the block.
  unsigned depth() const { return k * slices; }
};

struct MapSchedule {
  unsigned vectorBytes = 16; ///< of the widest access
  unsigned elementsPerThread = 8;
  unsigned block = 256; ///< threads
};

/// A row stays here between its reductions.
enum class Residence : uint8_t { Registers, Shared, Reread };
llvm::StringRef toString(Residence residence);

/// Elements of a row that a thread of a kernel keeps: 64 registers do for them. A longer share is
/// read again for each reduction; what is only added is not kept.
constexpr unsigned kMostElementsHeld = 32;

struct RowSchedule {
  unsigned threadsPerRow = 32, rowsPerBlock = 4, vectorBytes = 16;
  Residence residence = Residence::Registers;
};

struct ColumnReductionSchedule {
  unsigned columnsPerBlock = 64, splits = 1, block = 256, vectorBytes = 16;
};

struct TransposeSchedule {
  unsigned tile = 64, block = 256, vectorBytes = 16;
};

/// Most blocks that share the keys of a row: the kernel that merges their parts has all at once.
constexpr unsigned kMostKeySplits = 32;

struct AttentionSchedule {
  MatrixUnit unit = MatrixUnit::MmaSync;
  unsigned queries = 128, keys = 64; ///< tile of a block
  unsigned warps = 4;                ///< that multiply
  unsigned stages = 2;               ///< of K and V tiles
  unsigned splitKeys = 1;            ///< blocks that share the keys of a row
  /// Not 0: as many as have two tiles each share them, up to `splitKeys`, and none do where that
  /// spares each fewer keys than this.
  unsigned splitFrom = 0;
  /// Not 0: no more share them than bring all blocks to this number, either.
  unsigned splitBlocks = 0;
  bool overlapped = false; ///< softmax of one step under the products of another
};

using Schedule = std::variant<MatmulSchedule, MapSchedule, RowSchedule, ColumnReductionSchedule,
                              TransposeSchedule, AttentionSchedule>;

/// Blocks that share so many keys of a row; there are `blocks` if none do.
unsigned sharersOf(const AttentionSchedule &schedule, int64_t keys, int64_t blocks);

/// Writes "matmul unit=mma.sync tile=128x256x64 warps=2x4 stages=3 copy=async ...".
std::string toString(const Schedule &schedule);
/// Reads that form. Errors name the word and what is known.
llvm::Expected<Schedule> parseSchedule(llvm::StringRef text);

/// One block of a schedule takes so much of a multiprocessor, and so many fit.
struct Resources {
  unsigned threads = 0;     ///< per block
  unsigned registers = 0;   ///< per thread, estimated
  unsigned sharedBytes = 0; ///< per block
  unsigned blocksPerMultiprocessor = 0;
  double occupancy = 0; ///< resident warps over the most there can be
  /// Bytes that one multiprocessor has asked memory for before it must wait.
  double bytesInFlight = 0;
};

/// An error says which limit of the part the schedule exceeds, or why it does not suit the problem.
llvm::Expected<Resources> resourcesOf(const Problem &problem, const Schedule &schedule,
                                      const Part &part);

/// Blocks of a given size that fit on a multiprocessor at once; 0 if one does not. Registers are
/// given out to whole warps in steps of 8 per thread, on each of four partitions; from sm_80 on the
/// system keeps 1 KiB of shared memory for each block.
unsigned residentBlocks(const target::TargetModel &target, unsigned threads, unsigned registers,
                        unsigned sharedBytes);

/// The schedules worth looking at for a problem: all that resourcesOf allows, of a fixed list for
/// each family and generation.
std::vector<Schedule> menu(const Problem &problem, const Part &part);
/// The same for a matrix product by this unit and these copies, which need not be the fastest.
std::vector<Schedule> menu(const MatmulProblem &problem, const Part &part, MatrixUnit unit,
                           Copy copy);
/// The unit that kernels here multiply on: mma.sync, the scalar units for f32; nothing if mma.sync
/// has no such products. Libraries have faster ones on some parts (Part::bestUnit).
std::optional<MatrixUnit> writtenUnit(const Part &part, llvm::StringRef format);
/// The schedules that kernels here are written for: no small tile for a large product; on the
/// scalar units one thread has all of a sum.
std::vector<Schedule> writtenMenu(const MatmulProblem &problem, const Part &part,
                                  std::optional<Copy> copy = std::nullopt);
/// The same for attention, by mma.sync and cp.async.
std::vector<Schedule> writtenMenu(const AttentionProblem &problem, const Part &part);

} // namespace mpcore::performance

#endif // MP_PERFORMANCE_SCHEDULE_H
