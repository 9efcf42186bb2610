// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masters of narrow parameters: types and folds.

#include "mlir/IR/Builders.h"
#include "mp/Dialect/MP/Masters.h"

using namespace mlir;
using namespace mlir::mp;

static Type withElement(Value tensor, Type element) {
  return cast<RankedTensorType>(tensor.getType()).clone(element);
}

LogicalResult SplitMasterOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                                              ValueRange operands, DictionaryAttr, OpaqueProperties,
                                              RegionRange, SmallVectorImpl<Type> &types) {
  types.push_back(withElement(operands[0], BFloat16Type::get(context)));
  types.push_back(withElement(operands[0], IntegerType::get(context, 16)));
  return success();
}

LogicalResult JoinMasterOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                                             ValueRange operands, DictionaryAttr, OpaqueProperties,
                                             RegionRange, SmallVectorImpl<Type> &types) {
  types.push_back(withElement(operands[0], Float32Type::get(context)));
  return success();
}

/// join(split(x))  ==>  x
OpFoldResult JoinMasterOp::fold(FoldAdaptor) {
  auto split = getHigh().getDefiningOp<SplitMasterOp>();
  if (!split || getRemainder() != split.getRemainder() || getHigh() != split.getHigh())
    return {};
  return split.getMaster();
}

#define GET_OP_CLASSES
#include "mp/Dialect/MP/MasterOps.cpp.inc"
