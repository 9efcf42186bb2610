// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic: contractions, elementwise operations, reductions.

#include "LinalgBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp;

LinalgBuilder::LinalgBuilder(ModuleOp module, const GraphOptions &options)
    : GraphBuilder(module, options) {
  module.getContext()
      ->loadDialect<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect, scf::SCFDialect,
                    tensor::TensorDialect>();
}

std::unique_ptr<GraphBuilder> mlir::mp::createLinalgBuilder(ModuleOp module,
                                                            const GraphOptions &options) {
  return std::make_unique<LinalgBuilder>(module, options);
}

//===--------------------------------------------------------------------------------===//
// Constants and destinations
//===--------------------------------------------------------------------------------===//

Value LinalgBuilder::materialize(TypedAttr value) { return create<arith::ConstantOp>(value); }

Value LinalgBuilder::constant(ArrayRef<float> values, ArrayRef<int64_t> shape) {
  auto value = DenseElementsAttr::get(tensor(shape), values);
  return once(value, [&] { return materialize(value); });
}

Value LinalgBuilder::scalar(double value) {
  FloatAttr attribute = builder.getF32FloatAttr(value);
  return once(attribute, [&] { return materialize(attribute); });
}

Value LinalgBuilder::index(int64_t value) {
  IntegerAttr attribute = builder.getIndexAttr(value);
  return once(attribute, [&] { return materialize(attribute); });
}

Value LinalgBuilder::empty(ArrayRef<OpFoldResult> sizes, Type element) {
  SmallVector<int64_t> shape = llvm::map_to_vector(sizes, staticSize);
  RankedTensorType type = tensor(shape, element);
  if (!type.hasStaticShape())
    return create<tensor::EmptyOp>(sizes, type.getElementType());
  return once(TypeAttr::get(type),
              [&] { return create<tensor::EmptyOp>(shape, type.getElementType()); });
}

Value LinalgBuilder::filled(ArrayRef<OpFoldResult> sizes, double value) {
  Value destination = empty(sizes), fill = scalar(value);
  auto make = [&] {
    return linalg::FillOp::create(builder, loc(), fill, destination).getResult(0);
  };
  RankedTensorType type = typeOf(destination);
  if (!type.hasStaticShape())
    return make();
  return once(builder.getArrayAttr({TypeAttr::get(type), builder.getF32FloatAttr(value)}), make);
}

OpFoldResult LinalgBuilder::dim(Value v, int64_t axis) {
  if (typeOf(v).isDynamicDim(axis))
    return create<tensor::DimOp>(v, index(axis));
  return size(typeOf(v).getDimSize(axis));
}

//===--------------------------------------------------------------------------------===//
// Contractions
//===--------------------------------------------------------------------------------===//

Value LinalgBuilder::matmul(Value a, Value b) {
  SmallVector<OpFoldResult> sizes = dims(a);
  sizes.back() = dim(b, 1);
  Value init = filled(sizes, 0);
  unsigned rows = sizes.size() - 1;
  if (rows == 1)
    return linalg::MatmulOp::create(builder, loc(), ValueRange{a, b}, init).getResult(0);

  // Loops: rows, column, inner.
  unsigned loops = rows + 2;
  AffineExpr column = builder.getAffineDimExpr(rows), inner = builder.getAffineDimExpr(rows + 1);
  SmallVector<AffineExpr> left;
  for (unsigned row = 0; row != rows; ++row)
    left.push_back(builder.getAffineDimExpr(row));
  SmallVector<AffineExpr> out = left;
  left.push_back(inner);
  out.push_back(column);
  MLIRContext *context = builder.getContext();
  return generic({a, b}, init,
                 {AffineMap::get(loops, 0, left, context),
                  AffineMap::get(loops, 0, {inner, column}, context),
                  AffineMap::get(loops, 0, out, context)},
                 1, [&](ArrayRef<Value> scalars) -> Value {
                   Value product = create<arith::MulFOp>(scalars[0], scalars[1]);
                   return create<arith::AddFOp>(scalars[2], product);
                 });
}

