// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes registers, shared memory and residency of schedules, and refuses what does not fit.

#include "mp/Performance/Schedule.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace mpcore::performance;
namespace target = mpcore::target;
using llvm::createStringError;
using llvm::divideCeil;
using llvm::Twine;

unsigned mpcore::performance::residentBlocks(const target::TargetModel &target, unsigned threads,
                                             unsigned registers, unsigned sharedBytes) {
  const target::LaunchLimits &limits = target.limits;
  const unsigned warps = divideCeil(threads, 32);
  if (!warps || threads > limits.threadsPerBlock || registers > limits.registersPerThread ||
      sharedBytes > limits.sharedPerBlock)
    return 0;
  const unsigned perWarp = llvm::alignTo(std::max(registers, 1u), 8) * 32;
  const unsigned warpsByRegisters = limits.registersPerMultiprocessor / 4 / perWarp * 4;
  const unsigned reserved = target.computeCapability >= 80 ? 1024 : 0;
  unsigned blocks =
      std::min(limits.blocksPerMultiprocessor, limits.threadsPerMultiprocessor / 32 / warps);
  blocks = std::min(blocks, warpsByRegisters / warps);
  if (sharedBytes)
    blocks = std::min(blocks, limits.sharedPerMultiprocessor / (sharedBytes + reserved));
  return blocks;
}

namespace {
/// A schedule asks for these, before they are compared with the limits.
struct Demand {
  unsigned threads, registers;
  uint64_t sharedBytes;
  double bytesInFlightPerBlock;
};
} // namespace

/// Rows of operands that warps of mma.sync hold in registers at once, twice (one set is multiplied
/// while the other is loaded): 32 bytes of each row, over 32 lanes of 4 bytes.
static unsigned fragmentRegisters(unsigned rows) { return 2 * rows / 4; }

static llvm::Error checkUnit(MatrixUnit unit, llvm::StringRef format, const Part &part) {
  if (part.peakTera(unit, format) > 0)
    return llvm::Error::success();
  return createStringError(part.name + " has no " + toString(unit) + " products of " + format);
}

static llvm::Error checkMatmul(const MatmulProblem &p, const MatmulSchedule &s, const Part &part) {
  if (llvm::Error e = checkUnit(s.unit, p.format, part))
    return e;
  const target::MemoryFeatures &memory = part.specific->memory;
  if ((s.copy == Copy::Async && !memory.cpAsync) || (s.copy == Copy::Bulk && !memory.tma))
    return createStringError(part.name + " has no copies of kind " + toString(s.copy));
  if (s.clusterM * s.clusterN > part.limits().clusterSize)
    return createStringError("a cluster of " + Twine(s.clusterM * s.clusterN) +
                             " blocks exceeds the " + Twine(part.limits().clusterSize) + " of " +
                             part.name);
  if (!s.m || !s.n || !s.k || !s.warpsM || !s.warpsN || !s.splitK || !s.slices)
    return createStringError("tile, warps, splits and slices must be above 0");
  if (p.sparseA && (s.unit != MatrixUnit::MmaSync || part.specific->computeCapability < 80 ||
                    storageBits(p.format) > 16))
    return createStringError("a sparse A is for mma.sync of 8 or 16 bits from sm_80 on");
  if (s.slices > 1 && s.unit != MatrixUnit::MmaSync)
    return createStringError("slices of a sum are for warps of mma.sync");
  const unsigned warps = s.warpsM * s.warpsN;
  if (s.unit == MatrixUnit::Wgmma && (s.m % 64 || s.n % 8 || warps % 4))
    return createStringError(
        "wgmma needs rows in multiples of 64, columns of 8, and whole warpgroups");
  if (s.unit == MatrixUnit::Tcgen05 && ((s.m != 64 && s.m % 128) || s.n % 16 || s.n > 512))
    return createStringError(
        "tcgen05 needs 64 rows or multiples of 128, and columns in multiples of 16 up to "
        "512");
  if (s.unit == MatrixUnit::MmaSync && (s.m % (16 * s.warpsM) || s.n % (8 * s.warpsN)))
    return createStringError(
        "each warp of mma.sync needs rows in multiples of 16 and columns of 8");
  const unsigned depth = s.k * storageBits(p.format) / 8;
  if (s.unit != MatrixUnit::Fma && depth % 32)
    return createStringError("a step of " + Twine(s.k) +
                             " is no multiple of the 32 bytes of one instruction");
  if (s.stages < 2)
    return createStringError(
        "at least 2 stages are needed to load one tile while another is multiplied");
  return llvm::Error::success();
}

