// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the attributes of two ops, but for those in which mp keeps its books.

#include "ErasureDifference.h"
#include "ErasureMatcher.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::mp;

/// The dictionaries of the first `count` places, without the record of changed arguments
/// (`mp.storage`); null if nothing is left.
static Attribute withoutBooks(Attribute list, size_t count) {
  SmallVector<Attribute> rest;
  for (auto dictionary : cast<ArrayAttr>(list).getAsRange<DictionaryAttr>()) {
    NamedAttrList kept(dictionary);
    kept.erase(kStorageAttrName);
    rest.push_back(kept.getDictionary(list.getContext()));
  }
  rest.resize(std::min(rest.size(), count));
  bool any = llvm::any_of(rest, [](Attribute a) { return !cast<DictionaryAttr>(a).empty(); });
  return any ? ArrayAttr::get(list.getContext(), rest) : Attribute();
}

/// Returns the attributes of arguments and results that the original has, too.
static DictionaryAttr withoutBooks(Operation *op, Operation *original) {
  auto function = dyn_cast<FunctionOpInterface>(original);
  NamedAttrList attributes(op->getAttrDictionary());
  if (!function)
    return op->getAttrDictionary();
  for (auto [name, count] : {std::pair(StringRef("arg_attrs"), function.getNumArguments()),
                             std::pair(StringRef("res_attrs"), function.getNumResults())})
    if (Attribute list = attributes.get(name)) {
      attributes.erase(name);
      if (Attribute kept = withoutBooks(list, count))
        attributes.set(name, kept);
    }
  return attributes.getDictionary(op->getContext());
}

/// A public signature differs only in arguments and results whose new format is on record, and in
/// state of scaling.
static bool changesAsRecorded(FunctionOpInterface original, FunctionOpInterface converted) {
  ArrayRef<Type> results = original.getResultTypes(), arguments = original.getArgumentTypes();
  if (converted.getNumResults() < results.size() || converted.getNumArguments() < arguments.size())
    return false;
  auto isRecorded = [](Type before, Type after, TypeAttr storage) {
    return before == after || (storage && storage.getValue() == getFloatFormat(after));
  };
  for (auto [index, before, after] :
       llvm::enumerate(arguments, converted.getArgumentTypes().take_front(arguments.size())))
    if (!isRecorded(before, after, converted.getArgAttrOfType<TypeAttr>(index, kStorageAttrName)))
      return false;
  for (auto [index, before, after] :
       llvm::enumerate(results, converted.getResultTypes().take_front(results.size())))
    if (!isRecorded(before, after,
                    converted.getResultAttrOfType<TypeAttr>(index, kStorageAttrName)))
      return false;
  return true;
}

/// True for a flag of `op` itself that is off: upstream prints some of these, and not others.
static bool isFlagThatIsOff(Operation *op, NamedAttribute attribute) {
  auto flag = dyn_cast<BoolAttr>(attribute.getValue());
  return flag && !flag.getValue() &&
         llvm::is_contained(op->getName().getAttributeNames(), attribute.getName());
}

LogicalResult ErasureMatcher::compareAttributes(Operation *original, Operation *converted) {
  auto call = dyn_cast<CallOpInterface>(original);
  bool isFunction = isa<FunctionOpInterface>(original);
  bool isPublic = isFunction && cast<SymbolOpInterface>(original).isPublic();
  DictionaryAttr left = withoutBooks(original, original), right = withoutBooks(converted, original);
  for (NamedAttribute attribute : right)
    if (!isBookkeeping(attribute.getName()) && !left.contains(attribute.getName()) &&
        !isFlagThatIsOff(converted, attribute))
      return differ(original, converted,
                    "has '" + attribute.getName().strref() + "', which the original has not");
  for (NamedAttribute attribute : left) {
    StringAttr name = attribute.getName();
    Attribute before = attribute.getValue(), after = right.get(name);
    if (before == after || isBookkeeping(name))
      continue;
    if (!after && isFlagThatIsOff(original, attribute))
      continue;
    if (!after)
      return differ(original, converted, "lacks '" + name.strref() + "'");
    auto leftSymbol = dyn_cast<FlatSymbolRefAttr>(before);
    auto rightSymbol = dyn_cast<FlatSymbolRefAttr>(after);
    if (call && leftSymbol && rightSymbol &&
        call.getCallableForCallee() == CallInterfaceCallable(SymbolRefAttr(leftSymbol))) {
      calls.insert({leftSymbol.getAttr(), rightSymbol.getAttr()});
      continue;
    }
    if (isFunction && name == SymbolTable::getSymbolAttrName())
      continue; // a copy; who may be one is for the caller to know
    // The entry block's arguments and the returned values tell.
    if (isFunction && name == "function_type" &&
        (!isPublic || changesAsRecorded(cast<FunctionOpInterface>(original),
                                        cast<FunctionOpInterface>(converted))))
      continue;
    // TOSA's accumulator may become wider with its operands.
    auto leftType = dyn_cast<TypeAttr>(before), rightType = dyn_cast<TypeAttr>(after);
    if (name == "acc_type" && leftType && rightType && isa<FloatType>(leftType.getValue()) &&
        isa<FloatType>(rightType.getValue()) &&
        (allowPromotion || !isWidened(leftType.getValue(), rightType.getValue())))
      continue;
    if (!isSameConstant(before, after))
      return differ(original, converted, "has '" + name.strref() + "' = ")
             << after << ", the original has " << before;
  }
  return success();
}
