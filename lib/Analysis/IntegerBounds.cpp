// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Analysis/IntegerBounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using ::mp::domains::Interval;

namespace {
struct Bounds {
  int64_t lo, hi;
};

class IntegerBounds {
public:
  std::optional<Bounds> visit(Value value);

private:
  std::optional<Bounds> evaluate(Operation *op);
  std::optional<Bounds> combine(Operation *op);
  /// The only `linalg.index` dimension that `op` depends on inside its body, if it is short and not being tried.
  std::optional<unsigned> findOnlyDimension(Operation *op);

  DenseMap<std::pair<Operation *, unsigned>, int64_t> tried; ///< places along dimensions of linalg ops
  unsigned visits = 0;
};
} // namespace

static constexpr unsigned kMostVisits = 1 << 16;
static constexpr int64_t kMostPlaces = 512;

/// What the type says; nothing of wide integers, which wrap. A truth value is 0 or 1 here.
static std::optional<Bounds> boundOfType(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  if (!integer || integer.getWidth() > 32)
    return std::nullopt;
  unsigned width = integer.getWidth();
  if (width == 1)
    return Bounds{0, 1};
  return Bounds{-(int64_t(1) << (width - 1)), (int64_t(1) << (width - 1)) - 1};
}

static linalg::LinalgOp getBodyOwner(Operation *op) { return dyn_cast_or_null<linalg::LinalgOp>(op->getParentOp()); }

static bool movesElements(Operation *op) {
  return isa<tosa::ReshapeOp, tosa::TransposeOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp>(op);
}

std::optional<Bounds> IntegerBounds::visit(Value value) {
  if (++visits > kMostVisits)
    return std::nullopt;
  bool isTruth = getElementTypeOrSelf(value.getType()).isInteger(1);
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) && constant.getBitWidth() <= 64) {
    int64_t number = isTruth ? constant.getZExtValue() : constant.getSExtValue();
    return Bounds{number, number};
  }
  std::optional<Bounds> known;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto structured = dyn_cast_or_null<linalg::LinalgOp>(argument.getOwner()->getParentOp());
    if (structured && structured.getNumReductionLoops() == 0)
      known = visit(structured.getMatchingOpOperand(argument)->get());
  } else if (Operation *op = value.getDefiningOp(); !isTruth) {
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (!structured)
      known = evaluate(op);
    else if (structured.getNumReductionLoops() == 0)
      known = visit(structured.getBlock()->getTerminator()->getOperand(cast<OpResult>(value).getResultNumber()));
  }
  return known ? known : boundOfType(value.getType());
}

std::optional<unsigned> IntegerBounds::findOnlyDimension(Operation *op) {
  linalg::LinalgOp owner = getBodyOwner(op);
  if (!owner)
    return std::nullopt;
  std::optional<unsigned> only;
  SmallVector<Operation *> pending = {op};
  DenseSet<Operation *> seen;
  while (!pending.empty()) {
    Operation *next = pending.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(next); index && !tried.contains({owner, index.getDim()})) {
      if (only.value_or(index.getDim()) != index.getDim())
        return std::nullopt;
      only = index.getDim();
    }
    for (Value operand : next->getOperands())
      if (Operation *before = operand.getDefiningOp(); before && before->getBlock() == op->getBlock())
        pending.push_back(before);
  }
  if (only && (owner.getStaticLoopRanges()[*only] > kMostPlaces || owner.getStaticLoopRanges()[*only] < 1))
    return std::nullopt; // a dynamic size is below zero
  return only;
}

std::optional<Bounds> IntegerBounds::evaluate(Operation *op) {
  std::optional<unsigned> dimension = findOnlyDimension(op);
  if (!dimension)
    return combine(op);
  linalg::LinalgOp owner = getBodyOwner(op);
  std::optional<Bounds> all;
  for (int64_t place = 0, size = owner.getStaticLoopRanges()[*dimension]; place < size; ++place) {
    tried[{owner, *dimension}] = place;
    std::optional<Bounds> here = combine(op);
    if (here)
      all = all ? Bounds{std::min(all->lo, here->lo), std::max(all->hi, here->hi)} : *here;
    if (!here) {
      all = std::nullopt;
      break;
    }
  }
  tried.erase({owner, *dimension});
  return all;
}

