// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TensorWriter.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mlir::mp::test;

Value TensorWriter::tosaNumber(double number, Value like, FloatType format) {
  auto type = RankedTensorType::get(Dims(typeOf(like).getRank(), 1), format);
  auto values = DenseElementsAttr::get(type, builder.getFloatAttr(format, number));
  return create("tosa.const", {}, type, builder.getNamedAttr("values", values));
}

Value TensorWriter::tosaShape(ArrayRef<int64_t> sizes) {
  auto values = builder.getIndexTensorAttr(sizes);
  return create("tosa.const_shape", {}, tosa::shapeType::get(builder.getContext(), sizes.size()),
                builder.getNamedAttr("values", values));
}

Value TensorWriter::zeroPoint(FloatType format) {
  auto type = RankedTensorType::get({1}, format);
  auto values = DenseElementsAttr::get(type, builder.getFloatAttr(format, 0));
  return create("tosa.const", {}, type, builder.getNamedAttr("values", values));
}

NamedAttribute TensorWriter::nanMode(Fn fn) {
  auto mode = fn == Fn::MaxNum || fn == Fn::MinNum ? tosa::NanPropagationMode::IGNORE
                                                   : tosa::NanPropagationMode::PROPAGATE;
  return builder.getNamedAttr("nan_mode",
                              tosa::NanPropagationModeAttr::get(builder.getContext(), mode));
}

Value TensorWriter::broadcastTo(Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == Dims(shape))
    return value;
  Dims multiples;
  for (auto [size, wanted] : llvm::zip_equal(shapeOf(value), shape))
    multiples.push_back(size == wanted ? 1 : wanted);
  return create("tosa.tile", {value, tosaShape(multiples)}, typeOf(value).clone(shape));
}

/// Writes TOSA's op; returns nothing where there is none.
Value TensorWriter::applyTosa(Fn fn, ArrayRef<Operand> operands) {
  Value first = llvm::find_if(operands, [](const Operand &x) { return bool(x.value); })->value;
  FloatType format = formatOf(first);
  if (format.isF64())
    return Value();
  SmallVector<Value> x;
  Dims shape = shapeOf(first);
  for (const Operand &operand : operands) {
    x.push_back(operand.value ? operand.value : tosaNumber(operand.number, first, format));
    for (auto [size, other] : llvm::zip_equal(shape, shapeOf(x.back())))
      size = size == 1 ? other : size;
  }
  auto type = RankedTensorType::get(shape, format);
  auto op = [&](StringRef name, ArrayRef<NamedAttribute> attributes = {}) {
    return create(name, x, type, attributes);
  };
  switch (fn) {
  case Fn::Neg: {
    Value zero = zeroPoint(format);
    return create("tosa.negate", {x[0], zero, zero}, type);
  }
  case Fn::Abs: return op("tosa.abs");
  case Fn::Exp: return op("tosa.exp");
  case Fn::Log: return op("tosa.log");
  case Fn::Rsqrt: return op("tosa.rsqrt");
  case Fn::Sqrt: {
    Value half = tosaNumber(0.5, first, format);
    return create("tosa.pow", {x[0], half}, type);
  }
  case Fn::Reciprocal: return op("tosa.reciprocal");
  case Fn::Square: x.push_back(x[0]); [[fallthrough]];
  case Fn::Mul: {
    auto one = RankedTensorType::get({1}, builder.getI8Type());
    auto zero = DenseElementsAttr::get(one, builder.getI8IntegerAttr(0));
    Value shift = create("tosa.const", {}, one, builder.getNamedAttr("values", zero));
    return create("tosa.mul", {x[0], x[1], shift}, type);
  }
  case Fn::Sigmoid: return op("tosa.sigmoid");
  case Fn::Tanh: return op("tosa.tanh");
  case Fn::Erf: return op("tosa.erf");
  case Fn::Sin: return op("tosa.sin");
  case Fn::Floor: return op("tosa.floor");
  case Fn::Ceil: return op("tosa.ceil");
  case Fn::Add: return op("tosa.add");
  case Fn::Sub: return op("tosa.sub");
  case Fn::Div: return apply(Fn::Mul, {x[0], apply(Fn::Reciprocal, {x[1]})});
  case Fn::Max:
  case Fn::MaxNum: return op("tosa.maximum", nanMode(fn));
  case Fn::Min:
  case Fn::MinNum: return op("tosa.minimum", nanMode(fn));
  case Fn::Pow: return op("tosa.pow");
  default: return Value();
  }
}

Value TensorWriter::clamp(Value x, double lo, double hi, Fn min) {
  bool isTosa = spelling == Spelling::Tosa && !formatOf(x).isF64();
  if (!isTosa)
    return apply(min, {apply(min == Fn::Min ? Fn::Max : Fn::MaxNum, {x, lo}), hi});
  NamedAttribute attributes[] = {
      builder.getNamedAttr("min_val", builder.getFloatAttr(formatOf(x), lo)),
      builder.getNamedAttr("max_val", builder.getFloatAttr(formatOf(x), hi)), nanMode(min)};
  return create("tosa.clamp", x, x.getType(), attributes);
}

Value TensorWriter::reduceTosa(Fn combiner, Value x, ArrayRef<int64_t> dims) {
  StringRef name = combiner == Fn::Add                             ? "tosa.reduce_sum"
                   : combiner == Fn::Mul                           ? "tosa.reduce_product"
                   : combiner == Fn::Max || combiner == Fn::MaxNum ? "tosa.reduce_max"
                                                                   : "tosa.reduce_min";
  for (int64_t dim : dims) {
    Dims shape = shapeOf(x);
    shape[dim] = 1;
    SmallVector<NamedAttribute> attributes = {
        builder.getNamedAttr("axis", builder.getI32IntegerAttr(dim))};
    if (combiner != Fn::Add && combiner != Fn::Mul)
      attributes.push_back(nanMode(combiner));
    x = create(name, x, typeOf(x).clone(shape), attributes);
  }
  return x;
}
