// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Sweep.h"

#include "mp/Numerics/ArrayCast.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <thread>

using namespace mpcore::numerics;
using namespace mpcore::numerics::sweep;
using mpcore::numerics::test::Oracle;

/// Patterns of a block. Neither the sign nor infinity falls inside one when every pattern is taken.
static constexpr uint64_t kBlock = 1 << 14;

struct Sweep::Buffers {
  std::vector<uint32_t> patterns = std::vector<uint32_t>(kBlock), draws = patterns;
  std::vector<uint32_t> ieee = patterns,
                        saturating = patterns; ///< of elements as wide as the format's
};

Counts Sweep::run() {
  unsigned count = options.jobs ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> others;
  for (unsigned i = 1; i < count; ++i)
    others.emplace_back([&] { work(); });
  work();
  for (std::thread &other : others)
    other.join();
  return {checked, asked, skipped, different};
}

void Sweep::work() {
  const uint64_t total = ((uint64_t(1) << 32) + options.step - 1) / options.step;
  Buffers buffers;
  for (uint64_t first; (first = next.fetch_add(kBlock)) < total;) {
    size_t count = size_t(std::min(kBlock, total - first));
    for (size_t i = 0; i < count; ++i) {
      buffers.patterns[i] = uint32_t((first + i) * options.step);
      buffers.draws[i] = buffers.patterns[i] * 2654435761u ^ 0x9E3779B9u; // any mixing will do
    }
    auto convertAll = [&](std::vector<uint32_t> &results, Overflow overflow) {
      convertArray(buffers.patterns.data(), Format::F32, results.data(), task.to.format, count,
                   task.rounding, overflow, buffers.draws.data());
    };
    convertAll(buffers.ieee, Overflow::IEEE);
    convertAll(buffers.saturating, Overflow::Saturate);
    switch (storageBytes(task.to.format)) {
    case 1: check<uint8_t>(buffers, count); break;
    case 2: check<uint16_t>(buffers, count); break;
    default: check<uint32_t>(buffers, count);
    }
  }
}

/// Negative, zero, finite or infinite, NaN: no run goes from one kind of pattern to another.
static unsigned kindOf(uint32_t bits) {
  uint32_t magnitude = bits & 0x7FFFFFFF;
  return (bits >> 31) | (magnitude == 0) << 1 | (magnitude > 0x7F800000) << 2;
}

template <typename Element> void Sweep::check(const Buffers &buffers, size_t count) {
  const auto *ieee = reinterpret_cast<const Element *>(buffers.ieee.data());
  const auto *saturating = reinterpret_cast<const Element *>(buffers.saturating.data());
  Counts counts;
  auto lastOfRun = [&](size_t first) {
    size_t last = first;
    while (last + 1 < count && ieee[last + 1] == ieee[first] &&
           saturating[last + 1] == saturating[first] &&
           kindOf(buffers.patterns[last + 1]) == kindOf(buffers.patterns[first]))
      ++last;
    return last;
  };
  auto reference = [&](size_t i) {
    uint32_t bits = buffers.patterns[i];
    Reference::Answers answers = this->reference.ask(task, bits, buffers.draws[i]);
    if (!answers.ieee.applies)
      return false;
    compare(bits, Overflow::IEEE, ieee[i], answers.ieee);
    compare(bits, Overflow::Saturate, saturating[i], answers.saturating);
    counts.asked += 2;
    return true;
  };
  for (size_t first = 0; first < count;) {
    size_t last = options.ask == Ask::Ends ? lastOfRun(first) : first;
    bool answered = reference(first) && (last == first || reference(last));
    (answered ? counts.checked : counts.skipped) += 2 * (last - first + 1);
    first = last + 1;
  }
  checked += counts.checked;
  asked += counts.asked;
  skipped += counts.skipped;
}

void Sweep::compare(uint32_t bits, Overflow overflow, uint64_t actual, const Oracle &expected) {
  if (expected.nan ? isNaN(actual, task.to.format) : actual == expected.bits)
    return;
  if (++different > 10)
    return;
  std::lock_guard<std::mutex> lock(printing);
  llvm::outs() << llvm::format("  0x%08x ", bits) << toString(overflow)
               << llvm::format(": found 0x%llx, expected ", (unsigned long long)actual);
  if (expected.nan)
    llvm::outs() << "NaN\n";
  else
    llvm::outs() << llvm::format("0x%llx\n", (unsigned long long)expected.bits);
}
