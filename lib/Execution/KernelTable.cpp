// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports what kernels did on the emulator, for people and for programs.

#include "mp/Execution/DeviceProgram.h"
#include "mp/Execution/KernelEstimates.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mpcore::emulator;

static uint64_t matrixProducts(const LaunchStats &stats) {
  uint64_t count = 0;
  for (const auto &[opcode, executed] : stats.opcodes)
    if (isMatrixProduct(opcode))
      count += executed;
  return count;
}

static void printLine(llvm::raw_ostream &os, StringRef name, uint64_t launches,
                      const LaunchStats &stats) {
  os << llvm::formatv("{0,-32} {1,8} {2,10} {3,13} {4,10} {5,13} {6,11} {7,10} {8,8:f2}\n", name,
                      launches, stats.blocks, stats.warpInstructions, matrixProducts(stats),
                      stats.globalSectors, stats.sharedWavefronts, stats.bankConflicts,
                      stats.seconds);
}

void mlir::mp::printKernels(llvm::raw_ostream &os, ArrayRef<KernelCounts> kernels) {
  os << llvm::formatv("{0,-32} {1,8} {2,10} {3,13} {4,10} {5,13} {6,11} {7,10} {8,8}\n", "kernel",
                      "launches", "blocks", "instructions", "mma", "sectors", "wavefronts",
                      "conflicts", "emulated");
  LaunchStats all;
  uint64_t launches = 0;
  for (const KernelCounts &kernel : kernels) {
    printLine(os, kernel.name, kernel.launches, kernel.stats);
    all.add(kernel.stats);
    launches += kernel.launches;
  }
  printLine(os, "all", launches, all);
}

llvm::json::Array mlir::mp::kernelsToJSON(ArrayRef<KernelCounts> kernels) {
  llvm::json::Array list;
  for (const KernelCounts &kernel : kernels) {
    const LaunchStats &stats = kernel.stats;
    llvm::json::Object opcodes;
    for (const auto &[opcode, count] : stats.opcodes)
      opcodes[opcode] = count;
    list.push_back(llvm::json::Object{{"name", kernel.name},
                                      {"launches", kernel.launches},
                                      {"blocks", stats.blocks},
                                      {"warp_instructions", stats.warpInstructions},
                                      {"lane_instructions", stats.laneInstructions},
                                      {"matrix_products", matrixProducts(stats)},
                                      {"global_requests", stats.globalRequests},
                                      {"global_sectors", stats.globalSectors},
                                      {"global_bytes", stats.globalBytes},
                                      {"shared_bytes_per_block", stats.sharedBytes},
                                      {"shared_requests", stats.sharedRequests},
                                      {"shared_wavefronts", stats.sharedWavefronts},
                                      {"bank_conflicts", stats.bankConflicts},
                                      {"barriers", stats.barriers},
                                      {"emulated_seconds", stats.seconds},
                                      {"opcodes", std::move(opcodes)}});
  }
  return list;
}

void mlir::mp::printBuffers(llvm::raw_ostream &os, const BufferSummary &plan, int64_t peakBytes) {
  os << llvm::formatv(
      "device memory: {0} buffers in {1} bytes (at least {2}), {3} separate; peak {4} bytes with "
      "arguments, results and constants\n",
      plan.buffers, plan.bytes, plan.liveBytes, plan.separate, peakBytes);
}
