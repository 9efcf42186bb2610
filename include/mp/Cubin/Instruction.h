// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine instructions of NVIDIA GPUs from sm_70 on (SASS), as far as counts of a kernel need them:
// opcode, kind, access width, shape of a matrix product, where a branch goes. The encoding is not
// documented; what is used here was learned from the instructions that ptxas 13.0 makes of PTX for
// sm_75 to sm_120 beside nvdisasm's text of them, and a test compares both again where nvdisasm is
// found.

#ifndef MP_CUBIN_INSTRUCTION_H
#define MP_CUBIN_INSTRUCTION_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace mpcore::cubin {

/// Instructions are of a kind by the unit or memory that they keep busy.
enum class Kind : uint8_t {
  Matrix,       ///< matrix products
  BulkLoad,     ///< TMA into shared memory, and prefetches
  BulkStore,    ///< TMA out of shared memory
  TensorMemory, ///< loads, stores and copies of tensor memory (sm_100)
  AsyncCopy,    ///< cp.async
  MatrixLoad,   ///< ldmatrix
  MatrixStore,  ///< stmatrix
  SharedLoad,
  SharedStore,
  SharedAtomic,
  GlobalLoad,
  GlobalStore,
  Spill, ///< loads and stores of local memory
  GlobalAtomic,
  Constant, ///< loads of constants
  Sync,     ///< barriers, waits, fences
  Branch,
  Nop,      ///< nothing, or guarded by a predicate that never holds
  Exchange, ///< shuffles, votes, reductions of a warp
  Special,  ///< MUFU
  Conversion,
  Float,
  Move,
  Integer,
  Other, ///< known by no name, or by one of no consequence
};
inline constexpr unsigned kKinds = 25;
/// "mma", "ldsm", ...: the opcode that is typical of the kind, in small letters.
llvm::StringRef toString(Kind kind);

/// The unit that multiplies matrices.
enum class ProductUnit : uint8_t { MmaSync, Wgmma, Tcgen05 };

/// A matrix product of one instruction.
struct Product {
  ProductUnit unit = ProductUnit::MmaSync;
  /// Elements; 0 for tcgen05, whose shape is in a run-time descriptor.
  unsigned m = 0, n = 0, k = 0;
  /// Products of f16 that the unit multiplies in the time of one of these: 2 for 8-bit operands,
  /// 1/2 for tf32, 1/16 for f64.
  double rate = 1;
  unsigned elementBits = 16; ///< of operands in shared memory
  bool aInRegisters = false; ///< of wgmma; always true for mma.sync
};

/// Control goes on in one of these ways.
enum class Flow : uint8_t { Next, Branch, IndirectBranch, Exit, Call };

struct Instruction {
  uint32_t address = 0;   ///< bytes from the beginning of the function
  llvm::StringRef opcode; ///< first word of nvdisasm's name: "HMMA"; empty if unknown
  uint16_t code = 0;      ///< the encoded opcode, 12 bits; 0 if read from text
  Kind kind = Kind::Other;
  Flow flow = Flow::Next;
  bool guarded = false;           ///< a predicate decides whether it executes
  bool conditional = false;       ///< of a branch or exit: control may also go on behind it
  std::optional<uint32_t> target; ///< address that a branch goes to
  /// Bytes per lane that a load, store or copy moves; for matrix loads and stores 4 per matrix.
  unsigned bytes = 0;
  std::optional<Product> product;
  bool isRegisterMove = false; ///< an IMAD that only copies a register
  bool isUniform = false;      ///< runs once for the warp, on the uniform datapath
  /// True of barriers that wait for others and do not only arrive, of DEPBAR, and of SYNCS that
  /// tests a phase.
  bool waits = false;
  /// Scoreboards (bit mask) that must be clear first, and the one that the result clears (7: none).
  /// Only from encodings.
  uint8_t waitMask = 0, writeBarrier = 7;
};

/// An encoding of 16 bytes, `low` first, at `address`, for compute capability `sm` (75, 90, ...).
Instruction decode(uint64_t low, uint64_t high, uint32_t address, unsigned sm);

/// nvdisasm's text of one instruction without address, as "@!P0 LDG.E.128 R4, desc[UR4][R2.64]".
/// Labels of branches are not resolved. Nothing if the text is none.
std::optional<Instruction> parseInstruction(llvm::StringRef text, uint32_t address);

} // namespace mpcore::cubin

#endif // MP_CUBIN_INSTRUCTION_H