static llvm::Expected<Demand> demandOf(const MatmulProblem &p, const MatmulSchedule &s,
                                       const Part &part) {
  if (llvm::Error e = checkMatmul(p, s, part))
    return std::move(e);
  const double element = storageBits(p.format) / 8.0;
  // Pairs of tcgen05 keep half of the tile that they share each.
  const bool halves = s.unit == MatrixUnit::Tcgen05;
  const double elementOfA = p.sparseA ? p.storedBitsOfA() / 8 : element;
  const double stageBytes = (double(s.m) / (halves ? s.clusterN : 1) * elementOfA +
                             double(s.n) / (halves ? s.clusterM : 1) * element) *
                            s.depth();
  const unsigned warps = s.warpsM * s.warpsN * s.slices;
  Demand d{32 * warps, 0, uint64_t(stageBytes * s.stages), stageBytes * (s.stages - 1)};
  // Bases: what addresses, counters and loop-carried pointers take beside accumulators and
  // fragments, as ptxas 13.0 gives it to the kernels that were tried.
  switch (s.unit) {
  case MatrixUnit::Fma: // two products of each row and column of 8 x 4 lanes, twice
    d.registers = s.m * s.n / d.threads + 4 * (s.m / s.warpsM / 8 + s.n / s.warpsN / 4) + 28;
    break;
  case MatrixUnit::MmaSync:
    d.registers = s.m / s.warpsM * (s.n / s.warpsN) / 32 +
                  fragmentRegisters(s.m / s.warpsM + s.n / s.warpsN) + 28;
    if (p.sparseA) // B is 64 bytes deep, and 16 rows have a word of metadata
      d.registers += fragmentRegisters(s.n / s.warpsN) + s.m / s.warpsM / 8;
    if (s.copy == Copy::Loads)
      d.registers += unsigned(stageBytes / d.threads / 4);
    break;
  case MatrixUnit::Wgmma: {
    // Consumers hold the accumulators; a warpgroup of producers gives up all but 24 registers.
    const unsigned groups = warps / 4, consumer = s.m * s.n / (groups * 128) + 40;
    if (consumer > 240)
      return createStringError("accumulators of " + Twine(s.m) + "x" + Twine(s.n) + " take " +
                               Twine(consumer) + " registers in each thread of " + Twine(groups) +
                               " warpgroups, at most 240");
    d.threads += 128;
    d.registers = divideCeil(groups * consumer + 24, groups + 1);
    break;
  }
  case MatrixUnit::Tcgen05:
    // Accumulators lie in tensor memory, 512 columns of 128 lanes; one warp copies, one multiplies.
    if (s.n * divideCeil(s.m, 128) > 512)
      return createStringError("accumulators of " + Twine(s.m) + "x" + Twine(s.n) +
                               " exceed the 512 columns of tensor memory");
    d.threads = 192;
    d.registers = 168;
    break;
  }
  return d;
}

static llvm::Expected<Demand> demandOf(const MapProblem &p, const MapSchedule &s, const Part &) {
  if (!s.vectorBytes || !s.elementsPerThread || !s.block)
    return createStringError("vector, elements per thread and block must be above 0");
  // Stores are under way, too: of a bias that is repeated nearly nothing is read.
  const double perThread = s.elementsPerThread * std::max(p.readBytes, p.writtenBytes);
  // All loads may come before all computation, and all results before all stores. Accesses of 16
  // bytes are four words.
  const double each = std::max(p.heldWords, p.readBytes / 4);
  return Demand{s.block, unsigned(std::max(s.elementsPerThread, 4u) * each + p.passingWords) + 16,
                0, perThread * s.block};
}

/// Elements that are added and not seen again take no registers for long.
static constexpr unsigned kMostElementsAdded = 160;

/// A result for each element would be a byte at least.
static bool isSumOnly(const RowProblem &p) { return p.reductions == 1 && p.writtenBytes < 1; }

static llvm::Expected<Demand> demandOf(const RowProblem &p, const RowSchedule &s, const Part &) {
  if (!s.threadsPerRow || !s.rowsPerBlock || !s.vectorBytes)
    return createStringError("threads per row, rows per block and vector must be above 0");
  const unsigned threads = s.threadsPerRow * s.rowsPerBlock;
  const uint64_t elements = divideCeil(uint64_t(p.columns), s.threadsPerRow);
  const double rowBytes = double(p.columns) * p.readBytes;
  switch (s.residence) {
  case Residence::Registers:
    // The row in f32, and as much again as the weights of one vector.
    if (const unsigned most = isSumOnly(p) ? kMostElementsAdded : kMostElementsHeld;
        elements > most)
      return createStringError(Twine(elements) + " elements of a row in each of " +
                               Twine(s.threadsPerRow) + " threads exceed the registers; at most " +
                               Twine(most));
    return Demand{threads, unsigned(elements * std::max(p.heldWords, 1.0) + p.passingWords) + 18, 0,
                  rowBytes * s.rowsPerBlock};
  case Residence::Shared:
    return Demand{threads, 40, uint64_t(rowBytes * s.rowsPerBlock), rowBytes * s.rowsPerBlock};
  case Residence::Reread:
    return Demand{threads, 40, 0,
                  std::min(4.0 * s.vectorBytes * threads, rowBytes * s.rowsPerBlock)};
  }
  llvm_unreachable("unknown residence");
}

