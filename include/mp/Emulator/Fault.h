// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Describes what a kernel did wrong, and where.

#ifndef MP_EMULATOR_FAULT_H
#define MP_EMULATOR_FAULT_H

#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <string>

namespace mpcore::emulator {

enum class FaultKind : uint8_t {
  OutOfBounds,   // no allocation holds every byte of the access
  Misaligned,    // the address is no multiple of the access size
  Uninitialized, // a byte that nobody wrote is read
  InFlight,      // an asynchronous copy or wgmma was not waited for
  Race,          // two threads touch shared memory without an order between them
  Deadlock,      // no thread can go on
  Divergence,    // a warp-wide instruction met by a part of the warp
  Trap,          // trap or a failed assertion
  Limit,         // the instruction limit of the launch is spent
  Misuse,        // an operand value the instruction does not allow
  WrongValue,    // not what was expected (LaunchOptions::watch)
};

llvm::StringRef faultName(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::Trap;
  std::string kernel;
  std::string file;
  uint32_t line = 0;
  std::string instruction; // text of the PTX statement
  std::array<uint32_t, 3> block{};
  std::array<uint32_t, 3> thread{}; // the first offending thread
  uint32_t warp = 0, lane = 0;
  std::string space; // "global", "shared", ... or empty
  uint64_t address = 0;
  std::string message;
};

class FaultError : public llvm::ErrorInfo<FaultError> {
public:
  static char ID;
  explicit FaultError(Fault fault) : fault(std::move(fault)) {}
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;
  const Fault &get() const { return fault; }

private:
  Fault fault;
};

} // namespace mpcore::emulator

#endif
