// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The time of a matrix product: docs/concepts/Performance.md has the formulas in the same order.

#include "Combine.h"

using namespace mpcore::performance;
using namespace mpcore::performance::detail;

namespace {
/// The grid, and what the multiprocessor with most blocks does of it.
struct Grid {
  double blocks, rounds; ///< rounds: blocks on the busiest multiprocessor
  double active;         ///< multiprocessors with a block
  double steps;          ///< along k, of one block
};

/// Bytes of elements as they lie in memory and in shared memory.
struct ElementBytes {
  double a, b, shared, c;
  double sharedA; ///< of A in shared memory: less than `shared` where it is sparse
};

/// Cycles of one step of one block, each resource alone.
struct Step {
  double tensor, issue, shared, l2, latency;
  double together() const { return detail::together({tensor, issue, shared, l2, latency}); }
};
} // namespace

static ElementBytes elementBytes(const MatmulProblem &p) {
  const double stored = storageBits(p.format) / 8.0;
  return {p.storedBitsOfA() / 8, p.storedBitsOfB() / 8, stored, storageBits(p.result) / 8.0,
          p.sparseA ? p.storedBitsOfA() / 8 : stored};
}

static Grid gridOf(const MatmulProblem &p, const MatmulSchedule &s, const Part &part) {
  Grid g;
  // An empty problem is launched all the same.
  g.blocks = std::max(1.0, ceilDiv(double(p.m), s.m) * ceilDiv(double(p.n), s.n) * double(p.batch) *
                               s.splitK);
  g.rounds = ceilDiv(g.blocks, part.multiprocessors());
  g.active = std::min(g.blocks, double(part.multiprocessors()));
  g.steps = ceilDiv(ceilDiv(double(p.k), s.depth()), s.splitK);
  return g;
}

/// Rows and columns of a tile that are read from memory: kernels of mma.sync leave those beyond the
/// end of a tile that has all of them.
struct Outer {
  double m, n;
};

static Outer outerOf(const MatmulProblem &p, const MatmulSchedule &s) {
  if (s.unit != MatrixUnit::MmaSync)
    return {double(s.m), double(s.n)};
  return {std::min(double(s.m), double(p.m)), std::min(double(s.n), double(p.n))};
}

/// Values that a thread on the scalar units reads for each of its products: a warp is 8 x 4 lanes.
static double valuesPerProduct(const MatmulSchedule &s) {
  return 8.0 * s.warpsM / s.m + 4.0 * s.warpsN / s.n;
}

/// Bytes that a step reads from shared memory for its products.
static double sharedReads(const MatmulSchedule &s, double element, double elementOfA) {
  switch (s.unit) {
  case MatrixUnit::Wgmma: // each group of 64 rows reads its rows and all columns
    return std::ceil(s.m / 64.0) * (64.0 + s.n) * s.k * element;
  case MatrixUnit::Tcgen05: // two multiprocessors share what their blocks have in common
    return (double(s.m) / s.clusterN + double(s.n) / s.clusterM) * s.k * element;
  case MatrixUnit::MmaSync: // each warp loads the rows and columns of its own tile
    return (double(s.m) * s.warpsN * elementOfA + double(s.n) * s.warpsM * element) * s.depth();
  case MatrixUnit::Fma: // each thread loads the rows and columns of its own sums
    return double(s.m) * s.n * s.k * valuesPerProduct(s) * element;
  }
  llvm_unreachable("unknown matrix unit");
}

/// Warp instructions that a step of mma.sync needs beyond copies of 16 bytes to narrow operands on
/// the way. Of 8 elements: two loads, a conversion for each pair and a store, less one copy. f32
/// that become tf32 are rounded by an instruction each, or where there is none by three of integers
/// and half a test for NaN (docs/concepts/Kernels.md counts both in cubins: 5.4 and 25.6).
static double narrowing(const MatmulProblem &p, const MatmulSchedule &s, const Part &part,
                        double element) {
  const double outer = double(p.aBits >= 32 ? s.m : 0) + double(p.bBits >= 32 ? s.n : 0);
  const mpcore::target::Conversion *toTF32 = part.specific->findConversion("f32", "tf32");
  const bool isOne = element != 4 || (toTF32 && toTF32->instruction.starts_with("cvt.rn."));
  return outer * s.depth() / (8 * 32) * (isOne ? 6 : 26);
}