Value LinalgBuilder::batchMatmul(Value a, Value b) {
  Value init = filled({dim(a, 0), dim(a, 1), dim(b, 2)}, 0);
  return linalg::BatchMatmulOp::create(builder, loc(), ValueRange{a, b}, init).getResult(0);
}

WeightSpec LinalgBuilder::convWeight(StringRef name, int64_t inputs, int64_t outputs,
                                     int64_t kernel, double scale) {
  return {name.str(), {outputs, inputs, kernel, kernel}, scale};
}

/// (size + 2 pad - kernel) / stride + 1 along both image axes, which are static.
static SmallVector<OpFoldResult> windowSizes(LinalgBuilder &graph, Value padded,
                                             OpFoldResult channels, int64_t kernel,
                                             int64_t stride) {
  SmallVector<OpFoldResult> sizes = {graph.dim(padded, 0), channels};
  for (int64_t axis : {2, 3})
    sizes.push_back(graph.size((graph.typeOf(padded).getDimSize(axis) - kernel) / stride + 1));
  return sizes;
}

static DenseIntElementsAttr pair(OpBuilder &builder, int64_t value) {
  return builder.getI64VectorAttr({value, value});
}

Value LinalgBuilder::pad(Value x, int64_t amount, double value) {
  if (amount == 0)
    return x;
  OpFoldResult none = size(0), some = size(amount);
  SmallVector<OpFoldResult> amounts = {none, none, some, some};
  SmallVector<int64_t> shape(typeOf(x).getShape());
  shape[2] += 2 * amount;
  shape[3] += 2 * amount;
  return create<tensor::PadOp>(tensor(shape), x, amounts, amounts, scalar(value));
}

Value LinalgBuilder::conv2d(Value x, Value weight, Value bias, int64_t stride, int64_t padding) {
  Value padded = pad(x, padding, 0);
  RankedTensorType filter = typeOf(weight);
  Value init = empty(windowSizes(*this, padded, dim(weight, 0), filter.getDimSize(2), stride));
  Value start = linalg::BroadcastOp::create(builder, loc(), bias, init, ArrayRef<int64_t>{0, 2, 3})
                    ->getResult(0);
  return linalg::Conv2DNchwFchwOp::create(builder, loc(), start.getType(),
                                          ValueRange{padded, weight}, start, pair(builder, stride),
                                          pair(builder, 1))
      .getResult(0);
}

SmallVector<int64_t> LinalgBuilder::imageShape(int64_t batch, int64_t channels, int64_t height,
                                               int64_t width) {
  return {batch, channels, height, width};
}

Value LinalgBuilder::maxPool(Value x, int64_t kernel, int64_t stride, int64_t padding) {
  double lowest = -std::numeric_limits<double>::infinity();
  Value padded = pad(x, padding, lowest);
  Value init = filled(windowSizes(*this, padded, dim(x, 1), kernel, stride), lowest);
  Value window = empty({size(kernel), size(kernel)});
  return linalg::PoolingNchwMaxOp::create(builder, loc(), init.getType(),
                                          ValueRange{padded, window}, init, pair(builder, stride),
                                          pair(builder, 1))
      .getResult(0);
}

Value LinalgBuilder::globalAveragePool(Value x) {
  int64_t height = typeOf(x).getDimSize(2), width = typeOf(x).getDimSize(3);
  Value init = filled({dim(x, 0), dim(x, 1), size(1), size(1)}, 0);
  Value window = empty({size(height), size(width)});
  Value sum =
      linalg::PoolingNchwSumOp::create(builder, loc(), init.getType(), ValueRange{x, window}, init,
                                       pair(builder, 1), pair(builder, 1))
          .getResult(0);
  return collapse(binary(Binary::Divide, sum, double(height * width)), 1, 3);
}

//===--------------------------------------------------------------------------------===//
// Elementwise
//===--------------------------------------------------------------------------------===//

