// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads from the body of a structured op its class and the formats it needs.

#ifndef MP_LIB_INTERFACES_STRUCTUREDBODY_H
#define MP_LIB_INTERFACES_STRUCTUREDBODY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

namespace mlir::mp::detail {

struct BodyFacts {
  OpClass opClass;
  TypeRule rule;
  StringRef note;
};

/// Classifies by iterator kinds, combiner and scalar ops
/// (reference: union of the peers' rulings, docs/reference/OpClasses.md).
BodyFacts classifyBody(linalg::LinalgOp op);

/// The type rule of those facts, for less: it takes no look at what the ops of a parallel body are.
TypeRule getBodyRule(linalg::LinalgOp op);

/// True if every float in the body is of one format narrower than f32, and every op that makes one
/// can make it in a wider format.
bool canWidenBody(linalg::LinalgOp op);

/// Makes the body compute in `format`: its arguments get the formats of the op's operands, and
/// those still narrower are widened once, on entry.
void widenBody(linalg::LinalgOp op, FloatType format);

} // namespace mlir::mp::detail

#endif // MP_LIB_INTERFACES_STRUCTUREDBODY_H
