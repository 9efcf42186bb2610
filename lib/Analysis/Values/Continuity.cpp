// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates both arms of a choice at the threshold, over value numbers.

#include "mp/Analysis/Values/Continuity.h"
#include "mp/Domains/Elementary.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::UnaryFn;
using NodeKind = ValueNode::Kind;

/// Arms are looked into so far.
static constexpr unsigned kMostSteps = 64;

static bool comparesOrder(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  return llvm::is_contained({P::OGT, P::OGE, P::UGT, P::UGE, P::OLT, P::OLE, P::ULT, P::ULE},
                            predicate);
}

/// True up to what f32 rounds a few times.
static bool meetAt(double a, double b) {
  return std::fabs(a - b) <= 0x1p-20 * std::fmax(std::fabs(a), std::fabs(b));
}

namespace {
/// A number, plus an element that is not known where `rest` is one.
struct AtThreshold {
  double number = 0;
  View rest = {};
};

/// Evaluates what is computed of x with a number in its place.
class ArmReader {
public:
  ArmReader(const ValueNumbering &values, const View &x, double threshold)
      : values(values), x(x), threshold(threshold) {}

  /// Returns nothing where a function has a pole, or a jump of its own, there.
  std::optional<AtThreshold> read(const View &view);

private:
  std::optional<AtThreshold> readUnary(const View &view, const ValueNode &node);
  std::optional<AtThreshold> readBinary(const View &view, const ValueNode &node);
  std::optional<AtThreshold> readChoice(const View &view, const ValueNode &node);
  std::optional<AtThreshold> operand(const View &view, const ValueNode &node, unsigned index) {
    return read(values.compose(view, node.operands[index]));
  }

  const ValueNumbering &values;
  View x;
  double threshold;
  unsigned steps = 0;
};
} // namespace

static std::optional<AtThreshold> ifFinite(double number) {
  return std::isfinite(number) ? std::optional<AtThreshold>({number}) : std::nullopt;
}

static double combine(BinaryFn fn, double a, double b) {
  switch (fn) {
  case BinaryFn::Add: return a + b;
  case BinaryFn::Sub: return a - b;
  case BinaryFn::Mul: return a * b;
  case BinaryFn::Div: return a / b;
  case BinaryFn::Maximum:
  case BinaryFn::MaxNum: return std::fmax(a, b);
  case BinaryFn::Minimum:
  case BinaryFn::MinNum: return std::fmin(a, b);
  default: return std::nan("");
  }
}

std::optional<AtThreshold> ArmReader::readBinary(const View &view, const ValueNode &node) {
  std::optional<AtThreshold> a = operand(view, node, 0), b = operand(view, node, 1);
  if (!a || !b)
    return std::nullopt;
  bool knowsA = !a->rest, knowsB = !b->rest;
  if (knowsA && knowsB)
    return ifFinite(combine(node.binary, a->number, b->number));
  bool zeroA = knowsA && a->number == 0, zeroB = knowsB && b->number == 0;
  switch (node.binary) {
  case BinaryFn::Mul:
    if (zeroA || zeroB)
      return AtThreshold{};
    break;
  case BinaryFn::Add:
    if (knowsA || knowsB)
      return AtThreshold{a->number + b->number, knowsA ? b->rest : a->rest};
    break;
  case BinaryFn::Sub:
    if (knowsB)
      return AtThreshold{a->number - b->number, a->rest};
    break;
  default: break;
  }
  return AtThreshold{0, view};
}

std::optional<AtThreshold> ArmReader::readUnary(const View &view, const ValueNode &node) {
  std::optional<AtThreshold> of = operand(view, node, 0);
  if (!of || domains::hasSteps(node.unary))
    return std::nullopt;
  return of->rest ? std::optional<AtThreshold>({0, view})
                  : ifFinite(domains::evaluate(node.unary, of->number));
}

/// A choice by numbers that differ is the arm that they choose, there and around; by equal ones, it
/// is either arm where both are the same.
std::optional<AtThreshold> ArmReader::readChoice(const View &view, const ValueNode &node) {
  View condition = values.compose(view, node.operands[0]);
  if (!condition || values.get(condition).kind != NodeKind::Compare)
    return AtThreshold{0, view};
  const ValueNode &comparison = values.get(condition);
  std::optional<AtThreshold> a = operand(condition, comparison, 0),
                             b = operand(condition, comparison, 1);
  if (!a || !b)
    return std::nullopt;
  if (a->rest || b->rest || !comparesOrder(comparison.predicate))
    return AtThreshold{0, view};
  using P = arith::CmpFPredicate;
  bool asksGreater = llvm::is_contained({P::OGT, P::OGE, P::UGT, P::UGE}, comparison.predicate);
  if (!meetAt(a->number, b->number))
    return operand(view, node, (a->number > b->number) == asksGreater ? 1 : 2);
  std::optional<AtThreshold> yes = operand(view, node, 1), no = operand(view, node, 2);
  bool isAlike = yes && no && yes->rest == no->rest && meetAt(yes->number, no->number);
  return isAlike ? yes : AtThreshold{0, view};
}

std::optional<AtThreshold> ArmReader::read(const View &view) {
  if (view == x)
    return AtThreshold{threshold};
  if (!view || ++steps > kMostSteps)
    return std::nullopt;
  const ValueNode &node = values.get(view);
  switch (node.kind) {
  case NodeKind::NaN: return std::nullopt;
  case NodeKind::Constant: return ifFinite(node.value);
  case NodeKind::Unary: return readUnary(view, node);
  case NodeKind::Binary: return readBinary(view, node);
  case NodeKind::Select: return readChoice(view, node);
  default: return AtThreshold{0, view};
  }
}

bool mlir::mp::isContinuousAt(const ValueNumbering &values, const View &condition, const View &yes,
                              const View &no) {
  if (!condition || values.get(condition).kind != NodeKind::Compare)
    return false;
  const ValueNode &comparison = values.get(condition);
  if (!comparesOrder(comparison.predicate))
    return false;
  for (unsigned of : {0u, 1u}) {
    View x = values.compose(condition, comparison.operands[of]);
    std::optional<double> threshold = values.constantOf(comparison.operands[1 - of].node);
    if (!x || !threshold || !std::isfinite(*threshold))
      continue;
    ArmReader reader(values, x, *threshold);
    std::optional<AtThreshold> above = reader.read(yes), below = reader.read(no);
    if (above && below && above->rest == below->rest && meetAt(above->number, below->number))
      return true;
  }
  return false;
}

bool mlir::mp::isExtremum(const ValueNumbering &values, const View &condition, const View &yes,
                          const View &no) {
  if (!condition || !yes || !no || values.get(condition).kind != NodeKind::Compare)
    return false;
  const ValueNode &comparison = values.get(condition);
  View a = values.compose(condition, comparison.operands[0]),
       b = values.compose(condition, comparison.operands[1]);
  auto isOneOfThem = [&](const View &arm) { return arm == a || arm == b; };
  return comparesOrder(comparison.predicate) && isOneOfThem(yes) && isOneOfThem(no);
}