Value LinalgBuilder::generic(ArrayRef<Value> operands, Value init, ArrayRef<AffineMap> maps,
                             unsigned reductions, Body body) {
  unsigned loops = maps.back().getNumDims();
  SmallVector<utils::IteratorType> iterators(loops - reductions, utils::IteratorType::parallel);
  iterators.append(reductions, utils::IteratorType::reduction);
  auto op = linalg::GenericOp::create(
      builder, loc(), init.getType(), operands, init, maps, iterators,
      [&](OpBuilder &nested, Location, ValueRange scalars) {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPoint(nested.getInsertionBlock(), nested.getInsertionPoint());
        Value result = body(llvm::to_vector(scalars));
        linalg::YieldOp::create(builder, loc(), result);
      });
  // They took over the operands' locations, which are names of weights.
  for (BlockArgument scalar : op.getBody()->getArguments())
    scalar.setLoc(loc());
  return op.getResult(0);
}

SmallVector<OpFoldResult> LinalgBuilder::broadcastSizes(ArrayRef<Value> operands) {
  SmallVector<int64_t> shape = broadcastShape(operands);
  SmallVector<OpFoldResult> sizes;
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    if (!ShapedType::isDynamic(extent)) {
      sizes.push_back(size(extent));
      continue;
    }
    for (Value operand : operands) {
      int64_t own = int64_t(axis) - int64_t(shape.size()) + rankOf(operand);
      if (own >= 0 && typeOf(operand).isDynamicDim(own)) {
        sizes.push_back(dim(operand, own));
        break;
      }
    }
  }
  return sizes;
}

Value LinalgBuilder::elementwise(ArrayRef<Value> operands, Body body) {
  SmallVector<OpFoldResult> sizes = broadcastSizes(operands);
  int64_t rank = sizes.size();
  SmallVector<AffineMap> maps;
  for (Value operand : operands) {
    SmallVector<AffineExpr> results;
    for (int64_t axis = rank - rankOf(operand); axis != rank; ++axis) {
      int64_t own = typeOf(operand).getDimSize(axis - rank + rankOf(operand));
      bool stretched = own == 1 && staticSize(sizes[axis]) != 1;
      results.push_back(stretched ? builder.getAffineConstantExpr(0)
                                  : builder.getAffineDimExpr(axis));
    }
    maps.push_back(AffineMap::get(rank, 0, results, builder.getContext()));
  }
  maps.push_back(builder.getMultiDimIdentityMap(rank));
  return generic(operands, empty(sizes), maps, 0,
                 [&](ArrayRef<Value> scalars) { return body(scalars.drop_back()); });
}

Value LinalgBuilder::unary(Unary kind, Value x) {
  auto apply = [&](Value v) -> Value {
    switch (kind) {
    case Unary::Relu: return create<arith::MaximumFOp>(v, scalar(0));
    case Unary::Gelu: {
      // x * 0.5 * (1 + erf(x / sqrt 2)), in one body as torch-mlir prints it.
      Value erf = create<math::ErfOp>(create<arith::DivFOp>(v, scalar(1.4142135623730951)));
      Value cdf = create<arith::MulFOp>(create<arith::AddFOp>(erf, scalar(1)), scalar(0.5));
      return create<arith::MulFOp>(v, cdf);
    }
    case Unary::Sigmoid: {
      Value decay = create<math::ExpOp>(create<arith::NegFOp>(v));
      return create<arith::DivFOp>(scalar(1), create<arith::AddFOp>(decay, scalar(1)));
    }
    case Unary::Tanh: return create<math::TanhOp>(v);
    case Unary::Exp: return create<math::ExpOp>(v);
    case Unary::Rsqrt: return create<math::RsqrtOp>(v);
    case Unary::Sin: return create<math::SinOp>(v);
    case Unary::Cos: return create<math::CosOp>(v);
    case Unary::Negate: return create<arith::NegFOp>(v);
    case Unary::Log: return create<math::LogOp>(v);
    case Unary::Erf: return create<math::ErfOp>(v);
    case Unary::Abs: return create<math::AbsFOp>(v);
    case Unary::Sqrt: return create<math::SqrtOp>(v);
    case Unary::Step: {
      Value positive = create<arith::CmpFOp>(arith::CmpFPredicate::OGT, v, scalar(0));
      return create<arith::UIToFPOp>(f32(), positive);
    }
    case Unary::Reciprocal: return create<arith::DivFOp>(scalar(1), v);
    }
    llvm_unreachable("all kinds are handled");
  };
  return elementwise(x, [&](ArrayRef<Value> scalars) { return apply(scalars[0]); });
}

