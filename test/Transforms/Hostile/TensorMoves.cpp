// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TensorWriter writes ops that move elements, and contractions, here.

#include "TensorWriter.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mlir::mp::test;

static void yieldFirst(OpBuilder &builder, Location loc, ValueRange arguments) {
  linalg::YieldOp::create(builder, loc, arguments[0]);
}

static SmallVector<utils::IteratorType> parallelLoops(unsigned count) {
  return SmallVector<utils::IteratorType>(count, utils::IteratorType::parallel);
}

Value TensorWriter::transpose(Value x, ArrayRef<int64_t> permutation) {
  Dims shape;
  for (int64_t dim : permutation)
    shape.push_back(typeOf(x).getDimSize(dim));
  if (spelling == Spelling::Tosa) {
    SmallVector<int32_t> perms(permutation.begin(), permutation.end());
    return create("tosa.transpose", x, typeOf(x).clone(shape),
                  builder.getNamedAttr("perms", builder.getDenseI32ArrayAttr(perms)));
  }
  Value out = empty(x, permutation, formatOf(x));
  if (spelling == Spelling::Tensor)
    return linalg::TransposeOp::create(builder, loc, x, out, permutation)->getResult(0);
  unsigned rank = shape.size();
  return linalg::GenericOp::create(builder, loc, out.getType(), x, out,
                                   ArrayRef{loops(rank, llvm::to_vector(llvm::seq<int64_t>(rank))),
                                            loops(rank, permutation)},
                                   parallelLoops(rank), yieldFirst)
      .getResult(0);
}

Value TensorWriter::reverse(Value x, int64_t dim) {
  if (spelling == Spelling::Tosa)
    return create("tosa.reverse", x, x.getType(),
                  builder.getNamedAttr("axis", builder.getI32IntegerAttr(dim)));
  unsigned rank = typeOf(x).getRank();
  SmallVector<AffineExpr> read;
  for (unsigned i = 0; i < rank; ++i)
    read.push_back(builder.getAffineDimExpr(i));
  read[dim] = typeOf(x).getDimSize(dim) - 1 - read[dim];
  Value out = empty(x, llvm::to_vector(llvm::seq<int64_t>(rank)), formatOf(x));
  return linalg::GenericOp::create(builder, loc, out.getType(), x, out,
                                   ArrayRef{AffineMap::get(rank, 0, read, builder.getContext()),
                                            builder.getMultiDimIdentityMap(rank)},
                                   parallelLoops(rank), yieldFirst)
      .getResult(0);
}

Value TensorWriter::slice(Value x, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes,
                          ArrayRef<int64_t> strides) {
  if (spelling == Spelling::Tosa && strides.empty())
    return create("tosa.slice", {x, tosaShape(offsets), tosaShape(sizes)}, typeOf(x).clone(sizes));
  Dims steps(strides);
  if (steps.empty())
    steps.resize(sizes.size(), 1);
  auto attributes = [&](ArrayRef<int64_t> numbers) {
    return getAsIndexOpFoldResult(builder.getContext(), numbers);
  };
  return tensor::ExtractSliceOp::create(builder, loc, x, attributes(offsets), attributes(sizes),
                                        attributes(steps));
}

Value TensorWriter::concat(ValueRange parts, int64_t dim) {
  Dims shape = shapeOf(parts[0]);
  for (Value part : parts.drop_front())
    shape[dim] += typeOf(part).getDimSize(dim);
  auto type = typeOf(parts[0]).clone(shape);
  if (spelling == Spelling::Tosa)
    return create("tosa.concat", parts, type,
                  builder.getNamedAttr("axis", builder.getI32IntegerAttr(dim)));
  return tensor::ConcatOp::create(builder, loc, cast<RankedTensorType>(type), dim, parts);
}

