// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stands before each entry point of the emulated driver, and counts.

#include "InjectedFaults.h"

#include "mp/Emulator/Driver.h"
#include "llvm/ADT/STLExtras.h"

#include <string>

using namespace mpcore::emulator;

namespace {

struct Injection {
  mp_cu_driver driver{};     ///< what works
  std::string specification; ///< as it was given
  llvm::StringRef member;    ///< entry point that fails; empty: the specification is none
  int code = MP_CU_SUCCESS;
  bool loses = false; ///< every call fails from then on
  bool flips = false; ///< instead of failing
  uint64_t at = 0, seen = 0;
  unsigned bit = 22; ///< to be flipped
  bool lost = false;
} injection;

int report(int code) {
  return reportDriverError(
      code, llvm::createStringError("injected by MP_EMULATED_FAULT=" + injection.specification));
}

bool isNow(llvm::StringRef member) {
  return member == injection.member && ++injection.seen == injection.at;
}

/// The failure that comes before `member` is called, or success.
int failBefore(llvm::StringRef member) {
  if (member == "error_name" || member == "error_text")
    return MP_CU_SUCCESS;
  if (injection.member.empty())
    return reportDriverError(
        MP_CU_INVALID_VALUE,
        llvm::createStringError(
            "MP_EMULATED_FAULT=" + injection.specification +
            ": expected launch:N, memory:N, transfer:N, flip:N or flip:N,BIT, N "
            "from 1 on, BIT below 32"));
  if (injection.lost)
    return report(injection.code);
  if (injection.flips || !isNow(member))
    return MP_CU_SUCCESS;
  injection.lost = injection.loses;
  return report(injection.code);
}

#define MP_STAND_BEFORE(member, name, parameters, names)                                           \
  int before_##member parameters {                                                                 \
    if (int code = failBefore(#member))                                                            \
      return code;                                                                                 \
    return injection.driver.member names;                                                          \
  }
MP_CU_ENTRY_POINTS(MP_STAND_BEFORE)
#undef MP_STAND_BEFORE

int flippedDownload(void *to, mp_cu_address from, size_t bytes, mp_cu_stream *stream) {
  const int code = injection.driver.download(to, from, bytes, stream);
  if (code != MP_CU_SUCCESS || !isNow("download"))
    return code;
  const size_t byte = bytes / 8 * 4 + injection.bit / 8;
  if (byte < bytes)
    static_cast<unsigned char *>(to)[byte] ^= uint8_t(1u << injection.bit % 8);
  return code;
}

} // namespace

const mp_cu_driver &mpcore::emulator::withFault(const mp_cu_driver &driver,
                                                llvm::StringRef specification) {
  injection = Injection();
  injection.driver = driver;
  injection.specification = specification.str();
  auto [kind, numbers] = specification.split(':');
  auto [count, bit] = numbers.split(',');
  const bool isNamed = bit.empty() || (kind == "flip" && !bit.getAsInteger(10, injection.bit));
  if (isNamed && injection.bit < 32 && !count.getAsInteger(10, injection.at) && injection.at > 0) {
    if (kind == "launch") {
      injection.member = "launch";
      injection.code = MP_CU_LAUNCH_FAILED;
      injection.loses = true;
    } else if (kind == "memory") {
      injection.member = "alloc";
      injection.code = MP_CU_OUT_OF_MEMORY;
    } else if (kind == "transfer") {
      injection.member = "download";
      injection.code = MP_CU_INVALID_VALUE;
    } else if (kind == "flip") {
      injection.member = "download";
      injection.flips = true;
    }
  }
#define MP_MEMBER(member, name, parameters, names) before_##member,
  static mp_cu_driver table;
  table = {MP_CU_ENTRY_POINTS(MP_MEMBER)};
#undef MP_MEMBER
  if (injection.flips)
    table.download = flippedDownload;
  return table;
}
