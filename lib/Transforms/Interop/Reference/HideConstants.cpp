// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-hide-constants: keeps what is computed from constants from folding until mp-promote-to-f64.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_HIDECONSTANTS
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {

struct HideConstants : mlir::mp::impl::HideConstantsBase<HideConstants> {
  void runOnOperation() override {
    SmallVector<std::pair<Operation *, Attribute>> constants;
    getOperation()->walk([&](Operation *op) {
      Attribute value;
      if (op->getNumResults() != 1 || !matchPattern(op, m_Constant(&value)) ||
          matchPattern(op, m_AnyZeroFloat()))
        return; // zeros have no rounding, and the lowering of TOSA reads its zero points
      FloatType format = getFloatFormat(op->getResult(0).getType());
      if (format && format.getWidth() <= 32)
        constants.emplace_back(op, value);
    });
    auto f64 = Float64Type::get(&getContext());
    for (auto [op, value] : constants) {
      auto wide =
          dyn_cast_or_null<TypedAttr>(convertConstant(value, f64, Rounding::RNE, Overflow::IEEE));
      if (!wide)
        continue; // mp-promote-to-f64 says why
      OpBuilder builder(op);
      Value constant = arith::ConstantOp::create(builder, op->getLoc(), wide);
      Value hidden = UnrealizedConversionCastOp::create(builder, op->getLoc(),
                                                        op->getResult(0).getType(), constant)
                         .getResult(0);
      op->getResult(0).replaceAllUsesWith(hidden);
      op->erase();
    }
  }
};

} // namespace
