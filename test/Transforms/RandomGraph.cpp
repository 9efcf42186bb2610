// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RandomGraph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mp/InitAll.h"

using namespace mlir;
using namespace mlir::mp::test;

void mlir::mp::test::loadDialects(MLIRContext &context) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registry
      .insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, linalg::LinalgDialect,
              math::MathDialect, scf::SCFDialect, tensor::TensorDialect, tosa::TosaDialect>();
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

RandomGraph::RandomGraph(MLIRContext *context, uint64_t seed)
    : context(context), builder(context), loc(UnknownLoc::get(context)), random(seed) {}

OwningOpRef<ModuleOp> RandomGraph::build(unsigned size, ArrayRef<ModuleOp> idioms) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, loc);
  builder.setInsertionPointToStart(module->getBody());
  for (ModuleOp idiom : idioms)
    addIdiom(idiom);
  for (unsigned i = 0, e = below(3); i < e; ++i) {
    func::FuncOp helper = buildFunction("helper" + std::to_string(i), {randomType(), randomType()},
                                        1 + below(size / 2 + 1));
    helper.setPrivate();
    helpers.push_back(helper);
  }
  SmallVector<Type> inputs;
  for (unsigned i = 0, e = 2 + below(3); i < e; ++i)
    inputs.push_back(randomType());
  buildFunction("main", inputs, size);
  return module;
}

func::FuncOp RandomGraph::buildFunction(StringRef name, TypeRange inputs, unsigned size) {
  OpBuilder::InsertionGuard guard(builder);
  auto function = func::FuncOp::create(builder, loc, name, builder.getFunctionType(inputs, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  Pool pool(function.getArguments());
  addOps(pool, size / 2, 0);
  if (oneIn(4))
    addDiamond(pool);
  addOps(pool, size - size / 2, 0);
  SmallVector<Value> results = {pool.back()};
  for (unsigned i = 0, e = below(3); i < e; ++i)
    results.push_back(pick(pool));
  func::ReturnOp::create(builder, loc, results);
  function.setFunctionType(builder.getFunctionType(inputs, ValueRange(results).getTypes()));
  return function;
}

void RandomGraph::addOps(Pool &pool, unsigned count, unsigned depth) {
  using Adder = void (RandomGraph::*)(Pool &);
  static constexpr Adder kAdders[] = {&RandomGraph::addUnary,
                                      &RandomGraph::addBinary,
                                      &RandomGraph::addBinary,
                                      &RandomGraph::addNamedElementwise,
                                      &RandomGraph::addGenericElementwise,
                                      &RandomGraph::addRowReduction,
                                      &RandomGraph::addSoftmax,
                                      &RandomGraph::addTranspose,
                                      &RandomGraph::addMatmul,
                                      &RandomGraph::addMatmul,
                                      &RandomGraph::addMatmul,
                                      &RandomGraph::addGenericContraction,
                                      &RandomGraph::addConstant,
                                      &RandomGraph::addSelect,
                                      &RandomGraph::addUserCasts,
                                      &RandomGraph::addSlices,
                                      &RandomGraph::addScalars,
                                      &RandomGraph::addPad,
                                      &RandomGraph::addTosa,
                                      &RandomGraph::addTosa,
                                      &RandomGraph::addCall};
  for (unsigned i = 0; i < count; ++i) {
    if (depth < 3 && oneIn(10)) {
      switch (below(3)) {
      case 0: addFor(pool, depth + 1); break;
      case 1: addIf(pool, depth + 1); break;
      case 2: addWhile(pool, depth + 1); break;
      }
      continue;
    }
    (this->*kAdders[below(std::size(kAdders))])(pool);
  }
}

RankedTensorType RandomGraph::randomType() {
  static constexpr int64_t kSizes[] = {2, 3, 4, ShapedType::kDynamic};
  FloatType format = builder.getF32Type();
  if (oneIn(8))
    format = oneIn(2) ? FloatType(builder.getBF16Type()) : FloatType(builder.getF16Type());
  else if (oneIn(12))
    format = builder.getF64Type();
  return RankedTensorType::get({kSizes[below(4)], kSizes[below(4)]}, format);
}

Value RandomGraph::pickLike(const Pool &pool, Value other) {
  unsigned start = below(pool.size());
  for (unsigned i = 0; i < pool.size(); ++i)
    if (Value value = pool[(start + i) % pool.size()]; value.getType() == other.getType())
      return value;
  return other;
}

Value RandomGraph::constant(RankedTensorType type) {
  auto number = [&] {
    double value = (static_cast<double>(below(2001)) - 1000) / 300;
    return builder.getFloatAttr(type.getElementType(), value);
  };
  SmallVector<Attribute> values;
  unsigned count = oneIn(2) ? 1 : type.getNumElements();
  for (unsigned i = 0; i < count; ++i)
    values.push_back(number());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, values));
}