/// Warp instructions of a step.
static double instructions(const MatmulProblem &p, const MatmulSchedule &s, const Part &part,
                           const ElementBytes &bytes) {
  const double element = bytes.shared;
  const double multiplyAdds = double(s.m) * s.n * s.depth();
  const double warps = double(s.warpsM) * s.warpsN * s.slices;
  switch (s.unit) {
  case MatrixUnit::Wgmma:
    return 50 * warps;                 // waits, descriptors and four products of depth 32 bytes
  case MatrixUnit::Tcgen05: return 80; // one warp copies, one multiplies
  case MatrixUnit::MmaSync: {
    // A product of m16n8 and 32 bytes of depth, 64 of a sparse A; ldmatrix moves 512 bytes; copies
    // 16 bytes a lane.
    const double products = multiplyAdds / (16 * 8 * (p.sparseA ? 64 : 32) / element);
    const double copies = (s.m * bytes.sharedA + s.n * element) * s.depth() / 512;
    return products + sharedReads(s, element, bytes.sharedA) / 512 + 3 * copies + 40 * warps +
           narrowing(p, s, part, element);
  }
  case MatrixUnit::Fma: // a multiplication, an addition, and loads of two to four values
    return multiplyAdds / 32 * (2 + valuesPerProduct(s) / 3) + 20 * warps;
  }
  llvm_unreachable("unknown matrix unit");
}

static Step stepOf(const MatmulProblem &p, const MatmulSchedule &s, const Resources &r,
                   const Grid &g, const Part &part, const Calibration &c) {
  const ElementBytes bytes = elementBytes(p);
  const double rate =
      part.multiplyAddsPerCycle(s.unit, p.format) * c[Constant::TensorShare] * (p.sparseA ? 2 : 1);
  Step step;
  step.tensor = double(s.m) * s.n * s.depth() / rate;
  step.issue = instructions(p, s, part, bytes) / kIssuePerCycle;
  step.shared = sharedReads(s, bytes.shared, bytes.sharedA) / kSharedBytesPerCycle;
  // L2 reads once what blocks of a cluster share. Multicast brings it to each of them; pairs of
  // tcgen05 keep half of it each.
  const Outer outer = outerOf(p, s);
  const double shared =
      (outer.m * bytes.a / s.clusterN + outer.n * bytes.b / s.clusterM) * s.depth();
  const double own =
      s.unit == MatrixUnit::Tcgen05 ? shared : (outer.m * bytes.a + outer.n * bytes.b) * s.depth();
  const double width = part.l2BytesPerCycle * c[Constant::L2Share];
  step.l2 = std::max(shared * g.active / width, own / kL2PortBytesPerCycle);
  // A tile is asked for stages - 1 steps ahead; blocks of one multiprocessor wait side by side.
  const double resident = std::min(double(r.blocksPerMultiprocessor), g.rounds);
  step.latency = kL2Latency * part.cyclesPerSecond() / (s.stages - 1) / resident;
  return step;
}

/// Cycles in which one block converts, finishes and stores its results.
static double storeCycles(const MatmulProblem &p, const MatmulSchedule &s, const Calibration &c) {
  const double elements = double(s.m) * s.n;
  const double bytes = s.splitK > 1 ? 4 : elementBytes(p).c + p.epilogueBytes;
  return std::max(elements * bytes / c[Constant::StoreBytesPerCycle],
                  elements * p.epilogueInstructions / 32 / kIssuePerCycle);
}

/// Bytes from device memory. Blocks that run at once cover about a square of tiles, whose rows of A
/// and columns of B they read once; what they do not leave in L2 the next ones read again.
static double memoryBytes(const MatmulProblem &p, const MatmulSchedule &s, const Grid &g,
                          const Part &part) {
  const double least = minimumBytes(p), l2 = part.figures->l2MiB * 1048576;
  const ElementBytes bytes = elementBytes(p);
  const double operands = double(p.m) * double(p.k) * bytes.a + double(p.k) * double(p.n) * bytes.b;
  if (operands <= l2)
    return least;
  const double tilesM = std::max(1.0, ceilDiv(double(p.m), s.m)),
               tilesN = std::max(1.0, ceilDiv(double(p.n), s.n));
  const double side = std::sqrt(g.active);
  const double rows = std::min(tilesM, std::max(side, g.active / tilesN)),
               columns = std::min(tilesN, std::max(1.0, g.active / rows));
  const double perWave = double(p.k) * (rows * s.m * bytes.a + columns * s.n * bytes.b);
  const double waves = double(p.batch) * tilesM * tilesN / (rows * columns);
  const double results = double(p.batch) * double(p.m) * double(p.n) * (bytes.c + p.epilogueBytes);
  return std::max(least, waves * perWave + results);
}