static llvm::Expected<Demand> demandOf(const ColumnReductionProblem &p,
                                       const ColumnReductionSchedule &s, const Part &) {
  if (!s.columnsPerBlock || !s.splits || !s.block || !s.vectorBytes)
    return createStringError("columns per block, splits, block and vector must be above 0");
  return Demand{s.block, 48, uint64_t(s.columnsPerBlock) * 4 * (s.block / 32),
                4.0 * s.vectorBytes * s.block};
}

static llvm::Expected<Demand> demandOf(const TransposeProblem &p, const TransposeSchedule &s,
                                       const Part &) {
  if (!s.tile || !s.block || !s.vectorBytes)
    return createStringError("tile, block and vector must be above 0");
  const double tileBytes = double(s.tile) * s.tile * p.bits / 8;
  return Demand{s.block, unsigned(tileBytes / s.block / 4) + 24, uint64_t(tileBytes), tileBytes};
}

static llvm::Expected<Demand> demandOf(const AttentionProblem &p, const AttentionSchedule &s,
                                       const Part &part) {
  if (llvm::Error e = checkUnit(s.unit, p.format, part))
    return std::move(e);
  if (s.unit == MatrixUnit::Fma || !s.queries || !s.keys || !s.warps || !s.splitKeys ||
      s.stages < 1)
    return createStringError(
        "attention needs a matrix unit, and tile, warps, splits and stages above 0");
  if (s.queries % (s.unit == MatrixUnit::Wgmma ? 64 : 16 * s.warps))
    return createStringError(Twine(s.queries) + " queries do not divide over " + Twine(s.warps) +
                             " warps of " + toString(s.unit));
  const double element = storageBits(p.format) / 8.0, row = double(p.headDim) * element;
  const unsigned dim = unsigned(p.headDim);
  Demand d{32 * s.warps, 0, uint64_t(row * (s.queries + 2.0 * s.stages * s.keys)),
           row * 2 * s.keys * s.stages};
  const unsigned rows = s.queries / s.warps; // of each warp
  const unsigned output = rows * dim / 32, scores = rows * s.keys / 32;
  if (s.unit == MatrixUnit::MmaSync) {
    // Scores in halves of 32 keys where the output is large.
    d.registers = output + std::min(scores, output > 64 ? 32u : scores) + 16 * rows / 16 + 50;
  } else {
    // The output, the scores and their operand form; tcgen05 keeps the first two in tensor memory.
    const unsigned held = s.unit == MatrixUnit::Wgmma ? output + scores + scores / 2 : scores;
    d.threads += s.unit == MatrixUnit::Wgmma ? 128 : 64;
    d.registers = std::min(held + 40, 240u);
    if (held > 208)
      return createStringError("output and scores take " + Twine(held) + " registers, at most 208");
    d.registers = s.unit == MatrixUnit::Wgmma
                      ? divideCeil(s.warps / 4 * d.registers + 24, s.warps / 4 + 1)
                      : d.registers;
  }
  return d;
}

template <class P, class S>
static llvm::Expected<Demand> demandOf(const P &, const S &, const Part &) {
  return createStringError("the schedule is one for another kind of problem");
}

llvm::Expected<Resources> mpcore::performance::resourcesOf(const Problem &problem,
                                                           const Schedule &schedule,
                                                           const Part &part) {
  llvm::Expected<Demand> demand = std::visit(
      [&](const auto &p, const auto &s) -> llvm::Expected<Demand> { return demandOf(p, s, part); },
      problem, schedule);
  if (!demand)
    return demand.takeError();
  const target::LaunchLimits &limits = part.limits();
  if (demand->threads > limits.threadsPerBlock)
    return createStringError(Twine(demand->threads) + " threads exceed the " +
                             Twine(limits.threadsPerBlock) + " of a block");
  if (demand->registers > limits.registersPerThread)
    return createStringError("about " + Twine(demand->registers) + " registers exceed the " +
                             Twine(limits.registersPerThread) + " of a thread");
  if (demand->sharedBytes > limits.sharedPerBlock)
    return createStringError(Twine(demand->sharedBytes) + " bytes of shared memory exceed the " +
                             Twine(limits.sharedPerBlock) + " of a block on " + part.name);
  Resources r;
  r.threads = demand->threads;
  r.registers = demand->registers;
  r.sharedBytes = unsigned(demand->sharedBytes);
  r.blocksPerMultiprocessor = residentBlocks(*part.specific, r.threads, r.registers, r.sharedBytes);
  if (!r.blocksPerMultiprocessor)
    return createStringError(Twine(r.threads) + " threads of about " + Twine(r.registers) +
                             " registers do not fit on a multiprocessor of " + part.name);
  const unsigned warps = divideCeil(r.threads, 32);
  r.occupancy = double(r.blocksPerMultiprocessor * warps) / (limits.threadsPerMultiprocessor / 32);
  r.bytesInFlight = demand->bytesInFlightPerBlock * r.blocksPerMultiprocessor;
  return r;
}