static Value scalarBinary(OpBuilder &builder, Location loc, Binary kind, Value a, Value b) {
  switch (kind) {
  case Binary::Add: return arith::AddFOp::create(builder, loc, a, b);
  case Binary::Subtract: return arith::SubFOp::create(builder, loc, a, b);
  case Binary::Multiply: return arith::MulFOp::create(builder, loc, a, b);
  case Binary::Divide: return arith::DivFOp::create(builder, loc, a, b);
  }
  llvm_unreachable("all kinds are handled");
}

Value LinalgBuilder::binary(Binary kind, Value a, Value b) {
  return elementwise({a, b}, [&](ArrayRef<Value> scalars) {
    return scalarBinary(builder, loc(), kind, scalars[0], scalars[1]);
  });
}

Value LinalgBuilder::binary(Binary kind, Value a, double b) {
  return elementwise(a, [&](ArrayRef<Value> scalars) {
    return scalarBinary(builder, loc(), kind, scalars[0], scalar(b));
  });
}

Value LinalgBuilder::toFloat(Value x, bool boolean) {
  return elementwise(x, [&](ArrayRef<Value> scalars) -> Value {
    Value v = scalars[0];
    if (!boolean)
      return create<arith::SIToFPOp>(f32(), v);
    Value zero = create<arith::ConstantOp>(builder.getZeroAttr(v.getType()));
    Value set = create<arith::CmpIOp>(arith::CmpIPredicate::ne, v, zero);
    return create<arith::UIToFPOp>(f32(), set);
  });
}

//===--------------------------------------------------------------------------------===//
// Along one axis
//===--------------------------------------------------------------------------------===//

Value LinalgBuilder::reduce(Reduction kind, Value x, int64_t axis) {
  int64_t rank = rankOf(x);
  SmallVector<OpFoldResult> sizes = dims(x);
  sizes[axis] = size(1);
  bool sum = kind == Reduction::Sum;
  Value init = filled(sizes, sum ? 0 : -std::numeric_limits<double>::infinity());

  // The reduced axis is the last loop.
  SmallVector<AffineExpr> in, out;
  for (int64_t i = 0, loop = 0; i != rank; ++i) {
    AffineExpr expr = builder.getAffineDimExpr(i == axis ? rank - 1 : loop++);
    in.push_back(expr);
    out.push_back(i == axis ? builder.getAffineConstantExpr(0) : expr);
  }
  MLIRContext *context = builder.getContext();
  return generic(x, init,
                 {AffineMap::get(rank, 0, in, context), AffineMap::get(rank, 0, out, context)}, 1,
                 [&](ArrayRef<Value> scalars) -> Value {
                   if (sum)
                     return create<arith::AddFOp>(scalars[0], scalars[1]);
                   return create<arith::MaximumFOp>(scalars[0], scalars[1]);
                 });
}

Value LinalgBuilder::softmax(Value x) {
  if (options.softmax != SoftmaxForm::Named)
    return GraphBuilder::softmax(x);
  Value init = empty(dims(x));
  return linalg::SoftmaxOp::create(builder, loc(), init.getType(), x, init, uint64_t(rankOf(x) - 1))
      .getResult()
      .front();
}

Value LinalgBuilder::causalMask(Value scores, double masked) {
  int64_t rank = rankOf(scores);
  return elementwise(scores, [&](ArrayRef<Value> scalars) -> Value {
    Value row = create<linalg::IndexOp>(rank - 2), column = create<linalg::IndexOp>(rank - 1);
    Value seen = create<arith::CmpIOp>(arith::CmpIPredicate::ule, column, row);
    return create<arith::SelectOp>(seen, scalars[0], scalar(masked));
  });
}
