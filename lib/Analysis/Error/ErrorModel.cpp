// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the variance model of a function: one sweep forwards that notes the slope of each op, and
// one backwards that accumulates amplification.

#include "mp/Analysis/Error/ErrorModel.h"
#include "ErrorSignals.h"
#include "Jumps.h"
#include "Parts.h"
#include "TruthValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/ReductionLength.h"
#include "mp/Analysis/SelectedExtrema.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Performance/Problem.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::ReduceFn;
using mpcore::performance::kAssumedSize;
using Kind = FloatMeaning::Kind;

namespace mlir::mp {

/// One sweep forwards that notes slopes, and one backwards along them.
class ErrorModelBuilder {
public:
  ErrorModelBuilder(ErrorModel &model, FunctionOpInterface function) : jumps(function) {
    ArgumentSizes sizes(function);
    for (BlockArgument argument : function.getArguments())
      set(argument, sizes.of(argument));
    visit(function.getFunctionBody());
    for (Block &block : function.getFunctionBody())
      if (block.getTerminator()->hasTrait<OpTrait::ReturnLike>())
        for (Value result : block.getTerminator()->getOperands()) {
          double size = signals.lookup(result).rms;
          bool isKnown = !getFloatFormat(result.getType()) || matchPattern(result, m_Constant()) ||
                         (std::isfinite(size) && (size > 0 || signals.lookup(result).isZero));
          if (!isKnown && model.known)
            model.unsized = firstUnsized ? firstUnsized : result;
          model.known &= isKnown;
          if (size > 0)
            model.amplification[result] += 1 / (size * size);
        }
    for (const Slope &slope : llvm::reverse(slopes)) {
      double behind = model.amplification.lookup(slope.to), flips = model.flips.lookup(slope.to);
      if (slope.isFlip) {
        model.flips[slope.from] += slope.squared * behind;
        continue;
      }
      if (behind > 0)
        model.amplification[slope.from] += slope.squared * behind;
      if (flips > 0)
        model.flips[slope.from] += std::sqrt(slope.squared) * flips;
    }
    signals.forEach([&](Value value, const ErrorSignal &signal) {
      model.rms[value] = signal.rms;
      if (signal.hasKnownWeights)
        model.knownSizes[value] = signal.known * signal.rms;
    });
  }

private:
  /// The effect of an error of `from` on `to`: slopes squared, or for flipped comparisons the mean
  /// square per error, for the number of comparisons that come out otherwise grows with the error
  /// itself.
  struct Slope {
    Value from, to;
    double squared;
    bool isFlip = false;
  };

  void set(Value value, const ErrorSignal &signal) {
    if (!getFloatFormat(value.getType()))
      return;
    signals[value] = signal;
    if (!std::isfinite(signal.rms) && !firstUnsized)
      firstUnsized = value;
  }
  void link(Value from, Value to, double squared = 1) {
    if (getFloatFormat(from.getType()) && getFloatFormat(to.getType()))
      slopes.push_back({from, to, squared});
  }
  void link(Value from, Value to, const ErrorSignal &signal) {
    link(from, to);
    set(to, signal);
  }

  void visit(Region &region) {
    for (Block &block : region)
      for (Operation &op : block)
        visit(&op);
  }

  void visit(Operation *op) {
    auto interface = dyn_cast<PrecisionOpInterface>(op);
    if (interface && interface.getTypeRule() == TypeRule::Container)
      return visitContainer(op);
    bool hasFloats = llvm::any_of(op->getResultTypes(), getFloatFormat);
    if (hasFloats && isContraction(op))
      return visitContraction(op);
    FloatMeaning meaning = getFloatMeaning(op);
    if (auto structured = dyn_cast<linalg::LinalgOp>(op);
        structured && meaning.kind == Kind::Structured)
      return visitStructured(structured);
    if (!hasFloats)
      return truths.visit(op, [&](Value value) { return signals.lookup(value); });
    for (Value result : op->getResults())
      if (getFloatFormat(result.getType()))
        visitOne(op, meaning, result);
    visitChoice(op, meaning);
  }