Value RandomGraph::scalar(FloatType format) {
  return arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(format, static_cast<double>(below(1000)) / 300));
}

Value RandomGraph::dim(Value value, int64_t index) {
  return tensor::DimOp::create(builder, loc, value, index);
}

SmallVector<Value> RandomGraph::sizes(Value value, ArrayRef<int64_t> dims) {
  SmallVector<Value> result;
  for (int64_t index : dims)
    if (typeOf(value).isDynamicDim(index))
      result.push_back(dim(value, index));
  return result;
}

Value RandomGraph::destination(Value rows, int64_t rowDim, Value columns, int64_t columnDim,
                               FloatType format, bool filled) {
  SmallVector<Value> dynamic = sizes(rows, rowDim);
  llvm::append_range(dynamic, sizes(columns, columnDim));
  auto type = RankedTensorType::get(
      {typeOf(rows).getDimSize(rowDim), typeOf(columns).getDimSize(columnDim)}, format);
  Value empty = tensor::EmptyOp::create(builder, loc, type, dynamic);
  if (!filled)
    return empty;
  Value zero = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(format, 0.0));
  return linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
}

static FloatType formatOf(Value value) { return mlir::mp::getFloatFormat(value.getType()); }

void RandomGraph::addUnary(Pool &pool) {
  Value x = pick(pool);
  switch (below(6)) {
  case 0: pool.push_back(math::ExpOp::create(builder, loc, x)); break;
  case 1: pool.push_back(math::TanhOp::create(builder, loc, x)); break;
  case 2: pool.push_back(math::AbsFOp::create(builder, loc, x)); break;
  case 3: pool.push_back(math::SinOp::create(builder, loc, x)); break;
  case 4: pool.push_back(math::RsqrtOp::create(builder, loc, x)); break;
  case 5: pool.push_back(arith::NegFOp::create(builder, loc, x)); break;
  }
}

void RandomGraph::addBinary(Pool &pool) {
  Value x = pick(pool), y = pickLike(pool, x);
  switch (below(5)) {
  case 0: pool.push_back(arith::AddFOp::create(builder, loc, x, y)); break;
  case 1: pool.push_back(arith::SubFOp::create(builder, loc, x, y)); break;
  case 2: pool.push_back(arith::MulFOp::create(builder, loc, x, y)); break;
  case 3: pool.push_back(arith::DivFOp::create(builder, loc, x, y)); break;
  case 4: pool.push_back(arith::MaximumFOp::create(builder, loc, x, y)); break;
  }
}

void RandomGraph::addNamedElementwise(Pool &pool) {
  Value x = pick(pool), y = pickLike(pool, x);
  Value out = destination(x, 0, x, 1, formatOf(x), false);
  switch (below(4)) {
  case 0:
    pool.push_back(linalg::AddOp::create(builder, loc, ValueRange{x, y}, out).getResult(0));
    break;
  case 1:
    pool.push_back(linalg::MaxOp::create(builder, loc, ValueRange{x, y}, out).getResult(0));
    break;
  case 2: pool.push_back(linalg::ExpOp::create(builder, loc, x, out).getResult(0)); break;
  case 3: pool.push_back(linalg::CopyOp::create(builder, loc, x, out).getResult(0)); break;
  }
}

void RandomGraph::addGenericElementwise(Pool &pool) {
  Value x = pick(pool), y = pickLike(pool, x);
  Value out = destination(x, 0, x, 1, formatOf(x), oneIn(2));
  AffineMap identity = builder.getMultiDimIdentityMap(2);
  unsigned kind = below(3);
  auto generic = linalg::GenericOp::create(
      builder, loc, out.getType(), ValueRange{x, y}, out, ArrayRef{identity, identity, identity},
      SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel),
      [&](OpBuilder &inner, Location at, ValueRange arguments) {
        Value value = arguments[0];
        if (kind == 0) {
          Value product = arith::MulFOp::create(inner, at, arguments[0], arguments[1]);
          value = math::TanhOp::create(inner, at, product);
        } else if (kind == 1) {
          value = arith::MaximumFOp::create(inner, at, arguments[0], arguments[1]);
        }
        linalg::YieldOp::create(inner, at, value);
      });
  pool.push_back(generic.getResult(0));
}

