// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the body of a structured op says about its precision.

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
/// (reference: union of the peers' rulings, docs/OpClasses.md).
BodyFacts classifyBody(linalg::LinalgOp op);

} // namespace mlir::mp::detail

#endif // MP_LIB_INTERFACES_STRUCTUREDBODY_H
