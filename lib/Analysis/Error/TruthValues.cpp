// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows comparisons through conditions of conditions, and linalg.index to where it is compared
// for equality, as one_hot of labels is written.

#include "TruthValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;

static constexpr double kNormalDensity = 0.4; ///< of normal values of size 1, at 0
static constexpr unsigned kMostCompared = 64; ///< values that one condition is known to look at

SmallVector<Value> mlir::mp::floatsOf(ValueRange values) {
  return llvm::to_vector(llvm::make_filter_range(
      values, [](Value value) { return bool(getFloatFormat(value.getType())); }));
}

/// Adds one entry a value, however many ways lead to it: conditions of conditions, as of sorting by
/// selection, would multiply. Beyond some, more comparisons tell little.
static void merge(SmallVectorImpl<TruthValues::Compared> &all,
                  const TruthValues::Compared &compared) {
  auto *known = llvm::find_if(
      all, [&](const TruthValues::Compared &other) { return other.value == compared.value; });
  if (known != all.end())
    known->density = std::max(known->density, compared.density);
  else if (all.size() < kMostCompared)
    all.push_back(compared);
}

void TruthValues::visit(Operation *op, llvm::function_ref<ErrorSignal(Value)> signalOf) {
  if (op->getNumResults() == 0)
    return;
  visitPositions(op);
  SmallVector<Compared, 2> all;
  SmallVector<Value> floats = floatsOf(op->getOperands());
  double size = 0;
  for (Value value : floats)
    size = std::hypot(size, signalOf(value).rms);
  for (Value value : floats)
    if (size > 0 && !signalOf(value).isMade)
      merge(all, {value, kNormalDensity / size});
  for (Value operand : op->getOperands())
    for (const Compared &compared : getCompared(operand))
      merge(all, compared);
  if (!all.empty())
    conditions[op->getResult(0)] = std::move(all);
}

ArrayRef<TruthValues::Compared> TruthValues::getCompared(Value value) const {
  auto known = conditions.find(value);
  return known == conditions.end() ? ArrayRef<Compared>() : ArrayRef<Compared>(known->second);
}

/// Widens or moves integers, and leaves them what they are.
static bool keepsIntegers(Operation *op) {
  return isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtUIOp, arith::ExtSIOp,
             arith::TruncIOp>(op) ||
         getMovement(op) != Movement::None;
}

void TruthValues::visitPositions(Operation *op) {
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    auto around = op->getParentOfType<linalg::LinalgOp>();
    int64_t count = around ? around.getStaticLoopRanges()[index.getDim()] : ShapedType::kDynamic;
    if (!ShapedType::isDynamic(count))
      positions[index.getResult()] = count;
    return;
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    auto left = positions.find(compare.getLhs()), right = positions.find(compare.getRhs());
    bool isOne = (left != positions.end()) != (right != positions.end());
    if (isOne && compare.getPredicate() == arith::CmpIPredicate::eq)
      shares[compare.getResult()] = 1.0 / double((left != positions.end() ? left : right)->second);
    return;
  }
  if (op->getNumOperands() > 0 && op->getNumResults() == 1 && keepsIntegers(op))
    copy(op->getOperand(0), op->getResult(0));
}

void TruthValues::copy(Value from, Value to) {
  if (auto known = positions.find(from); known != positions.end())
    positions[to] = int64_t(known->second);
  if (auto known = shares.find(from); known != shares.end())
    shares[to] = double(known->second);
  if (auto known = conditions.find(from); known != conditions.end())
    conditions[to] = SmallVector<Compared, 2>(known->second);
}

double TruthValues::getShare(Value value) const {
  auto known = shares.find(value);
  return known == shares.end() ? 1 : known->second;
}