/// Sum or maximum of each row, broadcast back over the columns.
void RandomGraph::addRowReduction(Pool &pool) {
  Value x = pick(pool);
  FloatType format = formatOf(x);
  bool sum = oneIn(2);
  auto rowType = RankedTensorType::get({typeOf(x).getDimSize(0)}, format);
  Value empty = tensor::EmptyOp::create(builder, loc, rowType, sizes(x, 0));
  Value start =
      arith::ConstantOp::create(builder, loc, builder.getFloatAttr(format, sum ? 0.0 : -60000.0));
  Value init = linalg::FillOp::create(builder, loc, start, empty).getResult(0);
  AffineMap identity = builder.getMultiDimIdentityMap(2);
  AffineMap row = identity.getMajorSubMap(1);
  auto reduce = linalg::GenericOp::create(
      builder, loc, rowType, x, init, ArrayRef{identity, row},
      ArrayRef{utils::IteratorType::parallel, utils::IteratorType::reduction},
      [&](OpBuilder &inner, Location at, ValueRange arguments) {
        Value value =
            sum ? arith::AddFOp::create(inner, at, arguments[0], arguments[1]).getResult()
                : arith::MaximumFOp::create(inner, at, arguments[0], arguments[1]).getResult();
        linalg::YieldOp::create(inner, at, value);
      });
  Value out = destination(x, 0, x, 1, format, false);
  auto broadcast =
      linalg::BroadcastOp::create(builder, loc, reduce.getResult(0), out, ArrayRef<int64_t>{1});
  pool.push_back(broadcast->getResult(0));
}

void RandomGraph::addSoftmax(Pool &pool) {
  Value x = pick(pool);
  Value out = destination(x, 0, x, 1, formatOf(x), false);
  pool.push_back(linalg::SoftmaxOp::create(builder, loc, out.getType(), x, out, 1)->getResult(0));
}

void RandomGraph::addTranspose(Pool &pool) {
  Value x = pick(pool);
  Value out = destination(x, 1, x, 0, formatOf(x), false);
  pool.push_back(
      linalg::TransposeOp::create(builder, loc, x, out, ArrayRef<int64_t>{1, 0})->getResult(0));
}

/// The right factor may be any value with as many rows as `x` has columns, or a constant.
void RandomGraph::addMatmul(Pool &pool) {
  Value x = pick(pool), w;
  int64_t inner = typeOf(x).getDimSize(1);
  for (unsigned i = 0; i < 8 && !w; ++i)
    if (Value other = pick(pool);
        typeOf(other).getDimSize(0) == inner && formatOf(other) == formatOf(x))
      w = other;
  if (!w && ShapedType::isDynamic(inner))
    return addTranspose(pool);
  if (!w)
    w = constant(RankedTensorType::get({inner, static_cast<int64_t>(2 + below(3))}, formatOf(x)));
  // Already narrow contractions accumulate in f32, as everybody writes them.
  FloatType result = formatOf(x).isF64() ? formatOf(x) : builder.getF32Type();
  Value out = destination(x, 0, w, 1, result, true);
  if (oneIn(4))
    out = pickLike(pool, out);
  pool.push_back(
      linalg::MatmulOp::create(builder, loc, out.getType(), ValueRange{x, w}, out).getResult(0));
}

/// x times the transpose of y, as a generic.
void RandomGraph::addGenericContraction(Pool &pool) {
  Value x = pick(pool), y = pickLike(pool, x);
  if (formatOf(x).getWidth() < 32)
    return addTranspose(pool);
  Value out = destination(x, 0, y, 0, formatOf(x), true);
  AffineExpr i, j, k;
  bindDims(context, i, j, k);
  SmallVector<AffineMap> maps = {AffineMap::get(3, 0, {i, k}, context),
                                 AffineMap::get(3, 0, {j, k}, context),
                                 AffineMap::get(3, 0, {i, j}, context)};
  auto generic = linalg::GenericOp::create(
      builder, loc, out.getType(), ValueRange{x, y}, out, maps,
      ArrayRef{utils::IteratorType::parallel, utils::IteratorType::parallel,
               utils::IteratorType::reduction},
      [](OpBuilder &inner, Location at, ValueRange arguments) {
        Value product = arith::MulFOp::create(inner, at, arguments[0], arguments[1]);
        Value sum = arith::AddFOp::create(inner, at, arguments[2], product);
        linalg::YieldOp::create(inner, at, sum);
      });
  pool.push_back(generic.getResult(0));
}

