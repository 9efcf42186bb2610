// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code alone tells these things about a kernel's speed: registers, spills, and what each
// iteration of its loops executes. Nothing is timed.

#ifndef MP_CUBIN_CUBINSTATISTICS_H
#define MP_CUBIN_CUBINSTATISTICS_H

#include "mp/Cubin/ControlFlow.h"

#include <array>
#include <map>

namespace llvm::json {
class Object;
} // namespace llvm::json

namespace mpcore::cubin {

/// Counts over warp instructions.
struct Tally {
  unsigned instructions = 0;
  std::array<unsigned, kKinds> byKind{};
  std::map<std::string, unsigned> opcodes;  ///< by nvdisasm's first word, or "0x123"
  std::map<std::string, unsigned> products; ///< "HMMA 16x8x16"
  std::map<std::string, unsigned> widths;   ///< accesses of a width: "LDG.128"
  std::set<ProductUnit> units;
  /// Multiply-adds of one warp (a quarter of wgmma's, which four warps execute together), and the
  /// same in the time of products of f16.
  double multiplyAdds = 0, f16MultiplyAdds = 0;
  /// Bytes of one warp: read from and written to shared memory by loads and stores; copied into it
  /// by cp.async; read from it by wgmma.
  double sharedLoaded = 0, sharedStored = 0, asyncCopied = 0, matrixOperands = 0;
  unsigned globalLoaded = 0, globalStored = 0; ///< bytes per lane
  unsigned waits = 0;
  /// Cycles of one of a multiprocessor's four parts: the unit for integers, comparisons and
  /// conversions takes 2 for a warp, that for multiply-adds 1, or 2 for integers.
  unsigned aluCycles = 0, fmaCycles = 0;
  unsigned uniform = 0; ///< arithmetic and moves on the uniform datapath

  unsigned operator[](Kind kind) const { return byKind[unsigned(kind)]; }
  void add(const Instruction &instruction);
  /// Multiply-adds in units of one mma.m16n8k16.
  double mma16816() const { return multiplyAdds / (16 * 8 * 16); }
  /// Instructions that are no matrix product, per mma.m16n8k16; 0 without products.
  double nonMatrixPerMma16816() const;
  /// Bytes read from shared memory for products, per mma.m16n8k16; 0 without products.
  double sharedBytesPerMma16816() const;
};

struct LoopStatistics {
  uint32_t begin = 0, end = 0; ///< addresses of its first instruction and behind its last
  unsigned depth = 1;
  Tally own; ///< the loop without loops inside it
  /// Instructions that each iteration with matrix products passes; each iteration of a loop without
  /// any.
  Tally hot;
  unsigned rare = 0; ///< instructions of the loop, with those inside it, that are not in `hot`
  bool hasProducts = false; ///< in it or in a loop inside it
};

struct FunctionStatistics {
  const Function *function = nullptr;
  unsigned sm = 0;
  Tally whole; ///< padding at the end left out
  std::vector<LoopStatistics> loops;
  /// Index of the innermost loop with most products; of equals the shortest. Nothing without one.
  std::optional<size_t> mainLoop;
  /// The loop that fills shared memory for other warps: no products, cp.async or TMA loads.
  std::optional<size_t> producerLoop;
  /// The most bytes per thread that are asked of global memory before the first of them is waited
  /// for, in program order. 0 if instructions were read from text, which does not tell.
  unsigned bytesInFlight = 0;
  unsigned unknown = 0; ///< instructions whose opcode has no name here

  unsigned spills() const { return whole[Kind::Spill]; }
  unsigned barriers() const; ///< BAR instructions
};

FunctionStatistics statisticsOf(const Function &function, unsigned sm);

/// All of it, with the same names throughout: "instructions", "mma", "ldsm", ...
llvm::json::Object toJSON(const FunctionStatistics &statistics);
llvm::json::Object toJSON(const Tally &tally);

} // namespace mpcore::cubin

#endif // MP_CUBIN_CUBINSTATISTICS_H