  /// Choices by a comparison of inexact values are otherwise here and there, by as much as the two
  /// are apart.
  void visitChoice(Operation *op, const FloatMeaning &meaning) {
    bool chooses = meaning.kind == Kind::Merge || meaning.kind == Kind::Select;
    if ((!chooses && meaning.kind != Kind::Integer) || getSelectedExtremum(op))
      return;
    SmallVector<TruthValues::Compared> all;
    for (Value operand : op->getOperands())
      llvm::append_range(all, truths.getCompared(operand));
    double jump = all.empty() ? 0 : jumps.of(op, [&](Value x) { return signals.lookup(x).rms; });
    for (auto [value, density] : all)
      slopes.push_back({value, op->getResult(0), kMeanOfNormal * density * jump * jump, true});
  }

  /// Passes errors of the operands on to the results; errors made in a loop count as often as it
  /// runs (by the caller).
  void visitContainer(Operation *op) {
    SmallVector<Value> entering;
    for (Value operand : op->getOperands())
      if (getFloatFormat(operand.getType()))
        entering.push_back(operand);
    for (Region &region : op->getRegions()) {
      SmallVector<Value> arguments;
      for (BlockArgument argument : region.getArguments())
        if (getFloatFormat(argument.getType()))
          arguments.push_back(argument);
      for (auto [from, to] : llvm::zip(entering, arguments))
        link(from, to, signals.lookup(from));
      visit(region);
      for (Block &block : region)
        for (auto [from, to] :
             llvm::zip(floatsOf(block.getTerminator()->getOperands()), floatsOf(op->getResults())))
          link(from, to, signals.lookup(from));
    }
  }

  /// Parameters are as initialisers make them, 1 / sqrt(products), unless that was said of them
  /// before.
  void visitContraction(Operation *op) {
    auto interface = cast<PrecisionOpInterface>(op);
    double products = double(getReductionLength(op).value_or(kAssumedSize));
    double size = 1;
    SmallVector<Value> factors, added;
    for (OpOperand &operand : op->getOpOperands()) {
      OperandRole role = interface.getOperandRole(operand.getOperandNumber());
      if (role == OperandRole::Factor)
        factors.push_back(operand.get());
      else if (getFloatFormat(operand.get().getType()))
        added.push_back(operand.get());
    }
    auto sizeOf = [&](Value factor) {
      const ErrorSignal &signal = signals[factor];
      return signal.isUnsized ? signal.rms / std::sqrt(products) : signal.rms;
    };
    for (Value factor : factors)
      size *= sizeOf(factor);
    // Positive weights of what was computed, such as the probabilities of attention: elements that
    // are averaged may have most in common, and then their errors, too.
    bool coheres = llvm::any_of(factors, [&](Value factor) { return signals[factor].isAverage; }) &&
                   llvm::none_of(factors, [&](Value factor) {
                     return signals[factor].isParameter || signals[factor].isMade;
                   });
    double terms = std::sqrt(products);
    if (coheres) {
      terms = products;
      for (Value factor : factors)
        terms *= signals[factor].isAverage ? signals[factor].share : 1;
      // Nothing is averaged where one weight is all there is.
      terms = std::max(terms, std::sqrt(products));
    }
    auto signalsOf = [&](ArrayRef<Value> values) {
      return llvm::map_to_vector<2>(values, [&](Value value) { return signals.lookup(value); });
    };
    ErrorSignal signal = sumOfProducts(terms * size, signalsOf(factors), signalsOf(added));
    for (Value result : op->getResults()) {
      set(result, signal);
      for (Value factor : factors)
        if (double own = sizeOf(factor); own > 0) {
          bool isWeight = coheres && signals[factor].isAverage;
          double slope = (isWeight ? std::sqrt(products) : terms) * size / own;
          link(factor, result, slope * slope);
        }
      for (Value value : added)
        link(value, result);
    }
  }