void RandomGraph::addConstant(Pool &pool) {
  RankedTensorType type = randomType();
  if (type.hasStaticShape())
    pool.push_back(constant(type));
  else
    addUnary(pool);
}

void RandomGraph::addSelect(Pool &pool) {
  using P = arith::CmpFPredicate;
  constexpr P predicates[] = {P::OLT, P::ULT, P::OLE, P::ULE, P::OGT,
                              P::UGT, P::OGE, P::UGE, P::UNE};
  Value x = pick(pool), y = pickLike(pool, x);
  Value holds =
      arith::CmpFOp::create(builder, loc, predicates[pool.size() % std::size(predicates)], x, y);
  // An extremum, or one side kept only where it compares so.
  Value other = pool.size() % 2 ? x : Value(arith::NegFOp::create(builder, loc, x));
  pool.push_back(arith::SelectOp::create(builder, loc, holds, y, other));
}

/// A user's own trip to bf16 and back, or just there, in arith's words or in mp's.
void RandomGraph::addUserCasts(Pool &pool) {
  Value x = pick(pool);
  if (!formatOf(x).isF32())
    return addUnary(pool);
  Type type = mlir::mp::withFormat(x.getType(), builder.getBF16Type());
  Value narrow;
  if (oneIn(2))
    narrow = arith::TruncFOp::create(builder, loc, type, x);
  else
    narrow = mlir::mp::CastOp::create(
        builder, loc, type, x, Value(), mlir::mp::RoundingAttr(),
        mlir::mp::OverflowAttr::get(context, mlir::mp::Overflow::IEEE), UnitAttr());
  if (oneIn(2))
    pool.push_back(narrow);
  else
    pool.push_back(arith::ExtFOp::create(builder, loc, x.getType(), narrow));
}

/// The first row taken out and put in as the last but none.
void RandomGraph::addSlices(Pool &pool) {
  Value x = pick(pool);
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  OpFoldResult width = typeOf(x).isDynamicDim(1) ? OpFoldResult(dim(x, 1))
                                                 : builder.getIndexAttr(typeOf(x).getDimSize(1));
  SmallVector<OpFoldResult> offsets = {zero, zero}, extent = {one, width}, strides = {one, one};
  Value row = tensor::ExtractSliceOp::create(builder, loc, x, offsets, extent, strides);
  Value into = pickLike(pool, x);
  if (oneIn(3))
    pool.push_back(row);
  else
    pool.push_back(
        tensor::InsertSliceOp::create(builder, loc, row, into, offsets, extent, strides));
}

/// A scalar read, computed with, and spread again.
void RandomGraph::addScalars(Pool &pool) {
  Value x = pick(pool);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value read = tensor::ExtractOp::create(builder, loc, x, ValueRange{zero, zero});
  Value sum = arith::AddFOp::create(builder, loc, read, scalar(formatOf(x)));
  Value out = destination(x, 0, x, 1, formatOf(x), false);
  Value spread = linalg::FillOp::create(builder, loc, sum, out).getResult(0);
  pool.push_back(arith::MulFOp::create(builder, loc, x, spread));
}

/// Dynamic dimensions keep their size: all `?` are equal, so that equal types are equal shapes.
void RandomGraph::addPad(Pool &pool) {
  Value x = pick(pool);
  SmallVector<OpFoldResult> low, high(2, builder.getIndexAttr(0));
  SmallVector<int64_t> shape;
  for (int64_t size : typeOf(x).getShape()) {
    bool isDynamic = ShapedType::isDynamic(size);
    low.push_back(builder.getIndexAttr(isDynamic ? 0 : 1));
    shape.push_back(isDynamic ? size : size + 1);
  }
  auto type = RankedTensorType::get(shape, formatOf(x));
  pool.push_back(tensor::PadOp::create(builder, loc, type, x, low, high, scalar(formatOf(x))));
}
