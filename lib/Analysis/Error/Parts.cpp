// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts elements of parts. A tensor that is x in a share p of its elements, and zero in the
// others, has the root mean square of x times the root of p, and so has its error.

#include "Parts.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;

static std::optional<double> countOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() == 0)
    return std::nullopt;
  return double(type.getNumElements());
}

SmallVector<Part, 4> mlir::mp::partsOf(Operation *op) {
  if (!isa<tensor::ConcatOp, tosa::ConcatOp, tensor::InsertSliceOp, tensor::PadOp, tosa::PadOp>(op))
    return {};
  auto all = countOf(op->getResult(0));
  auto first = op->getNumOperands() > 0 ? countOf(op->getOperand(0)) : std::nullopt;
  if (!all || !first)
    return {};
  double share = *first / *all;
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return {{insert.getSource(), share}, {insert.getDest(), 1 - share}};
  if (auto pad = dyn_cast<tosa::PadOp>(op))
    return {{pad.getInput1(), share}, {pad.getPadConst(), 1 - share}};
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value number = pad.getConstantPaddingValue();
    if (!number || !matchPattern(number, m_AnyZeroFloat()))
      return {};
    return {{pad.getSource(), share}, {Value(), 1 - share}};
  }
  SmallVector<Part, 4> parts;
  for (Value operand : op->getOperands()) {
    auto count = countOf(operand);
    if (!count)
      return {};
    parts.push_back({operand, *count / *all});
  }
  return parts;
}

static ErrorSignal zeros() {
  ErrorSignal signal;
  signal.isMade = signal.isZero = true;
  return signal;
}

std::optional<ErrorSignal> mlir::mp::putTogether(ArrayRef<Part> parts,
                                                 llvm::function_ref<ErrorSignal(Value)> signalOf) {
  if (parts.empty())
    return std::nullopt;
  double squares = 0, means = 0, largest = -1;
  bool isNonNegative = true, isNonPositive = true, isZero = true, isMade = true;
  ErrorSignal whole;
  for (const Part &part : parts) {
    ErrorSignal signal = part.value ? signalOf(part.value) : zeros();
    if (signal.isMade && !signal.isZero)
      return std::nullopt;
    double square = part.share > 0 ? part.share * signal.rms * signal.rms : 0;
    if (square > largest)
      whole = signal;
    largest = std::max(largest, square);
    squares += square;
    means += part.share * signal.rms * signal.getMeanShare();
    isZero &= signal.isZero;
    isMade &= signal.isMade;
    isNonNegative &= signal.nonNegative || signal.isZero;
    isNonPositive &= signal.nonPositive || signal.isZero;
  }
  whole.rms = std::sqrt(squares);
  whole.isZero = isZero;
  whole.isMade = isMade;
  whole.nonNegative = isNonNegative;
  whole.nonPositive = isNonPositive;
  double mean = whole.rms > 0 ? std::min(means / whole.rms, 1.0) : 1;
  (isNonNegative || isNonPositive ? whole.share : whole.offset) = mean;
  return whole;
}
