// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// torch-mlir lowers unsigned integers of StableHLO to linalg on integers without signs, and leaves
// casts between both where arguments, results and what loops carry have them. All lose them here,
// and those casts become casts to the same type.

#include "../Forms/StructuredOp.h"
#include "../Rules.h"

using namespace llvm;
using namespace mlir::mp::import;

static constexpr StringLiteral kCast = "builtin.unrealized_conversion_cast";

/// Returns where the u is in what ends a tensor type, as in 4xui32; npos without one.
static size_t signOf(StringRef token) {
  StringRef digits = token;
  while (!digits.empty() && isDigit(digits.back()))
    digits = digits.drop_back();
  const bool isUnsigned = digits.size() < token.size() && digits.consume_back("ui") &&
                          (digits.empty() || digits.back() == 'x');
  return isUnsigned ? digits.size() : StringRef::npos;
}

/// Tells whether the cast at `name` makes unsigned integers such without signs, or back.
static bool castsSigns(const Source &source, size_t name) {
  const size_t line = std::min(source.size(), name + 64);
  const size_t from = source.find(name, line, ":") + 1;
  if (from >= line)
    return false;
  const bool isGeneric = source.is(from, "("); // (T) -> T, else T to T
  auto typeAt = [&](size_t at) {
    return TensorType::parse(source.text(Span{at, source.typeEnd(at)}));
  };
  std::optional<TensorType> before = typeAt(from + isGeneric),
                            after = typeAt(
                                (isGeneric ? source.closing(from) + 1 : source.typeEnd(from)) + 1);
  if (!before || !after || before->shape != after->shape)
    return false;
  StringRef a = before->element, b = after->element;
  return a != b && (a == ("u" + b).str() || b == ("u" + a).str());
}

void mlir::mp::import::dropSigns(Source &source) {
  if (!source.getBuffer().getBuffer().contains(kCast))
    return;
  SmallVector<size_t> casts;
  for (size_t i = 0; i < source.size(); ++i)
    if (source.text(i).trim('"') == kCast && source.isOperation(i) && castsSigns(source, i))
      casts.push_back(i);
  for (size_t cast : casts)
    source.replace({cast, cast + 1},
                   source.kind(cast) == Tok::String ? "\"tensor.cast\"" : "tensor.cast");
  for (size_t i = 0; !casts.empty() && i < source.size(); ++i)
    if (size_t sign = signOf(source.text(i)); sign != StringRef::npos && source.is(i + 1, ">"))
      source.replace({i, i + 1},
                     source.text(i).take_front(sign) + source.text(i).drop_front(sign + 1));
}
