// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choice among versions: verifier, and the attribute of its rules.

#include "mlir/IR/Builders.h"
#include "mp/Dialect/MP/Versions.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::mp;

DictionaryAttr VersionRule::toAttr(MLIRContext *context) const {
  Builder b(context);
  NamedAttrList list;
  list.append("signal", b.getI64IntegerAttr(signal));
  list.append("version", b.getI64IntegerAttr(version));
  if (from)
    list.append("from", b.getF64FloatAttr(*from));
  if (below)
    list.append("below", b.getF64FloatAttr(*below));
  if (onNaN)
    list.append("nan", b.getUnitAttr());
  if (!reason.empty())
    list.append("reason", b.getStringAttr(reason));
  return list.getDictionary(context);
}

std::optional<VersionRule> VersionRule::fromAttr(Attribute attribute) {
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  if (!dictionary)
    return std::nullopt;
  VersionRule rule;
  bool hasSignal = false, hasVersion = false;
  for (NamedAttribute entry : dictionary) {
    StringRef name = entry.getName();
    auto integer = dyn_cast<IntegerAttr>(entry.getValue());
    auto number = dyn_cast<FloatAttr>(entry.getValue());
    const bool isLimit = number && number.getType().isF64();
    if (name == "signal" && integer && integer.getType().isInteger(64)) {
      rule.signal = integer.getInt();
      hasSignal = true;
    } else if (name == "version" && integer && integer.getType().isInteger(64)) {
      rule.version = integer.getInt();
      hasVersion = true;
    } else if (name == "from" && isLimit) {
      rule.from = number.getValueAsDouble();
    } else if (name == "below" && isLimit) {
      rule.below = number.getValueAsDouble();
    } else if (name == "nan" && isa<UnitAttr>(entry.getValue())) {
      rule.onNaN = true;
    } else if (name == "reason" && isa<StringAttr>(entry.getValue())) {
      rule.reason = cast<StringAttr>(entry.getValue()).str();
    } else {
      return std::nullopt;
    }
  }
  const bool limits = rule.from || rule.below || rule.onNaN;
  const bool isEmpty = rule.from && rule.below && !(*rule.from < *rule.below);
  if (!hasSignal || !hasVersion || !limits || isEmpty)
    return std::nullopt;
  return rule;
}

LogicalResult SelectVersionOp::verify() {
  const int64_t versions = getVersions().size(), signals = getSignals().size();
  llvm::StringSet<> names;
  for (Attribute name : getVersions())
    if (!names.insert(cast<StringAttr>(name).getValue()).second)
      return emitOpError("(C1) expects each version once, found ") << name << " twice";
  if (versions < 2 || getOtherwise() < 0 || int64_t(getOtherwise()) >= versions)
    return emitOpError("(C1) expects at least two versions and 'otherwise' among them, found ")
           << versions << " and " << int64_t(getOtherwise());
  if (int64_t(getHold()) < 0)
    return emitOpError("(C2) expects 'hold' to be at least 0, found ") << int64_t(getHold());
  for (Attribute attribute : getRules()) {
    auto rule = VersionRule::fromAttr(attribute);
    if (!rule || rule->signal < 0 || rule->signal >= signals || rule->version < 0 ||
        rule->version >= versions)
      return emitOpError("(C3) expects rules with a signal below ")
             << signals << ", a version below " << versions
             << ", 'from' below 'below' or one of them, or 'nan', found " << attribute;
  }
  if (int64_t(getNames().size()) != signals)
    return emitOpError("(C4) expects a name for each of ")
           << signals << " signals, found " << getNames().size();
  return success();
}

#define GET_OP_CLASSES
#include "mp/Dialect/MP/VersionOps.cpp.inc"
