// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inlines linalg on tensors without dimensions into statements on scalars.

#include "ScalarBody.h"

using namespace llvm;
using namespace mlir::mp::import;

namespace {
class Inliner {
public:
  Inliner(Source &source, LoopText &text) : source(source), text(text) {}

  std::optional<Values> run(const GenericRegion &region, ArrayRef<std::string> arguments);

private:
  bool inlineOp(const GenericOp &op);
  /// The scalar that a tensor without dimensions holds, which may come from outside.
  std::string scalarOf(const Operand &tensor);

  Source &source;
  LoopText &text;
  StringMap<std::string> scalars; ///< by the name of a tensor
};
} // namespace

std::string Inliner::scalarOf(const Operand &tensor) {
  auto [known, isNew] = scalars.try_emplace(tensor.value);
  if (isNew)
    known->second = text.extract(tensor, {});
  return known->second;
}

/// The values between the brackets behind the name of an op in the generic form.
static Values operandsOf(const Source &source, size_t name) {
  Values values;
  for (Span value : source.split({name + 2, source.closing(name + 1)}))
    values.push_back(source.text(value).str());
  return values;
}

bool Inliner::inlineOp(const GenericOp &op) {
  if (op.name == "tensor.empty")
    return true;
  StringRef result = StringRef(op.results).split(' ').first;
  if (op.name == "tensor.cast" && op.operands.size() == 1 && op.types.size() == 1 &&
      op.operands[0].type.text == op.types[0].text) { // what is left of one between signs
    scalars[result] = scalarOf(op.operands[0]);
    return true;
  }
  auto isScalar = [](const TensorType &type) { return type.rank() == 0; };
  bool isKnown = op.name == "linalg.generic" && op.regions.size() == 1 && op.types.size() == 1 &&
                 op.regions[0].arguments.size() == op.operands.size() &&
                 all_of(op.operands, [&](const Operand &x) { return isScalar(x.type); });
  if (!isKnown) {
    source.error(op.span.begin, "'" + op.name +
                                    "' stands in the body of an op of StableHLO, expected "
                                    "linalg.generic on tensors without dimensions");
    return false;
  }
  const GenericRegion &region = op.regions[0];
  StringMap<std::string> names;
  for (auto [argument, operand] : zip_equal(region.arguments, op.operands))
    if (&operand != &op.operands.back()) // what is written over
      names[argument.value] = scalarOf(operand);
  text.copy(region.body, names);
  Values yielded = operandsOf(source, region.terminator);
  if (yielded.size() != 1) {
    source.error(region.terminator,
                 "expected one value of the only result, found " + Twine(yielded.size()));
    return false;
  }
  auto found = names.find(yielded[0]);
  scalars[result] = found == names.end() ? yielded[0] : found->second;
  return true;
}

std::optional<Values> Inliner::run(const GenericRegion &region, ArrayRef<std::string> arguments) {
  for (auto [argument, value] : zip_equal(region.arguments, arguments))
    scalars[argument.value] = value;
  for (size_t i = region.body.begin; i < region.body.end;) {
    if (source.kind(i) != Tok::String) { // results, locations
      size_t close = source.closing(i);
      i = close < source.size() ? close + 1 : i + 1;
      continue;
    }
    std::optional<GenericOp> op = GenericOp::parse(source, i);
    if (!op || !inlineOp(*op))
      return std::nullopt;
    i = op->span.end;
  }
  std::optional<GenericOp> last = GenericOp::parse(source, region.terminator);
  if (!last)
    return std::nullopt;
  Values yielded;
  for (const Operand &operand : last->operands)
    yielded.push_back(scalarOf(operand));
  return yielded;
}

std::optional<Values> mlir::mp::import::writeScalarBody(Source &source, LoopText &text,
                                                        const GenericRegion &region,
                                                        ArrayRef<std::string> arguments) {
  return Inliner(source, text).run(region, arguments);
}
