// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RandomGraph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mlir::mp::test;

static Value create(OpBuilder &builder, Location loc, StringRef name, ValueRange operands,
                    Type type, ArrayRef<NamedAttribute> attributes = {}) {
  OperationState state(loc, name, operands, type, attributes);
  return builder.create(state)->getResult(0);
}

Value RandomGraph::tosaConstant(RankedTensorType type) {
  SmallVector<Attribute> values;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    values.push_back(builder.getFloatAttr(type.getElementType(),
                                          (static_cast<double>(below(2001)) - 1000) / 300));
  return create(builder, loc, "tosa.const", {}, type,
                builder.getNamedAttr("values", DenseElementsAttr::get(type, values)));
}

/// The zero point of floats.
static Value zeroPoint(OpBuilder &builder, Location loc) {
  auto type = RankedTensorType::get({1}, builder.getF32Type());
  return create(builder, loc, "tosa.const", {}, type,
                builder.getNamedAttr(
                    "values", DenseElementsAttr::get(type, builder.getF32FloatAttr(0).getValue())));
}

void RandomGraph::addTosa(Pool &pool) {
  Value x = pick(pool);
  RankedTensorType type = typeOf(x);
  if (!type.hasStaticShape() || !type.getElementType().isF32())
    return addBinary(pool);
  Type f32 = builder.getF32Type();
  int64_t m = type.getDimSize(0), n = type.getDimSize(1);
  auto tensor = [&](ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, f32); };
  auto reshape = [&](Value value, ArrayRef<int64_t> shape, bool expand,
                     ArrayRef<ReassociationIndices> groups) -> Value {
    if (expand)
      return tensor::ExpandShapeOp::create(builder, loc, tensor(shape), value, groups);
    return tensor::CollapseShapeOp::create(builder, loc, tensor(shape), value, groups);
  };
  switch (below(6)) {
  case 0: return pool.push_back(create(builder, loc, "tosa.add", {x, pickLike(pool, x)}, type));
  case 1: return pool.push_back(create(builder, loc, "tosa.tanh", x, type));
  case 2:
    return pool.push_back(create(builder, loc, "tosa.clamp", x, type,
                                 {builder.getNamedAttr("min_val", builder.getF32FloatAttr(-0.3f)),
                                  builder.getNamedAttr("max_val", builder.getF32FloatAttr(6.1f))}));
  case 3:
    return pool.push_back(
        create(builder, loc, "tosa.transpose", x, tensor({n, m}),
               builder.getNamedAttr("perms", builder.getDenseI32ArrayAttr({1, 0}))));
  case 4: {
    Value batch = reshape(x, {1, m, n}, true, {{0, 1}, {2}});
    Value zero = zeroPoint(builder, loc);
    Value product = create(builder, loc, "tosa.matmul",
                           {batch, tosaConstant(tensor({1, n, 3})), zero, zero}, tensor({1, m, 3}));
    return pool.push_back(reshape(product, {m, 3}, false, {{0, 1}, {2}}));
  }
  case 5: {
    Value image = reshape(x, {1, m, n, 1}, true, {{0, 1}, {2, 3}});
    Value zero = zeroPoint(builder, loc);
    NamedAttribute attributes[] = {
        builder.getNamedAttr("pad", builder.getDenseI64ArrayAttr({0, 0, 0, 0})),
        builder.getNamedAttr("stride", builder.getDenseI64ArrayAttr({1, 1})),
        builder.getNamedAttr("dilation", builder.getDenseI64ArrayAttr({1, 1})),
        builder.getNamedAttr("acc_type", TypeAttr::get(f32))};
    Value filtered =
        create(builder, loc, "tosa.conv2d",
               {image, tosaConstant(tensor({2, 1, 1, 1})), tosaConstant(tensor({2})), zero, zero},
               tensor({1, m, n, 2}), attributes);
    return pool.push_back(reshape(filtered, {m, 2 * n}, false, {{0, 1}, {2, 3}}));
  }
  }
}
