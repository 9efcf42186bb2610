// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modelled times of convolutions and transpositions, by how tensors lie.

#ifndef MP_LIB_TRANSFORMS_OPTIMIZE_LAYOUTCOSTS_H
#define MP_LIB_TRANSFORMS_OPTIMIZE_LAYOUTCOSTS_H

#include "Layouts.h"
#include "mp/Analysis/Cost/Sizes.h"
#include "mp/Performance/CostModel.h"

namespace mlir::mp {

class LayoutCosts {
public:
  explicit LayoutCosts(const mpcore::performance::CostModel &model)
      : model(model), sizes(mpcore::performance::kAssumedSize) {}

  const mpcore::performance::CostModel &getModel() const { return model; }

  /// The kernel of a structured op that multiplies two tensors, with these loops; 0 of all other
  /// ops: they move the same bytes in either order.
  int64_t ofProducts(linalg::LinalgOp op, const LoopOrder &loops);

  /// Writing a value once more in the other order: by a kernel of its own, which reads it, or where
  /// a kernel of elementwise ops makes it from what is there already, by that one.
  int64_t ofTransposition(Value value);

private:
  const mpcore::performance::CostModel &model;
  Sizes sizes;
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_OPTIMIZE_LAYOUTCOSTS_H
