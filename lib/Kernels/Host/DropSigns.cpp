// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-drop-signs: make integers signless, which ops have read the sign of (exact).

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mp/Kernels/Host/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_DROPSIGNS
#include "mp/Kernels/Host/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// The same bits in a type that says nothing of a sign; null for a type that already does not.
static Type withoutSign(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && !integer.isSignless() ? IntegerType::get(type.getContext(), integer.getWidth())
                                          : Type();
}

/// Notes which arguments and results callers see as unsigned.
static void noteSigns(FunctionOpInterface function) {
  auto isUnsigned = [](Type type) { return getElementTypeOrSelf(type).isUnsignedInteger(); };
  auto unit = UnitAttr::get(function.getContext());
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    if (isUnsigned(type))
      function.setArgAttr(index, kUnsignedAttrName, unit);
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    if (isUnsigned(type))
      function.setResultAttr(index, kUnsignedAttrName, unit);
}

/// True if a value, or what a function takes or gives, has a type with a sign.
static bool hasSigns(ModuleOp module) {
  auto isSigned = [](Type type) { return bool(withoutSign(getElementTypeOrSelf(type))); };
  auto found = module.walk([&](Operation *op) {
    auto function = dyn_cast<FunctionOpInterface>(op);
    bool some = llvm::any_of(op->getResultTypes(), isSigned) ||
                (function && (llvm::any_of(function.getArgumentTypes(), isSigned) ||
                              llvm::any_of(function.getResultTypes(), isSigned)));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        some |= llvm::any_of(block.getArgumentTypes(), isSigned);
    return some ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

namespace {

struct DropSigns : mlir::mp::impl::DropSignsBase<DropSigns> {
  using Base::Base;

  void runOnOperation() override {
    if (!hasSigns(getOperation()))
      return markAllAnalysesPreserved();
    AttrTypeReplacer replacer;
    replacer.addReplacement([](IntegerType type) -> std::optional<Type> {
      Type signless = withoutSign(type);
      return signless ? std::optional(signless) : std::nullopt;
    });
    replacer.addReplacement([](IntegerAttr number) -> std::optional<Attribute> {
      Type signless = withoutSign(number.getType());
      return signless ? std::optional(IntegerAttr::get(signless, number.getValue())) : std::nullopt;
    });
    replacer.addReplacement([](DenseElementsAttr elements) -> std::optional<Attribute> {
      Type signless = withoutSign(elements.getElementType());
      return signless ? std::optional(elements.bitcast(signless)) : std::nullopt;
    });
    replacer.addReplacement([](DenseResourceElementsAttr elements) -> std::optional<Attribute> {
      Type signless = withoutSign(elements.getType().getElementType());
      if (!signless)
        return std::nullopt;
      return DenseResourceElementsAttr::get(elements.getType().clone(signless),
                                            elements.getRawHandle());
    });
    for (auto function : getOperation().getOps<FunctionOpInterface>())
      if (function.isPublic())
        noteSigns(function);
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false, /*replaceTypes=*/true);
  }
};

} // namespace
