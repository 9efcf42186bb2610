// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The time of a kernel that exists, from counts of what it executed.

#include "Combine.h"

using namespace mpcore::performance;
using namespace mpcore::performance::detail;

/// Registers that a kernel is taken to have where nobody counted them.
static constexpr unsigned kUnknownRegisters = 64;

Estimate mpcore::performance::estimate(const KernelCounts &k, const Part &part) {
  const Calibration &c =
      k.products.empty() ? calibrationFor(part, MatrixUnit::Fma, "")
                         : calibrationFor(part, k.products.front().unit, k.products.front().format);
  const double multiprocessors = part.multiprocessors(), clock = part.cyclesPerSecond();
  const unsigned registers = k.registers ? k.registers : kUnknownRegisters;
  const double resident =
      std::max(1u, residentBlocks(*part.specific, k.threads, registers, k.sharedBytes));
  // The multiprocessor with most blocks decides: `busiest` times what it would do of an even share.
  const double blocks = std::max(1.0, k.blocks);
  const double busiest = std::ceil(blocks / multiprocessors) * multiprocessors / blocks;
  const double perSecond = multiprocessors * clock / busiest;

  Estimate e;
  e.blocks = k.blocks;
  e.waves = blocks / (multiprocessors * resident);
  e.occupancy = std::min(1.0, resident * std::ceil(k.threads / 32.0) * 32 /
                                  part.limits().threadsPerMultiprocessor);
  double tensor = 0;
  for (const KernelCounts::Products &p : k.products)
    if (const double rate = part.multiplyAddsPerCycle(p.unit, p.format))
      tensor += p.multiplyAdds / (rate * c[Constant::TensorShare]);
  e[Bound::Tensor] = tensor / perSecond;
  e[Bound::Issue] = k.warpInstructions / kIssuePerCycle / perSecond;
  e[Bound::SharedMemory] = k.sharedWavefronts / perSecond;
  const double moved = k.sectors * 32;
  e[Bound::L2] = std::max(moved / (part.l2BytesPerCycle * c[Constant::L2Share] * clock),
                          moved / kL2PortBytesPerCycle / perSecond);
  e.bytes = k.uniqueBytes ? std::min(k.uniqueBytes, moved) : moved;
  e.minimumBytes = e.bytes;
  e[Bound::Memory] = e.bytes / (part.memoryBytesPerSecond() * c[Constant::MemoryShare]);
  e[Bound::Launch] = c[Constant::Launch] * 1e-6;
  e.seconds = together({e[Bound::Tensor], e[Bound::Issue], e[Bound::SharedMemory], e[Bound::L2],
                        e[Bound::Memory]}) +
              e[Bound::Launch];
  e.bound = bindingOf(e);
  e.evidence = c.evidence;
  return e;
}
