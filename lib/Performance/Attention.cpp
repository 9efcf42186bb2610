// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The time of attention whose scores never leave a block.

#include "Combine.h"

using namespace mpcore::performance;
using namespace mpcore::performance::detail;

/// Warp instructions of softmax, rescaling and the loop for one tile of scores, per score: one
/// maximum, multiply-add, exponential and sum each and half a conversion in each lane, and what
/// goes round them (396 for 64 x 128 scores by each of four warps, docs/concepts/Performance.md).
static constexpr double kInstructionsPerScore = 4.0 * 396 / (64 * 128);
/// Exponentials per cycle and multiprocessor.
static constexpr double kExponentialsPerCycle = 16;

unsigned mpcore::performance::sharersOf(const AttentionSchedule &s, int64_t keys, int64_t blocks) {
  if (s.splitFrom == 0)
    return s.splitKeys;
  int64_t sharers = std::min<int64_t>(keys / (2 * int64_t(s.keys)), s.splitKeys);
  if (s.splitBlocks != 0)
    sharers = std::min(sharers, s.splitBlocks / std::max<int64_t>(blocks, 1));
  sharers = std::max<int64_t>(sharers, 1);
  return keys - keys / sharers < s.splitFrom ? 1 : unsigned(sharers);
}

Estimate detail::estimateAttention(const AttentionProblem &p, const AttentionSchedule &s,
                                   const Resources &r, const Part &part, const Calibration &c) {
  const double clock = part.cyclesPerSecond(), multiprocessors = part.multiprocessors();
  const double element = storageBits(p.format) / 8.0;
  const double rowBlocks = ceilDiv(double(p.queries), s.queries);
  // With a causal mask a block of rows meets the tiles up to its diagonal, half of all on average
  // and half a tile of queries more.
  const double keys =
      !p.causal
          ? double(p.keys)
          : std::min(double(p.keys), double(p.keys) - double(p.queries) / 2 + s.queries / 2.0);
  const double alone = double(p.batch) * double(p.heads) * rowBlocks;
  const unsigned sharers = sharersOf(s, p.keys, int64_t(alone));
  const double steps = std::max(1.0, keys / s.keys / sharers);
  const double blocks = std::max(1.0, alone * sharers);
  const double scores = double(s.queries) * s.keys;

  // Cycles of one step of one block, each resource alone.
  const double rate = part.multiplyAddsPerCycle(s.unit, p.format) * c[Constant::TensorShare];
  const double tensor = 2 * scores * double(p.headDim) / rate;
  const double softmax =
      std::max(scores / kExponentialsPerCycle, scores * kInstructionsPerScore / kIssuePerCycle);
  const double groups = s.unit == MatrixUnit::Wgmma ? s.queries / 64.0 : s.warps;
  const double operandReads = s.unit == MatrixUnit::Tcgen05
                                  ? (s.queries + 2.0 * s.keys) * double(p.headDim) * element
                                  : groups * 2 * s.keys * double(p.headDim) * element;
  const double shared = operandReads / kSharedBytesPerCycle;
  const double neighbours =
      std::clamp(blocks / multiprocessors, 1.0, double(r.blocksPerMultiprocessor));
  const double latency = kL2Latency * clock / s.stages / neighbours;
  // Even the best kernels show most of the exponentials' time beside the products'.
  const double exposed = s.overlapped ? std::min(c[Constant::ExposedSoftmax], 1.0) : 1;
  const double tileBytes = 2 * s.keys * double(p.headDim) * element;
  const double port = tileBytes / kL2PortBytesPerCycle;
  const double step = together({tensor, shared, latency, port}) + exposed * softmax;

  // Blocks have different lengths under a mask; the longest start first, so that only the last
  // wave is ragged.
  const double rounds =
      p.causal ? std::max(1.0, blocks / multiprocessors) : ceilDiv(blocks, multiprocessors);
  Estimate e;
  e.blocks = blocks;
  e.waves = blocks / (multiprocessors * r.blocksPerMultiprocessor);
  e.bytes = minimumBytes(p);
  if (sharers > 1) // parts in f32, written and read
    e.bytes += 2.0 * double(p.batch) * double(p.heads) * double(p.queries) * double(p.headDim) * 4 *
               sharers;
  e[Bound::Tensor] = rounds * steps * tensor / clock;
  e[Bound::Issue] = rounds * steps * softmax / clock;
  e[Bound::SharedMemory] = rounds * steps * shared / clock;
  e[Bound::Latency] = rounds * steps * latency / clock;
  e[Bound::L2] = blocks * steps * tileBytes / (part.l2BytesPerCycle * c[Constant::L2Share] * clock);
  e[Bound::Memory] = e.bytes / (part.memoryBytesPerSecond() * c[Constant::MemoryShare]);
  e[Bound::Launch] = c[Constant::Launch] * 1e-6;
  const double inside = rounds * (steps * step + c[Constant::AttentionCycles]) / clock;
  double split = sharers > 1 ? c[Constant::SplitMicroseconds] * 1e-6 : 0;
  if (sharers > 1 && s.unit == MatrixUnit::MmaSync)
    split += e[Bound::Launch]; // of the kernel that merges parts
  e.seconds = together({inside, e[Bound::L2], e[Bound::Memory]}) + split + e[Bound::Launch];
  return e;
}
