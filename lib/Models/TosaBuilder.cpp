// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic and images in TOSA.

#include "TosaBuilder.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mlir::mp;

TosaBuilder::TosaBuilder(ModuleOp module, const GraphOptions &options)
    : GraphBuilder(module, options) {
  module.getContext()->loadDialect<tosa::TosaDialect>();
}

std::unique_ptr<GraphBuilder> mlir::mp::createTosaBuilder(ModuleOp module,
                                                          const GraphOptions &options) {
  return std::make_unique<TosaBuilder>(module, options);
}

//===--------------------------------------------------------------------------------===//
// Constants and shapes
//===--------------------------------------------------------------------------------===//

Value TosaBuilder::materialize(TypedAttr value) {
  return create<tosa::ConstOp>(value.getType(), cast<ElementsAttr>(value));
}

Value TosaBuilder::constant(ArrayRef<float> values, ArrayRef<int64_t> shape) {
  auto value = DenseElementsAttr::get(tensor(shape), values);
  return once(value, [&] { return materialize(value); });
}

Value TosaBuilder::splat(Attribute value, Type element, int64_t rank) {
  auto dense = DenseElementsAttr::get(tensor(SmallVector<int64_t>(rank, 1), element), value);
  return once(dense, [&] { return materialize(dense); });
}

Value TosaBuilder::shapeOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> sizes;
  for (int64_t size : shape)
    sizes.push_back(ShapedType::isDynamic(size) ? -1 : size);
  auto type = tosa::shapeType::get(builder.getContext(), sizes.size());
  auto value = DenseIntElementsAttr::get(
      RankedTensorType::get(int64_t(sizes.size()), builder.getIndexType()), sizes);
  return once(builder.getArrayAttr({TypeAttr::get(type), value}),
              [&] { return create<tosa::ConstShapeOp>(type, value); });
}

OpFoldResult TosaBuilder::dim(Value v, int64_t axis) { return size(typeOf(v).getDimSize(axis)); }

Value TosaBuilder::reshape(Value x, ArrayRef<int64_t> shape) {
  RankedTensorType type = tensor(shape, typeOf(x).getElementType());
  if (type == x.getType())
    return x;
  Value wanted = shapeOf(shape);
  return create<tosa::ReshapeOp>(type, x, wanted);
}

Value TosaBuilder::withRank(Value x, int64_t rank) {
  SmallVector<int64_t> shape(rank - rankOf(x), 1);
  llvm::append_range(shape, typeOf(x).getShape());
  return reshape(x, shape);
}

//===--------------------------------------------------------------------------------===//
// Contractions
//===--------------------------------------------------------------------------------===//

Value TosaBuilder::matmul(Value a, Value b) {
  int64_t rows = typeOf(a).getDimSize(0), columns = typeOf(b).getDimSize(1);
  Value left = withRank(a, 3), right = withRank(b, 3);
  return reshape(batchMatmul(left, right), {rows, columns});
}

Value TosaBuilder::batchMatmul(Value a, Value b) {
  ArrayRef<int64_t> left = typeOf(a).getShape(), right = typeOf(b).getShape();
  Value zero = splat(0, 1);
  return create<tosa::MatMulOp>(tensor({left[0], left[1], right[2]}), a, b, zero, zero);
}

WeightSpec TosaBuilder::convWeight(StringRef name, int64_t inputs, int64_t outputs, int64_t kernel,
                                   double scale) {
  return {name.str(), {outputs, inputs, kernel, kernel}, scale, 0, /*layout=*/{0, 2, 3, 1}};
}

std::pair<Value, SmallVector<int64_t>> TosaBuilder::exactWindows(Value x, int64_t kernel,
                                                                 int64_t stride, int64_t pad) {
  SmallVector<int64_t> pads = {pad, pad, pad, pad};
  for (int64_t image : {0, 1}) {
    int64_t extent = typeOf(x).getDimSize(1 + image);
    int64_t unused = (extent + 2 * pad - kernel) % stride;
    int64_t fromPad = std::min(unused, pad);
    pads[2 * image + 1] -= fromPad;
    if (unused > fromPad)
      x = slice(x, 1 + image, 0, size(extent - (unused - fromPad)));
  }
  return {x, pads};
}

