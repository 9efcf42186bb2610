// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model in another float format: models are built in f32, then every type and constant changes.

#include "Elements.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;

/// The accumulator of TOSA's convolutions stays f32: with bf16 it must, with f16 frontends write it
/// so.
static constexpr StringLiteral kAccumulatorAttrName = "acc_type";

void mlir::mp::setElements(ModuleOp module, FloatType format) {
  auto isF32 = [](Attribute attribute) {
    auto typed = dyn_cast<TypedAttr>(attribute);
    FloatType own = typed ? getFloatFormat(typed.getType()) : FloatType();
    return own && own.isF32();
  };
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](Type type) -> std::optional<std::pair<Type, WalkResult>> {
    if (!type.isF32())
      return std::nullopt;
    return std::pair<Type, WalkResult>(format, WalkResult::skip());
  });
  replacer.addReplacement(
      [&](Attribute attribute) -> std::optional<std::pair<Attribute, WalkResult>> {
        if (!isF32(attribute))
          return std::nullopt;
        Attribute converted = convertConstant(attribute, format, Rounding::RNE, Overflow::Saturate);
        return std::pair(converted ? converted : attribute, WalkResult::skip());
      });
  module->walk([&](Operation *op) {
    Attribute accumulator = op->getAttr(kAccumulatorAttrName);
    replacer.replaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                               /*replaceTypes=*/true);
    if (accumulator)
      op->setAttr(kAccumulatorAttrName, accumulator);
  });
}
