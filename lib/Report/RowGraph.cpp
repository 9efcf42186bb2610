// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names, colours and edges of the rows of a report.

#include "RowGraph.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::mp;

std::string mlir::mp::idOf(StringRef maker) {
  if (maker.consume_front("op "))
    return maker.str();
  if (maker.consume_front("argument "))
    return ("argument" + maker).str();
  return "";
}

llvm::StringMap<Rows> mlir::mp::rowsByFunction(const Report &report) {
  llvm::StringMap<Rows> rows;
  for (const OpRow &row : report.getOps())
    rows[row.function].push_back(&row);
  return rows;
}

StringRef mlir::mp::precisionOf(const OpRow &row) {
  if (row.opClass == OpClass::TensorCore)
    return row.compute;
  for (const std::string &format : row.out)
    if (format != "_")
      return format;
  return row.compute;
}

StringRef mlir::mp::colourOf(StringRef format) {
  return llvm::StringSwitch<StringRef>(format)
      .Case("bf16", "#2f6fb7")
      .Case("f16", "#2a9d78")
      .Case("tf32", "#b07aa1")
      .Case("f32", "#7a8491")
      .Case("f64", "#4b5563")
      .StartsWith("f8", "#b97f00")
      .Default("#d3d8de");
}

StringRef mlir::mp::storedFormat(StringRef maker, const Rows &rows, const FunctionRow &function) {
  unsigned index;
  if (maker.consume_front("argument ") && !maker.getAsInteger(10, index) &&
      index < function.arguments.size())
    return function.arguments[index];
  if (!maker.consume_front("op ") || maker.getAsInteger(10, index) || index >= rows.size())
    return "";
  for (const std::string &format : rows[index]->out)
    if (format != "_")
      return format;
  return "";
}
