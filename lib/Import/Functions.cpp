// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// IREE's functions. Their syntax is func's, with results that may be tied to arguments.

#include "Rules.h"

using namespace llvm;
using namespace mlir::mp::import;

/// "(%arg0 as tensor<4xf32>)" loses "%arg0 as"; inlining_policy(...) goes.
static void translateSignature(Source &source, size_t name) {
  source.replace({name, name + 1}, "func.func");
  size_t open = name + 1;
  while (open < source.size() && !source.is(open, "("))
    ++open;
  size_t end = source.closing(open);
  for (size_t i = end + 1; i < source.size(); ++i) {
    if (source.is(i, "inlining_policy")) {
      size_t close = source.closing(i + 1);
      source.replace({i, close + 1}, "");
      i = close;
    } else if (source.isValue(i) && source.is(i + 1, "as")) {
      source.replace({i, i + 2}, "");
      ++i;
    } else if (source.isValue(i)) {
      return source.error(i, "'util.func' ties a result to '" + source.text(i) +
                                 "' without a type; print it with the type");
    } else if (source.is(i, "(") || source.kind(i) == Tok::Arrow || source.is(i, ")") ||
               source.is(i, ",")) {
      continue;
    } else if (size_t type = source.typeEnd(i); type != i && !source.is(i, "attributes")) {
      i = type - 1;
      if (source.is(type, "{") && (source.is(type + 1, "iree.abi") || source.is(type + 2, "=")))
        i = source.closing(type); // attributes of a result
    } else {
      return; // the body, or a dictionary
    }
  }
}

/// The results are the operands: their name is replaced wherever it is used.
static size_t removeBarrier(Source &source, size_t name, size_t depth) {
  size_t i = name + 1;
  SmallVector<std::string> operands;
  while (source.isValue(i)) {
    operands.push_back(source.value(i).str());
    i += source.is(i + 1, ",") ? 2 : 1;
  }
  size_t begin = source.statementBegin(name);
  if (operands.empty() || !source.is(i, ":") || begin == name) {
    source.error(name, "'util.optimization_barrier' has a form mp does not know");
    return name + 1;
  }
  do
    i = source.typeEnd(i + 1);
  while (source.is(i, ","));
  if (source.is(i, "loc"))
    i = source.closing(i + 1) + 1;
  StringRef result = source.text(begin);
  for (auto [n, operand] : enumerate(operands))
    source.rename(operands.size() == 1 ? result.str() : (result + "#" + Twine(n)).str(), operand,
                  depth);
  source.replace({begin, i}, "");
  return i;
}

size_t mlir::mp::import::translateFunctionOp(Source &source, size_t name, size_t depth) {
  StringRef text = source.text(name);
  if (text == "util.func")
    translateSignature(source, name);
  else if (text == "util.return")
    source.replace({name, name + 1}, "func.return");
  else if (text == "util.call")
    source.replace({name, name + 1}, "func.call");
  else if (text == "util.optimization_barrier")
    return removeBarrier(source, name, depth);
  return name + 1;
}