Value TensorWriter::pad(Value x, ArrayRef<int64_t> low, ArrayRef<int64_t> high, double number) {
  Dims shape = shapeOf(x), both;
  for (size_t i = 0; i < shape.size(); ++i) {
    shape[i] += low[i] + high[i];
    both.append({low[i], high[i]});
  }
  auto type = cast<RankedTensorType>(typeOf(x).clone(shape));
  FloatAttr attribute = builder.getFloatAttr(formatOf(x), number);
  if (spelling == Spelling::Tosa) {
    auto one = RankedTensorType::get({1}, formatOf(x));
    Value with =
        create("tosa.const", {}, one,
               builder.getNamedAttr("values", DenseElementsAttr::get(one, Attribute(attribute))));
    return create("tosa.pad", {x, tosaShape(both), with}, type);
  }
  Value with = arith::ConstantOp::create(builder, loc, attribute);
  return tensor::PadOp::create(builder, loc, type, x,
                               getAsIndexOpFoldResult(builder.getContext(), low),
                               getAsIndexOpFoldResult(builder.getContext(), high), with);
}

Value TensorWriter::windows(Value x, int64_t count, int64_t size) {
  AffineExpr i = builder.getAffineDimExpr(0), j = builder.getAffineDimExpr(1);
  auto type = RankedTensorType::get({count, size}, formatOf(x));
  Value out = tensor::EmptyOp::create(builder, loc, type, ValueRange());
  return linalg::GenericOp::create(
             builder, loc, type, x, out,
             ArrayRef{AffineMap::get(2, 0, i + j), builder.getMultiDimIdentityMap(2)},
             parallelLoops(2), yieldFirst)
      .getResult(0);
}

Value TensorWriter::poolMax(Value x, int64_t size, int64_t padding, double start) {
  Dims shape = shapeOf(x);
  auto type = RankedTensorType::get({shape[0], shape[1] + padding - size + 1, shape[2], shape[3]},
                                    formatOf(x));
  if (spelling == Spelling::Tosa && padding < size) { // TOSA allows no more
    NamedAttribute attributes[] = {
        builder.getNamedAttr("kernel", builder.getDenseI64ArrayAttr({size, 1})),
        builder.getNamedAttr("stride", builder.getDenseI64ArrayAttr({1, 1})),
        builder.getNamedAttr("pad", builder.getDenseI64ArrayAttr({padding, 0, 0, 0})),
        nanMode(Fn::Max)};
    return create("tosa.max_pool2d", x, type, attributes);
  }
  x = pad(x, {0, padding, 0, 0}, {0, 0, 0, 0}, start);
  auto windowType = RankedTensorType::get({size, 1}, formatOf(x));
  Value window = tensor::EmptyOp::create(builder, loc, windowType, ValueRange());
  Value out = tensor::EmptyOp::create(builder, loc, type, ValueRange());
  Value number = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(formatOf(x), start));
  Value init = linalg::FillOp::create(builder, loc, number, out).getResult(0);
  return linalg::PoolingNhwcMaxOp::create(builder, loc, type, ValueRange{x, window}, init)
      .getResult(0);
}

Value TensorWriter::gather(Value x, ArrayRef<int32_t> rows) {
  int64_t count = rows.size(), width = typeOf(x).getDimSize(1);
  if (spelling == Spelling::Tosa) {
    Value batch = reshape(x, {1, typeOf(x).getDimSize(0), width});
    Value indices = integers({1, count}, rows);
    return reshape(create("tosa.gather", {batch, indices},
                          RankedTensorType::get({1, count, width}, formatOf(x))),
                   {count, width});
  }
  Value indices = integers({count}, rows);
  auto type = RankedTensorType::get({count, width}, formatOf(x));
  Value out = tensor::EmptyOp::create(builder, loc, type, ValueRange());
  AffineMap identity = builder.getMultiDimIdentityMap(2);
  return linalg::GenericOp::create(
             builder, loc, type, indices, out, ArrayRef{identity.getMajorSubMap(1), identity},
             parallelLoops(2),
             [&](OpBuilder &inner, Location at, ValueRange arguments) {
               Value row =
                   arith::IndexCastOp::create(inner, at, inner.getIndexType(), arguments[0]);
               Value column = linalg::IndexOp::create(inner, at, 1);
               Value read = tensor::ExtractOp::create(inner, at, x, ValueRange{row, column});
               linalg::YieldOp::create(inner, at, read);
             })
      .getResult(0);
}

