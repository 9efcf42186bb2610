// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints scf loops, index arithmetic and tensor ops into the text that replaces an op.

#include "LoopText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir::mp::import;

std::string LoopText::define(const Twine &text) {
  std::string result = source.freshValue();
  add(result + " = " + text);
  return result;
}

std::string LoopText::size(const Operand &tensor, size_t dim) {
  if (tensor.type.shape[dim] >= 0)
    return index(tensor.type.shape[dim]);
  std::string position = index(dim);
  return define("tensor.dim " + tensor.value + ", " + position + " : " + tensor.type.text);
}

Values LoopText::sizes(const Operand &tensor) {
  Values result;
  for (size_t dim = 0; dim < tensor.type.rank(); ++dim)
    result.push_back(size(tensor, dim));
  return result;
}

std::string LoopText::extract(const Operand &tensor, ArrayRef<std::string> at) {
  return define("tensor.extract " + tensor.value + "[" + join(at, ", ") +
                "] : " + tensor.type.text);
}

std::string LoopText::insert(StringRef value, const Operand &tensor, ArrayRef<std::string> at) {
  return define("tensor.insert " + value + " into " + tensor.value + "[" + join(at, ", ") + "] " +
                (pinned ? "{mp.pin = f32} " : "") + ": " + tensor.type.text);
}

std::string LoopText::empty(const Operand &like) {
  Values dynamic;
  for (size_t dim = 0; dim < like.type.rank(); ++dim)
    if (like.type.shape[dim] < 0)
      dynamic.push_back(size(like, dim));
  return define("tensor.empty(" + join(dynamic, ", ") + ") : " + like.type.text);
}

std::string LoopText::filled(StringRef value, const TensorType &type) {
  std::string scalar = define("arith.constant " + value + " : " + type.element);
  std::string empty = define("tensor.empty() : " + type.text);
  return define("linalg.fill ins(" + scalar + " : " + type.element + ") outs(" + empty + " : " +
                type.text + ") -> " + type.text);
}

std::string LoopText::convert(StringRef value, const TensorType &from, StringRef toElement,
                              bool elements) {
  if (from.element == toElement)
    return value.str();
  // Only between f32 and narrower types (accumulatorFor).
  std::string to = elements ? toElement.str() : from.withElement(toElement).text;
  return define((toElement == "f32" ? "arith.extf " : "arith.truncf ") + value + " : " +
                (elements ? from.element : from.text) + " to " + to);
}

std::string LoopText::freshResults(size_t n, Values &values) {
  std::string name = source.freshValue();
  values.clear();
  for (size_t i = 0; i < n; ++i)
    values.push_back(n == 1 ? name : name + "#" + std::to_string(i));
  return n == 1 ? name : name + ":" + std::to_string(n);
}

Values LoopText::open(ArrayRef<std::string> bounds, SmallVector<Operand> &carried,
                      StringRef results) {
  Values counters, types, names;
  for (const Operand &operand : carried) {
    types.push_back(operand.type.text);
    names.push_back(operand.value);
  }
  Values all(bounds.begin(), bounds.end());
  if (all.empty())
    all.push_back(index(1));
  Nest nest{all.size(), types, {}};
  for (auto [i, bound] : enumerate(all)) {
    Values inner;
    std::string head = i == 0 ? results.str() : freshResults(types.size(), inner) + " = ";
    nest.results.push_back(inner);
    counters.push_back(openOne(bound, names, types, head));
    nests.pop_back();
  }
  for (auto [operand, name] : zip_equal(carried, names))
    operand.value = name;
  nests.push_back(std::move(nest));
  if (bounds.empty())
    counters.clear();
  return counters;
}

std::string LoopText::openOne(StringRef bound, Values &carried, ArrayRef<std::string> types,
                              StringRef results) {
  std::string zero = index(0), one = index(1), counter = source.freshValue();
  add(results + "scf.for " + counter + " = " + zero + " to " + bound + " step " + one +
      " iter_args(");
  for (auto [i, value] : enumerate(carried)) {
    std::string inside = source.freshValue();
    add((i ? ", " : "") + inside + " = " + value);
    value = inside;
  }
  add(") -> (" + join(types, ", ") + ") {");
  nests.push_back({1, Values(types.begin(), types.end()), {}});
  return counter;
}

