// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what Linux says of memory: /proc/meminfo, the control group, and the limits of the process.

#include "mp/Support/Memory.h"
#include "mp/Support/ErrorCode.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <sys/resource.h>
#include <unistd.h>

using namespace llvm;
using namespace mpcore::support;

static std::atomic<uint64_t> limit{0};

void mpcore::support::setMemoryLimit(uint64_t bytes) { limit = bytes; }
uint64_t mpcore::support::memoryLimit() { return limit; }

/// The content of a small file of the system; empty if it is not there.
static std::string systemText(StringRef path) {
  auto buffer = MemoryBuffer::getFileAsStream(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

static std::optional<uint64_t> number(StringRef text) {
  uint64_t value;
  if (text.trim().take_while(isDigit).getAsInteger(10, value))
    return std::nullopt;
  return value;
}

uint64_t mpcore::support::residentMemory() {
  std::string text = systemText("/proc/self/statm"); // pages: size, resident, ...
  return number(StringRef(text).split(' ').second).value_or(0) * sysconf(_SC_PAGESIZE);
}

/// Returns what the control group leaves, in either version of its interface.
static std::optional<uint64_t> leftInControlGroup() {
  const std::pair<StringRef, StringRef> files[] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
       "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
  for (auto [mostFile, usedFile] : files) {
    std::optional<uint64_t> most = number(systemText(mostFile));
    std::optional<uint64_t> used = number(systemText(usedFile));
    if (most && used)
      return *most > *used ? *most - *used : 0;
  }
  return std::nullopt;
}

uint64_t mpcore::support::availableMemory() {
  uint64_t available = ~uint64_t(0);
  std::string meminfo = systemText("/proc/meminfo");
  if (size_t at = meminfo.find("MemAvailable:"); at != std::string::npos)
    if (auto kibibytes = number(StringRef(meminfo).substr(at + 13)))
      available = *kibibytes * 1024;
  if (auto left = leftInControlGroup())
    available = std::min(available, *left);
  rlimit space;
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    std::string text = systemText("/proc/self/statm");
    uint64_t used = number(text).value_or(0) * sysconf(_SC_PAGESIZE);
    available = std::min<uint64_t>(available, space.rlim_cur > used ? space.rlim_cur - used : 0);
  }
  if (uint64_t most = memoryLimit()) {
    uint64_t used = residentMemory();
    available = std::min(available, most > used ? most - used : 0);
  }
  return available;
}

Error mpcore::support::checkMemory(uint64_t bytes, const Twine &what) {
  if (bytes < (uint64_t(1) << 20)) // asking costs more than it
    return Error::success();
  uint64_t available = availableMemory();
  if (bytes <= available)
    return Error::success();
  return error(ErrorCode::TooLarge, what + " takes " + formatBytes(bytes) + ", but only " +
                                        formatBytes(available) + " of memory are free" +
                                        (memoryLimit() ? " (--max-memory)" : ""));
}

std::optional<uint64_t> mpcore::support::parseBytes(StringRef text) {
  unsigned shift = 0;
  for (auto [unit, power] : {std::pair("K", 10), {"M", 20}, {"G", 30}, {"T", 40}})
    if (text.consume_back_insensitive(unit)) {
      shift = power;
      break;
    }
  uint64_t number;
  if (text.getAsInteger(10, number) || number == 0 || number > (~uint64_t(0) >> shift))
    return std::nullopt;
  return number << shift;
}

std::string mpcore::support::formatBytes(uint64_t bytes) {
  const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  unsigned unit = 0;
  double amount = double(bytes);
  for (; amount >= 1024 && unit + 1 < std::size(units); ++unit)
    amount /= 1024;
  std::string text;
  raw_string_ostream(text) << format(unit ? "%.3g %s" : "%.0f %s", amount, units[unit]);
  return text;
}
