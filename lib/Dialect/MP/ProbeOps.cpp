// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Probes: verifier, and the attribute on arguments that hold records.

#include "mlir/IR/Builders.h"
#include "mp/Dialect/MP/Formats.h"
#include "mp/Dialect/MP/Probes.h"
#include "mp/Numerics/ProbeRecord.h"

using namespace mlir;
using namespace mlir::mp;

std::optional<SmallVector<numerics::Format>> mlir::mp::probeFormats(ArrayAttr types) {
  SmallVector<numerics::Format> formats;
  for (Attribute type : types ? types.getValue() : ArrayRef<Attribute>()) {
    auto known =
        isa<TypeAttr>(type) ? getNumericsFormat(cast<TypeAttr>(type).getValue()) : std::nullopt;
    if (!known || !numerics::canBeProbed(*known) || llvm::is_contained(formats, *known))
      return std::nullopt;
    formats.push_back(*known);
  }
  return formats;
}

LogicalResult ProbeOp::verify() {
  FloatType element = getFloatFormat(getSource().getType());
  if (!element || element.getWidth() > 32)
    return emitOpError("(C1) expects a tensor of f32 or narrower floats, found ")
           << getSource().getType();
  auto formats = probeFormats(getFormatsAttr());
  if (!formats)
    return emitOpError("(C2) expects formats narrower than f32, with sign and zero, each once, "
                       "found ")
           << getFormatsAttr();
  const int64_t expected = numerics::probeRecordSize(formats->size(), getHistogram());
  auto record = cast<RankedTensorType>(getRecord().getType());
  if (record.getDimSize(0) != expected)
    return emitOpError("(C3) expects a record of ") << expected << " f64, found " << record;
  return success();
}

static ArrayAttr namesOf(Builder &b, ArrayRef<numerics::Format> formats) {
  SmallVector<Attribute> names;
  for (numerics::Format format : formats)
    names.push_back(b.getStringAttr(numerics::toString(format)));
  return b.getArrayAttr(names);
}

static std::optional<SmallVector<numerics::Format>> formatsNamed(ArrayAttr names) {
  SmallVector<numerics::Format> formats;
  for (Attribute name : names) {
    auto known = isa<StringAttr>(name) ? numerics::parseFormat(cast<StringAttr>(name).getValue())
                                       : std::nullopt;
    if (!known || !numerics::canBeProbed(*known))
      return std::nullopt;
    formats.push_back(*known);
  }
  return formats;
}

DictionaryAttr ProbeInfo::toAttr(MLIRContext *context) const {
  Builder b(context);
  SmallVector<NamedAttribute> entries{
      b.getNamedAttr("every", b.getI64IntegerAttr(every)),
      b.getNamedAttr("formats", namesOf(b, formats)), b.getNamedAttr("name", b.getStringAttr(name)),
      b.getNamedAttr("of", b.getStringAttr(of)), b.getNamedAttr("used", namesOf(b, used))};
  if (hasHistogram)
    entries.push_back(b.getNamedAttr("histogram", b.getUnitAttr()));
  if (isScaled)
    entries.push_back(b.getNamedAttr("scaled", b.getUnitAttr()));
  return b.getDictionaryAttr(entries);
}

std::optional<ProbeInfo> ProbeInfo::fromAttr(Attribute attribute) {
  auto entries = dyn_cast_or_null<DictionaryAttr>(attribute);
  if (!entries)
    return std::nullopt;
  auto name = entries.getAs<StringAttr>("name"), of = entries.getAs<StringAttr>("of");
  auto every = entries.getAs<IntegerAttr>("every");
  auto formats = entries.getAs<ArrayAttr>("formats"), used = entries.getAs<ArrayAttr>("used");
  if (!name || !of || !every || every.getInt() < 1 || !formats || !used)
    return std::nullopt;
  auto counted = formatsNamed(formats), rounded = formatsNamed(used);
  if (!counted || !rounded)
    return std::nullopt;
  return ProbeInfo{name.str(),
                   of.str(),
                   *counted,
                   *rounded,
                   every.getInt(),
                   entries.contains("histogram"),
                   entries.contains("scaled")};
}

#define GET_OP_CLASSES
#include "mp/Dialect/MP/ProbeOps.cpp.inc"