static int64_t windows(int64_t extent, int64_t padBefore, int64_t padAfter, int64_t kernel,
                       int64_t stride) {
  return (extent + padBefore + padAfter - kernel) / stride + 1;
}

Value TosaBuilder::conv2d(Value x, Value weight, Value bias, int64_t stride, int64_t pad) {
  int64_t kernel = typeOf(weight).getDimSize(1);
  auto [image, pads] = exactWindows(x, kernel, stride, pad);
  ArrayRef<int64_t> shape = typeOf(image).getShape();
  RankedTensorType type =
      tensor({shape[0], windows(shape[1], pads[0], pads[1], kernel, stride),
              windows(shape[2], pads[2], pads[3], kernel, stride), typeOf(weight).getDimSize(0)});
  Value zero = splat(0, 1);
  return create<tosa::Conv2DOp>(type, image, weight, bias, zero, zero, pads,
                                ArrayRef<int64_t>{stride, stride}, ArrayRef<int64_t>{1, 1}, f32());
}

SmallVector<int64_t> TosaBuilder::imageShape(int64_t batch, int64_t channels, int64_t height,
                                             int64_t width) {
  return {batch, height, width, channels};
}

Value TosaBuilder::maxPool(Value x, int64_t kernel, int64_t stride, int64_t pad) {
  auto [image, pads] = exactWindows(x, kernel, stride, pad);
  ArrayRef<int64_t> shape = typeOf(image).getShape();
  RankedTensorType type = tensor({shape[0], windows(shape[1], pads[0], pads[1], kernel, stride),
                                  windows(shape[2], pads[2], pads[3], kernel, stride), shape[3]});
  return create<tosa::MaxPool2dOp>(type, image, ArrayRef<int64_t>{kernel, kernel},
                                   ArrayRef<int64_t>{stride, stride}, pads);
}

Value TosaBuilder::globalAveragePool(Value x) {
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  Value zero = splat(0, 1);
  Value mean = create<tosa::AvgPool2dOp>(
      tensor({shape[0], 1, 1, shape[3]}), x, zero, zero, ArrayRef<int64_t>{shape[1], shape[2]},
      ArrayRef<int64_t>{1, 1}, ArrayRef<int64_t>{0, 0, 0, 0}, f32());
  return reshape(mean, {shape[0], shape[3]});
}

Value TosaBuilder::imageToTokens(Value x) { return collapse(x, 1, 2); }

//===--------------------------------------------------------------------------------===//
// Elementwise
//===--------------------------------------------------------------------------------===//

Value TosaBuilder::arithmetic(Binary kind, Value a, Value b) {
  int64_t rank = std::max(rankOf(a), rankOf(b));
  a = withRank(a, rank);
  b = withRank(b, rank);
  RankedTensorType type = tensor(broadcastShape({a, b}));
  switch (kind) {
  case Binary::Add: return create<tosa::AddOp>(type, a, b);
  case Binary::Subtract: return create<tosa::SubOp>(type, a, b);
  case Binary::Multiply: {
    Value shift = splat(builder.getI8IntegerAttr(0), builder.getI8Type(), 1);
    return create<tosa::MulOp>(type, a, b, shift);
  }
  case Binary::Divide: {
    Value inverse = create<tosa::ReciprocalOp>(b.getType(), b);
    return arithmetic(Binary::Multiply, a, inverse);
  }
  }
  llvm_unreachable("all kinds are handled");
}

Value TosaBuilder::binary(Binary kind, Value a, Value b) { return arithmetic(kind, a, b); }

Value TosaBuilder::binary(Binary kind, Value a, double b) {
  if (kind == Binary::Divide)
    return arithmetic(Binary::Multiply, a, splat(1 / b, rankOf(a)));
  return arithmetic(kind, a, splat(b, rankOf(a)));
}

