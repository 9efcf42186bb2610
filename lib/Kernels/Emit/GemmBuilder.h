// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Offsets of operands of a contraction, in a kernel.

#ifndef MP_LIB_KERNELS_EMIT_GEMMBUILDER_H
#define MP_LIB_KERNELS_EMIT_GEMMBUILDER_H

#include "../Build/DeviceBuilder.h"
#include "GemmPlan.h"

namespace mlir::mp {

struct GemmBuilder : DeviceBuilder {
  /// Offset of point `flat` of `group` in `operand`, in elements; the last loop is the fastest.
  Value offsetOf(unsigned operand, ArrayRef<GemmLoop> group, Value flat) {
    Value sum = ix(0), rest = flat;
    for (size_t i = group.size(); i-- > 0;) {
      Value position = i == 0 ? rest : rem(rest, ix(group[i].size));
      if (i != 0)
        rest = div(rest, ix(group[i].size));
      if (!group[i].step[operand].is(0))
        sum = add(sum, mul(position, ix(group[i].step[operand])));
    }
    return sum;
  }
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_EMIT_GEMMBUILDER_H