  void visitStructured(linalg::LinalgOp op) {
    Block *body = op.getBlock();
    for (OpOperand &operand : op->getOpOperands())
      if (BlockArgument argument = op.getMatchingBlockArgument(&operand)) {
        link(operand.get(), argument, signals.lookup(operand.get()));
        reads[argument] = {operand.get(), op.getMatchingIndexingMap(&operand)};
        truths.copy(operand.get(), argument);
      }
    for (Operation &inner : body->without_terminator())
      visit(&inner);
    bool reduces = op.getNumReductionLoops() > 0;
    for (auto [index, result] : llvm::enumerate(op->getResults())) {
      Value yielded = body->getTerminator()->getOperand(index);
      truths.copy(yielded, result);
      if (!reduces) {
        link(yielded, result, signals.lookup(yielded));
        continue;
      }
      // out + x, or another combiner of two: what is combined is the other operand.
      Operation *combiner = yielded.getDefiningOp();
      BlockArgument out = op.getMatchingBlockArgument(op.getDpsInitOperand(index));
      Value combined = yielded;
      if (combiner && combiner->getNumOperands() == 2)
        combined = combiner->getOperand(combiner->getOperand(0) == out ? 1 : 0);
      bool adds = isa_and_nonnull<arith::AddFOp>(combiner);
      visitReduction(adds ? ReduceFn::Sum : ReduceFn::Max, combined, result,
                     countReduced(op).value_or(kAssumedSize));
    }
  }

  void visitReduction(ReduceFn fn, Value x, Value result, int64_t count) {
    ErrorSignal signal = signals.lookup(x);
    // Elements of one sign do not cancel. Nor may their errors: those of weights, say, are the same
    // everywhere. In any case a sum is no further off than its elements, relatively.
    ErrorSignal sum = signal.summed(count);
    double terms = double(count), squared = terms;
    if (signal.getMeanShare() > 0 && signal.rms > 0) {
      double relative = (sum.rms / signal.rms) * (sum.rms / signal.rms);
      // Half way between none and all in common: those of weights are the same everywhere, and what
      // Tensor Cores cut off makes every value smaller; those of what weights meet are not.
      squared = std::min(std::pow(terms, 1.5), relative);
    }
    switch (fn) {
    case ReduceFn::Sum:
      if (signal.nonNegative) {
        sum.totalOf = sourceOf(x);
        sum.totalCount = count;
      }
      [[fallthrough]];
    case ReduceFn::Product:
      set(result, sum);
      link(x, result, squared);
      return;
    case ReduceFn::Mean:
      set(result, sum.scaled(1 / terms));
      link(x, result, squared / (terms * terms));
      return;
    default:
      signal.isMaximum = fn == ReduceFn::Max;
      set(result, signal);
      link(x, result);
    }
  }

  void setBinary(Value x, Value y, Value result, const BinaryImage &image) {
    set(result, image.signal);
    link(x, result, image.slopes[0] * image.slopes[0]);
    link(y, result, image.slopes[1] * image.slopes[1]);
  }

