// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses the generic form of an op from tokens.

#include "GenericOp.h"

using namespace llvm;
using namespace mlir::mp::import;

std::optional<GenericOp> GenericOp::parse(Source &source, size_t name) {
  GenericOp op;
  op.name = source.text(name).trim('"').str();
  auto fail = [&](size_t at, const Twine &why) {
    source.error(std::min(at, source.size() - 1), "'" + op.name + "' " + why);
    return std::nullopt;
  };
  op.span.begin = source.statementBegin(name);
  if (op.span.begin != name)
    op.results = (source.text(Span{op.span.begin, name}) + " ").str();

  size_t open = name + 1, close = source.closing(open);
  SmallVector<Span> values = source.split({open + 1, close});
  size_t at = close + 1;
  if (source.is(at, "<") && source.is(at + 1, "{")) {
    for (Span entry : source.split({at + 2, source.closing(at + 1)}))
      op.properties[source.text(entry.begin)] =
          source.is(entry.begin + 1, "=") ? source.text(Span{entry.begin + 2, entry.end}).str()
                                          : "";
    at = source.closing(at) + 1;
  }
  if (source.is(at, "{"))
    at = source.closing(at) + 1;
  if (!source.is(at, ":") || !source.is(at + 1, "("))
    return fail(at, "has a form mp does not know");
  size_t typesClose = source.closing(at + 1);
  SmallVector<Span> types = source.split({at + 2, typesClose});
  if (types.size() != values.size())
    return fail(at,
                "has " + Twine(values.size()) + " operands and " + Twine(types.size()) + " types");
  auto read = [&](Span span) { return TensorType::parse(source.text(span)); };
  for (auto [value, type] : zip_equal(values, types)) {
    auto tensor = read(type);
    if (!tensor)
      return fail(type.begin,
                  "expects ranked tensors without encoding, found '" + source.text(type) + "'");
    op.operands.push_back({source.value(value.begin).str(), *tensor});
  }
  at = typesClose + 2; // behind the arrow
  SmallVector<Span> resultTypes;
  if (source.is(at, "(")) {
    resultTypes = source.split({at + 1, source.closing(at)});
    op.span.end = source.closing(at) + 1;
  } else {
    resultTypes.push_back({at, source.typeEnd(at)});
    op.span.end = source.typeEnd(at);
  }
  for (Span type : resultTypes) {
    auto tensor = read(type);
    if (!tensor)
      return fail(type.begin,
                  "expects ranked tensors without encoding, found '" + source.text(type) + "'");
    op.types.push_back(*tensor);
  }
  return op;
}

std::optional<SmallVector<int64_t>>
mlir::mp::import::constantIntegers(const Source &source, const GenericOp &op, size_t operand) {
  StringRef value = op.operands[operand].value;
  // Upwards: names are one function's, and values stand before their uses.
  for (size_t i = op.span.begin; i-- > 0 && !source.is(i, "func.func");) {
    if (source.text(i) != value || !source.is(i + 1, "="))
      continue;
    if (!source.is(i + 2, "\"tosa.const\""))
      return std::nullopt;
    while (source.kind(i) != Tok::Elements)
      if (++i >= op.span.begin)
        return std::nullopt;
    SmallVector<int64_t> integers;
    SmallVector<StringRef> words;
    source.text(i).split(words, ',');
    for (StringRef word : words) {
      int64_t integer;
      if (word.trim("<>[] ").getAsInteger(10, integer))
        return std::nullopt;
      integers.push_back(integer);
    }
    size_t count = 1;
    for (int64_t size : op.operands[operand].type.shape)
      count *= size;
    if (integers.size() == 1)
      integers.resize(count, integers[0]);
    return integers.size() == count ? std::optional(integers) : std::nullopt;
  }
  return std::nullopt;
}
