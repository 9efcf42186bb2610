// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A report as JSON, for programs (docs/reference/Report.md).

#include "mp/Report/Report.h"

using namespace mlir;
using namespace mlir::mp;

static llvm::json::Object toJSON(const Placement &placement) {
  llvm::json::Object costs, casts, castBytes;
  for (const PaintedPlacement &painted : placement.baselines) {
    costs[painted.name] = painted.cost;
    casts[painted.name] = painted.casts;
    castBytes[painted.name] = painted.castBytes;
  }
  llvm::json::Value error = placement.modelledError ? llvm::json::Value(*placement.modelledError)
                                                    : llvm::json::Value(nullptr);
  return llvm::json::Object{{"function", llvm::json::fixUTF8(placement.function)},
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
                            {"assumed_trips", placement.assumedTrips}};
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

static llvm::json::Object toJSON(const FunctionRow &row) {
  llvm::json::Object object{{"name", llvm::json::fixUTF8(row.name)},
                            {"hash", row.hash},
                            {"ops", row.ops},
                            {"keeps_signature", row.keeps},
                            {"arguments", llvm::json::Array(row.arguments)}};
  if (!row.results.empty())
    object["results"] = llvm::json::Array(row.results);
  if (!row.copyOf.empty()) {
    llvm::json::Array calls;
    for (const auto &[caller, number] : row.calls)
      calls.push_back(
          llvm::json::Object{{"function", llvm::json::fixUTF8(caller)}, {"call", number}});
    object["copy_of"] = llvm::json::fixUTF8(row.copyOf);
    object["calls"] = std::move(calls);
  }
  if (!row.state.empty()) {
    llvm::json::Array state;
    for (const StateRow &s : row.state)
      state.push_back(llvm::json::Object{
          {"argument", s.argument}, {"result", s.result}, {"role", s.role}, {"type", s.type}});
    object["state"] = std::move(state);
  }
  return object;
}

/// All but the suggestions, which look at other rows.
static llvm::json::Object toJSON(const OpRow &row) {
  llvm::json::Object object{{"function", llvm::json::fixUTF8(row.function)},
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
  if (row.error)
    object["error"] = llvm::json::Object{{"max_abs", row.error->maxAbs},
                                         {"relative_norm", row.error->relativeNorm}};
  return object;
}

static llvm::json::Object toJSON(const SaturatedRow &row) {
  return llvm::json::Object{{"function", llvm::json::fixUTF8(row.function)},
                            {"location", llvm::json::fixUTF8(row.location)},
                            {"type", row.type},
                            {"elements", row.elements}};
}

static llvm::json::Object toJSON(const CastRow &row) {
  return llvm::json::Object{{"function", llvm::json::fixUTF8(row.function)},
                            {"location", llvm::json::fixUTF8(row.location)},
                            {"tensor", llvm::json::fixUTF8(row.tensor)},
                            {"type", row.type},
                            {"from", row.from},
                            {"to", row.to},
                            {"bytes", row.bytes},
                            {"users", row.users},
                            {"of_argument", row.ofArgument}};
}

static llvm::json::Object toJSON(const IdiomRow &row) {
  return llvm::json::Object{{"function", llvm::json::fixUTF8(row.function)},
                            {"kind", row.kind},
                            {"location", llvm::json::fixUTF8(row.location)},
                            {"members", row.members}};
}

template <typename Row> static llvm::json::Array rowsToJSON(const std::vector<Row> &rows) {
  llvm::json::Array array;
  for (const Row &row : rows)
    array.push_back(::toJSON(row));
  return array;
}

llvm::json::Value Report::toJSON() const {
  llvm::json::Array opRows;
  for (const OpRow &row : ops) {
    llvm::json::Object object = ::toJSON(row);
    if (llvm::json::Array suggestions = suggestionsToJSON(row); !suggestions.empty())
      object["suggestions"] = std::move(suggestions);
    opRows.push_back(std::move(object));
  }
  return llvm::json::Object{{"mp_report", kReportVersion},
                            {"placement", rowsToJSON(placements)},
                            {"format", format},
                            {"target", target},
                            {"assumed_dim", assumedDim},
                            {"totals", totalsToJSON()},
                            {"functions", rowsToJSON(functions)},
                            {"ops", std::move(opRows)},
                            {"casts", rowsToJSON(casts)},
                            {"saturated_constants", rowsToJSON(saturated)},
                            {"rewrites", rewritesToJSON()},
                            {"scaled", scalingToJSON()},
                            {"certificates", certificatesToJSON()},
                            {"idioms", rowsToJSON(idioms)}};
}
