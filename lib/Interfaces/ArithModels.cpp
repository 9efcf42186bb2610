// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classes of the arith dialect (why: docs/reference/OpClasses.md).

#include "Meanings.h"
#include "TableModel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::detail;

static FloatMeaning casts(Operation *) { return FloatMeaning::of(Kind::Cast, {0}); }

static FloatMeaning countsAs(Operation *) { return FloatMeaning::of(Kind::Integer, {0}); }

static FloatMeaning comparesBy(Operation *op) {
  FloatMeaning meaning = FloatMeaning::of(Kind::Compare, {0, 1});
  meaning.predicate = cast<arith::CmpFOp>(op).getPredicate();
  return meaning;
}

static constexpr OpEntry kArithEntries[] = {
    {"arith.addf", kSumOfOperands, computes<BinaryFn::Add>},
    {"arith.subf", kSumOfOperands, computes<BinaryFn::Sub>},
    {"arith.mulf", kProduct, computes<BinaryFn::Mul>},
    {"arith.divf", kQuotient, computes<BinaryFn::Div>},
    {"arith.remf",
     {OpClass::KeepWide, TypeRule::Uniform, "discontinuous, and needs resolution"},
     computes<BinaryFn::Rem>},
    {"arith.negf", kCommutes, computes<UnaryFn::Neg>},
    {"arith.maximumf", kCommutes, computes<BinaryFn::Maximum>},
    {"arith.minimumf", kCommutes, computes<BinaryFn::Minimum>},
    {"arith.maxnumf", kCommutes, computes<BinaryFn::MaxNum>},
    {"arith.minnumf", kCommutes, computes<BinaryFn::MinNum>},
    {"arith.select", kCommutes, selects},
    {"arith.cmpf", kComparison, comparesBy},
    {"arith.extf", kUserCast, casts},
    {"arith.truncf", kUserCast, casts},
    {"arith.scaling_extf", kUserCast},
    {"arith.scaling_truncf", kUserCast},
    {"arith.fptosi", kFloatToInteger},
    {"arith.fptoui", kFloatToInteger},
    {"arith.sitofp", kIntegerToFloat, countsAs},
    {"arith.uitofp", kIntegerToFloat, countsAs},
    {"arith.bitcast", kBitPattern},
    {"arith.constant", kConstant, isConstant, Movement::None, remakeConstant},
    {"arith.addi", kIntegersOnly},
    {"arith.addui_extended", kIntegersOnly},
    {"arith.andi", kIntegersOnly},
    {"arith.ceildivsi", kIntegersOnly},
    {"arith.ceildivui", kIntegersOnly},
    {"arith.cmpi", kIntegersOnly},
    {"arith.divsi", kIntegersOnly},
    {"arith.divui", kIntegersOnly},
    {"arith.extsi", kIntegersOnly},
    {"arith.extui", kIntegersOnly},
    {"arith.floordivsi", kIntegersOnly},
    {"arith.index_cast", kIntegersOnly},
    {"arith.index_castui", kIntegersOnly},
    {"arith.maxsi", kIntegersOnly},
    {"arith.maxui", kIntegersOnly},
    {"arith.minsi", kIntegersOnly},
    {"arith.minui", kIntegersOnly},
    {"arith.muli", kIntegersOnly},
    {"arith.mulsi_extended", kIntegersOnly},
    {"arith.mului_extended", kIntegersOnly},
    {"arith.ori", kIntegersOnly},
    {"arith.remsi", kIntegersOnly},
    {"arith.remui", kIntegersOnly},
    {"arith.shli", kIntegersOnly},
    {"arith.shrsi", kIntegersOnly},
    {"arith.shrui", kIntegersOnly},
    {"arith.subi", kIntegersOnly},
    {"arith.trunci", kIntegersOnly},
    {"arith.xori", kIntegersOnly},
};
const ArrayRef<OpEntry> mlir::mp::detail::arithTable = kArithEntries;

void mlir::mp::detail::registerArithModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    attachModels<TableModel, TableSemantics,
#define GET_OP_LIST
#include "mlir/Dialect/Arith/IR/ArithOps.cpp.inc"
                 >(context);
  });
}
