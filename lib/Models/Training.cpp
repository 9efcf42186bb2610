// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reverse accumulation, losses, optimizers, and the interface of a training step:
//   (parameters, moments, step count, inputs, target)
//     -> (parameters, moments, step count, loss).

#include "Training.h"
#include "LinalgBuilder.h"
#include "TosaBuilder.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;

//===--------------------------------------------------------------------------------===//
// Reverse accumulation
//===--------------------------------------------------------------------------------===//

void Tape::record(Value result, ArrayRef<Value> operands, SmallVector<Pullback> pullbacks) {
  if (llvm::none_of(operands, [&](Value v) { return isActive(v); }))
    return;
  active.insert(result);
  entries.push_back({result, llvm::to_vector(operands), std::move(pullbacks)});
}

llvm::DenseMap<Value, Value> Tape::gradients(GraphBuilder &graph, Value of, Value seed) const {
  llvm::DenseMap<Value, Value> sums;
  sums[of] = seed;
  for (const Entry &entry : llvm::reverse(entries)) {
    Value gradient = sums.lookup(entry.result);
    if (!gradient)
      continue;
    for (auto [operand, pullback] : llvm::zip_equal(entry.operands, entry.pullbacks)) {
      if (!isActive(operand))
        continue;
      Value share = pullback(gradient);
      Value &sum = sums[operand];
      sum = sum ? graph.binary(Binary::Add, sum, share) : share;
    }
  }
  return sums;
}

Value mlir::mp::sumToShape(GraphBuilder &graph, Value gradient, Value like) {
  int64_t extra = graph.rankOf(gradient) - graph.rankOf(like);
  for (int64_t axis = 0, rank = graph.rankOf(gradient); axis != rank; ++axis) {
    int64_t wanted = axis < extra ? 1 : graph.typeOf(like).getDimSize(axis - extra);
    if (wanted == 1 && graph.typeOf(gradient).getDimSize(axis) != 1)
      gradient = graph.reduce(Reduction::Sum, gradient, axis);
  }
  return extra == 0 ? gradient : graph.collapse(gradient, 0, extra + 1);
}

Value mlir::mp::unaryPullback(GraphBuilder &graph, Unary kind, Value x, Value y, Value gradient) {
  auto times = [&](Value a, Value b) { return graph.binary(Binary::Multiply, a, b); };
  auto scaled = [&](Value a, double b) { return graph.binary(Binary::Multiply, a, b); };
  auto plus = [&](Value a, double b) { return graph.binary(Binary::Add, a, b); };
  auto oneMinus = [&](Value a) { return plus(graph.unary(Unary::Negate, a), 1); };
  // exp(-x^2 * rate)
  auto bell = [&](double rate) { return graph.unary(Unary::Exp, scaled(times(x, x), -rate)); };
  switch (kind) {
  case Unary::Relu: return times(gradient, graph.unary(Unary::Step, x));
  case Unary::Gelu: {
    Value erf = graph.unary(Unary::Erf, scaled(x, 0.70710678118654752));
    Value cdf = scaled(plus(erf, 1), 0.5);
    Value density = scaled(bell(0.5), 0.39894228040143268);
    return times(gradient, graph.binary(Binary::Add, cdf, times(x, density)));
  }
  case Unary::Tanh: return times(gradient, oneMinus(times(y, y)));
  case Unary::Exp: return times(gradient, y);
  case Unary::Rsqrt: return times(gradient, scaled(times(times(y, y), y), -0.5));
  case Unary::Sqrt: return graph.binary(Binary::Divide, scaled(gradient, 0.5), y);
  case Unary::Sigmoid: return times(gradient, times(y, oneMinus(y)));
  case Unary::Sin: return times(gradient, graph.unary(Unary::Cos, x));
  case Unary::Cos: return times(gradient, graph.unary(Unary::Negate, graph.unary(Unary::Sin, x)));
  case Unary::Negate: return graph.unary(Unary::Negate, gradient);
  case Unary::Log: return graph.binary(Binary::Divide, gradient, x);
  case Unary::Erf: return times(gradient, scaled(bell(1), 1.1283791670955126));
  case Unary::Abs: return times(gradient, plus(scaled(graph.unary(Unary::Step, x), 2), -1));
  case Unary::Reciprocal: return times(gradient, graph.unary(Unary::Negate, times(y, y)));
  case Unary::Step: return scaled(gradient, 0);
  }
  llvm_unreachable("all kinds are handled");
}

