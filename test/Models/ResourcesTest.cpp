// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights as resources, on at least 50 generated models of every kind: as they are, dense, splats,
// one shared by two uses, elided, and of the wrong length.

#include "Variants.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/DataMovement.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

DenseResourceElementsAttr getValue(Operation *op) {
  Attribute value;
  return matchPattern(op, m_Constant(&value)) ? dyn_cast<DenseResourceElementsAttr>(value)
                                              : DenseResourceElementsAttr();
}

void setValue(Operation *op, ElementsAttr value) {
  Attribute old = getValue(op);
  for (NamedAttribute attribute : op->getAttrs())
    if (attribute.getValue() == old)
      op->setAttr(attribute.getName(), value);
}

/// Constants of `module` that hold a matrix as a resource, in order.
SmallVector<Operation *> findWeights(ModuleOp module) {
  SmallVector<Operation *> weights;
  module.walk([&](Operation *op) {
    auto value = getValue(op);
    if (value && value.getElementType().isF32() && value.getType().getRank() >= 2)
      weights.push_back(op);
  });
  return weights;
}

/// The last of them that a contraction reads: other ops do not need values.
Operation *findContracted(ModuleOp module) {
  Operation *found = nullptr;
  module.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *constant = findConstantOp(operand);
          getOpClass(op) == OpClass::TensorCore && constant && getValue(constant))
        found = constant;
  });
  return found;
}

using Change = void (*)(ModuleOp);

void keep(ModuleOp) {}

void makeDense(ModuleOp module) {
  for (Operation *weight : findWeights(module)) {
    auto value = getValue(weight);
    setValue(weight, DenseElementsAttr::getFromRawBuffer(value.getType(), *getRawElements(value)));
  }
}

/// Every other weight.
void makeSplats(ModuleOp module) {
  for (auto [index, weight] : llvm::enumerate(findWeights(module)))
    if (index % 2)
      setValue(weight, DenseElementsAttr::get(getValue(weight).getType(), 0.015625f));
}

/// Weights of equal type are one resource.
void share(ModuleOp module) {
  DenseMap<Type, DenseResourceElementsAttr> first;
  for (Operation *weight : findWeights(module)) {
    auto value = getValue(weight);
    setValue(weight, first.try_emplace(value.getType(), value).first->second);
  }
}

void elide(ModuleOp module) {
  Operation *weight = findContracted(module);
  auto &manager = DenseResourceElementsHandle::getManagerInterface(module.getContext());
  setValue(weight,
           DenseResourceElementsAttr::get(getValue(weight).getType(), manager.insert("elided")));
}

void shorten(ModuleOp module) {
  Operation *weight = findContracted(module);
  AsmResourceBlob blob = HeapAsmResourceBlob::allocateAndCopyInferAlign<float>({1.0f, 2.0f});
  setValue(weight,
           DenseResourceElementsAttr::get(getValue(weight).getType(), "short", std::move(blob)));
}

using Resources = Variants;

/// The promises hold, and each eighth model gives the numbers of the original.
TEST_F(Resources, SlowKeepThePromises) {
  const Change changes[] = {keep, makeDense, makeSplats, share};
  std::vector<Variant> variants = makeVariants({{"--resources"}});
  ASSERT_GE(variants.size(), 50u);
  for (auto [index, variant] : llvm::enumerate(variants)) {
    SCOPED_TRACE(variant.model + " " + llvm::join(variant.words, " "));
    OwningOpRef<ModuleOp> original = build(variant), twin = build(variant, other);
    ASSERT_FALSE(findWeights(*original).empty());
    for (ModuleOp module : {*original, *twin})
      changes[index % std::size(changes)](module);
    for (auto [format, bound] : {std::pair("bf16", 32.0 / 256), {"f16", 32.0 / 2048}}) {
      OwningOpRef<ModuleOp> converted = checkPromises(*original, *twin, format);
      ASSERT_FALSE(HasFailure());
      if (index % 9)
        continue;
      std::vector<Array> inputs = makeInputsOf(*original);
      EXPECT_LE(errorOf(run(*converted, inputs, false), run(*original, inputs, true)), bound);
    }
  }
}

/// Conversion fails, and names the resource, where values are missing or of another number.
TEST_F(Resources, MissingOnesAreRefused) {
  const std::pair<Change, StringRef> changes[] = {
      {elide, "which has no data; print the file with its resources"},
      {shorten, "it has 8 bytes, and "}};
  std::vector<Variant> variants = makeVariants({{"--resources"}});
  for (auto [index, variant] : llvm::enumerate(variants)) {
    SCOPED_TRACE(variant.model + " " + llvm::join(variant.words, " "));
    auto [change, message] = changes[index / 10 % 2]; // every model in both
    OwningOpRef<ModuleOp> module = build(variant);
    Operation *weight = findContracted(*module);
    change(*module);
    std::string name = getValue(weight).getRawHandle().getKey().str(), errors;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      errors += diagnostic.str() + "\n";
      return success();
    });
    EXPECT_TRUE(failed(convert(*module, index % 2 ? "f16" : "bf16")));
    EXPECT_NE(errors.find("needs the values of resource '" + name + "'"), std::string::npos)
        << errors;
    EXPECT_NE(errors.find(message), std::string::npos) << errors;
    ASSERT_FALSE(HasFailure());
  }
}

} // namespace
