// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-casts-to-upstream: what other compilers read.

#include "../Common/SplitCode.h"
#include "FormatArithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_CASTSTOUPSTREAM
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static bool standsBesideTosa(Operation *op) {
  auto isTosa = [](Operation *other) {
    return other && isa_and_nonnull<tosa::TosaDialect>(other->getDialect());
  };
  return isa<TensorType>(op->getResult(0).getType()) &&
         (isTosa(op->getOperand(0).getDefiningOp()) || llvm::any_of(op->getUsers(), isTosa));
}

/// `value` in `format` by a plain cast: wider, or to nearest even.
static Value castPlainly(OpBuilder &builder, Location loc, Value value, FloatType format,
                         bool asTosa) {
  Type type = withFormat(value.getType(), format);
  if (asTosa)
    return tosa::CastOp::create(builder, loc, type, value);
  if (getFloatFormat(value.getType()).getWidth() < format.getWidth())
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::TruncFOp::create(builder, loc, type, value);
}

/// The cast as plain casts, where upstream's mean the same; null elsewhere.
static Value expressPlainly(OpBuilder &builder, CastOp cast) {
  if (cast.getRounding().value_or(Rounding::RNE) != Rounding::RNE ||
      cast.getOverflow().value_or(Overflow::IEEE) != Overflow::IEEE)
    return {};
  bool asTosa = standsBesideTosa(cast);
  Value value = cast.getSource();
  // Between formats of one width upstream has no cast: both fit f32.
  if (cast.getSourceFormat().getWidth() == cast.getResultFormat().getWidth())
    value = castPlainly(builder, cast.getLoc(), value, builder.getF32Type(), asTosa);
  return castPlainly(builder, cast.getLoc(), value, cast.getResultFormat(), asTosa);
}

/// The op as integer arithmetic, on tensors inside a linalg.generic.
static FailureOr<Value> expressInIntegers(OpBuilder &builder, Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type)
    return emitConversion(builder, op);
  Location loc = op->getLoc();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, op->getOperand(0));
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  SmallVector<AffineMap> maps(op->getNumOperands() + 1,
                              builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  LogicalResult emitted = success();
  auto generic = linalg::GenericOp::create(
      builder, loc, type, op->getOperands(), empty, maps, iterators,
      [&](OpBuilder &body, Location bodyLoc, ValueRange arguments) {
        Operation *scalar = op->clone();
        scalar->setOperands(arguments.take_front(op->getNumOperands()));
        scalar->getResult(0).setType(type.getElementType());
        body.insert(scalar);
        FailureOr<Value> value = emitConversion(body, scalar);
        emitted = value;
        linalg::YieldOp::create(body, bodyLoc, succeeded(value) ? *value : arguments.back());
        scalar->erase();
      });
  if (failed(emitted))
    return failure();
  return generic.getResult(0);
}

/// Removes the discardable attributes of mp.
static void dropAttributes(Operation *op) {
  auto isOurs = [](NamedAttribute attribute) {
    return attribute.getName().strref().starts_with("mp.");
  };
  for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
    if (isOurs(attribute))
      op->removeDiscardableAttr(attribute.getName());
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return;
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    for (NamedAttribute attribute : llvm::to_vector(function.getArgAttrs(index)))
      if (isOurs(attribute))
        function.removeArgAttr(index, attribute.getName());
}

namespace {
struct CastsToUpstream : mlir::mp::impl::CastsToUpstreamBase<CastsToUpstream> {
  void runOnOperation() override {
    expandAllSplits(getOperation());
    SmallVector<Operation *> casts;
    getOperation()->walk([&](Operation *op) {
      dropAttributes(op);
      if (isa<CastOp, RoundOp>(op))
        casts.push_back(op);
    });
    for (Operation *op : casts) {
      OpBuilder builder(op);
      auto cast = dyn_cast<CastOp>(op);
      FailureOr<Value> value = cast ? expressPlainly(builder, cast) : Value();
      if (!*value)
        value = expressInIntegers(builder, op);
      if (failed(value)) {
        op->emitOpError("cannot be said with upstream ops: expected formats of at most 64 bits");
        return signalPassFailure();
      }
      op->getResult(0).replaceAllUsesWith(*value);
      op->erase();
    }
  }
};
} // namespace