/// Bytes a second from device memory. Kernels of mma.sync for few rows have no more under way than
/// their rings hold.
static double memoryRate(const MatmulProblem &p, const MatmulSchedule &s, const Resources &r,
                         const Grid &g, const Part &part, const Calibration &c) {
  const double rate = part.memoryBytesPerSecond() * c[Constant::MemoryShare];
  if (s.unit != MatrixUnit::MmaSync)
    return rate;
  const ElementBytes bytes = elementBytes(p);
  const Outer outer = outerOf(p, s);
  const double ring = (outer.m * bytes.a + outer.n * bytes.b) * s.depth() * (s.stages - 1);
  const double blocks = g.active * std::min(double(r.blocksPerMultiprocessor), g.rounds);
  return std::min(rate, blocks * ring / kMemoryLatency);
}

/// Seconds to add up the parts of split sums: they are written to L2 and read again. Kernels of
/// mma.sync have those of a tile read, and its results stored, by one block.
static double splitSeconds(const MatmulProblem &p, const MatmulSchedule &s, const Part &part,
                           const Calibration &c) {
  if (s.splitK == 1)
    return 0;
  const double parts = double(p.batch) * double(p.m) * double(p.n) * 4 * s.splitK;
  const double all = parts / (part.l2BytesPerCycle * c[Constant::L2Share]);
  const double elements = double(s.m) * s.n;
  const double own =
      s.unit != MatrixUnit::MmaSync
          ? 0
          : elements * 4 * s.splitK / kL2PortBytesPerCycle +
                elements * (elementBytes(p).c + p.epilogueBytes) / c[Constant::StoreBytesPerCycle];
  return std::max(all, own) / part.cyclesPerSecond() + c[Constant::SplitMicroseconds] * 1e-6;
}

/// Seconds that the products take at least while power limits the clock.
static double sustainedSeconds(const MatmulProblem &p, const MatmulSchedule &s, const Part &part) {
  const double bf16 = part.bestUnit("bf16") ? part.peakTera(*part.bestUnit("bf16"), "bf16") : 0;
  if (!part.sustainedBf16Tera || !bf16 || s.unit == MatrixUnit::Fma)
    return 0;
  const double tera =
      part.peakTera(s.unit, p.format) * part.sustainedBf16Tera / bf16 * (p.sparseA ? 2 : 1);
  return 2 * multiplyAdds(p) / (tera * 1e12);
}

Estimate detail::estimateMatmul(const MatmulProblem &p, const MatmulSchedule &s, const Resources &r,
                                const Part &part, const Calibration &c) {
  const Grid g = gridOf(p, s, part);
  const Step step = stepOf(p, s, r, g, part, c);
  // The first tile's stores are always seen, the others' as far as nothing covers them.
  const double stores = storeCycles(p, s, c);
  const bool covered = s.overlappedStores || r.blocksPerMultiprocessor > 1;
  const double exposed = covered ? std::min(c[Constant::ExposedStores], 1.0) : 1;
  const double clock = part.cyclesPerSecond();
  const double loops = g.rounds * g.steps / clock;
  const double storing = ((g.rounds - 1) * exposed + 1) * stores / clock;

  Estimate e;
  e.blocks = g.blocks;
  e.waves = g.blocks / (part.multiprocessors() * double(r.blocksPerMultiprocessor));
  e.bytes = memoryBytes(p, s, g, part);
  const double sustained = sustainedSeconds(p, s, part);
  e[Bound::Tensor] = std::max(loops * step.tensor, sustained);
  e[Bound::Issue] = loops * step.issue;
  e[Bound::SharedMemory] = loops * step.shared;
  e[Bound::L2] = loops * step.l2;
  e[Bound::Latency] = loops * step.latency;
  e[Bound::Memory] = e.bytes / memoryRate(p, s, r, g, part, c);
  e[Bound::Launch] = c[Constant::Launch] * 1e-6;
  const double inside = loops * step.together() + storing + splitSeconds(p, s, part, c);
  e.seconds = together({std::max(inside, sustained), e[Bound::Memory]}) + e[Bound::Launch];
  return e;
}
