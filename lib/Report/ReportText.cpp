// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A report as a table, for people.

#include "mp/Report/Report.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::mp;

/// All functions as one line: before, after, and what painting would have given.
static void printPlacements(ArrayRef<Placement> placements, raw_ostream &os) {
  if (placements.empty())
    return;
  Placement sum = sumPlacements(placements);
  auto amount = [&](int64_t value) { return formatAmount(value, sum.objective); };
  os << "  " << sum.objective << " on " << sum.part << ", modelled: " << amount(sum.before)
     << " -> " << amount(sum.after) << " (";
  if (sum.provenOptimal)
    os << "proven optimal";
  else
    os << "optimum at least " << amount(sum.lowerBound) << ", gap "
       << llvm::format("%.2g", 100.0 * (sum.after - sum.lowerBound) / sum.after) << " %";
  os << "); painted as ";
  llvm::interleaveComma(sum.baselines, os,
                        [&](auto &painted) { os << painted.name << " " << amount(painted.cost); });
  if (sum.assumedSizes || sum.assumedTrips)
    os << "; " << (sum.assumedSizes ? "sizes" : "")
       << (sum.assumedSizes && sum.assumedTrips ? " and " : "")
       << (sum.assumedTrips ? "trip counts" : "") << " assumed";
  os << "\n";
  if (sum.hasUnmodelled) {
    os << "  error of the results in norm: there is no model of integer codes\n";
  } else if (sum.modelledError) {
    os << "  error of the results in norm, estimated: " << llvm::format("%.2g", *sum.modelledError);
    if (sum.maxRelError > 0)
      os << llvm::format(" (allowed: %.2g)", sum.maxRelError);
    os << "\n";
  }
  if (sum.after > sum.before)
    os << "  the model expects no gain: casts cost more than they save (never-slower=true leaves "
          "such contractions in f32)\n";
}

static StringRef describeClass(OpClass opClass) {
  switch (opClass) {
  case OpClass::TensorCore: return "contractions";
  case OpClass::Follow: return "sums and bounded functions";
  case OpClass::ExactCommute: return "moves and selections";
  case OpClass::Discontinuous: return "comparisons and steps";
  case OpClass::Accumulate: return "reductions";
  case OpClass::KeepWide: return "softmax, norms, powers";
  case OpClass::RangeConditional: return "products, quotients, exponentials";
  case OpClass::Barrier: return "others";
  }
  llvm_unreachable("unknown class");
}

/// Returns what the ranges of narrow contractions rest on, the strongest first.
void Report::printEvidence(raw_ostream &os) const {
  std::map<unsigned, int64_t> counts;
  auto unchecked = static_cast<unsigned>(Evidence::None);
  for (const OpRow &row : ops)
    if (!row.evidence.empty()) {
      std::optional<Evidence> evidence = symbolizeEvidence(row.evidence);
      ++counts[evidence ? static_cast<unsigned>(*evidence) : unchecked];
    }
  if (counts.empty())
    return;
  os << "  ranges of narrow contractions: ";
  llvm::interleaveComma(counts, os, [&](auto entry) {
    os << entry.second << " "
       << (entry.first == unchecked ? "unchecked"
                                    : stringifyEvidence(static_cast<Evidence>(entry.first)));
  });
  os << "\n";
}

/// The first line: how many contractions became narrow, by how many casts, for how many bytes.
void Report::printTotals(raw_ostream &os) const {
  int64_t narrowed = 0, already = 0, contractions = 0, onArguments = 0;
  llvm::SmallSetVector<StringRef, 2> computes; // of narrowed contractions
  for (const OpRow &row : ops) {
    if (row.opClass == OpClass::TensorCore && !row.narrowed && !row.split && !row.scaled &&
        row.compute != "f32" && row.compute != "f64")
      ++already;
    else
      contractions += row.opClass == OpClass::TensorCore;
    narrowed += row.narrowed;
    if (row.narrowed)
      computes.insert(row.compute);
  }
  if (computes.empty())
    computes.insert(format);
  for (const CastRow &row : casts)
    onArguments += row.ofArgument;

  os << "mp: " << ops.size() << " ops: ";
  if (contractions > 0 || (already == 0 && scaled.empty()))
    os << narrowed << " of " << contractions << " contractions " << llvm::join(computes, " or ")
       << " with f32 accumulation; ";
  if (already > 0)
    os << already << (already == 1 ? " contraction" : " contractions") << " narrow already; ";
  os << casts.size() << " casts (" << onArguments << " of arguments); " << formatBytes(bytesBefore)
     << " -> " << formatBytes(bytesAfter) << " read and written (modelled, casts fused)\n";
}

using Counts = llvm::MapVector<StringRef, int64_t>;

static void printCounts(const Counts &counts, raw_ostream &os) {
  llvm::interleaveComma(counts, os, [&](auto &entry) { os << entry.second << " " << entry.first; });
  os << "\n";
}

