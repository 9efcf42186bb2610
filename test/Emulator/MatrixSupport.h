// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of one matrix instruction, and elements as bits.

#ifndef MP_TEST_EMULATOR_MATRIXSUPPORT_H
#define MP_TEST_EMULATOR_MATRIXSUPPORT_H

#include "TestSupport.h"
#include "mp/Numerics/Format.h"

#include <array>

namespace mpcore::emulator::test {

/// The element type of an operand. `PaddedE2M1` lies in bits 2 to 5 of a byte.
enum class Kind {
  F16,
  BF16,
  TF32,
  E4M3,
  E5M2,
  E3M2,
  E2M3,
  PaddedE2M1,
  E2M1,
  S8,
  U8,
  S4,
  U4,
  B1,
  F64,
  F32,
  S32
};

unsigned bitsOf(Kind kind);
inline bool isFloat(Kind kind) { return kind <= Kind::E2M1; }
inline bool isUnsigned(Kind kind) {
  return kind == Kind::U8 || kind == Kind::U4 || kind == Kind::B1;
}
/// As PTX spells it.
const char *nameOf(Kind kind);
numerics::Format formatOf(Kind kind);

/// A value the kind holds exactly, as bits, and back.
uint64_t encode(Kind kind, double value);
double decode(Kind kind, uint64_t bits);
/// The nearest value of a float kind; NaN is the canonical one of 16 bits.
uint64_t roundTo(Kind kind, double value);
/// The same within the kind's width; of 32 bits the value as it is.
uint64_t nearestBits(Kind kind, float value);

/// Element i of a fragment register file (register-major, 32 lanes each).
uint64_t element(const std::vector<uint32_t> &words, Kind kind, unsigned lane, unsigned i);
void setElement(std::vector<uint32_t> &words, Kind kind, unsigned lane, unsigned i, uint64_t bits);

/// "{%a0, %a1}".
std::string registers(const char *prefix, unsigned count);

/// Loads a register file per input into %a, %b, %c, %e, %x, %y (as many registers as said), runs
/// `instruction`, stores %d. `wide`: %a to %d have 64 bits. In front stand the threads' own
/// declarations.
struct MatrixKernel {
  std::string instruction;
  std::array<unsigned, 6> inputs = {};
  unsigned results = 0;
  bool wide = false;
  unsigned threads = 32;
  std::string declarations;
  std::string text() const;
  /// Register files of 32-bit words per thread: word j of register i of thread t at (i * threads +
  /// t) * width + j.
  std::vector<uint32_t> run(const std::array<std::vector<uint32_t>, 6> &files,
                            const std::string &target, const std::string &chip) const;
  llvm::Expected<std::vector<uint32_t>> tryRun(const std::array<std::vector<uint32_t>, 6> &files,
                                               const std::string &target,
                                               const std::string &chip) const;
};

/// Accepted by ptxas? One answer for each instruction, or nothing where there is no ptxas.
std::optional<std::vector<bool>> acceptedByPtxas(const std::vector<std::string> &instructions,
                                                 const std::string &target);
/// The kernel those are tried in, with one instruction.
std::string formKernel(const std::string &instruction);

} // namespace mpcore::emulator::test

#endif
