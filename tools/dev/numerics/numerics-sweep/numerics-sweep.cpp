// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts f32 patterns (all 2^32, or every Nth) to narrower formats with the
// array conversion, and compares each result, under both overflow rules, with
// an oracle: APFloat, LLVM's packaged runtime of convert-arith-to-apfloat, or
// the scalar definition. One line per format and rounding; exit status 1 if
// anything differs.

#include "Record.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace mpcore::numerics;
using namespace mpcore::numerics::sweep;
namespace cl = llvm::cl;

namespace {

cl::OptionCategory category("Sweep");
cl::opt<Opinion> opinion(
    "oracle", cl::desc("what to compare with"), cl::init(Opinion::Apfloat), cl::cat(category),
    cl::values(clEnumValN(Opinion::Apfloat, "apfloat", "llvm::APFloat (rne, rna, rz, ru, rd)"),
               clEnumValN(Opinion::Runtime, "runtime", "libmlir_apfloat_wrappers.so (rne)"),
               clEnumValN(Opinion::Definition, "definition",
                          "the scalar convert() (all roundings)")));
cl::opt<Ask> ask(
    "ask", cl::desc("where to ask it"), cl::init(Ask::Each), cl::cat(category),
    cl::values(clEnumValN(Ask::Each, "each", "at each pattern"),
               clEnumValN(Ask::Ends, "ends",
                          "at both ends of each run of equal results (no stochastic rounding)")));
cl::list<std::string> formatNames("format", cl::CommaSeparated, cl::cat(category),
                                  cl::desc("target formats (default: all below 32 bits)"));
cl::list<std::string> roundingNames("rounding", cl::CommaSeparated, cl::cat(category),
                                    cl::desc("roundings (default: all the oracle has)"));
cl::opt<uint64_t> step("step", cl::init(1), cl::desc("take every Nth pattern"), cl::cat(category));
cl::opt<unsigned> jobs("jobs", cl::init(0), cl::desc("threads; 0: one per processor"),
                       cl::cat(category));
cl::opt<std::string>
    recordPath("record", cl::cat(category), cl::value_desc("FILE.md"),
               cl::desc("append a row for each sweep, and leave out those that have one"));

bool canAsk(const Reference &reference, Rounding rounding) {
  bool stochastic = rounding == Rounding::SR || rounding == Rounding::SRCompare;
  return reference.knows(rounding) && !(stochastic && ask == Ask::Ends);
}

/// The named ones, or all; false if a name is unknown.
bool select(const Reference &reference, std::vector<Format> &formats,
            std::vector<Rounding> &roundings) {
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
    if (!rounding || !canAsk(reference, *rounding)) {
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
      if (canAsk(reference, Rounding(i)))
        roundings.push_back(Rounding(i));
  return true;
}

/// False if anything differs.
bool report(const Task &task, const Counts &counts, double seconds) {
  llvm::outs() << "f32 to " << task.to.name << " " << toString(task.rounding) << ": "
               << counts.checked << " results compared";
  if (ask == Ask::Ends)
    llvm::outs() << " (" << counts.asked << " answers)";
  llvm::outs() << ", " << counts.skipped << " without an answer, " << counts.different
               << " different, " << llvm::format("%.1f s\n", seconds);
  llvm::outs().flush();
  return counts.different == 0;
}

} // namespace

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Sweeps f32 patterns through the array conversions\n");
  Reference reference(opinion);
  Record record(recordPath);
  std::vector<Format> formats;
  std::vector<Rounding> roundings;
  if (!recordPath.empty() && step != 1) {
    llvm::errs() << "--record: expected every pattern, found --step=" << step << "\n";
    return 2;
  }
  if (step == 0 || !select(reference, formats, roundings) || !reference.load())
    return 2;
  bool same = true;
  for (Rounding rounding : roundings)
    for (Format format : formats) {
      Task task{info(format), rounding};
      if (record.has(reference, task, ask))
        continue;
      auto start = std::chrono::steady_clock::now();
      Counts counts = Sweep(reference, task, {ask, step, jobs}).run();
      same &=
          report(task, counts,
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      if (!record.add(reference, task, ask, counts))
        return 2;
    }
  llvm::outs() << (same ? "Nothing differs.\n" : "Results differ.\n");
  return same ? 0 : 1;
}