Value TosaBuilder::unary(Unary kind, Value x) {
  Type type = x.getType();
  switch (kind) {
  case Unary::Relu:
    return create<tosa::ClampOp>(type, x, builder.getF32FloatAttr(0),
                                 builder.getF32FloatAttr(std::numeric_limits<float>::max()));
  case Unary::Gelu: {
    Value erf = unary(Unary::Erf, binary(Binary::Multiply, x, 0.70710678118654752));
    Value cdf = binary(Binary::Multiply, binary(Binary::Add, erf, 1), 0.5);
    return binary(Binary::Multiply, x, cdf);
  }
  case Unary::Tanh: return create<tosa::TanhOp>(type, x);
  case Unary::Exp: return create<tosa::ExpOp>(type, x);
  case Unary::Rsqrt: return create<tosa::RsqrtOp>(type, x);
  case Unary::Sigmoid: return create<tosa::SigmoidOp>(type, x);
  case Unary::Sin: return create<tosa::SinOp>(type, x);
  case Unary::Cos: return create<tosa::CosOp>(type, x);
  case Unary::Negate: {
    Value zero = splat(0, 1);
    return create<tosa::NegateOp>(type, x, zero, zero);
  }
  case Unary::Log: return create<tosa::LogOp>(type, x);
  case Unary::Erf: return create<tosa::ErfOp>(type, x);
  case Unary::Abs: return create<tosa::AbsOp>(type, x);
  case Unary::Sqrt: return create<tosa::PowOp>(type, x, splat(0.5, rankOf(x)));
  case Unary::Step: {
    int64_t rank = rankOf(x);
    Value zero = splat(0, rank), one = splat(1, rank);
    RankedTensorType flags = tensor(typeOf(x).getShape(), builder.getI1Type());
    Value positive = create<tosa::GreaterOp>(flags, x, zero);
    return create<tosa::SelectOp>(type, positive, one, zero);
  }
  case Unary::Reciprocal: return create<tosa::ReciprocalOp>(type, x);
  }
  llvm_unreachable("all kinds are handled");
}

Value TosaBuilder::toFloat(Value x, bool boolean) {
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  if (boolean) {
    // The specification has no cast from i1 to f32.
    Value zero = splat(builder.getI32IntegerAttr(0), builder.getI32Type(), rankOf(x));
    RankedTensorType flags = tensor(shape, builder.getI1Type());
    Value clear = create<tosa::EqualOp>(flags, x, zero);
    Value set = create<tosa::LogicalNotOp>(flags, clear);
    x = create<tosa::CastOp>(tensor(shape, builder.getI32Type()), set);
  }
  return create<tosa::CastOp>(tensor(shape), x);
}

//===--------------------------------------------------------------------------------===//
// Along one axis
//===--------------------------------------------------------------------------------===//

Value TosaBuilder::reduce(Reduction kind, Value x, int64_t axis) {
  SmallVector<int64_t> shape(typeOf(x).getShape());
  shape[axis] = 1;
  if (kind == Reduction::Sum)
    return create<tosa::ReduceSumOp>(tensor(shape), x, uint32_t(axis));
  return create<tosa::ReduceMaxOp>(tensor(shape), x, uint32_t(axis));
}

Value TosaBuilder::iota(int64_t rank, int64_t axis, int64_t length) {
  SmallVector<int64_t> shape(rank, 1);
  shape[axis] = length;
  SmallVector<int32_t> numbers = llvm::to_vector(llvm::seq<int32_t>(0, length));
  auto value =
      DenseElementsAttr::get(tensor(shape, builder.getI32Type()), ArrayRef<int32_t>(numbers));
  return once(value, [&] { return materialize(value); });
}

Value TosaBuilder::causalMask(Value scores, double masked) {
  int64_t rank = rankOf(scores), length = typeOf(scores).getShape().back();
  Value row = iota(rank, rank - 2, length), column = iota(rank, rank - 1, length);
  RankedTensorType flags = tensor(broadcastShape({row, column}), builder.getI1Type());
  Value seen = create<tosa::GreaterEqualOp>(flags, row, column);
  return create<tosa::SelectOp>(scores.getType(), seen, scores, splat(masked, rank));
}
