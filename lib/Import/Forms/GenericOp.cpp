// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses the generic form of an op from tokens.

#include "GenericOp.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir::mp::import;

/// Reads the region between the braces at `braces`; nothing where it has no terminator in the
/// generic form.
static std::optional<GenericRegion> parseRegion(const Source &source, Span braces) {
  GenericRegion region;
  region.body = {braces.begin + 1, braces.end - 1};
  if (source.kind(region.body.begin) == Tok::Block) {
    size_t open = region.body.begin + 1, colon = open;
    if (source.is(open, "(")) {
      for (Span argument : source.split({open + 1, source.closing(open)})) {
        size_t type = argument.begin + 2; // behind the colon
        region.arguments.push_back({source.text(argument.begin).str(),
                                    source.text(Span{type, source.typeEnd(type)}).str()});
      }
      colon = source.closing(open) + 1;
    }
    region.body.begin = colon + 1;
  }
  region.terminator = region.body.end;
  for (size_t i = region.body.begin; i < region.body.end; ++i) {
    if (source.kind(i) == Tok::String && source.isOperation(i))
      region.terminator = i;
    if (size_t close = source.closing(i); close < source.size())
      i = close;
  }
  if (region.terminator == region.body.end)
    return std::nullopt;
  region.body.end = region.terminator;
  return region;
}

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
  if (close >= source.size())
    return fail(name, "has a bracket that nothing closes");
  SmallVector<Span> values = source.split({open + 1, close});
  size_t at = close + 1;
  if (source.is(at, "<") && source.is(at + 1, "{")) {
    for (Span entry : source.split({at + 2, source.closing(at + 1)}))
      op.properties[source.text(entry.begin)] =
          source.is(entry.begin + 1, "=") ? source.text(Span{entry.begin + 2, entry.end}).str()
                                          : "";
    at = source.closing(at) + 1;
  }
  if (source.is(at, "(") && source.is(at + 1, "{")) {
    if (source.closing(at) >= source.size())
      return fail(name, "has a bracket that nothing closes");
    for (Span braces : source.split({at + 1, source.closing(at)})) {
      std::optional<GenericRegion> region = parseRegion(source, braces);
      if (!region)
        return fail(braces.begin, "has a region without a terminator in the generic form");
      op.regions.push_back(std::move(*region));
    }
    at = source.closing(at) + 1;
  }
  if (source.is(at, "{"))
    at = source.closing(at) + 1;
  if (!source.is(at, ":") || !source.is(at + 1, "("))
    return fail(at, "has a form mp does not know");
  op.typesBegin = at + 1;
  size_t typesClose = source.closing(op.typesBegin);
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

SmallVector<int64_t> mlir::mp::import::integersOf(StringRef property) {
  if (property.consume_front("array"))
    property = property.split(':').second;
  SmallVector<StringRef> words;
  property.split(" : ").first.split(words, ',');
  SmallVector<int64_t> integers;
  for (StringRef word : words)
    if (int64_t integer; !word.drop_until([](char c) { return c == '-' || isDigit(c); })
                              .take_while([](char c) { return c == '-' || isDigit(c); })
                              .getAsInteger(10, integer))
      integers.push_back(integer);
  return integers;
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
