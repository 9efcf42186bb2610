// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-insert-clamps: the factors of contractions that have no evidence for f16 get one by force. It
// runs before precision is assigned, which then finds the evidence by itself.

#include "Rewrites.h"
#include "mp/Analysis/Locations.h"
#include "mp/Analysis/Ranges/MaskConstants.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Transforms/Prepare/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_INSERTCLAMPS
#include "mp/Transforms/Prepare/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// Says that `op` stays as it is, as an infinity is meant.
static void refuse(FunctionOpInterface function, Operation *op, OpOperand *factor,
                   Operation *infinity) {
  if (function->getContext()->getRemarkEngine())
    remark::missed(op->getLoc(), remarks::kNotClamped.in(function))
        << remark::add("operand {0} of {1} is not clamped", factor->getOperandNumber(),
                       op->getName().getStringRef().str())
        << remark::reason("the infinity at {0} reaches it, which is meant: f16 has one, too",
                          describeLocation(infinity->getLoc()))
        << remark::suggest("pin the contraction (mp.pin = f16) if its finite values fit");
}

/// The factors that have to be clamped, in program order.
static FailureOr<SmallVector<OpOperand *>> findFactors(FunctionDecisions &decisions,
                                                       const AssignSettings &settings) {
  SmallVector<OpOperand *> factors;
  if (failed(applyPolicy(decisions, settings)))
    return failure();
  for (auto &[op, decision] : decisions.getOps()) {
    if (decision.origin || decision.opClass != OpClass::TensorCore || isPinned(op) ||
        !decisions.canContractIn(op, settings.narrow))
      continue;
    SmallVector<OpOperand *> unproven = findUnproven(op, decisions, settings);
    Operation *infinity = nullptr;
    for (OpOperand *factor : unproven)
      if (Operation *found = infinity ? nullptr : findMaskConstant(factor->get())) {
        infinity = found;
        refuse(decisions.getFunction(), op, factor, infinity);
      }
    if (!infinity)
      factors.append(unproven);
  }
  return factors;
}

/// The value within the range of `format`, as one of its own type.
static Value clamp(Value value, FloatType format) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  Value narrow = CastOp::create(
      builder, value.getLoc(), withFormat(value.getType(), format), value, Value(), RoundingAttr(),
      OverflowAttr::get(builder.getContext(), Overflow::Saturate), builder.getUnitAttr());
  return CastOp::create(builder, value.getLoc(), value.getType(), narrow, Value(), RoundingAttr(),
                        OverflowAttr(), builder.getUnitAttr());
}

namespace {
struct InsertClamps : mlir::mp::impl::InsertClampsBase<InsertClamps> {
  using InsertClampsBase::InsertClampsBase;
  InsertClamps(const InsertClampsOptions &options, SharedRequest asked)
      : InsertClampsBase(options), asked(std::move(asked)) {}

  void runOnOperation() override {
    // Evidence holds for the module as it is: first all of it is read, then clamps are inserted.
    SmallVector<OpOperand *> factors;
    auto find = [&](FunctionDecisions &decisions, const AssignSettings &settings) -> LogicalResult {
      if (!settings.narrow.isF16())
        return success();
      FailureOr<SmallVector<OpOperand *>> found = findFactors(decisions, settings);
      if (succeeded(found))
        factors.append(*found);
      return found;
    };
    auto insert = [&] {
      DenseMap<Value, Value> clamped;
      for (OpOperand *factor : factors) {
        Value &known = clamped[factor->get()];
        if (!known)
          known = clamp(factor->get(), Float16Type::get(&getContext()));
        factor->set(known);
      }
      factors.clear();
    };
    if (!asked)
      asked = std::make_shared<RequestReader>(format, target, policyFile);
    if (failed(
            visitUndecided(getOperation(), "mp-insert-clamps", *asked, maxUnderflow, find, insert)))
      signalPassFailure();
  }

private:
  SharedRequest asked;
};
} // namespace

std::unique_ptr<Pass> mlir::mp::createInsertClamps(const InsertClampsOptions &options,
                                                   SharedRequest asked) {
  return std::make_unique<InsertClamps>(options, std::move(asked));
}
