// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise ops, reductions and constants. Moves and contractions stand in TensorMoves.cpp, the
// TOSA spelling in TensorWriterTosa.cpp.

#include "TensorWriter.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp::test;

Value TensorWriter::create(StringRef name, ValueRange operands, Type type,
                           ArrayRef<NamedAttribute> attributes) {
  OperationState state(loc, name, operands, type, attributes);
  return builder.create(state)->getResult(0);
}

/// Makes a constant: a number, or a tensor of it.
static Value numberOf(OpBuilder &builder, Location loc, double number, Type type) {
  TypedAttr attribute = builder.getFloatAttr(getElementTypeOrSelf(type), number);
  if (auto shaped = dyn_cast<RankedTensorType>(type))
    attribute = DenseElementsAttr::get(shaped, attribute);
  return arith::ConstantOp::create(builder, loc, attribute);
}

/// Writes the op of arith or math, of scalars or of tensors.
static Value emitScalar(OpBuilder &builder, Location loc, Fn fn, ValueRange x) {
  auto op = [&](StringRef name, ValueRange operands) {
    OperationState state(loc, name, operands, x[0].getType());
    return builder.create(state)->getResult(0);
  };
  switch (fn) {
  case Fn::Neg: return op("arith.negf", x);
  case Fn::Abs: return op("math.absf", x);
  case Fn::Exp: return op("math.exp", x);
  case Fn::Exp2: return op("math.exp2", x);
  case Fn::Log: return op("math.log", x);
  case Fn::Log1p: return op("math.log1p", x);
  case Fn::Sqrt: return op("math.sqrt", x);
  case Fn::Rsqrt: return op("math.rsqrt", x);
  case Fn::Square: return op("arith.mulf", {x[0], x[0]});
  case Fn::Tanh: return op("math.tanh", x);
  case Fn::Erf: return op("math.erf", x);
  case Fn::Sin: return op("math.sin", x);
  case Fn::Floor: return op("math.floor", x);
  case Fn::Ceil: return op("math.ceil", x);
  case Fn::Round: return op("math.roundeven", x);
  case Fn::Add: return op("arith.addf", x);
  case Fn::Sub: return op("arith.subf", x);
  case Fn::Mul: return op("arith.mulf", x);
  case Fn::Div: return op("arith.divf", x);
  case Fn::Max: return op("arith.maximumf", x);
  case Fn::Min: return op("arith.minimumf", x);
  case Fn::MaxNum: return op("arith.maxnumf", x);
  case Fn::MinNum: return op("arith.minnumf", x);
  case Fn::Pow: return op("math.powf", x);
  case Fn::Rem: return op("arith.remf", x);
  case Fn::CopySign: return op("math.copysign", x);
  case Fn::Reciprocal:
  case Fn::Sigmoid: break; // made of others
  }
  llvm_unreachable("unknown function");
}

/// Maps to the loops `kept`, counted from the last if loops are permuted.
AffineMap TensorWriter::loops(unsigned rank, ArrayRef<int64_t> kept) {
  SmallVector<AffineExpr> results;
  for (int64_t dim : kept)
    results.push_back(builder.getAffineDimExpr(permuted ? rank - 1 - dim : dim));
  return AffineMap::get(rank, 0, results, builder.getContext());
}

SmallVector<utils::IteratorType> TensorWriter::iterators(unsigned rank, ArrayRef<int64_t> reduced) {
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  for (int64_t dim : reduced)
    kinds[permuted ? rank - 1 - dim : dim] = utils::IteratorType::reduction;
  return kinds;
}

static TensorWriter::Dims allDims(int64_t rank) { return llvm::to_vector(llvm::seq(rank)); }

static TensorWriter::Dims dimsWithout(int64_t rank, ArrayRef<int64_t> left) {
  TensorWriter::Dims dims = allDims(rank);
  llvm::erase_if(dims, [&](int64_t dim) { return llvm::is_contained(left, dim); });
  return dims;
}