static StringRef pluralOf(int64_t count) { return count == 1 ? "" : "s"; }

/// A row per class, by the formats its ops compute in.
static void printClasses(ArrayRef<OpRow> ops, raw_ostream &os) {
  std::map<OpClass, Counts> byClass;
  for (const OpRow &row : ops)
    if (!row.compute.empty())
      ++byClass[row.opClass][row.compute];
  for (auto &[opClass, formats] : byClass) {
    os << "  " << stringifyOpClass(opClass) << "  "
       << llvm::left_justify(describeClass(opClass), 36);
    printCounts(formats, os);
  }
}

static void printIdioms(ArrayRef<IdiomRow> idioms, raw_ostream &os) {
  Counts kinds;
  for (const IdiomRow &row : idioms)
    ++kinds[row.kind];
  if (kinds.empty())
    return;
  os << "  recognised: ";
  printCounts(kinds, os);
}

/// Contractions that were split, and those left wide with the reason: nothing falls back silently.
static void printExceptions(ArrayRef<OpRow> ops, raw_ostream &os) {
  Counts wide, splits;
  int64_t promoted = 0;
  for (const OpRow &row : ops) {
    promoted += row.promoted;
    if (row.split)
      ++splits[row.compute];
    else if (row.opClass == OpClass::TensorCore && !row.narrowed && !row.promoted && !row.scaled)
      ++wide[row.reason];
  }
  for (auto &[scheme, count] : splits)
    os << "  " << count << " contraction" << pluralOf(count)
       << " rewritten as split products: " << scheme << "\n";
  if (promoted > 0)
    os << "  " << promoted << " op" << pluralOf(promoted)
       << " narrow already, widened to f32 inside (promotion)\n";
  for (auto &[reason, count] : wide)
    os << "  " << count << " contraction" << pluralOf(count) << " left as found: " << reason
       << "\n";
}

/// Counts what a frontend widened by itself, as torch-mlir does variances: it costs time, and there
/// is a pass against it.
static void printDoubles(ArrayRef<OpRow> ops, raw_ostream &os) {
  int64_t doubles = llvm::count_if(ops, [](const OpRow &row) {
    return row.compute == "f64" && row.opClass != OpClass::ExactCommute &&
           row.opClass != OpClass::Barrier;
  });
  bool widens = llvm::any_of(ops, [](const OpRow &row) {
    return StringRef(row.type).contains("f64") && llvm::is_contained(row.in, "f32");
  });
  if (widens && doubles > 0)
    os << "  " << doubles << " op" << pluralOf(doubles)
       << " compute in f64 what was widened from f32; mp-narrow-doubles computes it in f32\n";
}

static void printSaturated(ArrayRef<SaturatedRow> saturated, raw_ostream &os) {
  if (saturated.empty())
    return;
  int64_t elements = 0;
  for (const SaturatedRow &row : saturated)
    elements += row.elements;
  os << "  " << elements << " element" << pluralOf(elements) << " of " << saturated.size()
     << " constant" << pluralOf(saturated.size())
     << " clamped to the largest of the format (saturate-constants)\n";
}

/// Copies, then signatures that change or stay, then functions without a decision.
static void printFunctions(ArrayRef<FunctionRow> functions, ArrayRef<std::string> unassigned,
                           raw_ostream &os) {
  for (const FunctionRow &function : functions)
    if (!function.copyOf.empty())
      os << "  @" << function.name << ": a copy of @" << function.copyOf << ", for "
         << function.calls.size() << " of its calls\n";
  for (const FunctionRow &function : functions)
    if (function.isPrivate && function.changedArguments)
      os << "  @" << function.name << ": " << function.changedArguments
         << " arguments change their format, and those of its calls\n";
    else if (!function.keeps.empty())
      os << "  @" << function.name << " keeps its signature: " << function.keeps << "\n";
    else if (function.changedArguments)
      os << "  @" << function.name << ": " << function.changedArguments
         << " arguments change their format, " << formatBytes(function.changedBytesBefore) << " -> "
         << formatBytes(function.changedBytesAfter) << ": call @" << function.name
         << "_convert_params once\n";
  for (const FunctionRow &function : functions)
    if (!function.results.empty())
      os << "  @" << function.name << ": results are stored in "
         << llvm::join(function.results, ", ") << "\n";
  for (const std::string &function : unassigned)
    os << "  @" << function << ": nothing to decide\n";
}

void Report::printTable(raw_ostream &os) const {
  printTotals(os);
  printPlacements(placements, os);
  printCertificates(os);
  printScaling(os);
  printClasses(ops, os);
  printIdioms(idioms, os);
  printEvidence(os);
  printExceptions(ops, os);
  printDoubles(ops, os);
  printRewrites(os);
  printSaturated(saturated, os);
  printFunctions(functions, unassigned, os);
}
