// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts f32 patterns (all 2^32, or every Nth) to narrower formats with the
// array conversion, and compares each result, under both overflow rules, with
// an oracle: APFloat, LLVM's packaged runtime of convert-arith-to-apfloat, or
// the scalar definition. One line per format and rounding; exit status 1 if
// anything differs.

#include "Numerics/ApfloatOracle.h"
#include "mp/Numerics/ArrayCast.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <thread>
#include <vector>

using namespace mp::numerics;
using namespace mp::numerics::test;
namespace cl = llvm::cl;

namespace {

enum class Opinion { Apfloat, Runtime, Definition };

cl::OptionCategory category("Sweep");
cl::opt<Opinion> opinion(
    "oracle", cl::desc("what to compare with"), cl::init(Opinion::Apfloat),
    cl::cat(category),
    cl::values(clEnumValN(Opinion::Apfloat, "apfloat", "llvm::APFloat (rne, rna, rz, ru, rd)"),
               clEnumValN(Opinion::Runtime, "runtime",
                          "libmlir_apfloat_wrappers.so (rne)"),
               clEnumValN(Opinion::Definition, "definition",
                          "the scalar convert() (all roundings)")));
cl::list<std::string> formatNames("format", cl::CommaSeparated, cl::cat(category),
                                  cl::desc("target formats (default: all below 32 bits)"));
cl::list<std::string> roundingNames("rounding", cl::CommaSeparated, cl::cat(category),
                                    cl::desc("roundings (default: all the oracle has)"));
cl::opt<uint64_t> step("step", cl::init(1), cl::desc("take every Nth pattern"),
                       cl::cat(category));
cl::opt<unsigned> jobs("jobs", cl::init(0), cl::desc("threads; 0: one per processor"),
                       cl::cat(category));

using RuntimeConvert = uint64_t (*)(int32_t from, int32_t to, uint64_t bits);
RuntimeConvert runtimeConvert = nullptr;

/// One conversion to check.
struct Task {
  const FormatInfo &to;
  Rounding rounding;
};

Oracle runtimeAnswer(uint64_t bits, const FormatInfo &to) {
  const FormatInfo &from = info(Format::F32);
  Unpacked value = unpack(bits, Format::F32);
  bool finite = value.kind == ValueClass::Finite || value.kind == ValueClass::Zero;
  bool lacksZeroOrSign = !to.hasSign && (value.negative || value.kind == ValueClass::Zero);
  if (lacksZeroOrSign || (!to.hasNaN && !finite))
    return {false, false, 0};
  uint64_t answer = runtimeConvert(llvm::APFloatBase::SemanticsToEnum(*from.semantics),
                                   llvm::APFloatBase::SemanticsToEnum(*to.semantics), bits);
  return {true, isNaN(answer, to.format), answer};
}

Oracle answer(const Task &task, uint64_t bits, Overflow overflow, uint32_t draw) {
  const FormatInfo &from = info(Format::F32);
  switch (opinion) {
  case Opinion::Definition:
    return {true, false,
            convert(bits, Format::F32, task.to.format, task.rounding, overflow, draw)};
  case Opinion::Runtime:
    return runtimeAnswer(bits, task.to);
  case Opinion::Apfloat:
    return apfloatConvert(bits, from, task.to, *apfloatRounding(task.rounding));
  }
  return {};
}

class Sweep {
public:
  explicit Sweep(const Task &task) : task(task) {}

  /// True if nothing differs.
  bool run() {
    auto start = std::chrono::steady_clock::now();
    unsigned count = jobs ? unsigned(jobs) : std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::thread> others;
    for (unsigned i = 1; i < count; ++i)
      others.emplace_back([&] { work(); });
    work();
    for (std::thread &other : others)
      other.join();
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    llvm::outs() << "f32 to " << task.to.name << " " << toString(task.rounding) << ": "
                 << compared.load() << " results compared, " << skipped.load()
                 << " without an answer, " << wrong.load() << " different, "
                 << llvm::format("%.1f s\n", seconds);
    llvm::outs().flush();
    return wrong == 0;
  }

private:
  static constexpr uint64_t block = 1 << 14;

  void work() {
    const uint64_t total = ((uint64_t(1) << 32) + step - 1) / step;
    std::vector<uint32_t> patterns(block), draws(block);
    std::vector<uint32_t> results[2] = {std::vector<uint32_t>(block), std::vector<uint32_t>(block)};
    for (uint64_t first; (first = next.fetch_add(block)) < total;) {
      size_t count = size_t(std::min(block, total - first));
      for (size_t i = 0; i < count; ++i) {
        patterns[i] = uint32_t((first + i) * step);
        draws[i] = patterns[i] * 2654435761u ^ 0x9E3779B9u; // any mixing will do
      }
      for (Overflow overflow : {Overflow::IEEE, Overflow::Saturate})
        convertArray(patterns.data(), Format::F32, results[int(overflow)].data(), task.to.format,
                     count, task.rounding, overflow, draws.data());
      check(patterns, draws, results, count);
    }
  }

