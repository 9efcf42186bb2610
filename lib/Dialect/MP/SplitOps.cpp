// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of f32 values: verifiers, folds, constants.

#include "mp/Dialect/MP/SplitOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mp/Dialect/MP/Resources.h"
#include "mp/Numerics/ArrayCast.h"

using namespace mlir;
using namespace mlir::mp;
using numerics::SplitScheme;

std::optional<SplitScheme> mlir::mp::getSplitScheme(Operation *op) {
  auto name = dyn_cast_or_null<StringAttr>(op->getDiscardableAttr(kSplitAttrName));
  return name ? numerics::parseSplitScheme(name.getValue()) : std::nullopt;
}

std::optional<SplitScheme> mlir::mp::findSplitScheme(StringRef spelling) {
  std::optional<SplitScheme> scheme = numerics::parseSplitScheme(spelling);
  return scheme && llvm::is_contained(getSplitSchemes(), *scheme) ? scheme : std::nullopt;
}

ArrayRef<SplitScheme> mlir::mp::getSplitSchemes() {
  static constexpr SplitScheme schemes[] = {SplitScheme::BF16x9, SplitScheme::BF16x6,
                                            SplitScheme::TF32x3, SplitScheme::BF16x3};
  return schemes;
}

FloatType mlir::mp::getPartType(MLIRContext *context, SplitScheme scheme) {
  if (numerics::partFormat(scheme) == numerics::Format::TF32)
    return FloatTF32Type::get(context);
  return BFloat16Type::get(context);
}

/// Returns the format in which a part of `format` is stored.
static FloatType getStored(FloatType format) {
  return format.isTF32() ? FloatType(Float32Type::get(format.getContext())) : format;
}

LogicalResult SplitResidualOp::verify() {
  auto format = cast<FloatType>(getFormat());
  if (getFloatFormat(getType()) != getStored(format))
    return emitOpError("(C1) expects a result of ") << getStored(format) << ", found " << getType();
  if (getParts().empty())
    return emitOpError("(C2) expects a part before this one: the first is made by ")
           << (format.isTF32() ? "'mp.round tf32'" : "'mp.cast ieee'");
  for (Value part : getParts())
    if (part.getType() != getType())
      return emitOpError("(C2) expects parts of type ")
             << getType() << ", found " << part.getType();
  return success();
}

/// Products chained in one accumulator, and those that joins add to them.
static void collectProducts(Value value, SmallVectorImpl<Operation *> &products,
                            SmallVectorImpl<Operation *> *inner) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return;
  if (auto joined = dyn_cast<JoinSplitOp>(op)) {
    if (inner)
      inner->push_back(op);
    collectProducts(joined.getSmall(), products, inner);
    return collectProducts(joined.getLarge(), products, inner);
  }
  // Factors are parts; what is made by a product like this one is what it adds to.
  for (Value operand : op->getOperands())
    if (Operation *before = operand.getDefiningOp();
        before && before->getName() == op->getName() && operand.getType() == value.getType())
      collectProducts(operand, products, inner);
  products.push_back(op);
}

SmallVector<Operation *> mlir::mp::getProducts(JoinSplitOp joined,
                                               SmallVectorImpl<Operation *> *inner) {
  SmallVector<Operation *> products;
  collectProducts(joined.getSmall(), products, inner);
  collectProducts(joined.getLarge(), products, inner);
  return products;
}

DenseSet<Operation *> mlir::mp::findSplitProducts(Operation *root) {
  DenseSet<Operation *> found;
  root->walk([&](JoinSplitOp joined) {
    if (!joined.getInserted())
      return;
    SmallVector<Operation *> inner;
    found.insert_range(getProducts(joined, &inner));
    found.insert_range(inner);
  });
  return found;
}

/// Elements of a dense constant as f32; empty for others.
static std::vector<float> readElements(Attribute attr) {
  auto elements = dyn_cast_or_null<DenseFPElementsAttr>(attr);
  auto format = elements ? dyn_cast<FloatType>(elements.getElementType()) : FloatType();
  auto known = format ? numerics::formatOf(format.getFloatSemantics()) : std::nullopt;
  std::optional<ArrayRef<char>> raw = known ? getRawElements(elements) : std::nullopt;
  if (!raw)
    return {};
  std::vector<float> values(raw->size() / numerics::storageBytes(*known));
  numerics::convertArray(raw->data(), *known, values.data(), numerics::Format::F32, values.size());
  return values;
}

/// Bytes of values that are parts of `format` already, as they are stored.
static SmallVector<char, 0> storeParts(ArrayRef<float> values, FloatType format) {
  auto stored = *numerics::formatOf(getStored(format).getFloatSemantics());
  SmallVector<char, 0> bytes(values.size() * numerics::storageBytes(stored));
  numerics::convertArray(values.data(), numerics::Format::F32, bytes.data(), stored, values.size());
  return bytes;
}

OpFoldResult SplitResidualOp::fold(FoldAdaptor adaptor) {
  auto format = cast<FloatType>(getFormat());
  auto part = numerics::formatOf(format.getFloatSemantics());
  std::vector<float> rest = readElements(adaptor.getSource());
  if (rest.empty() || !part)
    return {};
  for (Attribute attr : adaptor.getParts()) {
    std::vector<float> before = readElements(attr);
    if (before.size() != rest.size()) // a splat beside what is none
      return {};
    for (auto [value, taken] : llvm::zip_equal(rest, before))
      value -= taken;
  }
  numerics::roundArray(rest.data(), rest.data(), rest.size(), *part);
  return DenseElementsAttr::getFromRawBuffer(cast<ShapedType>(getType()), storeParts(rest, format));
}

SmallVector<Attribute> mlir::mp::splitConstant(Attribute constant, SplitScheme scheme) {
  auto elements = dyn_cast<ElementsAttr>(constant);
  std::optional<ArrayRef<char>> raw;
  if (elements && elements.getElementType().isF32())
    raw = getRawElements(elements);
  if (!raw)
    return {};
  std::vector<float> values(raw->size() / sizeof(float));
  std::memcpy(values.data(), raw->data(), raw->size());
  std::vector<std::vector<float>> parts(numerics::partCount(scheme),
                                        std::vector<float>(values.size()));
  SmallVector<float *> rows;
  for (std::vector<float> &part : parts)
    rows.push_back(part.data());
  numerics::splitIntoParts(values.data(), values.size(), numerics::partFormat(scheme), rows);

  FloatType format = getPartType(constant.getContext(), scheme);
  ShapedType type = elements.getShapedType().clone(getStored(format));
  auto resource = dyn_cast<DenseResourceElementsAttr>(constant);
  SmallVector<Attribute> made;
  for (auto [index, part] : llvm::enumerate(parts)) {
    SmallVector<char, 0> bytes = storeParts(part, format);
    if (!resource) {
      made.push_back(DenseElementsAttr::getFromRawBuffer(type, bytes));
      continue;
    }
    std::string name;
    llvm::raw_string_ostream(name)
        << resource.getRawHandle().getKey() << '_' << format << "_part" << index;
    made.push_back(getOrAddResource(type, name, bytes));
  }
  return made;
}

#define GET_OP_CLASSES
#include "mp/Dialect/MP/SplitOps.cpp.inc"