Value TensorWriter::reshape(Value x, ArrayRef<int64_t> shape) {
  if (shapeOf(x) == Dims(shape))
    return x;
  auto type = RankedTensorType::get(shape, formatOf(x));
  if (spelling == Spelling::Tosa)
    return create("tosa.reshape", {x, tosaShape(shape)}, type);
  bool expands = int64_t(shape.size()) > typeOf(x).getRank();
  auto groups = getReassociationIndicesForReshape(typeOf(x), type);
  if (!groups) { // by way of a list
    int64_t count = typeOf(x).getNumElements();
    return reshape(reshape(x, {count}), shape);
  }
  if (expands)
    return tensor::ExpandShapeOp::create(builder, loc, type, x, *groups);
  return tensor::CollapseShapeOp::create(builder, loc, type, x, *groups);
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// The last loop adds up products.
Value TensorWriter::sumOfProducts(Value x, Value y, Value init, ArrayRef<AffineMap> maps,
                                  unsigned parallel) {
  SmallVector<utils::IteratorType> kinds = parallelLoops(parallel);
  kinds.push_back(utils::IteratorType::reduction);
  return linalg::GenericOp::create(
             builder, loc, init.getType(), ValueRange{x, y}, init, maps, kinds,
             [](OpBuilder &inner, Location at, ValueRange arguments) {
               Value product = arith::MulFOp::create(inner, at, arguments[0], arguments[1]);
               Value sum = arith::AddFOp::create(inner, at, arguments[2], product);
               linalg::YieldOp::create(inner, at, sum);
             })
      .getResult(0);
}

Value TensorWriter::matmul(Value x, Value y) {
  FloatType f32 = builder.getF32Type();
  unsigned rank = typeOf(x).getRank();
  Dims shape = shapeOf(x);
  shape.back() = typeOf(y).getDimSize(rank - 1);
  if (spelling == Spelling::Tosa) {
    Dims left = shapeOf(x), right = shapeOf(y);
    if (rank == 2) {
      x = reshape(x, {1, left[0], left[1]});
      y = reshape(y, {1, right[0], right[1]});
    }
    Value zero = zeroPoint(f32);
    auto type =
        RankedTensorType::get({rank == 2 ? 1 : left[0], left[rank - 2], right[rank - 1]}, f32);
    return reshape(create("tosa.matmul", {x, y, zero, zero}, type), shape);
  }
  Dims kept = llvm::to_vector(llvm::seq<int64_t>(rank - 1));
  auto sizeOf = [&](Value value, int64_t dim) -> OpFoldResult {
    if (!typeOf(value).isDynamicDim(dim))
      return builder.getIndexAttr(typeOf(value).getDimSize(dim));
    return Value(tensor::DimOp::create(builder, loc, value, dim));
  };
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : kept)
    sizes.push_back(sizeOf(x, dim));
  sizes.push_back(sizeOf(y, rank - 1));
  Value out = tensor::EmptyOp::create(builder, loc, sizes, f32);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(f32, 0));
  Value init = linalg::FillOp::create(builder, loc, zero, out).getResult(0);
  if (spelling == Spelling::Tensor && rank == 2)
    return linalg::MatmulOp::create(builder, loc, init.getType(), ValueRange{x, y}, init)
        .getResult(0);
  if (spelling == Spelling::Tensor && rank == 3)
    return linalg::BatchMatmulOp::create(builder, loc, init.getType(), ValueRange{x, y}, init)
        .getResult(0);
  // Loops: batches, rows, columns, products.
  SmallVector<AffineExpr> d;
  for (unsigned i = 0; i <= rank; ++i)
    d.push_back(builder.getAffineDimExpr(i));
  SmallVector<AffineExpr> a(d.begin(), d.begin() + rank - 1), b(d.begin(), d.begin() + rank - 2),
      c(d.begin(), d.begin() + rank);
  a.push_back(d[rank]);
  b.append({d[rank], d[rank - 1]});
  auto map = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(rank + 1, 0, results, builder.getContext());
  };
  return sumOfProducts(x, y, init, {map(a), map(b), map(c)}, rank);
}