//===--------------------------------------------------------------------------------===//
// Loss and optimizer
//===--------------------------------------------------------------------------------===//

static Value sumOfAll(GraphBuilder &graph, Value x) {
  Value flat = graph.rankOf(x) > 1 ? graph.collapse(x, 0, graph.rankOf(x)) : x;
  return graph.reduce(Reduction::Sum, flat, 0);
}

Value mlir::mp::meanLoss(GraphBuilder &graph, Loss loss, Value x, Value target) {
  double elements = graph.typeOf(x).getNumElements();
  if (loss == Loss::SquaredError) {
    Value error = graph.binary(Binary::Subtract, x, target);
    Value squares = graph.binary(Binary::Multiply, error, error);
    return graph.binary(Binary::Divide, sumOfAll(graph, squares), elements);
  }
  // -mean over rows of the label's log softmax.
  int64_t last = graph.rankOf(x) - 1, classes = graph.typeOf(x).getDimSize(last);
  Value shifted = graph.binary(Binary::Subtract, x, graph.reduce(Reduction::Max, x, last));
  Value sum = graph.reduce(Reduction::Sum, graph.unary(Unary::Exp, shifted), last);
  Value logits = graph.binary(Binary::Subtract, shifted, graph.unary(Unary::Log, sum));
  Value picked = graph.binary(Binary::Multiply, logits, graph.oneHot(target, classes));
  return graph.binary(Binary::Divide, sumOfAll(graph, picked), -elements / classes);
}

/// |parameter| / |direction|, or 1 where either is zero.
static Value trustRatio(GraphBuilder &graph, Value parameter, Value direction) {
  auto norm = [&](Value x) {
    return graph.unary(Unary::Sqrt, sumOfAll(graph, graph.binary(Binary::Multiply, x, x)));
  };
  Value size = norm(parameter), length = norm(direction);
  Value both = graph.binary(Binary::Multiply, graph.unary(Unary::Step, size),
                            graph.unary(Unary::Step, length));
  Value neither = graph.binary(Binary::Add, graph.unary(Unary::Negate, both), 1);
  Value ratio = graph.binary(Binary::Divide, graph.binary(Binary::Multiply, size, both),
                             graph.binary(Binary::Add, length, neither));
  return graph.binary(Binary::Add, ratio, neither);
}

OptimizerResult mlir::mp::optimize(GraphBuilder &graph, Optimizer optimizer,
                                   const OptimizerState &state, Value step) {
  auto scaled = [&](Value a, double b) { return graph.binary(Binary::Multiply, a, b); };
  // old * keep + fresh * (1 - keep)
  auto average = [&](Value old, Value fresh, double keep) {
    Value kept = scaled(old, keep);
    return graph.binary(Binary::Add, kept, scaled(fresh, 1 - keep));
  };
  double unit = std::exp2(graph.getOptions().lossExponent);
  if (optimizer == Optimizer::Sgd) {
    Value moved =
        graph.binary(Binary::Subtract, state.parameter, scaled(state.gradient, 0.05 / unit));
    return {moved, Value(), Value()};
  }
  if (optimizer == Optimizer::Momentum) {
    Value velocity = graph.binary(Binary::Add, scaled(state.first, 0.9), state.gradient);
    Value moved = graph.binary(Binary::Subtract, state.parameter, scaled(velocity, 0.02 / unit));
    return {moved, velocity, Value()};
  }
  // Adam (Kingma, Ba 2014), with bias correction.
  constexpr double rate = 1e-3, keepFirst = 0.9, keepSecond = 0.999, epsilon = 1e-8, decay = 0.01;
  Value first = average(state.first, state.gradient, keepFirst);
  Value square = graph.binary(Binary::Multiply, state.gradient, state.gradient);
  Value second = average(state.second, square, keepSecond);
  // 1 - keep^step
  auto correction = [&](double keep) {
    Value decayed = graph.unary(Unary::Exp, scaled(step, std::log(keep)));
    return graph.binary(Binary::Add, graph.unary(Unary::Negate, decayed), 1);
  };
  Value mean = graph.binary(Binary::Divide, first, correction(keepFirst));
  Value variance = graph.binary(Binary::Divide, second, correction(keepSecond));
  Value deviation = graph.binary(Binary::Add, graph.unary(Unary::Sqrt, variance), epsilon * unit);
  Value direction = graph.binary(Binary::Divide, mean, deviation);
  // Decoupled weight decay (Loshchilov, Hutter 2017); LAMB (You et al. 2019) has it too.
  if (optimizer != Optimizer::Adam)
    direction = graph.binary(Binary::Add, direction, scaled(state.parameter, decay));
  if (optimizer == Optimizer::Lamb)
    direction =
        graph.binary(Binary::Multiply, direction, trustRatio(graph, state.parameter, direction));
  return {graph.binary(Binary::Subtract, state.parameter, scaled(direction, rate)), first, second};
}