void LoopText::close(ArrayRef<std::string> values) {
  Nest nest = nests.pop_back_val();
  Values yielded(values.begin(), values.end());
  for (size_t i = nest.depth; i-- > 0;) {
    add("scf.yield " + join(yielded, ", ") + " : " + join(nest.types, ", ") + " }" +
        (pinned ? " {mp.pin = f32}" : ""));
    if (i > 0)
      yielded = nest.results[i];
  }
}

static std::string renamed(const StringMap<std::string> &names, StringRef value) {
  auto found = names.find(value);
  return found == names.end() ? value.str() : found->second;
}

void LoopText::copy(Span statements, StringMap<std::string> &names, StringRef from, StringRef to) {
  for (size_t i = statements.begin; i < statements.end; ++i)
    if (source.isValue(i) && source.is(i + 1, "="))
      names[source.text(i)] = source.freshValue();
  const char *previousEnd = nullptr;
  for (size_t i = statements.begin; i < statements.end; ++i) {
    StringRef token = source.text(i);
    if (token.data() != previousEnd)
      out += ' ';
    if (source.isValue(i)) {
      std::string now = renamed(names, token);
      out += now == token ? source.value(i).str() : now;
    } else if (!from.empty() && token == from) {
      out += to;
    } else {
      out += token;
    }
    previousEnd = token.end();
  }
  out += ' ';
}

Values LoopText::body(const StructuredOp &op, ArrayRef<std::string> arguments, StringRef from,
                      StringRef to) {
  StringMap<std::string> names;
  for (auto [argument, value] : zip_equal(op.arguments, arguments))
    names[argument] = value;
  copy(op.body, names, from, to);
  Values yielded;
  for (const std::string &value : op.yielded)
    yielded.push_back(renamed(names, value));
  return yielded;
}

uint64_t mlir::mp::import::largestInteger(StringRef element) {
  unsigned width = 0;
  return element.consume_front("i") && !element.getAsInteger(10, width) && width > 1 && width <= 64
             ? (uint64_t(1) << (width - 1)) - 1
             : 0;
}

std::string mlir::mp::import::lowestOf(const TensorType &type) {
  StringRef infinity = StringSwitch<StringRef>(type.element)
                           .Case("f64", "0xFFF0000000000000")
                           .Case("f32", "0xFF800000")
                           .Case("bf16", "0xFF80")
                           .Case("f16", "0xFC00")
                           .Default("");
  return infinity.empty() ? "-" + std::to_string(largestInteger(type.element) + 1) : infinity.str();
}

StringRef mlir::mp::import::accumulatorFor(StringRef element) {
  bool narrow = element == "bf16" || element == "f16" || element.starts_with("f8") ||
                element.starts_with("f6") || element.starts_with("f4");
  return narrow ? "f32" : element;
}

bool mlir::mp::import::accumulates(Source &source, const StructuredOp &op) {
  static constexpr StringRef rounding[] = {"arith.addf", "arith.subf", "arith.mulf", "arith.divf"};
  static constexpr StringRef exact[] = {"arith.maximumf", "arith.minimumf", "arith.maxnumf",
                                        "arith.minnumf", "arith.negf"};
  SmallVector<StringRef> known(op.arguments.begin(), op.arguments.end());
  bool rounds = false;
  for (size_t i = op.body.begin; i < op.body.end; ++i) {
    StringRef token = source.text(i).trim('"');
    if (source.isValue(i)) {
      if (source.is(i + 1, "="))
        known.push_back(token);
      else if (!is_contained(known, token))
        return false; // a value from outside keeps its type
    } else if ((source.kind(i) == Tok::Name || source.kind(i) == Tok::String) &&
               token.contains('.')) {
      if (!is_contained(rounding, token) && !is_contained(exact, token))
        return false;
      rounds |= is_contained(rounding, token);
    }
  }
  return rounds;
}
