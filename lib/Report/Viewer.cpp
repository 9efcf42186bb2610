// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files for Model Explorer: a graph per function, and data laid over its nodes.

#include "RowGraph.h"
#include "mp/Analysis/Locations.h"
#include "mp/Report/Exports.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::mp;
namespace json = llvm::json;

static json::Object attribute(StringRef key, const Twine &value) {
  return json::Object{{"key", key}, {"value", json::fixUTF8(value.str())}};
}

static json::Object opNode(const OpRow &row) {
  json::Array edges;
  for (auto [index, maker] : llvm::enumerate(row.reads))
    if (std::string id = idOf(maker); !id.empty())
      edges.push_back(json::Object{{"sourceNodeId", id},
                                   {"sourceNodeOutputId", "0"},
                                   {"targetNodeInputId", std::to_string(index)}});
  json::Array attributes{attribute("class", stringifyOpClass(row.opClass)),
                         attribute("computes", row.compute),
                         attribute("stores", llvm::join(row.out, ", ")),
                         attribute("decided by", row.by),
                         attribute("reason", row.reason),
                         attribute("evidence", row.evidence),
                         attribute("location", row.location),
                         attribute("bytes before", Twine(row.bytesBefore)),
                         attribute("bytes after", Twine(row.bytesAfter))};
  return json::Object{
      {"id", std::to_string(row.ordinal)},
      {"label", row.body.empty() ? row.op : row.op + " " + row.body},
      {"namespace", json::fixUTF8(folderOf(row.name))},
      {"attrs", std::move(attributes)},
      {"incomingEdges", std::move(edges)},
      {"outputsMetadata",
       json::Array{json::Object{{"id", "0"},
                                {"attrs", json::Array{attribute("tensor_shape", row.type)}}}}}};
}

static json::Value makeGraph(const Report &report) {
  llvm::StringMap<Rows> rows = rowsByFunction(report);
  json::Array graphs;
  for (const FunctionRow &function : report.getFunctions()) {
    json::Array nodes;
    for (auto [index, format] : llvm::enumerate(function.arguments))
      nodes.push_back(json::Object{{"id", "argument" + std::to_string(index)},
                                   {"label", "argument " + std::to_string(index)},
                                   {"namespace", "arguments"},
                                   {"attrs", json::Array{attribute("stores", format)}}});
    for (const OpRow *row : rows[function.name])
      nodes.push_back(opNode(*row));
    graphs.push_back(json::Object{{"id", function.name}, {"nodes", std::move(nodes)}});
  }
  return json::Object{{"label", "mixed precision"}, {"graphs", std::move(graphs)}};
}

static int64_t bitsOf(StringRef format) {
  return llvm::StringSwitch<int64_t>(format)
      .Cases({"bf16", "f16"}, 16)
      .Case("tf32", 19)
      .Case("f32", 32)
      .Case("f64", 64)
      .StartsWith("f8", 8)
      .Default(0);
}

/// Operands that `row` reads in another format than they are stored in.
static int64_t countCasts(const OpRow &row, const Rows &rows, const FunctionRow &function) {
  int64_t casts = 0;
  size_t operand = 0;
  for (const std::string &format : row.in) {
    if (format == "_" || operand >= row.reads.size())
      continue;
    StringRef stored = storedFormat(row.reads[operand++], rows, function);
    casts += !stored.empty() && stored != format;
  }
  return casts;
}

/// One overlay, per graph; `value` gives nothing for nodes it does not speak of.
static json::Value
makeOverlay(const Report &report, StringRef name, json::Array gradient,
            llvm::function_ref<std::optional<json::Object>(const OpRow &, const Rows &,
                                                           const FunctionRow &)>
                value) {
  llvm::StringMap<Rows> rowsOf = rowsByFunction(report);
  json::Object graphs;
  for (const FunctionRow &function : report.getFunctions()) {
    json::Object results;
    for (const OpRow *row : rowsOf[function.name])
      if (std::optional<json::Object> entry = value(*row, rowsOf[function.name], function))
        results[std::to_string(row->ordinal)] = std::move(*entry);
    json::Object overlay{{"name", name}, {"results", std::move(results)}};
    if (gradient.empty()) // values are words: count them per folder
      overlay["showExpandedSummaryOnGroupNode"] = true;
    else
      overlay["gradient"] = json::Array(gradient);
    graphs[function.name] = std::move(overlay);
  }
  return graphs;
}

std::vector<ViewerFile> mlir::mp::makeViewerFiles(const Report &report) {
  auto gradient = [] {
    return json::Array{json::Object{{"stop", 0}, {"bgColor", "#ffffff"}},
                       json::Object{{"stop", 1}, {"bgColor", "#d9480f"}}};
  };
  std::vector<ViewerFile> files;
  files.push_back({"graph.json", makeGraph(report)});
  files.push_back(
      {"precision.json", makeOverlay(report, "precision", {}, [](const OpRow &row, auto &, auto &) {
         StringRef format = precisionOf(row);
         return std::optional(json::Object{{"value", format}, {"bgColor", colourOf(format)}});
       })});
  files.push_back(
      {"bits.json", makeOverlay(report, "bits", gradient(), [](const OpRow &row, auto &, auto &) {
         return std::optional(json::Object{{"value", bitsOf(precisionOf(row))}});
       })});
  files.push_back({"casts.json",
                   makeOverlay(report, "operands cast", gradient(),
                               [](const OpRow &row, const Rows &rows, const FunctionRow &function) {
                                 return std::optional(
                                     json::Object{{"value", countCasts(row, rows, function)}});
                               })});
  bool anyError = llvm::any_of(report.getOps(), [](const OpRow &row) { return row.error; });
  if (anyError)
    files.push_back(
        {"error.json",
         makeOverlay(report, "relative error", gradient(),
                     [](const OpRow &row, auto &, auto &) -> std::optional<json::Object> {
                       if (!row.error)
                         return std::nullopt;
                       return json::Object{{"value", row.error->relativeNorm}};
                     })});
  return files;
}
