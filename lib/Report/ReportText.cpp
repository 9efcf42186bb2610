// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two forms of a report: a table for people, JSON for programs.

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
  if (sum.modelledError) {
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

void Report::printTable(raw_ostream &os) const {
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

  printPlacements(placements, os);
  printCertificates(os);

  printScaling(os);
  // Rows: class by the formats ops compute in.
  std::map<OpClass, llvm::MapVector<StringRef, int64_t>> byClass;
  for (const OpRow &row : ops)
    if (!row.compute.empty())
      ++byClass[row.opClass][row.compute];
  for (auto &[opClass, formats] : byClass) {
    os << "  " << stringifyOpClass(opClass) << "  "
       << llvm::left_justify(describeClass(opClass), 36);
    llvm::interleaveComma(formats, os,
                          [&](auto &entry) { os << entry.second << " " << entry.first; });
    os << "\n";
  }
  llvm::MapVector<StringRef, int64_t> kinds;
  for (const IdiomRow &row : idioms)
    ++kinds[row.kind];
  if (!kinds.empty()) {
    os << "  recognised: ";
    llvm::interleaveComma(kinds, os,
                          [&](auto &entry) { os << entry.second << " " << entry.first; });
    os << "\n";
  }
  printEvidence(os);
  // Contractions left wide, with the reason: nothing falls back silently.
  llvm::MapVector<StringRef, int64_t> wide;
  llvm::MapVector<StringRef, int64_t> splits;
  int64_t promoted = 0;
  for (const OpRow &row : ops) {
    promoted += row.promoted;
    if (row.split)
      ++splits[row.compute];
    else if (row.opClass == OpClass::TensorCore && !row.narrowed && !row.promoted && !row.scaled)
      ++wide[row.reason];
  }
  for (auto &[scheme, count] : splits)
    os << "  " << count << " contraction" << (count == 1 ? "" : "s")
       << " rewritten as split products: " << scheme << "\n";
  if (promoted > 0)
    os << "  " << promoted << " op" << (promoted == 1 ? "" : "s")
       << " narrow already, widened to f32 inside (promotion)\n";
  for (auto &[reason, count] : wide)
    os << "  " << count << " contraction" << (count == 1 ? "" : "s") << " left as found: " << reason
       << "\n";
  printRewrites(os);
  if (!saturated.empty()) {
    int64_t elements = 0;
    for (const SaturatedRow &row : saturated)
      elements += row.elements;
    os << "  " << elements << " element" << (elements == 1 ? "" : "s") << " of " << saturated.size()
       << " constant" << (saturated.size() == 1 ? "" : "s")
       << " clamped to the largest of the format (saturate-constants)\n";
  }
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
  for (const std::string &function : unassigned)
    os << "  @" << function << ": nothing to decide\n";
}

static llvm::json::Array placementsToJSON(ArrayRef<Placement> placements) {
  llvm::json::Array rows;
  for (const Placement &placement : placements) {
    llvm::json::Object costs, casts, castBytes;
    for (const PaintedPlacement &painted : placement.baselines) {
      costs[painted.name] = painted.cost;
      casts[painted.name] = painted.casts;
      castBytes[painted.name] = painted.castBytes;
    }
    llvm::json::Value error = placement.modelledError ? llvm::json::Value(*placement.modelledError)
                                                      : llvm::json::Value(nullptr);
    rows.push_back(llvm::json::Object{{"function", placement.function},
                                      {"part", placement.part},
                                      {"objective", placement.objective},
                                      {"unit", placement.objective == "memory" ? "B" : "ps"},
                                      {"calls", placement.calls},
                                      {"before", placement.before},
                                      {"after", placement.after},
                                      {"casts", placement.casts},
                                      {"cast_bytes", placement.castBytes},
                                      {"modelled_error", error},
                                      {"max_rel_error", placement.maxRelError},
                                      {"lower_bound", placement.lowerBound},
                                      {"proven_optimal", placement.provenOptimal},
                                      {"method", placement.method},
                                      {"painted", std::move(costs)},
                                      {"painted_casts", std::move(casts)},
                                      {"painted_cast_bytes", std::move(castBytes)},
                                      {"assumed_sizes", placement.assumedSizes},
                                      {"assumed_trips", placement.assumedTrips}});
  }
  return rows;
}

llvm::json::Object Report::totalsToJSON() const {
  int64_t narrowed = 0, contractions = 0, castBytes = 0, argumentBytes = 0;
  llvm::json::Object byLayer;
  std::map<std::string, int64_t> layers;
  for (const OpRow &row : ops) {
    contractions += row.opClass == OpClass::TensorCore;
    narrowed += row.narrowed;
    ++layers[row.by];
  }
  for (const auto &[layer, count] : layers)
    byLayer[layer] = count;
  for (const CastRow &row : casts)
    (row.ofArgument ? argumentBytes : castBytes) += row.bytes;
  return llvm::json::Object{{"ops", int64_t(ops.size())},
                            {"contractions", contractions},
                            {"narrowed", narrowed},
                            {"by", std::move(byLayer)},
                            {"casts", int64_t(casts.size())},
                            {"cast_bytes", castBytes + argumentBytes},
                            {"cast_bytes_of_arguments", argumentBytes},
                            {"bytes_before", bytesBefore},
                            {"bytes_after", bytesAfter}};
}

llvm::json::Value Report::toJSON() const {
  llvm::json::Array functionRows, opRows, castRows, idiomRows;
  for (const FunctionRow &row : functions) {
    llvm::json::Object object{{"name", row.name},
                              {"hash", row.hash},
                              {"ops", row.ops},
                              {"keeps_signature", row.keeps},
                              {"arguments", llvm::json::Array(row.arguments)}};
    if (!row.copyOf.empty()) {
      llvm::json::Array calls;
      for (const auto &[caller, number] : row.calls)
        calls.push_back(llvm::json::Object{{"function", caller}, {"call", number}});
      object["copy_of"] = row.copyOf;
      object["calls"] = std::move(calls);
    }
    if (!row.state.empty()) {
      llvm::json::Array state;
      for (const StateRow &s : row.state)
        state.push_back(llvm::json::Object{
            {"argument", s.argument}, {"result", s.result}, {"role", s.role}, {"type", s.type}});
      object["state"] = std::move(state);
    }
    functionRows.push_back(std::move(object));
  }
  for (const OpRow &row : ops) {
    llvm::json::Object object{{"function", row.function},
                              {"ordinal", row.ordinal},
                              {"op", row.op},
                              {"body", row.body},
                              {"name", llvm::json::fixUTF8(row.name)},
                              {"location", llvm::json::fixUTF8(row.location)},
                              {"class", stringifyOpClass(row.opClass).str()},
                              {"type", row.type},
                              {"compute", row.compute},
                              {"acc", row.acc},
                              {"in", llvm::json::Array(row.in)},
                              {"out", llvm::json::Array(row.out)},
                              {"reads", llvm::json::Array(row.reads)},
                              {"by", row.by},
                              {"reason", llvm::json::fixUTF8(row.reason)},
                              {"narrowed", row.narrowed},
                              {"words", row.split},
                              {"promoted", row.promoted},
                              {"bytes_before", row.bytesBefore},
                              {"bytes_after", row.bytesAfter}};
    if (!row.evidence.empty())
      object["evidence"] = row.evidence;
    if (!row.magnitudes.empty())
      object["magnitudes"] = llvm::json::Array(row.magnitudes);
    if (llvm::json::Array suggestions = suggestionsToJSON(row); !suggestions.empty())
      object["suggestions"] = std::move(suggestions);
    if (row.error)
      object["error"] = llvm::json::Object{{"max_abs", row.error->maxAbs},
                                           {"relative_norm", row.error->relativeNorm}};
    opRows.push_back(std::move(object));
  }
  llvm::json::Array saturatedRows;
  for (const SaturatedRow &row : saturated)
    saturatedRows.push_back(llvm::json::Object{{"function", row.function},
                                               {"location", llvm::json::fixUTF8(row.location)},
                                               {"type", row.type},
                                               {"elements", row.elements}});
  for (const CastRow &row : casts)
    castRows.push_back(llvm::json::Object{{"function", row.function},
                                          {"location", llvm::json::fixUTF8(row.location)},
                                          {"tensor", llvm::json::fixUTF8(row.tensor)},
                                          {"type", row.type},
                                          {"from", row.from},
                                          {"to", row.to},
                                          {"bytes", row.bytes},
                                          {"users", row.users},
                                          {"of_argument", row.ofArgument}});
  for (const IdiomRow &row : idioms)
    idiomRows.push_back(llvm::json::Object{{"function", row.function},
                                           {"kind", row.kind},
                                           {"location", llvm::json::fixUTF8(row.location)},
                                           {"members", row.members}});
  return llvm::json::Object{{"mp_report", kReportVersion},
                            {"placement", placementsToJSON(placements)},
                            {"format", format},
                            {"target", target},
                            {"assumed_dim", assumedDim},
                            {"totals", totalsToJSON()},
                            {"functions", std::move(functionRows)},
                            {"ops", std::move(opRows)},
                            {"casts", std::move(castRows)},
                            {"saturated_constants", std::move(saturatedRows)},
                            {"rewrites", rewritesToJSON()},
                            {"scaled", scalingToJSON()},
                            {"certificates", certificatesToJSON()},
                            {"idioms", std::move(idiomRows)}};
}
