// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Derivatives of convolution and pooling. Both gradients of a convolution are convolutions of
// stride 1 again: over the gradient spread out by the stride, with turned filters; and over
// the image, with the gradient as the filter and batch and channels exchanged.

#include "Training.h"

using namespace mlir;
using namespace mlir::mp;

namespace {
/// Names the axes of an image; filters have outputs and inputs where images have batch and
/// channels.
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
  Value result =
      convolved(graph, spread(graph, gradient, stride), exchanged(graph, turned), kernel - 1 - pad);
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

namespace {
/// The windows of a pooling: place (i, j) of every window is an image of the result's size.
class Windows {
public:
  Windows(GraphBuilder &graph, Value x, Value y, int64_t kernel, int64_t stride, int64_t pad)
      : graph(graph), axes(graph), image(graph.typeOf(x).getShape()),
        windows(graph.typeOf(y).getShape()), kernel(kernel), stride(stride), pad(pad) {}

  /// The image with zeros around, as far as windows reach, and in steps of whole strides.
  Value framed(Value x) const {
    for (int64_t axis : {axes.height, axes.width}) {
      if (pad)
        x = graph.padAxis(x, axis, pad, 0);
      x = resized(graph, x, axis, reach(axis));
    }
    return x;
  }
  Value place(Value framed, int64_t i, int64_t j) const {
    return everyStride(everyStride(framed, axes.height, i), axes.width, j);
  }
  /// The framed image that is zero but for these places.
  Value scattered(Value places, int64_t i, int64_t j) const {
    Value x = spread(graph, places, stride);
    for (auto [axis, offset] : {std::pair(axes.height, i), {axes.width, j}}) {
      if (offset)
        x = graph.padAxis(x, axis, offset, 0);
      x = resized(graph, x, axis, reach(axis));
    }
    return x;
  }
  /// The image without its frame.
  Value cut(Value framed) const {
    for (int64_t axis : {axes.height, axes.width}) {
      if (pad)
        framed = graph.slice(framed, axis, pad, graph.size(reach(axis) - pad));
      framed = resized(graph, framed, axis, image[axis]);
    }
    return framed;
  }
  /// Framed ones: what of the frame is image. Null where all is.
  Value inside() const {
    if (pad == 0)
      return {};
    std::vector<float> ones(image[axes.height] * image[axes.width], 1);
    return framed(
        graph.constant(ones, graph.imageShape(1, 1, image[axes.height], image[axes.width])));
  }

private:
  int64_t reach(int64_t axis) const { return kernel - 1 + windows[axis] * stride; }
  Value everyStride(Value x, int64_t axis, int64_t offset) const {
    x = graph.slice(x, axis, offset, graph.size(windows[axis] * stride));
    if (stride == 1)
      return x;
    x = graph.expand(x, axis, {graph.size(windows[axis]), graph.size(stride)});
    return graph.collapse(graph.slice(x, axis + 1, 0, graph.size(1)), axis, 2);
  }

  GraphBuilder &graph;
  ImageAxes axes;
  ArrayRef<int64_t> image, windows;
  int64_t kernel, stride, pad;
};
} // namespace

Value mlir::mp::maxPoolGradient(GraphBuilder &graph, Value gradient, Value x, Value y,
                                int64_t kernel, int64_t stride, int64_t pad) {
  Windows windows(graph, x, y, kernel, stride, pad);
  Value framed = windows.framed(x), inside = windows.inside(), count, result;
  SmallVector<Value> largest;
  for (int64_t i = 0; i != kernel; ++i)
    for (int64_t j = 0; j != kernel; ++j) {
      // 1 where the pixel is as large as its window's largest, else 0.
      Value below = graph.binary(Binary::Subtract, y, windows.place(framed, i, j));
      Value is =
          graph.binary(Binary::Add, graph.unary(Unary::Negate, graph.unary(Unary::Step, below)), 1);
      if (inside)
        is = graph.binary(Binary::Multiply, is, windows.place(inside, i, j));
      count = count ? graph.binary(Binary::Add, count, is) : is;
      largest.push_back(is);
    }
  Value share = graph.binary(Binary::Divide, gradient, count);
  for (auto [index, is] : llvm::enumerate(largest)) {
    Value part = windows.scattered(graph.binary(Binary::Multiply, share, is), index / kernel,
                                   index % kernel);
    result = result ? graph.binary(Binary::Add, result, part) : part;
  }
  return windows.cut(result);
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
