// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions put together of pieces: what one of them is where a comparison selects it. The piece is
// computed on short intervals one by one, since interval arithmetic on long ones forgets that every
// x in it is the same.

#include "Relations.h"

using namespace mlir;
using namespace mlir::mp::proofs;
using Kind = Unfolded::Kind;

/// Expressions with more steps are taken for what is known of them.
static constexpr unsigned kMostSteps = 64;
/// Intervals that a bounded part is cut into.
static constexpr unsigned kPieces = 128;

namespace {
/// A Step is one op of those that compute a value, in order; the last gives the value.
struct Step {
  Function fn = Function::None; ///< None: x itself, or `given`
  SmallVector<unsigned, 3> operands;
  Element given;
  Facts known; ///< of `given`
  bool isX = false;
  Format format;
};

class Expression {
public:
  Expression(Elements &elements, const Element &x) : elements(elements), x(x) {}

  unsigned add(const Element &element);
  /// Asks what is known of all that is read besides x.
  void fill(llvm::function_ref<Facts(const Element &)> factsOf) {
    for (Step &step : steps)
      if (step.fn == Function::None && !step.isX)
        step.known = factsOf(step.given);
  }
  Facts evaluate(const Facts &part) const;
  bool readsX() const {
    return llvm::any_of(steps, [](const Step &step) { return step.isX; });
  }

private:
  Elements &elements;
  Element x;
  SmallVector<Step> steps;
};
} // namespace

unsigned Expression::add(const Element &given) {
  Element element = elements.resolve(given);
  Step step;
  Substitution same;
  if (elements.match(element, x, same)) {
    step.isX = true;
  } else {
    Unfolded unfolded = elements.unfold(element);
    std::optional<Format> format = unfolded.type ? formatOf(unfolded.type) : std::nullopt;
    bool isFunction =
        unfolded.kind == Kind::Apply && format &&
        !llvm::is_contained({Function::Select, Function::Compare, Function::Clamp}, unfolded.fn);
    if (isFunction && steps.size() < kMostSteps) {
      step.fn = unfolded.fn;
      step.format = *format;
      Substitution twice;
      if (step.fn == Function::Mul &&
          elements.match(unfolded.operands[0], unfolded.operands[1], twice)) {
        step.fn = Function::Square;
        unfolded.operands.pop_back();
      }
      for (const Element &operand : unfolded.operands)
        step.operands.push_back(add(operand));
    } else {
      step.given = element;
    }
  }
  steps.push_back(step);
  return steps.size() - 1;
}

Facts Expression::evaluate(const Facts &part) const {
  SmallVector<Facts> values;
  for (const Step &step : steps) {
    if (step.fn == Function::None) {
      values.push_back(step.isX ? part : step.known);
      continue;
    }
    SmallVector<Facts, 3> operands;
    for (unsigned operand : step.operands)
      operands.push_back(values[operand]);
    values.push_back(apply(step.fn, operands, step.format));
  }
  return values.back();
}

std::optional<Facts> Relations::over(const Element &element, const Element &x,
                                     llvm::function_ref<Facts()> partOf) {
  Expression expression(elements, x);
  expression.add(element);
  if (!expression.readsX())
    return std::nullopt;
  expression.fill([&](const Element &given) { return factsOf(given); });
  Facts part = partOf();
  if (!part.isBounded() || part.isEmpty())
    return expression.evaluate(part);
  Facts all = Facts::empty();
  double step = (part.high - part.low) / kPieces;
  for (unsigned piece = 0; piece < kPieces; ++piece) {
    Facts here = part;
    here.low = std::max(part.low, down(part.low + piece * step));
    if (piece + 1 < kPieces)
      here.high = std::min(part.high, up(part.low + (piece + 1) * step));
    all = join(all, expression.evaluate(here));
  }
  return all.restOn(part);
}
