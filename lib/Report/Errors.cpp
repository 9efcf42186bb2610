// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measured errors, from the JSON of mp-run --compare --per-op, put beside the rows they belong to.

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Report/Report.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/JSON.h"

using namespace mlir;
using namespace mlir::mp;
namespace json = llvm::json;

/// tensor<4x8xbf16> or 4x8xbf16 without the format: 4x8.
static StringRef shapeOf(StringRef type) {
  type.consume_front("tensor<");
  type = type.split('>').first;
  size_t end = type.rfind('x');
  return end == StringRef::npos ? "" : type.take_front(end);
}

static double numberOr(const json::Object &object, StringRef key, double other) {
  return object.getNumber(key).value_or(other); // "inf" and "nan" are strings
}

/// True if a row computes in `format`, or reads or writes it: "bf16", "bf16x3", "f16-pow2".
static bool isUsed(StringRef format, ArrayRef<OpRow> rows) {
  auto begins = [&](StringRef word) { return word.starts_with(format); };
  return llvm::any_of(rows, [&](const OpRow &row) {
    return begins(row.compute) || begins(row.acc) || llvm::any_of(row.in, begins) ||
           llvm::any_of(row.out, begins);
  });
}

/// Errors that were measured on a module converted to other formats say nothing here. Formats of
/// eight bits and fewer are stored by recipes, which rows name instead.
static llvm::Error checkFormats(const json::Object &object, ArrayRef<OpRow> rows) {
  const json::Array *formats = object.getArray("formats");
  for (const json::Value &format : formats ? *formats : json::Array())
    if (auto name = format.getAsString();
        name && (*name == "bf16" || *name == "f16" || *name == "tf32") && !isUsed(*name, rows))
      return support::error(support::ErrorCode::BadInput,
                            "it was measured on a module converted to " + *name +
                                ", which nothing is converted to here: measure the module that "
                                "was converted");
  return llvm::Error::success();
}

llvm::Error Report::addErrors(StringRef text) {
  llvm::Expected<json::Value> root = mpcore::support::parseJSON(text);
  if (!root)
    return root.takeError();
  const json::Object *object = root->getAsObject();
  const json::Array *values = object ? object->getArray("per_op") : nullptr;
  if (!values)
    return llvm::createStringError(
        "it has no 'per_op': run mp-run with --compare=FILE, --per-op and "
        "--json=FILE");
  if (llvm::Error error = checkFormats(*object, ops))
    return error;
  // The measured values are the results of ops that compute, in order; rows hold these among
  // others.
  auto row = ops.begin();
  for (const json::Value &value : *values) {
    const json::Object *entry = value.getAsObject();
    StringRef label = entry ? entry->getString("label").value_or("") : "";
    StringRef op = label.split(' ').second.split(' ').first;
    StringRef shape = entry ? shapeOf(entry->getString("type").value_or("")) : "";
    while (row != ops.end() && (row->op != op || shapeOf(row->type) != shape))
      ++row;
    if (row == ops.end())
      return llvm::createStringError("value '" + label +
                                     "' of 'per_op' is of no op here, or out of "
                                     "order: measure the module that was converted");
    row->error =
        OpError{numberOr(*entry, "max_abs", INFINITY), numberOr(*entry, "relative_norm", INFINITY)};
    ++row;
  }
  return llvm::Error::success();
}