Value TensorWriter::empty(Value like, ArrayRef<int64_t> dims, Type format) {
  Dims shape;
  SmallVector<Value> dynamic;
  for (int64_t dim : dims) {
    shape.push_back(typeOf(like).getDimSize(dim));
    if (ShapedType::isDynamic(shape.back()))
      dynamic.push_back(tensor::DimOp::create(builder, loc, like, dim));
  }
  return tensor::EmptyOp::create(builder, loc, RankedTensorType::get(shape, format), dynamic);
}

Value TensorWriter::filled(double number, Value like, ArrayRef<int64_t> dims, FloatType format) {
  Value scalar = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(format, number));
  Value out = empty(like, dims, format);
  return linalg::FillOp::create(builder, loc, scalar, out).getResult(0);
}

Value TensorWriter::splat(double number, Value like, FloatType format) {
  if (spelling == Spelling::Tosa)
    return tosaNumber(number, like, format);
  if (typeOf(like).hasStaticShape())
    return numberOf(builder, loc, number, typeOf(like).clone(format));
  return filled(number, like, allDims(typeOf(like).getRank()), format);
}

Value TensorWriter::generic(ArrayRef<Operand> operands, FloatType format, Type result, Emit emit) {
  SmallVector<Value> inputs;
  for (const Operand &operand : operands)
    if (operand.value)
      inputs.push_back(operand.value);
  unsigned rank = typeOf(inputs[0]).getRank();
  Value out = empty(inputs[0], allDims(rank), result);
  SmallVector<AffineMap> maps(inputs.size() + 1, loops(rank, allDims(rank)));
  auto body = [&](OpBuilder &inner, Location at, ValueRange arguments) {
    SmallVector<Value> values;
    for (const Operand &operand : operands) {
      if (operand.value) {
        values.push_back(arguments.front());
        arguments = arguments.drop_front();
      } else {
        values.push_back(numberOf(inner, at, operand.number, format));
      }
    }
    linalg::YieldOp::create(inner, at, emit(inner, values));
  };
  return linalg::GenericOp::create(builder, loc, out.getType(), inputs, out, maps,
                                   iterators(rank, {}), body)
      .getResult(0);
}

Value TensorWriter::elementwise(ArrayRef<Operand> operands, Type result, Emit emit) {
  Value first;
  FloatType format = nullptr; // of numbers: that of the tensors they meet
  for (const Operand &operand : operands) {
    if (!operand.value)
      continue;
    first = first ? first : operand.value;
    if (auto element = dyn_cast<FloatType>(typeOf(operand.value).getElementType()))
      format = element;
  }
  format = format ? format : builder.getF32Type();
  if (spelling == Spelling::Generic)
    return generic(operands, format, result ? result : format, emit);
  Dims shape = shapeOf(first);
  for (const Operand &operand : operands)
    if (operand.value)
      for (auto [size, other] : llvm::zip_equal(shape, shapeOf(operand.value)))
        size = size == 1 ? other : size;
  SmallVector<Value> values;
  for (const Operand &operand : operands) {
    Value value = operand.value ? operand.value : splat(operand.number, first, format);
    values.push_back(spelling == Spelling::Tosa ? broadcastTo(value, shape) : value);
  }
  return emit(builder, values);
}

Value TensorWriter::apply(Fn fn, ArrayRef<Operand> operands) {
  if (spelling == Spelling::Tosa)
    if (Value value = applyTosa(fn, operands))
      return value;
  if (fn == Fn::Reciprocal)
    return div(1.0, operands[0]);
  if (fn == Fn::Sigmoid)
    return div(1.0, add(exp(neg(operands[0].value)), 1.0));
  return elementwise(operands, nullptr, [&](OpBuilder &inner, ValueRange values) {
    return emitScalar(inner, loc, fn, values);
  });
}

Value TensorWriter::compare(Predicate predicate, Operand x, Operand y) {
  return elementwise({x, y}, builder.getI1Type(), [&](OpBuilder &inner, ValueRange v) -> Value {
    return arith::CmpFOp::create(inner, loc, predicate, v[0], v[1]);
  });
}