//===--------------------------------------------------------------------------------===//
// The step
//===--------------------------------------------------------------------------------===//

template <typename Base> void Training<Base>::finish(ValueRange results, Loss loss) {
  Value x = results.front();
  SmallVector<int64_t> shape(this->typeOf(x).getShape());
  SmallVector<Value> inputs = this->inputValues();
  if (loss == Loss::CrossEntropy)
    shape.pop_back();
  inputs.push_back(loss == Loss::CrossEntropy ? this->input("labels", shape, this->idType())
                                              : this->input("target", shape, this->f32()));
  Value mean = meanLoss(*this, loss, x, inputs.back());

  recording = false;
  Value seed = this->constant({std::exp2f(float(this->options.lossExponent))}, {1});
  llvm::DenseMap<Value, Value> gradients = tape.gradients(*this, mean, seed);

  Optimizer optimizer = this->options.optimizer;
  SmallVector<Value> parameters = this->parameterValues();
  auto moments = [&](StringRef prefix, bool wanted) {
    SmallVector<Value> values;
    for (Value parameter : parameters)
      values.push_back(wanted ? this->state((prefix + this->nameOf(parameter)).str(),
                                            this->typeOf(parameter).getShape())
                              : Value());
    return values;
  };
  SmallVector<Value> first = moments("m.", optimizer != Optimizer::Sgd);
  bool isAdaptive = optimizer != Optimizer::Sgd && optimizer != Optimizer::Momentum;
  SmallVector<Value> second = moments("v.", isAdaptive);
  Value count, next;
  if (isAdaptive) {
    count = this->state("step", {});
    next = this->binary(Binary::Add, count, 1);
  }

  SmallVector<Value> newParameters, newFirst, newSecond;
  for (auto [parameter, m, v] : llvm::zip_equal(parameters, first, second)) {
    OptimizerResult updated{parameter, m, v};
    if (Value gradient = gradients.lookup(parameter))
      updated = optimize(*this, optimizer, {parameter, gradient, m, v}, next);
    newParameters.push_back(updated.parameter);
    newFirst.push_back(updated.first);
    newSecond.push_back(updated.second);
  }

  SmallVector<Value> order, outcome;
  auto append = [](SmallVector<Value> &list, ArrayRef<Value> values) {
    llvm::copy_if(values, std::back_inserter(list), [](Value v) { return bool(v); });
  };
  for (ArrayRef<Value> part :
       {ArrayRef(parameters), ArrayRef(first), ArrayRef(second), ArrayRef(count), ArrayRef(inputs)})
    append(order, part);
  Value scalar = this->scalarOf(mean);
  for (ArrayRef<Value> part : {ArrayRef(newParameters), ArrayRef(newFirst), ArrayRef(newSecond),
                               ArrayRef(next), ArrayRef(scalar)})
    append(outcome, part);
  this->orderArguments(order, outcome);
  Base::finish(outcome, loss);
}

std::unique_ptr<GraphBuilder> mlir::mp::createTrainingBuilder(bool tosa, ModuleOp module,
                                                              const GraphOptions &options) {
  if (tosa)
    return std::make_unique<Training<TosaBuilder>>(module, options);
  return std::make_unique<Training<LinalgBuilder>>(module, options);
}
