// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Analysis/ErrorModel.h"
#include "ErrorSignals.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/Parameters.h"
#include "mp/Analysis/ReductionLength.h"
#include "mp/Analysis/Selections.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Interfaces/FloatRangeOpInterface.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

using namespace mlir;
using namespace mlir::mp;
namespace domains = ::mp::domains;
using domains::BinaryFn;
using domains::ReduceFn;
using Kind = FloatMeaning::Kind;

namespace mlir::mp {

/// One sweep forwards that notes slopes, and one backwards along them.
class ErrorModelBuilder {
public:
  ErrorModelBuilder(ErrorModel &model, FunctionOpInterface function) {
    for (BlockArgument argument : function.getArguments())
      set(argument, ofArgument(function, argument));
    visit(function.getFunctionBody());
    for (Block &block : function.getFunctionBody())
      if (block.getTerminator()->hasTrait<OpTrait::ReturnLike>())
        for (Value result : block.getTerminator()->getOperands()) {
          double size = signals.lookup(result).rms;
          model.known &= !getFloatFormat(result.getType()) || matchPattern(result, m_Constant()) ||
                         (std::isfinite(size) && size > 0);
          if (size > 0)
            model.amplification[result] += 1 / (size * size);
        }
    for (const Slope &slope : llvm::reverse(slopes))
      if (double behind = model.amplification.lookup(slope.to); behind > 0)
        model.amplification[slope.from] += slope.squared * behind;
    for (auto &[value, signal] : signals)
      model.rms[value] = signal.rms;
  }

private:
  struct Slope {
    Value from, to;
    double squared;
  };

  static ErrorSignal ofArgument(FunctionOpInterface function, BlockArgument argument) {
    unsigned index = argument.getArgNumber();
    if (auto range = function.getArgAttrOfType<ArrayAttr>(index, kRangeAttrName))
      return ErrorSignal::between(cast<FloatAttr>(range[0]).getValueAsDouble(),
                                  cast<FloatAttr>(range[1]).getValueAsDouble());
    ErrorSignal signal{1};
    signal.isParameter = !whyParameter(function, index).empty();
    return signal;
  }

  void set(Value value, const ErrorSignal &signal) {
    if (getFloatFormat(value.getType()))
      signals[value] = signal;
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
    if (llvm::none_of(op->getResultTypes(), getFloatFormat))
      return;
    if (getOpClass(op) == OpClass::TensorCore)
      return visitContraction(op);
    FloatMeaning meaning = getFloatMeaning(op);
    if (meaning.kind == Kind::Structured)
      return visitStructured(cast<linalg::LinalgOp>(op));
    for (Value result : op->getResults())
      if (getFloatFormat(result.getType()))
        visitOne(op, meaning, result);
  }

