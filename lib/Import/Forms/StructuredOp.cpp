// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the common form of the exporters' structured ops.

#include "StructuredOp.h"

using namespace llvm;
using namespace mlir::mp::import;

std::optional<TensorType> TensorType::parse(StringRef text) {
  TensorType type;
  type.text = text.str();
  if (!text.consume_front("tensor<") || !text.consume_back(">") || text.contains('#'))
    return std::nullopt;
  text = text.trim();
  while (true) {
    if (text.consume_front("?x")) {
      type.shape.push_back(-1);
      continue;
    }
    int64_t size;
    size_t digits = text.find_first_not_of("0123456789");
    if (digits == 0 || digits == StringRef::npos || text[digits] != 'x' ||
        text.take_front(digits).getAsInteger(10, size))
      break;
    type.shape.push_back(size);
    text = text.drop_front(digits + 1);
  }
  type.element = text.str();
  if (type.element.empty() || text.contains('*') || text.contains(','))
    return std::nullopt;
  return type;
}

TensorType TensorType::get(ArrayRef<int64_t> shape, StringRef element) {
  TensorType type;
  type.text = "tensor<";
  for (int64_t size : shape)
    type.text += (size < 0 ? "?" : std::to_string(size)) + "x";
  type.text += element.str() + ">";
  type.shape.assign(shape.begin(), shape.end());
  type.element = element.str();
  return type;
}

bool TensorType::isFloat() const {
  return StringRef(element).starts_with("f") || element == "bf16";
}

namespace {
class Reader {
public:
  Reader(Source &source, size_t name) : source(source), at(name + 1) {
    op.name = source.text(name).str();
    op.span.begin = source.statementBegin(name);
    if (op.span.begin != name)
      op.results = (source.text(Span{op.span.begin, name}) + " ").str();
  }

  std::optional<StructuredOp> read() {
    if (!readWords() || !readOperands("ins", op.inputs, /*optional=*/true) ||
        !readOperands("outs", op.outputs, /*optional=*/false) || !readBody())
      return std::nullopt;
    if (source.kind(at) != Tok::Arrow)
      return fail("has no tensor results; it was exported after bufferization, export tensors");
    ++at;
    if (source.is(at, "("))
      at = source.closing(at) + 1;
    else
      do
        at = source.typeEnd(at);
      while (source.is(at, ",") && ++at);
    op.span.end = at;
    return op;
  }

private:
  std::nullopt_t fail(const Twine &why) {
    source.error(std::min(at, source.size() - 1), "'" + op.name + "' " + why);
    return std::nullopt;
  }

  /// word(value), word = [values], {word = array<i64: values>}.
  bool readWords() {
    while (at < source.size() && !source.is(at, "ins") && !source.is(at, "outs")) {
      if (source.is(at, "{") || source.is(at, "}") || source.is(at, ",") ||
          source.is(at, "attributes")) {
        ++at;
        continue;
      }
      if (source.kind(at) != Tok::Name) {
        fail("has a form mp does not know, at '" + source.text(at) + "'");
        return false;
      }
      auto &values = op.words[source.text(at++)];
      if (source.is(at, "="))
        ++at;
      if (source.is(at, "array"))
        ++at;
      if (!source.is(at, "(") && !source.is(at, "[") && !source.is(at, "<"))
        continue;
      size_t close = source.closing(at);
      for (size_t i = at + 1; i < close; ++i)
        if (source.kind(i) == Tok::Number || source.is(i, "true") || source.is(i, "false"))
          values.push_back(source.text(i).str());
      at = close + 1;
    }
    return true;
  }

  /// ins(%a, %b : tensor<4xf32>, tensor<4xi32>)
  bool readOperands(StringRef word, SmallVector<Operand> &operands, bool optional) {
    if (!source.is(at, word)) {
      if (!optional)
        fail("has no '" + word + "(...)'");
      return optional;
    }
    size_t open = at + 1, close = source.closing(open);
    size_t colon = source.find(open + 1, close, ":");
    SmallVector<Span> values = source.split({open + 1, colon});
    SmallVector<Span> types = source.split({colon + 1, close});
    if (close >= source.size() || values.size() != types.size()) {
      fail("has " + Twine(values.size()) + " values and " + Twine(types.size()) + " types in '" +
           word + "'");
      return false;
    }
    for (auto [value, type] : zip_equal(values, types)) {
      auto tensor = TensorType::parse(source.text(type));
      if (!tensor || !source.isValue(value.begin)) {
        at = type.begin;
        fail("expects ranked tensors without encoding, found '" + source.text(type) + "'");
        return false;
      }
      operands.push_back({source.value(value.begin).str(), *tensor});
    }
    at = close + 1;
    return true;
  }

  /// { ^bb0(%a: f32, %b: f32): ... DIALECT.yield %c : f32 }
  bool readBody() {
    if (!source.is(at, "{") || source.kind(at + 1) != Tok::Block || !source.is(at + 2, "(")) {
      fail("has no body of one block with arguments");
      return false;
    }
    size_t end = source.closing(at), labelEnd = source.closing(at + 2);
    for (Span argument : source.split({at + 3, labelEnd}))
      op.arguments.push_back(source.text(argument.begin).str());
    op.body = {labelEnd + 2, end};
    std::string terminator = (StringRef(op.name).split('.').first + ".yield").str();
    op.body.end = source.find(op.body.begin, end, terminator);
    for (size_t i = op.body.begin; i < end; ++i) {
      if (source.kind(i) == Tok::Block) {
        fail("has a body of several blocks");
        return false;
      }
    }
    if (op.body.end == end) {
      fail("has a body without '" + terminator + "'");
      return false;
    }
    for (size_t i = op.body.end + 1; i < end && !source.is(i, ":"); ++i)
      if (source.isValue(i))
        op.yielded.push_back(source.value(i).str());
    at = end + 1;
    return true;
  }

  Source &source;
  size_t at;
  StructuredOp op;
};
} // namespace

std::optional<StructuredOp> StructuredOp::parse(Source &source, size_t name) {
  return Reader(source, name).read();
}

std::optional<int64_t> StructuredOp::integer(StringRef word) const {
  auto found = words.find(word);
  int64_t value;
  if (found == words.end() || found->second.size() != 1 ||
      StringRef(found->second[0]).getAsInteger(10, value))
    return std::nullopt;
  return value;
}

std::optional<int64_t> StructuredOp::comparedDimension(size_t lost) const {
  std::optional<int64_t> dimension = integer("dimension");
  const size_t rank = inputs.empty() ? 0 : inputs[0].type.rank();
  auto hasRank = [&](const Operand &input) { return input.type.rank() == rank; };
  auto hasLost = [&](const Operand &output) { return output.type.rank() + lost == rank; };
  bool compares = (inputs.size() == 1 || inputs.size() == 2) && outputs.size() == 2 &&
                  arguments.size() == 2 && yielded.size() == 1 && all_of(inputs, hasRank) &&
                  all_of(outputs, hasLost);
  return compares && dimension && *dimension >= 0 && *dimension < int64_t(rank) ? dimension
                                                                                : std::nullopt;
}
