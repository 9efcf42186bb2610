// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows the squares of an op to their roots, and finds norms whose sum of squares may leave its
// format.

#include "mp/Analysis/Scaling/NormOverflow.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Analysis/Locations.h"
#include "mp/Analysis/ReductionLength.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Numerics/Format.h"
#include <cmath>
#include <queue>

using namespace mlir;
using namespace mlir::mp;

static constexpr double kMostSummed = 0x1p31;

static double largestFinite(FloatType format) {
  return numerics::info(*numerics::formatOf(format.getFloatSemantics())).maxFinite;
}

/// Returns how many elements `op` may add up to one.
static double countSummed(Operation *op) {
  std::optional<int64_t> count = 1;
  FloatMeaning meaning = getFloatMeaning(op);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    count = countReduced(structured);
  } else if (meaning.kind == FloatMeaning::Kind::Reduction) {
    auto operand = dyn_cast<RankedTensorType>(op->getOperand(meaning.operands[0]).getType());
    count = std::nullopt;
    if (operand && !meaning.dims.empty() && !operand.isDynamicDim(meaning.dims[0]))
      count = operand.getDimSize(meaning.dims[0]);
  } else if (meaning.kind == FloatMeaning::Kind::Contraction) {
    count = getReductionLength(op);
  }
  return count ? double(std::max<int64_t>(*count, 1)) : kMostSummed;
}

/// Float tensors that a square may be of: neither constants nor destinations.
static SmallVector<OpOperand *> inputsOf(Operation *op) {
  SmallVector<OpOperand *> inputs;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  for (OpOperand &operand : op->getOpOperands())
    if (getFloatFormat(operand.get().getType()) && isa<RankedTensorType>(operand.get().getType()) &&
        !getAdaptable(operand.get()) && !(structured && structured.isDpsInit(&operand)))
      inputs.push_back(&operand);
  return inputs;
}

namespace {
/// Follows the squares of one op to their roots. Powers are in units of that of its inputs.
class Chain {
public:
  Chain(Operation *square, NormOverflow &norm, MagnitudeOf magnitude, NarrowFormatOf narrowed,
        bool computedNarrow)
      : norm(norm), narrowed(narrowed), computedNarrow(computedNarrow) {
    norm.square = square;
    double sum = 0;
    DenseSet<Value> seen;
    for (OpOperand *input : norm.inputs)
      if (seen.insert(input->get()).second)
        sum += magnitude(input->get());
    bound = sum;
  }

  /// True if it is a norm with something that overflows.
  bool follow() {
    if (!std::isfinite(bound) || bound == 0)
      return false;
    auto seed = [&](OpOperand &operand) -> int64_t {
      return llvm::is_contained(norm.inputs, &operand) ? 1 : 0;
    };
    std::optional<ExponentTransfer> first = transferExponent(norm.square, seed);
    if (!first || first->power != 2)
      return false;
    for (OpOperand *input : norm.inputs)
      require(1, bound, input);
    take(norm.square, *first, bound * bound * countSummed(norm.square));
    while (!pending.empty()) {
      Operation *op = pending.top();
      pending.pop();
      if (visited.insert(op).second)
        visit(op);
    }
    if (norm.results.empty() || half <= 0)
      return false;
    finish();
    return true;
  }

private:
  struct Earlier {
    bool operator()(Operation *a, Operation *b) const { return b->isBeforeInBlock(a); }
  };

  void refuse(const Twine &why) {
    if (norm.refusal.empty())
      norm.refusal = why.str();
  }

  /// Notes what a value of `power` that may reach `magnitude` needs.
  void require(int64_t power, double magnitude, OpOperand *use, Value value = {}) {
    FloatType format = use ? narrowed(*use) : getFloatFormat(value.getType());
    if (!format || (!use && format.getWidth() < 32 && !computedNarrow))
      return;
    // Sums round up by a little: a factor of 2 is kept.
    double limit = largestFinite(format),
           needed = std::ceil((std::log2(magnitude) - std::log2(limit) + (power > 1)) / power);
    bool overflows = magnitude > limit;
    if (!overflows || needed <= half)
      return;
    half = needed;
    norm.found = magnitude;
    norm.limit = limit;
    norm.format = format;
  }

  /// Notes what becomes of the result of `op`.
  void take(Operation *op, const ExponentTransfer &transfer, double magnitude) {
    for (auto constant : transfer.constants)
      norm.constants.push_back(constant);
    if (transfer.power == 0 || op->getNumResults() == 0 ||
        !getFloatFormat(op->getResult(0).getType()))
      return;
    OpResult result = op->getResult(0);
    if (std::abs(transfer.power) == 1) {
      norm.results.push_back({result, -transfer.power});
      return;
    }
    if (transfer.power == 2)
      require(2, magnitude, nullptr, result);
    powers[result] = transfer.power;
    magnitudes[result] = magnitude;
    for (OpOperand &use : result.getUses()) {
      if (transfer.power == 2)
        require(2, magnitude, &use);
      Operation *user = use.getOwner();
      if (user->getBlock() != op->getBlock())
        refuse("its squares are read in another block, at " + describeLocation(user->getLoc()));
      else
        pending.push(user);
    }
  }

  void visit(Operation *op) {
    double largest = 0;
    auto power = [&](OpOperand &operand) {
      largest = std::max(largest, magnitudes.lookup(operand.get()));
      return powers.lookup(operand.get());
    };
    std::optional<ExponentTransfer> transfer =
        op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions() > 1 ||
                (op->getNumRegions() == 1 && !isa<linalg::LinalgOp>(op))
            ? std::nullopt
            : transferExponent(op, power);
    if (!transfer)
      return refuse(("its squares reach '" + op->getName().getStringRef() + "' at " +
                     describeLocation(op->getLoc()) + ", which is no multiple of them")
                        .str());
    take(op, *transfer, largest * countSummed(op));
  }

  /// From units to powers of two.
  void finish() {
    norm.exponent = -half;
    for (auto &[result, power] : norm.results)
      power *= -half;
    for (auto &[constant, power] : norm.constants) {
      power *= -half;
      if (!timesPowerOfTwo(getAdaptable(constant->get()), power))
        refuse("the constant that is added at " + describeLocation(constant->getOwner()->getLoc()) +
               " leaves the normal numbers times 2^" + Twine(power));
    }
  }

  NormOverflow &norm;
  NarrowFormatOf narrowed;
  bool computedNarrow;
  double bound;
  int64_t half = 0; ///< powers of two that inputs have to lose
  llvm::DenseMap<Value, int64_t> powers;
  llvm::DenseMap<Value, double> magnitudes;
  llvm::DenseSet<Operation *> visited;
  std::priority_queue<Operation *, std::vector<Operation *>, Earlier> pending;
};
} // namespace

std::vector<NormOverflow> mlir::mp::findNormOverflows(FunctionOpInterface function,
                                                      MagnitudeOf magnitude,
                                                      NarrowFormatOf narrowed,
                                                      bool computedNarrow) {
  std::vector<NormOverflow> norms;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    NormOverflow norm;
    norm.inputs = inputsOf(op);
    if (op != function && !norm.inputs.empty() && op->getNumResults() == 1 &&
        getFloatFormat(op->getResult(0).getType()) &&
        Chain(op, norm, magnitude, narrowed, computedNarrow).follow())
      norms.push_back(std::move(norm));
    return isa<linalg::LinalgOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return norms;
}