std::optional<Bounds> IntegerBounds::combine(Operation *op) {
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    linalg::LinalgOp owner = getBodyOwner(op);
    if (auto place = tried.find({owner, index.getDim()}); place != tried.end())
      return Bounds{place->second, place->second};
    int64_t size = owner.getStaticLoopRanges()[index.getDim()];
    return size > 0 ? std::optional(Bounds{0, size - 1}) : std::nullopt;
  }
  bool isWidening = isa<arith::ExtSIOp, arith::ExtUIOp, tosa::CastOp>(op);
  if (!isWidening && !movesElements(op) &&
      !isa<arith::IndexCastOp, arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp, arith::MaxSIOp, arith::SelectOp>(op))
    return std::nullopt;
  unsigned first = isa<arith::SelectOp>(op), count = op->getNumOperands() - first;
  std::optional<Bounds> x = visit(op->getOperand(first)), y = x;
  if (!movesElements(op) && count == 2)
    y = visit(op->getOperand(first + 1));
  if (!x || !y)
    return std::nullopt;
  if (isWidening) {
    Type from = getElementTypeOrSelf(op->getOperand(0).getType()), to = getElementTypeOrSelf(op->getResult(0).getType());
    if (!isa<IntegerType>(from) || !isa<IntegerType>(to) || from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
      return std::nullopt;
    if (isa<arith::ExtSIOp>(op) && from.isInteger(1))
      return Bounds{-x->hi, -x->lo};
    if (isa<arith::ExtUIOp>(op) && x->lo < 0)
      return Bounds{0, (int64_t(1) << from.getIntOrFloatBitWidth()) - 1};
    return x;
  }
  // Corners of the two intervals; nothing where one overflows.
  auto corners = [&](auto overflows) -> std::optional<Bounds> {
    std::optional<Bounds> all;
    for (int64_t a : {x->lo, x->hi})
      for (int64_t b : {y->lo, y->hi}) {
        int64_t result;
        if (overflows(a, b, result))
          return std::nullopt;
        all = all ? Bounds{std::min(all->lo, result), std::max(all->hi, result)} : Bounds{result, result};
      }
    auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(op->getResult(0).getType()));
    bool fits = !type || type.getWidth() >= 64 || (llvm::isIntN(type.getWidth(), all->lo) && llvm::isIntN(type.getWidth(), all->hi));
    return fits ? all : std::nullopt;
  };
  if (isa<arith::AddIOp>(op))
    return corners([](int64_t a, int64_t b, int64_t &r) { return llvm::AddOverflow(a, b, r); });
  if (isa<arith::SubIOp>(op))
    return corners([](int64_t a, int64_t b, int64_t &r) { return llvm::SubOverflow(a, b, r); });
  if (isa<arith::MulIOp>(op))
    return corners([](int64_t a, int64_t b, int64_t &r) { return llvm::MulOverflow(a, b, r); });
  if (isa<arith::MinSIOp>(op))
    return Bounds{std::min(x->lo, y->lo), std::min(x->hi, y->hi)};
  if (isa<arith::MaxSIOp>(op))
    return Bounds{std::max(x->lo, y->lo), std::max(x->hi, y->hi)};
  return Bounds{std::min(x->lo, y->lo), std::max(x->hi, y->hi)};
}

Interval mlir::mp::boundInteger(Value value, bool isSigned) {
  auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(value.getType()));
  std::optional<Bounds> known = IntegerBounds().visit(value);
  if (known && type && type.isInteger(1) && isSigned)
    known = Bounds{-known->hi, -known->lo};
  if (known && (isSigned || known->lo >= 0))
    return {double(known->lo), double(known->hi)};
  if (!type || type.getWidth() > 64)
    return Interval::top();
  double size = std::ldexp(1.0, type.getWidth());
  return isSigned ? Interval::symmetric(size) : Interval{0, size};
}
