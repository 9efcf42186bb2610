// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks forward from what overflows over all that reads it, through bodies of elementwise ops, up
// to what makes it finite again.

#include "Overflows.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::Interval;
using domains::UnaryFn;
using Kind = FloatMeaning::Kind;

/// Returns whether `fn` of numbers of `range` may be infinite in f32.
static bool mayOverflow(UnaryFn fn, const Interval &range) {
  constexpr double largest = 88; // e^88 < 2^127
  switch (fn) {
  case UnaryFn::Exp:
  case UnaryFn::Expm1: return range.hi > largest;
  case UnaryFn::Exp2: return range.hi > 127;
  case UnaryFn::Sinh:
  case UnaryFn::Cosh: return range.mag() > largest;
  default: return false;
  }
}

/// Returns whether `ends` says yes of each use of `value`; where it says nothing, of each use of
/// what the reader makes of it.
static bool endsInAll(Value value, llvm::function_ref<std::optional<bool>(OpOperand &)> ends,
                      unsigned depth = 0) {
  constexpr unsigned kMostSteps = 12;
  return depth < kMostSteps &&
         llvm::all_of(
             value.getUses(),
             [&](OpOperand &use) {
               Operation *user = use.getOwner();
               if (auto structured = dyn_cast<linalg::LinalgOp>(user)) {
                 BlockArgument argument = structured.getMatchingBlockArgument(&use);
                 return structured.getNumReductionLoops() == 0 &&
                        endsInAll(argument, ends, depth + 1);
               }
               if (isa<linalg::YieldOp>(user))
                 return endsInAll(user->getParentOp()->getResult(use.getOperandNumber()), ends,
                                  depth + 1);
               if (getFloatMeaning(user).kind == Kind::Move)
                 return endsInAll(user->getResult(0), ends, depth + 1);
               std::optional<bool> known = ends(use);
               return known ? *known : endsInAll(user->getResult(0), ends, depth + 1);
             });
}

//===-- divisors ------------------------------------------------------------------------------===//

/// Says of a reader of an infinite value whether that only divides, perhaps with something added.
static std::optional<bool> endsAsDivisor(OpOperand &use) {
  Operation *user = use.getOwner();
  FloatMeaning meaning = getFloatMeaning(user);
  if (meaning.kind == Kind::Unary)
    return meaning.unary == UnaryFn::Reciprocal;
  if (meaning.kind != Kind::Binary)
    return false;
  if (meaning.binary == BinaryFn::Div)
    return use.getOperandNumber() == meaning.operands[1] &&
           use.get() != user->getOperand(meaning.operands[0]);
  return meaning.binary == BinaryFn::Add ? std::nullopt : std::optional<bool>(false);
}

//===-- arms ----------------------------------------------------------------------------------===//

/// Returns whether `arm` of a selection reads `function`, a value of one argument, nowhere but at
/// `argument`.
static bool readsOnlyAt(const ValueNumbering &values, const View &arm, NodeId function,
                        const View &argument, unsigned depth = 0) {
  constexpr unsigned kMostSteps = 12;
  if (!arm || depth == kMostSteps)
    return false;
  if (arm.node < function)
    return true; // made before
  const ValueNode &node = values.get(arm);
  if (arm.node == function)
    return values.compose(arm, node.operands[0]) == argument;
  using K = ValueNode::Kind;
  return llvm::is_contained({K::Unary, K::Binary, K::Cast, K::Clamp, K::Select}, node.kind) &&
         llvm::all_of(node.operands, [&](const View &operand) {
           return readsOnlyAt(values, values.compose(arm, operand), function, argument, depth + 1);
         });
}

/// Returns what x is at most where `condition`, a comparison of x with a constant, is or is not
/// true, and x; no view if it does not say.
static std::pair<View, double> upperBound(const ValueNumbering &values, const View &condition,
                                          bool isTrue) {
  const ValueNode &comparison = values.get(condition);
  if (!condition || comparison.kind != ValueNode::Kind::Compare)
    return {};
  using P = arith::CmpFPredicate;
  bool isGreater = llvm::is_contained({P::OGT, P::UGT, P::OGE, P::UGE}, comparison.predicate);
  bool isLess = llvm::is_contained({P::OLT, P::ULT, P::OLE, P::ULE}, comparison.predicate);
  for (unsigned side : {0u, 1u})
    if (auto bound = values.constantOf(comparison.operands[1 - side].node);
        bound && (isGreater || isLess) && isLess == (side == 0 ? isTrue : !isTrue))
      return {values.compose(condition, comparison.operands[side]), *bound};
  return {};
}

bool mlir::mp::mayOverflowForReaders(Operation *op, ModuleRanges &ranges) {
  FloatMeaning meaning = getFloatMeaning(op);
  Value argument = op->getOperand(meaning.operands[0]), result = op->getResult(0);
  const auto &facts = ranges.lookup(argument).facts;
  if (facts.isBottom() || !mayOverflow(meaning.unary, facts.range) ||
      endsInAll(result, endsAsDivisor))
    return false;
  auto function = op->getParentOfType<FunctionOpInterface>();
  if (!function)
    return true;
  const ValueNumbering &values = ranges.getNumbering(function);
  View view = values.lookup(result);
  if (!view || values.get(view).kind != ValueNode::Kind::Unary)
    return true;
  return !endsInAll(result, [&](OpOperand &use) -> std::optional<bool> {
    FloatMeaning reader = getFloatMeaning(use.getOwner());
    if (reader.kind == Kind::Unary || reader.kind == Kind::Binary)
      return std::nullopt;
    if (reader.kind != Kind::Select)
      return false;
    bool isYes = use.getOperandNumber() == reader.operands[0];
    auto [x, bound] =
        upperBound(values, values.lookup(use.getOwner()->getOperand(0)), /*isTrue=*/isYes);
    return x && !mayOverflow(meaning.unary, {-HUGE_VAL, bound}) &&
           readsOnlyAt(values, values.lookup(use.get()), view.node, x);
  });
}
