// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-promote-to-f64: the same computation in f64, the reference of mp-run.

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/PatternMatch.h"
#include "mp/Dialect/Check/CheckDialect.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_PROMOTETOF64
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static bool isPromoted(Type type) {
  auto format = dyn_cast<FloatType>(type);
  return format && format.getWidth() <= 32;
}

/// The prefix of printing functions in MLIR's runner library: printMemrefF32 and the like.
static constexpr StringRef kPrintBufferPrefix = "printMemref";

static bool isFloatCast(Operation *op) {
  auto isFloat = [](Type type) {
    FloatType format = getFloatFormat(type);
    return format && format.getWidth() <= 64;
  };
  auto hidden = dyn_cast<UnrealizedConversionCastOp>(op); // by mp-hide-constants
  bool isOne = hidden ? hidden.getNumOperands() == 1 && hidden.getNumResults() == 1
                      : isa<CastOp, RoundOp, arith::ExtFOp, arith::TruncFOp>(op);
  return isOne && isFloat(op->getOperand(0).getType()) && isFloat(op->getResult(0).getType());
}

namespace {

/// A bitcast with the format its operand or result had.
struct BitPattern {
  arith::BitcastOp op;
  Type source, result;
};

struct PromoteToF64 : mlir::mp::impl::PromoteToF64Base<PromoteToF64> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> casts, expectations;
    SmallVector<BitPattern> patterns;
    WalkResult walked = module.walk([&](Operation *op) {
      if (isa_and_nonnull<tosa::TosaDialect>(op->getDialect())) {
        op->emitOpError("has no f64 form: lower TOSA to linalg before mp-promote-to-f64");
        return WalkResult::interrupt();
      }
      if (isa_and_nonnull<CheckDialect>(op->getDialect()))
        expectations.push_back(op); // about the formats that go
      else if (isFloatCast(op))
        casts.push_back(op);
      else if (auto bitcast = dyn_cast<arith::BitcastOp>(op))
        patterns.push_back({bitcast, bitcast.getIn().getType(), bitcast.getType()});
      op->removeDiscardableAttr(kPrecisionAttrName);
      op->removeDiscardableAttr(kOperandsTF32AttrName); // they are f64 from now on
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return signalPassFailure();
    for (Operation *op : expectations)
      op->erase();
    if (failed(replaceExternals(module)) || failed(retype(module)))
      return signalPassFailure();
    // Now from f64 to f64.
    for (Operation *cast : casts) {
      cast->getResult(0).replaceAllUsesWith(cast->getOperand(0));
      cast->erase();
    }
    for (BitPattern &pattern : patterns)
      keepMeaning(pattern);
  }

  LogicalResult retype(ModuleOp module) {
    Type f64 = Float64Type::get(&getContext());
    AttrTypeReplacer replacer;
    bool unknownConstant = false;
    replacer.addReplacement([&](FloatType type) -> std::optional<Type> {
      return isPromoted(type) ? std::optional<Type>(f64) : std::nullopt;
    });
    replacer.addReplacement([&](Attribute attr) -> std::optional<std::pair<Attribute, WalkResult>> {
      bool isConstant = isa<FloatAttr, ElementsAttr>(attr);
      Type type = isConstant ? cast<TypedAttr>(attr).getType() : Type();
      if (!isConstant || !isPromoted(getElementTypeOrSelf(type)))
        return std::nullopt;
      Attribute wide = convertConstant(attr, cast<FloatType>(f64), Rounding::RNE, Overflow::IEEE);
      unknownConstant |= !wide;
      return std::make_pair(wide ? wide : attr, WalkResult::skip());
    });
    replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    if (unknownConstant)
      return module.emitError("a constant cannot be promoted to f64: expected dense elements");
    return success();
  }

  /// Functions defined elsewhere keep their format: only those that print buffers exist for f64
  /// too.
  LogicalResult replaceExternals(ModuleOp module) {
    AttrTypeWalker narrow;
    narrow.addWalk([](FloatType type) {
      return isPromoted(type) ? WalkResult::interrupt() : WalkResult::advance();
    });
    SymbolTable symbols(module);
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
      auto uses = SymbolTable::getSymbolUses(function, module);
      if (!function.isExternal() || !narrow.walk(function.getFunctionType()).wasInterrupted() ||
          (uses && uses->empty()))
        continue;
      StringRef name = function.getName();
      if (!name.consume_front(kPrintBufferPrefix))
        return function.emitError("@")
               << function.getName() << " is defined elsewhere and has no f64 form, found type "
               << function.getFunctionType();
      StringAttr wide = StringAttr::get(&getContext(), Twine(kPrintBufferPrefix) + "F64");
      if (!symbols.lookup(wide)) {
        if (failed(symbols.rename(function, wide)))
          return failure();
        continue;
      }
      if (failed(symbols.replaceAllSymbolUses(function, wide, module)))
        return failure();
      symbols.erase(function);
    }
    return success();
  }

  /// The integer side has the width of the original format.
  void keepMeaning(BitPattern &pattern) {
    OpBuilder builder(pattern.op);
    Location loc = pattern.op.getLoc();
    Value source = pattern.op.getIn();
    if (isPromoted(getElementTypeOrSelf(pattern.source)))
      source = arith::TruncFOp::create(builder, loc, pattern.source, source);
    Value result = arith::BitcastOp::create(builder, loc, pattern.result, source);
    if (isPromoted(getElementTypeOrSelf(pattern.result)))
      result = arith::ExtFOp::create(builder, loc, pattern.op.getType(), result);
    pattern.op.getResult().replaceAllUsesWith(result);
    pattern.op.erase();
  }
};

} // namespace
