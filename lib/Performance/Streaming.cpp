// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that move data: maps, rows, column sums, transposes. Memory binds them as long as enough
// bytes are in flight (Little's law: bandwidth times latency).

#include "Combine.h"

using namespace mpcore::performance;
using namespace mpcore::performance::detail;

namespace {
/// A grid of blocks moves and executes so much.
struct Work {
  double blocks;
  double bytes; ///< from and to device memory
  double warpInstructions;
  double sharedBytes = 0; ///< read from and written to shared memory
  double chainCycles = 0; ///< of one block that wait for each other: barriers, shuffles
};
} // namespace

static Estimate stream(Work w, const Resources &r, const Part &part, const Calibration &c) {
  w.blocks = std::max(w.blocks, 1.0); // an empty problem is launched all the same
  const double multiprocessors = part.multiprocessors(), clock = part.cyclesPerSecond();
  const double active = std::min(w.blocks, multiprocessors);
  const double atOnce = std::min(w.blocks, multiprocessors * r.blocksPerMultiprocessor);
  const double inFlight = atOnce * r.bytesInFlight / r.blocksPerMultiprocessor;
  Estimate e;
  e.blocks = w.blocks;
  e.waves = w.blocks / (multiprocessors * r.blocksPerMultiprocessor);
  e.bytes = w.bytes;
  e[Bound::Memory] = w.bytes / (part.memoryBytesPerSecond() * c[Constant::MemoryShare]);
  e[Bound::L2] = w.bytes / (std::min(part.l2BytesPerCycle * c[Constant::L2Share],
                                     active * kL2PortBytesPerCycle) *
                            clock);
  e[Bound::Issue] = w.warpInstructions / (active * kIssuePerCycle * clock);
  e[Bound::SharedMemory] = w.sharedBytes / (active * kSharedBytesPerCycle * clock);
  e[Bound::Latency] = w.bytes / (std::max(inFlight, 1.0) / kMemoryLatency) +
                      std::ceil(e.waves) * w.chainCycles / clock / r.blocksPerMultiprocessor;
  e[Bound::Launch] = c[Constant::Launch] * 1e-6;
  e.seconds = together({e[Bound::Memory], e[Bound::L2], e[Bound::Issue], e[Bound::SharedMemory],
                        e[Bound::Latency]}) +
              e[Bound::Launch];
  return e;
}

/// Instructions per element of memory accesses of `vectorBytes`, and of their addresses.
static double accessInstructions(double bytesPerElement, unsigned vectorBytes) {
  return 1.5 * bytesPerElement / vectorBytes;
}

Estimate detail::estimateMap(const MapProblem &p, const MapSchedule &s, const Resources &r,
                             const Part &part, const Calibration &c) {
  const double elements = double(p.elements), bytes = p.readBytes + p.writtenBytes;
  const double each =
      p.instructions + accessInstructions(bytes, s.vectorBytes) + 8.0 / s.elementsPerThread;
  return stream({ceilDiv(elements, double(s.block) * s.elementsPerThread), minimumBytes(p),
                 elements * each / 32},
                r, part, c);
}

/// Cycles until all threads of a row know a reduction's result: five shuffles of about 25 cycles,
/// then shared memory, a barrier and as much again.
static double reductionCycles(unsigned threadsPerRow) {
  const double shuffles = std::min(5.0, std::log2(double(threadsPerRow)));
  return 25 * shuffles + (threadsPerRow > 32 ? 120 : 0);
}

Estimate detail::estimateRows(const RowProblem &p, const RowSchedule &s, const Resources &r,
                              const Part &part, const Calibration &c) {
  const double elements = double(p.rows) * double(p.columns);
  // A row that is not kept is read once for each reduction and once for the result.
  const double passes =
      s.residence == Residence::Reread ? p.reductions + (p.writtenBytes > 0 ? 1 : 0) : 1;
  const double read = elements * p.readBytes;
  // Reading again hits L2 while the rows at work fit there.
  const double working = double(part.multiprocessors()) * r.blocksPerMultiprocessor *
                         s.rowsPerBlock * double(p.columns) * p.readBytes;
  const bool again = passes > 1 && working > part.figures->l2MiB * 1048576;
  const double each =
      p.instructions +
      accessInstructions(passes * p.readBytes + p.writtenBytes + p.columnBytes, s.vectorBytes) +
      p.reductions * 12.0 * s.threadsPerRow / std::max(1.0, double(p.columns));
  Work w;
  w.blocks = ceilDiv(double(p.rows), s.rowsPerBlock);
  w.bytes = minimumBytes(p) + (again ? (passes - 1) * read : 0);
  w.warpInstructions = elements * each / 32;
  w.sharedBytes = s.residence == Residence::Shared ? (1.0 + p.reductions) * read : 0;
  w.chainCycles = std::max(passes, double(p.reductions)) * reductionCycles(s.threadsPerRow);
  return stream(w, r, part, c);
}

Estimate detail::estimateColumns(const ColumnReductionProblem &p, const ColumnReductionSchedule &s,
                                 const Resources &r, const Part &part, const Calibration &c) {
  const double elements = double(p.rows) * double(p.columns);
  const double each = p.instructions + accessInstructions(p.readBytes, s.vectorBytes);
  Work w;
  w.blocks = ceilDiv(double(p.columns), s.columnsPerBlock) * s.splits;
  // Parts of split sums are written and read by the block that comes last.
  w.bytes = minimumBytes(p) + (s.splits > 1 ? 2.0 * s.splits * double(p.columns) * 4 : 0);
  w.warpInstructions = elements * each / 32;
  w.chainCycles = reductionCycles(s.block) + (s.splits > 1 ? 1000 : 0);
  return stream(w, r, part, c);
}

Estimate detail::estimateTranspose(const TransposeProblem &p, const TransposeSchedule &s,
                                   const Resources &r, const Part &part, const Calibration &c) {
  const double elements = double(p.batch) * double(p.rows) * double(p.columns);
  const double element = p.bits / 8.0;
  // 3.9 instructions an element of 16 bits and 7.9 of 32: shared memory by words of 4 bytes.
  const double each = 2 * element + accessInstructions(2 * element, s.vectorBytes);
  Work w;
  w.blocks = double(p.batch) * ceilDiv(double(p.rows), s.tile) * ceilDiv(double(p.columns), s.tile);
  w.bytes = minimumBytes(p);
  w.warpInstructions = elements * each / 32;
  w.sharedBytes = 2 * elements * element;
  w.chainCycles = 60;
  return stream(w, r, part, c);
}
