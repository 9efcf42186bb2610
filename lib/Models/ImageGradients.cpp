// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Derivatives of convolution and pooling. Both gradients of a convolution are convolutions of
// stride 1 again: over the gradient spread out by the stride, with turned filters; and over
// the image, with the gradient as the filter and batch and channels exchanged.

#include "Training.h"

using namespace mlir;
using namespace mlir::mp;

namespace {
/// Where the axes of an image are; filters have outputs and inputs where images have batch
/// and channels.
struct ImageAxes {
  explicit ImageAxes(GraphBuilder &graph) {
    SmallVector<int64_t> order = graph.imageShape(0, 1, 2, 3);
    channels = llvm::find(order, 1) - order.begin();
    height = llvm::find(order, 2) - order.begin();
    width = llvm::find(order, 3) - order.begin();
  }
  int64_t channels, height, width;
};
} // namespace

/// Exchanges batch and channels, or outputs and inputs.
static Value exchanged(GraphBuilder &graph, Value x) {
  SmallVector<int64_t> permutation = {0, 1, 2, 3};
  std::swap(permutation[0], permutation[ImageAxes(graph).channels]);
  return graph.transpose(x, permutation);
}

/// The axis cut or filled with zeros at its end.
static Value resized(GraphBuilder &graph, Value x, int64_t axis, int64_t size) {
  int64_t old = graph.typeOf(x).getDimSize(axis);
  if (size < old)
    return graph.slice(x, axis, 0, graph.size(size));
  return size > old ? graph.padAxis(x, axis, 0, size - old) : x;
}

/// stride - 1 zeros between neighbours along both image axes.
static Value spread(GraphBuilder &graph, Value x, int64_t stride) {
  if (stride == 1)
    return x;
  ImageAxes axes(graph);
  for (int64_t axis : {axes.height, axes.width}) {
    int64_t count = graph.typeOf(x).getDimSize(axis);
    x = graph.expand(x, axis, {graph.size(count), graph.size(1)});
    x = graph.collapse(graph.padAxis(x, axis + 1, 0, stride - 1), axis, 2);
    x = resized(graph, x, axis, (count - 1) * stride + 1);
  }
  return x;
}

static Value reversed(GraphBuilder &graph, Value x, int64_t axis) {
  Value result;
  for (int64_t i = 0, count = graph.typeOf(x).getDimSize(axis); i != count; ++i) {
    Value part = graph.slice(x, axis, i, graph.size(1));
    result = result ? graph.concat(part, result, axis) : part;
  }
  return result;
}

static Value convolved(GraphBuilder &graph, Value x, Value filter, int64_t pad) {
  int64_t outputs = graph.typeOf(filter).getDimSize(0);
  Value bias = graph.constant(std::vector<float>(outputs), {outputs});
  return graph.conv2d(x, filter, bias, /*stride=*/1, pad);
}

Value mlir::mp::convImageGradient(GraphBuilder &graph, Value gradient, Value x, Value weight,
                                  int64_t stride, int64_t pad) {
  ImageAxes axes(graph);
  int64_t kernel = graph.typeOf(weight).getDimSize(axes.height);
  Value turned = reversed(graph, reversed(graph, weight, axes.height), axes.width);
  Value result = convolved(graph, spread(graph, gradient, stride), exchanged(graph, turned),
                           kernel - 1 - pad);
  // Pixels that no window of the stride reached.
  for (int64_t axis : {axes.height, axes.width})
    result = resized(graph, result, axis, graph.typeOf(x).getDimSize(axis));
  return result;
}

Value mlir::mp::convWeightGradient(GraphBuilder &graph, Value gradient, Value x, Value weight,
                                   int64_t stride, int64_t pad) {
  ImageAxes axes(graph);
  Value filter = exchanged(graph, spread(graph, gradient, stride));
  Value result = convolved(graph, exchanged(graph, x), filter, pad);
  for (int64_t axis : {axes.height, axes.width})
    result = resized(graph, result, axis, graph.typeOf(weight).getDimSize(axis));
  return exchanged(graph, result);
}

Value mlir::mp::sumPerChannel(GraphBuilder &graph, Value gradient) {
  ImageAxes axes(graph);
  for (int64_t axis : {int64_t(0), axes.height, axes.width})
    gradient = graph.reduce(Reduction::Sum, gradient, axis);
  return graph.collapse(gradient, 0, 4);
}

/// Every pixel becomes a square of `kernel` by `kernel`.
static Value enlarged(GraphBuilder &graph, Value x, int64_t kernel) {
  ImageAxes axes(graph);
  for (int64_t axis : {axes.height, axes.width}) {
    int64_t count = graph.typeOf(x).getDimSize(axis);
    x = graph.expand(x, axis, {graph.size(count), graph.size(1)});
    x = graph.collapse(graph.repeat(x, axis + 1, kernel), axis, 2);
  }
  return x;
}

/// The sum over each square of `kernel` by `kernel`.
static Value windowSum(GraphBuilder &graph, Value x, int64_t kernel) {
  ImageAxes axes(graph);
  for (int64_t axis : {axes.height, axes.width}) {
    int64_t count = graph.typeOf(x).getDimSize(axis) / kernel;
    x = graph.expand(x, axis, {graph.size(count), graph.size(kernel)});
    x = graph.collapse(graph.reduce(Reduction::Sum, x, axis + 1), axis, 2);
  }
  return x;
}

Value mlir::mp::maxPoolGradient(GraphBuilder &graph, Value gradient, Value x, Value y,
                                int64_t kernel) {
  ImageAxes axes(graph);
  Value covered = x;
  for (int64_t axis : {axes.height, axes.width})
    covered = resized(graph, covered, axis, graph.typeOf(y).getDimSize(axis) * kernel);
  // 1 where the pixel is as large as its window's largest, else 0.
  Value below = graph.binary(Binary::Subtract, enlarged(graph, y, kernel), covered);
  Value isLargest = graph.binary(
      Binary::Add, graph.unary(Unary::Negate, graph.unary(Unary::Step, below)), 1);
  Value share = graph.binary(Binary::Divide, gradient, windowSum(graph, isLargest, kernel));
  Value result = graph.binary(Binary::Multiply, enlarged(graph, share, kernel), isLargest);
  for (int64_t axis : {axes.height, axes.width})
    result = resized(graph, result, axis, graph.typeOf(x).getDimSize(axis));
  return result;
}

Value mlir::mp::averagePoolGradient(GraphBuilder &graph, Value gradient, Value x) {
  ImageAxes axes(graph);
  ArrayRef<int64_t> shape = graph.typeOf(x).getShape();
  int64_t height = shape[axes.height], width = shape[axes.width];
  // The image axes follow the batch, or the channels.
  int64_t before = axes.height - 1;
  Value image = graph.expand(
      gradient, before,
      {graph.size(graph.typeOf(gradient).getDimSize(before)), graph.size(1), graph.size(1)});
  image = graph.repeat(graph.repeat(image, axes.height, height), axes.width, width);
  return graph.binary(Binary::Divide, image, double(height * width));
}
