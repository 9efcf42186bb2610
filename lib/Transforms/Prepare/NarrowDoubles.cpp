// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-narrow-doubles: what graphs compute in f64 is computed in f32, but for signatures, calls and
// what reads bits. It is a conversion of types: every op that may be rebuilt is, the widenings and
// roundings between both formats fold, and what stays wide reads and gives f64 through casts.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Transforms/Prepare/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_NARROWDOUBLES
#include "mp/Transforms/Prepare/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// The type with f32 in place of f64; null for types that hold f64 where f32 cannot stand.
static Type narrowType(Type type) {
  if (type.isF64())
    return Float32Type::get(type.getContext());
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !isa<TensorType, VectorType>(type) || !shaped.getElementType().isF64())
    return type;
  return shaped.clone(Float32Type::get(type.getContext()));
}

static bool isDouble(Type type) { return narrowType(type) != type; }

/// Rounds to nearest even; what is finite stays so, at most the largest of f32: the lowest f64
/// that a maximum begins with is the lowest f32 then.
static APFloat narrowNumber(APFloat number) {
  bool finite = number.isFinite(), negative = number.isNegative(), lost;
  number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
  return finite && !number.isFinite() ? APFloat::getLargest(APFloat::IEEEsingle(), negative)
                                      : number;
}

/// An attribute of f64 numbers in f32; any other as it is; null if it cannot be read.
static Attribute narrowAttribute(Attribute attribute) {
  auto typed = dyn_cast<TypedAttr>(attribute);
  if (!typed || !isDouble(typed.getType()))
    return attribute;
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return FloatAttr::get(narrowType(number.getType()), narrowNumber(number.getValue()));
  auto elements = dyn_cast<DenseFPElementsAttr>(attribute);
  if (!elements)
    return {};
  return elements.mapValues(Float32Type::get(attribute.getContext()), [](const APFloat &number) {
    return narrowNumber(number).bitcastToAPInt();
  });
}

/// True if nothing about the op depends on its numbers being f64: it is of a dialect of graphs, and
/// reads no bits.
static bool canNarrow(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (!llvm::is_contained({"arith", "math", "linalg", "tensor", "tosa", "scf"}, dialect) ||
      isa<arith::BitcastOp, tensor::BitcastOp>(op))
    return false;
  return llvm::all_of(op->getAttrs(), [](NamedAttribute attribute) {
    return static_cast<bool>(narrowAttribute(attribute.getValue()));
  });
}

static bool hasWide(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isDouble) ||
         llvm::any_of(op->getResultTypes(), isDouble) ||
         llvm::any_of(op->getRegions(), [](Region &region) {
           return llvm::any_of(region, [](Block &block) {
             return llvm::any_of(block.getArgumentTypes(), isDouble);
           });
         });
}

namespace {
/// Rebuilds any op in f32. Casts between formats that are equal now are their operands.
struct NarrowOp : ConversionPattern {
  NarrowOp(TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> results;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), results)))
      return failure();
    if (isa<arith::ExtFOp, arith::TruncFOp, tosa::CastOp>(op) &&
        operands.front().getType() == results.front()) {
      rewriter.replaceOp(op, operands.front());
      return success();
    }
    OperationState state(op->getLoc(), op->getName().getStringRef(), operands, results, {},
                         op->getSuccessors());
    for (NamedAttribute attribute : op->getAttrs())
      state.addAttribute(attribute.getName(), narrowAttribute(attribute.getValue()));
    for ([[maybe_unused]] Region &region : op->getRegions())
      state.addRegion();
    Operation *narrow = rewriter.create(state);
    for (auto [from, to] : llvm::zip_equal(op->getRegions(), narrow->getRegions())) {
      rewriter.inlineRegionBefore(from, to, to.end());
      if (failed(rewriter.convertRegionTypes(&to, *getTypeConverter())))
        return failure();
    }
    rewriter.replaceOp(op, narrow->getResults());
    return success();
  }
};

struct NarrowDoubles : mlir::mp::impl::NarrowDoublesBase<NarrowDoubles> {
  void runOnOperation() override {
    TypeConverter converter;
    converter.addConversion(narrowType);
    auto cast = [](OpBuilder &builder, Type type, ValueRange inputs, Location loc) -> Value {
      if (inputs.size() != 1)
        return {};
      if (isDouble(type))
        return arith::ExtFOp::create(builder, loc, type, inputs.front());
      return arith::TruncFOp::create(builder, loc, type, inputs.front());
    };
    converter.addSourceMaterialization(cast);
    converter.addTargetMaterialization(cast);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal(
        [](Operation *op) { return !hasWide(op) || !canNarrow(op); });
    RewritePatternSet patterns(&getContext());
    patterns.add<NarrowOp>(converter, &getContext());
    noteWide();
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }

  /// Says of each function how many ops will be narrow, and which stay.
  void noteWide() {
    if (!getContext().getRemarkEngine())
      return;
    getOperation().walk([](FunctionOpInterface function) {
      int64_t narrowed = 0;
      function->walk([&](Operation *op) {
        if (op == function || !hasWide(op) || op->hasTrait<OpTrait::IsTerminator>())
          return;
        if (canNarrow(op)) {
          ++narrowed;
          return;
        }
        remark::missed(op->getLoc(), remarks::kKeptWide.in(function))
            << remark::add("{0} stays in f64", op->getName().getStringRef().str());
      });
      if (narrowed)
        remark::passed(function.getLoc(), remarks::kNarrowed.in(function))
            << remark::add("{0} ops compute in f32 in place of f64", narrowed);
    });
  }
};
} // namespace
