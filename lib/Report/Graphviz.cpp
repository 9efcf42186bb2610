// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The precision graph for Graphviz: ops by layer, coloured by format, and where operands are cast.

#include "RowGraph.h"
#include "mp/Analysis/Locations.h"
#include "mp/Report/Exports.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;
using namespace mlir::mp;

/// A string of the DOT language.
static std::string quoted(const Twine &text) {
  std::string out = "\"";
  for (char c : text.str()) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

static void writeNode(raw_ostream &os, StringRef graph, StringRef id, StringRef label,
                      StringRef format) {
  os << "    " << quoted(graph + "/" + id) << " [label=" << quoted(label + " | " + format)
     << " fillcolor=" << quoted(colourOf(format)) << "];\n";
}

/// An edge per float operand; one that is cast on the way says from what to what.
static void writeEdges(raw_ostream &os, const OpRow &row, const Rows &rows,
                       const FunctionRow &function) {
  size_t operand = 0;
  for (const std::string &format : row.in) {
    if (format == "_" || operand >= row.reads.size())
      continue;
    const std::string &maker = row.reads[operand++];
    std::string from = idOf(maker);
    if (from.empty())
      continue;
    os << "  " << quoted(function.name + "/" + from) << " -> "
       << quoted(function.name + "/" + Twine(row.ordinal));
    StringRef stored = storedFormat(maker, rows, function);
    if (!stored.empty() && stored != format)
      os << " [color=\"#d9480f\" label=" << quoted(stored + " to " + format) << "]";
    os << ";\n";
  }
}

void mlir::mp::writeGraphviz(const Report &report, raw_ostream &os) {
  os << "digraph precision {\n  rankdir=TB;\n"
        "  node [shape=box style=filled fontname=sans fontcolor=white];\n";
  llvm::StringMap<Rows> rowsOf = rowsByFunction(report);
  for (const FunctionRow &function : report.getFunctions()) {
    const Rows &rows = rowsOf[function.name];
    std::map<std::string, Rows> layers;
    for (const OpRow *row : rows)
      layers[folderOf(row->name)].push_back(row);
    os << "  subgraph " << quoted("cluster " + function.name)
       << " {\n    label=" << quoted("@" + function.name) << ";\n";
    for (auto [index, format] : llvm::enumerate(function.arguments))
      writeNode(os, function.name, "argument" + std::to_string(index),
                "argument " + std::to_string(index), format);
    for (auto &[layer, members] : layers) {
      if (!layer.empty())
        os << "    subgraph " << quoted("cluster " + function.name + "/" + layer)
           << " {\n    label=" << quoted(layer) << ";\n";
      for (const OpRow *row : members)
        writeNode(os, function.name, std::to_string(row->ordinal),
                  row->body.empty() ? row->op : row->op + " " + row->body, precisionOf(*row));
      if (!layer.empty())
        os << "    }\n";
    }
    os << "  }\n";
    for (const OpRow *row : rows)
      writeEdges(os, *row, rows, function);
  }
  os << "}\n";
}
