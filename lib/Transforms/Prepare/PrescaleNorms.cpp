// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-prescale-norms: norms of values whose squares are too large work on those values times a power
// of two. It runs before precision is assigned, which then sees ranges that fit.

#include "Rewrites.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Analysis/Scaling/NormOverflow.h"
#include "mp/Dialect/MP/AttributeNames.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Transforms/Prepare/Passes.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

namespace mlir::mp {
#define GEN_PASS_DEF_PRESCALENORMS
#include "mp/Transforms/Prepare/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// `value` times 2^power. It is its own destination: sizes need not be asked for.
static Value multiply(OpBuilder &builder, Value value, int64_t power, StringRef place) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, value.getLoc(), type, value, value, maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange elements) {
        Value factor = arith::ConstantOp::create(
            b, loc, b.getFloatAttr(type.getElementType(), std::ldexp(1.0, power)));
        linalg::YieldOp::create(b, loc, Value(arith::MulFOp::create(b, loc, elements[0], factor)));
      });
  generic->setAttr(kPrescaledAttrName, builder.getStringAttr(place));
  return generic.getResult(0);
}

/// The constant, or what is filled with it, times 2^power.
static void adapt(OpOperand &operand, int64_t power) {
  auto fill = operand.get().getDefiningOp<linalg::FillOp>();
  Operation *constant = (fill ? fill.getInputs()[0] : operand.get()).getDefiningOp();
  Attribute before = getAdaptable(operand.get()), after = timesPowerOfTwo(before, power);
  if (before == after) // zero
    return;
  OpBuilder builder(constant);
  Value adapted = builder.insert(cloneConstant(constant, after, constant->getResult(0).getType()))
                      ->getResult(0);
  if (fill) {
    builder.setInsertionPoint(fill);
    adapted =
        linalg::FillOp::create(builder, fill.getLoc(), adapted, fill.getOutputs()[0]).getResult(0);
  }
  operand.set(adapted);
  for (Operation *old : {fill ? fill.getOperation() : constant, constant})
    if (old->use_empty()) {
      old->erase();
      if (old == constant)
        break;
    }
}

/// True if the constants of `norm` can be multiplied: another norm that shares them may have been
/// first.
static bool canAdapt(const NormOverflow &norm) {
  return llvm::all_of(norm.constants, [](auto &constant) {
    return timesPowerOfTwo(getAdaptable(constant.first->get()), constant.second);
  });
}

static void rewrite(const NormOverflow &norm) {
  // Powers of two stay within a block, where they can be followed.
  OpBuilder builder(norm.square);
  DenseMap<Value, Value> scaled;
  for (OpOperand *input : norm.inputs) {
    Value &known = scaled[input->get()];
    if (!known)
      known = multiply(builder, input->get(), norm.exponent, "norm");
    input->set(known);
  }
  for (auto [constant, power] : norm.constants)
    adapt(*constant, power);
  for (auto [result, power] : norm.results) {
    builder.setInsertionPointAfterValue(result);
    Value back = multiply(builder, result, power, "root");
    result.replaceAllUsesExcept(back, back.getDefiningOp());
  }
}

/// Says that a norm stays as it is.
static void refuseNorm(const NormOverflow &norm) {
  auto function = norm.square->getParentOfType<FunctionOpInterface>();
  if (function->getContext()->getRemarkEngine())
    remark::missed(norm.square->getLoc(), remarks::kNotPrescaled.in(function))
        << remark::add("squares that may reach {0} stay as they are",
                       llvm::formatv("{0:E2}", norm.found).str())
        << remark::reason("{0}", norm.refusal);
}

namespace {
struct PrescaleNorms : mlir::mp::impl::PrescaleNormsBase<PrescaleNorms> {
  using PrescaleNormsBase::PrescaleNormsBase;
  PrescaleNorms(const PrescaleNormsOptions &options, SharedRequest asked)
      : PrescaleNormsBase(options), asked(std::move(asked)) {}

  void runOnOperation() override {
    std::vector<NormOverflow> norms;
    auto find = [&](FunctionDecisions &decisions, const AssignSettings &settings) -> LogicalResult {
      for (NormOverflow &norm :
           findOverflowingNorms(decisions, settings.narrow, promote == Switch::Off))
        if (norm.refusal.empty())
          norms.push_back(std::move(norm));
        else
          refuseNorm(norm);
      return success();
    };
    auto rewriteAll = [&] {
      for (NormOverflow &norm : norms) {
        if (canAdapt(norm)) {
          rewrite(norm);
          continue;
        }
        norm.refusal = "a constant that is added, multiplied for another norm already, leaves the "
                       "normal numbers";
        refuseNorm(norm);
      }
      norms.clear();
    };
    if (!asked)
      asked = std::make_shared<RequestReader>(format, target, policyFile);
    if (failed(visitUndecided(getOperation(), "mp-prescale-norms", *asked, /*maxUnderflow=*/1e-3,
                              find, rewriteAll)))
      signalPassFailure();
  }

private:
  SharedRequest asked;
};
} // namespace

std::unique_ptr<Pass> mlir::mp::createPrescaleNorms(const PrescaleNormsOptions &options,
                                                    SharedRequest asked) {
  return std::make_unique<PrescaleNorms>(options, std::move(asked));
}