Value TensorWriter::select(Value condition, Operand yes, Operand no) {
  return elementwise({condition, yes, no}, nullptr, [&](OpBuilder &inner, ValueRange v) -> Value {
    return arith::SelectOp::create(inner, loc, v[0], v[1], v[2]);
  });
}

Value TensorWriter::cast(Value x, FloatType format) {
  FloatType from = formatOf(x);
  if (from == format)
    return x;
  StringRef name = format.getWidth() > from.getWidth() ? "arith.extf" : "arith.truncf";
  return elementwise({x}, format, [&](OpBuilder &inner, ValueRange values) {
    Type type = format;
    if (auto shaped = dyn_cast<RankedTensorType>(values[0].getType()))
      type = shaped.clone(format);
    OperationState state(loc, name, values, type);
    return inner.create(state)->getResult(0);
  });
}

Value TensorWriter::constant(ArrayRef<int64_t> shape, ArrayRef<double> numbers) {
  SmallVector<float> values(numbers.begin(), numbers.end());
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  auto attribute = DenseElementsAttr::get(type, ArrayRef<float>(values));
  if (spelling == Spelling::Tosa)
    return create("tosa.const", {}, type, builder.getNamedAttr("values", attribute));
  return arith::ConstantOp::create(builder, loc, attribute);
}

Value TensorWriter::integers(ArrayRef<int64_t> shape, ArrayRef<int32_t> numbers) {
  auto type = RankedTensorType::get(shape, builder.getI32Type());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, numbers));
}

static double neutralOf(Fn combiner) {
  switch (combiner) {
  case Fn::Add: return 0;
  case Fn::Mul: return 1;
  case Fn::Max:
  case Fn::MaxNum: return -std::numeric_limits<double>::infinity();
  default: return std::numeric_limits<double>::infinity();
  }
}

Value TensorWriter::reduce(Fn combiner, Value x, ArrayRef<int64_t> dims,
                           std::optional<double> init) {
  if (spelling == Spelling::Tosa) {
    Value result = reduceTosa(combiner, x, dims);
    return init ? apply(combiner, {result, *init}) : result;
  }
  int64_t rank = typeOf(x).getRank();
  Dims kept = dimsWithout(rank, dims);
  Value out = filled(init.value_or(neutralOf(combiner)), x, kept, formatOf(x));
  auto body = [&](OpBuilder &inner, Location at, ValueRange arguments) {
    linalg::YieldOp::create(inner, at, emitScalar(inner, at, combiner, arguments));
  };
  if (spelling == Spelling::Tensor)
    return linalg::ReduceOp::create(builder, loc, x, out, dims, body).getResult(0);
  return linalg::GenericOp::create(builder, loc, out.getType(), x, out,
                                   ArrayRef{loops(rank, allDims(rank)), loops(rank, kept)},
                                   iterators(rank, dims), body)
      .getResult(0);
}

Value TensorWriter::spread(Value statistic, Value like, ArrayRef<int64_t> dims) {
  int64_t rank = typeOf(like).getRank();
  if (spelling == Spelling::Tosa) {
    Dims shape = shapeOf(like);
    for (int64_t dim : dims)
      shape[dim] = 1;
    return reshape(statistic, shape);
  }
  if (dims.empty())
    return statistic;
  Value out = empty(like, allDims(rank), formatOf(statistic));
  if (spelling == Spelling::Tensor)
    return linalg::BroadcastOp::create(builder, loc, statistic, out, dims)->getResult(0);
  return linalg::GenericOp::create(
             builder, loc, out.getType(), statistic, out,
             ArrayRef{loops(rank, dimsWithout(rank, dims)), loops(rank, allDims(rank))},
             iterators(rank, {}),
             [](OpBuilder &inner, Location at, ValueRange arguments) {
               linalg::YieldOp::create(inner, at, arguments[0]);
             })
      .getResult(0);
}