  /// What goes in comes out; errors made in a loop count as often as it runs (by the caller).
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
        for (auto [from, to] : llvm::zip(floatsOf(block.getTerminator()->getOperands()),
                                         floatsOf(op->getResults())))
          link(from, to, signals.lookup(from));
    }
  }

  static SmallVector<Value> floatsOf(ValueRange values) {
    return llvm::to_vector(
        llvm::make_filter_range(values, [](Value value) { return bool(getFloatFormat(value.getType())); }));
  }

  /// Factors of the size of parameters are as initialisers make them: 1 / sqrt(products).
  void visitContraction(Operation *op) {
    auto interface = cast<PrecisionOpInterface>(op);
    double products = double(getReductionLength(op).value_or(1024));
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
      return signal.isParameter ? signal.rms / std::sqrt(products) : signal.rms;
    };
    for (Value factor : factors)
      size *= sizeOf(factor);
    double product = std::sqrt(products) * size, sum = product;
    for (Value value : added)
      sum = std::hypot(sum, signals.lookup(value).rms);
    for (Value result : op->getResults()) {
      set(result, {sum});
      for (Value factor : factors)
        if (double own = sizeOf(factor); own > 0)
          link(factor, result, products * (size / own) * (size / own));
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
      }
    for (Operation &inner : body->without_terminator())
      visit(&inner);
    bool reduces = op.getNumReductionLoops() > 0;
    for (auto [index, result] : llvm::enumerate(op->getResults())) {
      Value yielded = body->getTerminator()->getOperand(index);
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
                     countReduced(op).value_or(1024));
    }
  }

  void visitReduction(ReduceFn fn, Value x, Value result, int64_t count) {
    ErrorSignal signal = signals.lookup(x);
    switch (fn) {
    case ReduceFn::Sum:
    case ReduceFn::Product:
      set(result, signal.summed(count));
      link(x, result, double(count));
      return;
    case ReduceFn::Mean:
      set(result, signal.summed(count).scaled(1 / double(count)));
      link(x, result, 1 / double(count));
      return;
    default:
      signal.isMaximum = fn == ReduceFn::Max;
      set(result, signal);
      link(x, result);
    }
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
      BinaryImage image = areSame(operand(0), operand(1)) && meaning.binary == BinaryFn::Mul
                              ? squareOf(signal(0))
                              : applyBinary(meaning.binary, signal(0), signal(1));
      set(result, image.signal);
      link(operand(0), result, image.slopes[0] * image.slopes[0]);
      return link(operand(1), result, image.slopes[1] * image.slopes[1]);
    }
    case Kind::Fma: {
      BinaryImage product = applyBinary(BinaryFn::Mul, signal(0), signal(1));
      set(result, applyBinary(BinaryFn::Add, product.signal, signal(2)).signal);
      link(operand(0), result, product.slopes[0] * product.slopes[0]);
      link(operand(1), result, product.slopes[1] * product.slopes[1]);
      return link(operand(2), result);
    }
    case Kind::Reduction: {
      auto type = cast<ShapedType>(operand(0).getType());
      int64_t count = 1;
      for (int64_t dim : meaning.dims)
        count *= type.isDynamicDim(dim) ? 1024 : type.getDimSize(dim);
      return visitReduction(meaning.reduce, operand(0), result, count);
    }
    case Kind::Softmax: {
      auto type = cast<ShapedType>(operand(0).getType());
      int64_t dim = meaning.dims[0], count = type.isDynamicDim(dim) ? 1024 : type.getDimSize(dim);
      ErrorSignal image = signal(0).softmax(count);
      set(result, image);
      return link(operand(0), result, image.rms * image.rms);
    }
    case Kind::Merge:
      if (auto extremum = getSelectedExtremum(op)) {
        BinaryImage image = applyBinary(*extremum, signal(0), signal(1));
        set(result, image.signal);
        link(operand(0), result, image.slopes[0] * image.slopes[0]);
        return link(operand(1), result, image.slopes[1] * image.slopes[1]);
      }
      [[fallthrough]];
    default: {
      // Moves, merges, casts, and what is not understood: errors come through as they are.
      ErrorSignal largest;
      for (Value value : floatsOf(op->getOperands())) {
        ErrorSignal from = signals.lookup(value);
        largest = from.rms >= largest.rms ? from : largest;
        link(value, result);
      }
      return set(result, largest);
    }
    }
  }

  /// One value, or two reads of the same element by a body.
  bool areSame(Value a, Value b) const {
    auto x = reads.find(a), y = reads.find(b);
    return a == b || (x != reads.end() && y != reads.end() && x->second == y->second);
  }

  DenseMap<Value, ErrorSignal> signals;
  DenseMap<Value, std::pair<Value, AffineMap>> reads; ///< arguments of bodies: of what, through which map
  std::vector<Slope> slopes; ///< in program order
  UnaryImages known;
};

} // namespace mlir::mp

ErrorModel::ErrorModel(FunctionOpInterface function) { ErrorModelBuilder(*this, function); }

double ErrorModel::getAmplification(Operation *op) const {
  double sum = 0;
  for (Value result : op->getResults()) {
    double size = rms.lookup(result);
    sum += size * size * amplification.lookup(result);
  }
  return sum;
}

double ErrorModel::getUnderflow(Operation *contraction, FloatType format) const {
  // Half of the spacing at most, uniformly; but zero is no further off than the whole value.
  double spacing = APFloat::getSmallest(format.getFloatSemantics()).convertToDouble(), sum = 0;
  auto interface = cast<PrecisionOpInterface>(contraction);
  for (OpOperand &operand : contraction->getOpOperands())
    if (double size = rms.lookup(operand.get());
        size > 0 && interface.getOperandRole(operand.getOperandNumber()) == OperandRole::Factor)
      sum += std::min(spacing * spacing / (12 * size * size), 1.0);
  return sum;
}
