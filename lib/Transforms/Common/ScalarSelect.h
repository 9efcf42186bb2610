// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choice of one of two whole values by a condition that is a tensor of rank 0.

#ifndef MP_LIB_TRANSFORMS_COMMON_SCALARSELECT_H
#define MP_LIB_TRANSFORMS_COMMON_SCALARSELECT_H

#include "mlir/IR/Builders.h"

namespace mlir::mp {

/// The operands of a select by a scalar condition.
struct ScalarSelect {
  Value condition, yes, no;
};

/// `yes` where the condition holds, else `no`: tensors or numbers of one type.
Value buildScalarSelect(OpBuilder &builder, const ScalarSelect &choice);

/// The choice that `value` is; nothing if it is none.
std::optional<ScalarSelect> matchScalarSelect(Value value);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_COMMON_SCALARSELECT_H
