// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns a model into one training step: the operations a model asks for are recorded with
// the derivative of each operand; finishing the model adds the loss, the gradients by
// reverse accumulation, and the optimizer.

#ifndef MP_MODELS_TRAINING_H
#define MP_MODELS_TRAINING_H

#include "mp/Models/GraphBuilder.h"
#include <functional>

namespace mlir::mp {

/// Records the computation so far, and how a gradient flows back through it.
class Tape {
public:
  /// The gradient of one operand, given that of the result.
  using Pullback = std::function<Value(Value gradient)>;

  void markActive(Value parameter) { active.insert(parameter); }
  bool isActive(Value v) const { return active.contains(v); }
  void record(Value result, ArrayRef<Value> operands, SmallVector<Pullback> pullbacks);
  /// Gradients of every active value that `of` depends on, from the gradient `seed`.
  llvm::DenseMap<Value, Value> gradients(GraphBuilder &graph, Value of, Value seed) const;

private:
  struct Entry {
    Value result;
    SmallVector<Value> operands;
    SmallVector<Pullback> pullbacks;
  };
  SmallVector<Entry> entries;
  llvm::DenseSet<Value> active;
};

/// Sums `gradient` over the axes along which `like` was broadcast.
Value sumToShape(GraphBuilder &graph, Value gradient, Value like);
/// gradient * dy/dx, where y = kind(x).
Value unaryPullback(GraphBuilder &graph, Unary kind, Value x, Value y, Value gradient);

/// Gradients of a convolution with square windows, from that of its result: what reaches the
/// image, and what reaches the weight.
Value convImageGradient(GraphBuilder &graph, Value gradient, Value x, Value weight, int64_t stride,
                        int64_t pad);
Value convWeightGradient(GraphBuilder &graph, Value gradient, Value x, Value weight, int64_t stride,
                         int64_t pad);
/// The gradient over every axis of an image but its channels.
Value sumPerChannel(GraphBuilder &graph, Value gradient);
/// Each window's gradient goes to its largest pixels, in equal parts.
Value maxPoolGradient(GraphBuilder &graph, Value gradient, Value x, Value y, int64_t kernel,
                      int64_t stride, int64_t pad);
/// Every pixel takes its part of the mean.
Value averagePoolGradient(GraphBuilder &graph, Value gradient, Value x);

/// The mean loss of `x`, one element: squared error to a target of the same shape, or cross
/// entropy with integer labels for each row of logits.
Value meanLoss(GraphBuilder &graph, Loss loss, Value x, Value target);

/// One optimizer step; the rates are those commonly taken for examples.
struct OptimizerState {
  Value parameter, gradient, first, second;
};
struct OptimizerResult {
  Value parameter, first, second;
};
/// `step` counts from 1 and is read by Adam's kin only; unused moments are null. Gradients are
/// those of 2^lossExponent times the loss, see the options of the graph.
OptimizerResult optimize(GraphBuilder &graph, Optimizer optimizer, const OptimizerState &state,
                         Value step);

/// `Base` with every differentiable operation recorded.
template <typename Base> class Training final : public Base {
public:
  using Base::Base;

  Value matmul(Value a, Value b) override {
    return taped({a, b}, [&] { return Base::matmul(a, b); },
                 {[=, this](Value g) { return Base::matmul(g, Base::transpose(b, {1, 0})); },
                  [=, this](Value g) { return Base::matmul(Base::transpose(a, {1, 0}), g); }});
  }
  Value batchMatmul(Value a, Value b) override {
    return taped(
        {a, b}, [&] { return Base::batchMatmul(a, b); },
        {[=, this](Value g) { return Base::batchMatmul(g, Base::transpose(b, {0, 2, 1})); },
         [=, this](Value g) { return Base::batchMatmul(Base::transpose(a, {0, 2, 1}), g); }});
  }
  Value conv2d(Value x, Value weight, Value bias, int64_t stride, int64_t pad) override {
    return taped(
        {x, weight, bias}, [&] { return Base::conv2d(x, weight, bias, stride, pad); },
        {[=, this](Value g) { return convImageGradient(*this, g, x, weight, stride, pad); },
         [=, this](Value g) { return convWeightGradient(*this, g, x, weight, stride, pad); },
         [=, this](Value g) { return sumPerChannel(*this, g); }});
  }
  Value maxPool(Value x, int64_t kernel, int64_t stride, int64_t pad) override {
    Value y = quietly([&] { return Base::maxPool(x, kernel, stride, pad); });
    return taped({x}, [&] { return y; }, {[=, this](Value g) {
                   return maxPoolGradient(*this, g, x, y, kernel, stride, pad);
                 }});
  }
  Value globalAveragePool(Value x) override {
    return taped({x}, [&] { return Base::globalAveragePool(x); },
                 {[=, this](Value g) { return averagePoolGradient(*this, g, x); }});
  }
  Value unary(Unary kind, Value x) override {
    Value y = quietly([&] { return Base::unary(kind, x); });
    return taped({x}, [&] { return y; },
                 {[=, this](Value g) { return unaryPullback(*this, kind, x, y, g); }});
  }
  Value binary(Binary kind, Value a, Value b) override {
    Value y = quietly([&] { return Base::binary(kind, a, b); });
    auto left = [=, this](Value g) {
      if (kind == Binary::Multiply || kind == Binary::Divide)
        g = Base::binary(kind, g, b);
      return sumToShape(*this, g, a);
    };
    auto right = [=, this](Value g) {
      if (kind == Binary::Multiply)
        g = Base::binary(kind, g, a);
      else if (kind == Binary::Divide)
        g = Base::binary(Binary::Multiply, g, Base::binary(Binary::Divide, y, b));
      if (kind == Binary::Subtract || kind == Binary::Divide)
        g = Base::unary(Unary::Negate, g);
      return sumToShape(*this, g, b);
    };
    return taped({a, b}, [&] { return y; }, {left, right});
  }
  Value binary(Binary kind, Value a, double b) override {
    return taped({a}, [&] { return Base::binary(kind, a, b); }, {[=, this](Value g) {
                   bool scales = kind == Binary::Multiply || kind == Binary::Divide;
                   return scales ? Base::binary(kind, g, b) : g;
                 }});
  }
  /// The maximum counts as a constant: it only ever shifts what softmax is invariant to.
  Value reduce(Reduction kind, Value x, int64_t axis) override {
    Value y = quietly([&] { return Base::reduce(kind, x, axis); });
    if (kind == Reduction::Max)
      return y;
    return taped({x}, [&] { return y; }, {[=, this](Value g) {
                   return Base::repeat(g, axis, Base::typeOf(x).getDimSize(axis));
                 }});
  }
  Value softmax(Value x) override {
    Value y = quietly([&] { return Base::softmax(x); });
    return taped({x}, [&] { return y; }, {[=, this](Value g) {
                   Value weighted = Base::binary(Binary::Multiply, g, y);
                   Value mean = Base::reduce(Reduction::Sum, weighted, Base::rankOf(x) - 1);
                   Value centered = Base::binary(Binary::Subtract, g, mean);
                   return Base::binary(Binary::Multiply, y, centered);
                 }});
  }
  Value causalMask(Value scores, double masked) override {
    return taped({scores}, [&] { return Base::causalMask(scores, masked); },
                 {[=, this](Value g) { return Base::causalMask(g, 0); }});
  }
  Value transpose(Value x, ArrayRef<int64_t> permutation) override {
    SmallVector<int64_t> inverse(permutation.size());
    for (auto [to, from] : llvm::enumerate(permutation))
      inverse[from] = to;
    return taped({x}, [&] { return Base::transpose(x, permutation); },
                 {[=, this](Value g) { return Base::transpose(g, inverse); }});
  }
  Value expand(Value x, int64_t axis, ArrayRef<OpFoldResult> sizes) override {
    int64_t count = sizes.size();
    return taped({x}, [&] { return Base::expand(x, axis, sizes); },
                 {[=, this](Value g) { return Base::collapse(g, axis, count); }});
  }
  Value collapse(Value x, int64_t axis, int64_t count) override {
    return taped({x}, [&] { return Base::collapse(x, axis, count); }, {[=, this](Value g) {
                   SmallVector<OpFoldResult> sizes = Base::dims(x);
                   return Base::expand(g, axis, ArrayRef(sizes).slice(axis, count));
                 }});
  }
  Value slice(Value x, int64_t axis, int64_t offset, OpFoldResult size) override {
    return taped({x}, [&] { return Base::slice(x, axis, offset, size); }, {[=, this](Value g) {
                   int64_t whole = Base::typeOf(x).getDimSize(axis),
                           part = Base::typeOf(g).getDimSize(axis);
                   return Base::padAxis(g, axis, offset, whole - offset - part);
                 }});
  }
  Value concat(Value a, Value b, int64_t axis) override {
    int64_t first = Base::typeOf(a).getDimSize(axis), second = Base::typeOf(b).getDimSize(axis);
    return taped({a, b}, [&] { return Base::concat(a, b, axis); },
                 {[=, this](Value g) { return Base::slice(g, axis, 0, Base::size(first)); },
                  [=, this](Value g) { return Base::slice(g, axis, first, Base::size(second)); }});
  }
  Value repeat(Value x, int64_t axis, int64_t times) override {
    if (times == 1)
      return x;
    return taped({x}, [&] { return Base::repeat(x, axis, times); },
                 {[=, this](Value g) { return Base::reduce(Reduction::Sum, g, axis); }});
  }
  /// The gradient of the table is a product with the one-hot rows.
  Value gather(Value table, Value ids) override {
    return taped({table}, [&] { return Base::gather(table, ids); }, {[=, this](Value g) {
                   int64_t rank = Base::rankOf(ids);
                   Value rows = Base::oneHot(ids, Base::typeOf(table).getDimSize(0));
                   if (rank > 1) {
                     rows = Base::collapse(rows, 0, rank);
                     g = Base::collapse(g, 0, rank);
                   }
                   return Base::matmul(Base::transpose(rows, {1, 0}), g);
                 }});
  }

  void finish(ValueRange results, Loss loss) override;

private:
  /// Runs `build`, whose own operations are not recorded.
  template <typename Build> Value quietly(Build build) {
    bool outer = std::exchange(recording, false);
    Value result = build();
    recording = outer;
    return result;
  }
  template <typename Build>
  Value taped(ArrayRef<Value> operands, Build build, SmallVector<Tape::Pullback> pullbacks) {
    for (Value parameter : Base::parameterValues())
      tape.markActive(parameter);
    Value result = quietly(build);
    if (recording)
      tape.record(result, operands, std::move(pullbacks));
    return result;
  }

  Tape tape;
  bool recording = true;
};

} // namespace mlir::mp

#endif // MP_MODELS_TRAINING_H