Value TensorWriter::matmulTransposed(Value x, Value y) {
  if (spelling == Spelling::Tosa)
    return matmul(x, transpose(y, {1, 0}));
  FloatType f32 = builder.getF32Type();
  auto type = RankedTensorType::get({typeOf(x).getDimSize(0), typeOf(y).getDimSize(0)}, f32);
  SmallVector<Value> dynamic;
  for (Value value : {x, y})
    if (typeOf(value).isDynamicDim(0))
      dynamic.push_back(tensor::DimOp::create(builder, loc, value, 0));
  Value out = tensor::EmptyOp::create(builder, loc, type, dynamic);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(f32, 0));
  Value init = linalg::FillOp::create(builder, loc, zero, out).getResult(0);
  AffineExpr i = builder.getAffineDimExpr(0), j = builder.getAffineDimExpr(1),
             k = builder.getAffineDimExpr(2);
  auto map = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(3, 0, results, builder.getContext());
  };
  return sumOfProducts(x, y, init, {map({i, k}), map({j, k}), map({i, j})}, 2);
}

Value TensorWriter::matvec(Value x, Value y) {
  FloatType f32 = builder.getF32Type();
  Value init = filled(0, x, {0}, f32);
  if (spelling == Spelling::Tensor)
    return linalg::MatvecOp::create(builder, loc, init.getType(), ValueRange{x, y}, init)
        .getResult(0);
  AffineMap identity = builder.getMultiDimIdentityMap(2);
  return sumOfProducts(x, y, init,
                       {identity, identity.getMinorSubMap(1), identity.getMajorSubMap(1)}, 1);
}

Value TensorWriter::convolve(Value x, Value filter) {
  FloatType f32 = builder.getF32Type();
  Dims in = shapeOf(x), kernel = shapeOf(filter);
  auto type =
      RankedTensorType::get({in[0], in[1] - kernel[0] + 1, in[2] - kernel[1] + 1, kernel[3]}, f32);
  if (spelling == Spelling::Tosa) {
    Value turned = transpose(filter, {3, 0, 1, 2});
    auto bias = RankedTensorType::get({kernel[3]}, f32);
    Value none = create(
        "tosa.const", {}, bias,
        builder.getNamedAttr("values", DenseElementsAttr::get(bias, builder.getFloatAttr(f32, 0))));
    Value zero = zeroPoint(f32);
    NamedAttribute attributes[] = {
        builder.getNamedAttr("pad", builder.getDenseI64ArrayAttr({0, 0, 0, 0})),
        builder.getNamedAttr("stride", builder.getDenseI64ArrayAttr({1, 1})),
        builder.getNamedAttr("dilation", builder.getDenseI64ArrayAttr({1, 1})),
        builder.getNamedAttr("acc_type", TypeAttr::get(f32))};
    return create("tosa.conv2d", {x, turned, none, zero, zero}, type, attributes);
  }
  Value out = tensor::EmptyOp::create(builder, loc, type, ValueRange());
  Value zero = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(f32, 0));
  Value init = linalg::FillOp::create(builder, loc, zero, out).getResult(0);
  return linalg::Conv2DNhwcHwcfOp::create(builder, loc, type, ValueRange{x, filter}, init)
      .getResult(0);
}
