// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules side by side: what stands at the top level, and which function is whose copy.

#include "mp/Transforms/Verify/Erasure.h"
#include "ErasureMatcher.h"
#include "ErasureState.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::mp;

namespace {
/// Functions to compare, found by name and through calls.
class ModuleMatcher {
public:
  ModuleMatcher(ModuleOp original, ModuleOp converted, bool allowPromotion)
      : original(original), converted(converted), originalSymbols(original),
        convertedSymbols(converted), allowPromotion(allowPromotion) {}

  LogicalResult run() {
    pairByName();
    bool same = succeeded(compareRest());
    for (size_t i = 0; i < work.size(); ++i) { // grows
      auto [left, right] = work[i];
      ErasureMatcher matcher(allowPromotion);
      if (failed(matcher.match(left, right))) {
        same = false;
        continue;
      }
      for (auto [callee, copy] : matcher.getCalls())
        same &= succeeded(pairByCall(right, callee, copy));
    }
    same &= succeeded(everyFunctionIsPaired());
    return success(same);
  }

private:
  void pairByName() {
    for (auto function : converted.getOps<FunctionOpInterface>())
      if (Operation *before = originalSymbols.lookup(function.getNameAttr()))
        work.insert({before, function});
  }

  /// A call names another function than the original call did: a copy of a private one.
  LogicalResult pairByCall(Operation *caller, StringAttr callee, StringAttr copy) {
    Operation *before = originalSymbols.lookup(callee), *after = convertedSymbols.lookup(copy);
    auto function = dyn_cast_or_null<FunctionOpInterface>(before);
    if (!function || !after)
      return caller->emitOpError() << "calls " << copy << " where the original calls " << callee;
    if (!function.isPrivate() || originalSymbols.lookup(copy))
      return caller->emitOpError()
             << "calls " << copy << " where the original calls " << callee
             << ", and only private functions may have copies under new names";
    work.insert({before, after});
    return success();
  }

  /// A function that mp added to convert the parameters of another: casts of arguments, returned.
  bool isParameterConversion(FunctionOpInterface function) {
    auto converts = function->getAttrOfType<FlatSymbolRefAttr>(kConvertsAttrName);
    if (!converts || !convertedSymbols.lookup(converts.getAttr()) ||
        !function.getFunctionBody().hasOneBlock())
      return false;
    return llvm::all_of(function.getFunctionBody().front().without_terminator(), [](Operation &op) {
      auto cast = dyn_cast<CastOp>(op);
      return cast && cast.getInserted() && isa<BlockArgument>(cast.getSource());
    });
  }

  LogicalResult everyFunctionIsPaired() {
    llvm::DenseSet<Operation *> paired;
    for (auto [left, right] : work)
      paired.insert_range(ArrayRef<Operation *>{left, right});
    for (auto function : original.getOps<FunctionOpInterface>())
      if (!paired.contains(function)) {
        InFlightDiagnostic diagnostic = converted.emitOpError()
                                        << "lacks the function " << function.getNameAttr();
        diagnostic.attachNote(function.getLoc()) << "the original has it here";
        return diagnostic;
      }
    for (auto function : converted.getOps<FunctionOpInterface>())
      if (!paired.contains(function) && !isParameterConversion(function) &&
          !isInitOfScaling(function))
        return function.emitOpError() << "is no function of the original, nor a copy of one";
    return success();
  }

  /// Everything at the top level but functions: the same, in the same order. Modules in it are
  /// compared as this one is.
  LogicalResult compareRest() {
    for (NamedAttribute attribute : converted->getAttrs())
      if (!attribute.getName().getValue().starts_with("mp.") &&
          !original->hasAttr(attribute.getName()))
        return converted.emitOpError()
               << "has '" << attribute.getName().strref() << "', which the original has not";
    for (NamedAttribute attribute : original->getAttrs())
      if (converted->getAttr(attribute.getName()) != attribute.getValue())
        return converted.emitOpError() << "has '" << attribute.getName().strref()
                                       << "' = " << converted->getAttr(attribute.getName())
                                       << ", the original has " << attribute.getValue();
    auto rest = [](ModuleOp module) {
      return llvm::make_filter_range(module.getOps(),
                                     [](Operation &op) { return !isa<FunctionOpInterface>(op); });
    };
    auto left = rest(original), right = rest(converted);
    auto a = left.begin(), b = right.begin();
    for (; a != left.end() && b != right.end(); ++a, ++b) {
      auto innerLeft = dyn_cast<ModuleOp>(*a), innerRight = dyn_cast<ModuleOp>(*b);
      if (innerLeft && innerRight) {
        if (failed(ModuleMatcher(innerLeft, innerRight, allowPromotion).run()))
          return failure();
        continue;
      }
      ErasureMatcher matcher(allowPromotion);
      if (failed(matcher.match(&*a, &*b)))
        return failure();
    }
    if (a != left.end())
      return converted.emitOpError() << "lacks an op of the original: '" << (*a).getName() << "'";
    if (b != right.end())
      return (*b).emitOpError() << "has no counterpart in the original";
    return success();
  }

  ModuleOp original, converted;
  SymbolTable originalSymbols, convertedSymbols;
  bool allowPromotion;
  llvm::SetVector<std::pair<Operation *, Operation *>> work;
};
} // namespace

LogicalResult mlir::mp::checkErasure(ModuleOp original, ModuleOp converted, bool allowPromotion) {
  return ModuleMatcher(original, converted, allowPromotion).run();
}