  void check(const std::vector<uint32_t> &patterns, const std::vector<uint32_t> &draws,
             const std::vector<uint32_t> (&results)[2], size_t count) {
    switch (storageBytes(task.to.format)) {
    case 1:
      return checkElements<uint8_t>(patterns, draws, results, count);
    case 2:
      return checkElements<uint16_t>(patterns, draws, results, count);
    default:
      return checkElements<uint32_t>(patterns, draws, results, count);
    }
  }

  template <typename Element>
  void checkElements(const std::vector<uint32_t> &patterns, const std::vector<uint32_t> &draws,
                     const std::vector<uint32_t> (&results)[2], size_t count) {
    const FormatInfo &from = info(Format::F32);
    const auto *ieeeResults = reinterpret_cast<const Element *>(results[0].data());
    const auto *limitedResults = reinterpret_cast<const Element *>(results[1].data());
    uint64_t seen = 0;
    for (size_t i = 0; i < count; ++i) {
      Oracle ieee = answer(task, patterns[i], Overflow::IEEE, draws[i]);
      Oracle limited = opinion == Opinion::Definition
                           ? answer(task, patterns[i], Overflow::Saturate, draws[i])
                           : saturated(ieee, patterns[i], from, task.to);
      if (!ieee.applies)
        continue;
      ++seen;
      compare(patterns[i], Overflow::IEEE, ieeeResults[i], ieee);
      compare(patterns[i], Overflow::Saturate, limitedResults[i], limited);
    }
    compared += 2 * seen;
    skipped += 2 * (count - seen);
  }

  void compare(uint32_t bits, Overflow overflow, uint64_t actual, const Oracle &expected) {
    if (expected.nan ? !isNaN(actual, task.to.format) : actual != expected.bits)
      complain(bits, overflow, actual, expected);
  }

  void complain(uint32_t bits, Overflow overflow, uint64_t actual, const Oracle &expected) {
    if (++wrong > 10)
      return;
    std::lock_guard<std::mutex> lock(printing);
    llvm::outs() << llvm::format("  0x%08x ", bits) << toString(overflow)
                 << llvm::format(": found 0x%llx, expected ", (unsigned long long)actual);
    if (expected.nan)
      llvm::outs() << "NaN\n";
    else
      llvm::outs() << llvm::format("0x%llx\n", (unsigned long long)expected.bits);
  }

  Task task;
  std::atomic<uint64_t> next = 0, compared = 0, skipped = 0, wrong = 0;
  std::mutex printing;
};

bool hasAnswer(Rounding rounding) {
  if (opinion == Opinion::Runtime)
    return rounding == Rounding::RNE;
  return opinion == Opinion::Definition || apfloatRounding(rounding);
}

/// The named ones, or all; false if a name is unknown.
bool select(std::vector<Format> &formats, std::vector<Rounding> &roundings) {
  for (const std::string &name : formatNames) {
    std::optional<Format> format = parseFormat(name);
    if (!format || info(*format).bits >= 32) {
      llvm::errs() << "--format=" << name << ": expected a format of less than 32 bits\n";
      return false;
    }
    formats.push_back(*format);
  }
  for (const std::string &name : roundingNames) {
    std::optional<Rounding> rounding = parseRounding(name);
    if (!rounding || !hasAnswer(*rounding)) {
      llvm::errs() << "--rounding=" << name << ": expected a rounding that the oracle has\n";
      return false;
    }
    roundings.push_back(*rounding);
  }
  if (formats.empty())
    for (Format format : allFormats())
      if (info(format).bits < 32)
        formats.push_back(format);
  if (roundings.empty())
    for (int i = 0; i <= int(Rounding::SRCompare); ++i)
      if (hasAnswer(Rounding(i)))
        roundings.push_back(Rounding(i));
  return true;
}

bool loadRuntime() {
  void *library = dlopen(MP_APFLOAT_RUNTIME, RTLD_NOW | RTLD_LOCAL);
  if (library)
    runtimeConvert = reinterpret_cast<RuntimeConvert>(dlsym(library, "_mlir_apfloat_convert"));
  if (!runtimeConvert)
    llvm::errs() << "--oracle=runtime: cannot load " MP_APFLOAT_RUNTIME ": " << dlerror() << "\n";
  return runtimeConvert;
}

} // namespace

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Sweeps f32 patterns through the array conversions\n");
  std::vector<Format> formats;
  std::vector<Rounding> roundings;
  if (step == 0 || !select(formats, roundings) || (opinion == Opinion::Runtime && !loadRuntime()))
    return 2;
  bool same = true;
  for (Rounding rounding : roundings)
    for (Format format : formats)
      same &= Sweep({info(format), rounding}).run();
  llvm::outs() << (same ? "Nothing differs.\n" : "Results differ.\n");
  return same ? 0 : 1;
}