  void visitOne(Operation *op, const FloatMeaning &meaning, Value result) {
    auto operand = [&](unsigned i) { return op->getOperand(meaning.operands[i]); };
    auto signal = [&](unsigned i) { return signals.lookup(operand(i)); };
    Attribute constant;
    if (op->getNumOperands() == 0 && matchPattern(op, m_Constant(&constant)))
      return set(result, ErrorSignal::ofConstant(constant));
    switch (meaning.kind) {
    case Kind::Unary: {
      auto [image, slope] = known.apply(meaning.unary, signal(0));
      set(result, image);
      return link(operand(0), result, slope * slope);
    }
    case Kind::Binary: {
      BinaryImage image =
          areSame(operand(0), operand(1)) && meaning.binary == BinaryFn::Mul ? squareOf(signal(0))
          : meaning.binary == BinaryFn::Div ? known.divide(signal(0), signal(1))
                                            : applyBinary(meaning.binary, signal(0), signal(1));
      bool divides = meaning.binary == BinaryFn::Div;
      if (divides || meaning.binary == BinaryFn::Mul)
        for (unsigned of : {0u, 1u})
          if ((of == 0 || !divides) && isShareOf(signal(of), signal(1 - of), divides) &&
              signal(1 - of).totalOf == sourceOf(operand(of))) {
            image.slopes[of] *=
                std::sqrt(known.keptBySharing(signal(of), signal(1 - of).totalCount));
            image.slopes[1 - of] = 0; // that is part of what does not drop out
          }
      return setBinary(operand(0), operand(1), result, image);
    }
    case Kind::Fma: {
      BinaryImage product = applyBinary(BinaryFn::Mul, signal(0), signal(1));
      product.signal = applyBinary(BinaryFn::Add, product.signal, signal(2)).signal;
      setBinary(operand(0), operand(1), result, product);
      return link(operand(2), result);
    }
    case Kind::Reduction: {
      auto type = cast<ShapedType>(operand(0).getType());
      int64_t count = 1;
      for (int64_t dim : meaning.dims)
        count *= type.isDynamicDim(dim) ? kAssumedSize : type.getDimSize(dim);
      return visitReduction(meaning.reduce, operand(0), result, count);
    }
    case Kind::Softmax: {
      int64_t size = cast<ShapedType>(operand(0).getType()).getDimSize(meaning.dims[0]);
      int64_t count = ShapedType::isDynamic(size) ? kAssumedSize : size;
      ErrorSignal image = signal(0).softmax(count);
      set(result, image);
      double kept = known.keptBySharing(ErrorSignal::ofExponential(signal(0).rms), count);
      return link(operand(0), result, image.rms * image.rms * kept);
    }
    case Kind::Clamp: {
      auto [image, slope] = clampOf(signal(0), meaning.lo, meaning.hi);
      set(result, image);
      return link(operand(0), result, slope * slope);
    }
    case Kind::Integer: {
      ErrorSignal integer{std::sqrt(truths.getShare(op->getOperand(0)))};
      integer.isMade = integer.isCounted = true;
      return set(result, integer);
    }
    case Kind::Select:
      if (auto extremum = getSelectedExtremum(op))
        return setBinary(operand(0), operand(1), result,
                         applyBinary(*extremum, signal(0), signal(1)));
      [[fallthrough]];
    default:
      if (!visitParts(op))
        passOn(op, result, meaning.kind == Kind::Merge || meaning.kind == Kind::Select);
    }
  }

  /// Lets errors come through as they are: moves, merges, casts, and what is not understood.
  /// Constants that are chosen instead say nothing of the rest.
  void passOn(Operation *op, Value result, bool merges) {
    ErrorSignal largest;
    largest.isMade = true; // of integers
    bool chooses = false;
    for (Value value : floatsOf(op->getOperands())) {
      ErrorSignal from = signals.lookup(value);
      link(value, result);
      chooses |= from.isMade;
      if (from.isMade == largest.isMade ? from.rms >= largest.rms : largest.isMade)
        largest = from;
    }
    largest.isMasked |= merges && chooses && !largest.isMade;
    set(result, largest);
  }

  /// Tensors put together of others, each a share of the elements.
  bool visitParts(Operation *op) {
    SmallVector<Part, 4> parts = partsOf(op);
    auto whole = putTogether(parts, [&](Value value) { return signals.lookup(value); });
    if (!whole)
      return false;
    set(op->getResult(0), *whole);
    for (const Part &part : parts)
      if (part.value)
        link(part.value, op->getResult(0), part.share);
    return true;
  }

  /// Returns the operand that an argument of a body reads; other values themselves.
  Value sourceOf(Value value) const {
    auto read = reads.find(value);
    return read == reads.end() ? value : read->second.first;
  }

  /// One value, or two reads of the same element by a body.
  bool areSame(Value a, Value b) const {
    auto x = reads.find(a), y = reads.find(b);
    return a == b || (x != reads.end() && y != reads.end() && x->second == y->second);
  }

  static constexpr double kMeanOfNormal = 0.8; ///< of their magnitudes
  ErrorSignals signals;
  Value firstUnsized; ///< in program order, whose size is infinite
  DenseMap<Value, std::pair<Value, AffineMap>>
      reads;                ///< arguments of bodies: of what, through which map
  std::deque<Slope> slopes; ///< in program order
  UnaryImages known;
  TruthValues truths;
  Jumps jumps;
};

} // namespace mlir::mp

ErrorModel::ErrorModel(FunctionOpInterface function) { ErrorModelBuilder(*this, function); }
