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

static constexpr OpEntry kEntries[] = {
    {"arith.addf", OpClass::Follow, TypeRule::Uniform, "bounded by the sum of its operands",
     computes<BinaryFn::Add>},
    {"arith.subf", OpClass::Follow, TypeRule::Uniform, "bounded by the sum of its operands",
     computes<BinaryFn::Sub>},
    {"arith.mulf", OpClass::RangeConditional, TypeRule::Uniform, "needs a bound on the product",
     computes<BinaryFn::Mul>},
    {"arith.divf", OpClass::RangeConditional, TypeRule::Uniform,
     "needs a lower bound on the denominator", computes<BinaryFn::Div>},
    {"arith.remf", OpClass::KeepWide, TypeRule::Uniform, "discontinuous, and needs resolution",
     computes<BinaryFn::Rem>},
    {"arith.negf", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding",
     computes<UnaryFn::Neg>},
    {"arith.maximumf", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding",
     computes<BinaryFn::Maximum>},
    {"arith.minimumf", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding",
     computes<BinaryFn::Minimum>},
    {"arith.maxnumf", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding",
     computes<BinaryFn::MaxNum>},
    {"arith.minnumf", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding",
     computes<BinaryFn::MinNum>},
    {"arith.select", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding", selects},
    {"arith.cmpf", OpClass::Discontinuous, TypeRule::Uniform, "a comparison may flip", comparesBy},
    {"arith.extf", OpClass::ExactCommute, TypeRule::Frozen,
     "a cast of the user: both formats are meant", casts},
    {"arith.truncf", OpClass::ExactCommute, TypeRule::Frozen,
     "a cast of the user: both formats are meant", casts},
    {"arith.scaling_extf", OpClass::ExactCommute, TypeRule::Frozen,
     "a cast of the user: both formats are meant"},
    {"arith.scaling_truncf", OpClass::ExactCommute, TypeRule::Frozen,
     "a cast of the user: both formats are meant"},
    {"arith.fptosi", OpClass::Discontinuous, TypeRule::Frozen, "float to integer may step"},
    {"arith.fptoui", OpClass::Discontinuous, TypeRule::Frozen, "float to integer may step"},
    {"arith.sitofp", OpClass::KeepWide, TypeRule::Frozen, "integer-valued: exact only while small",
     countsAs},
    {"arith.uitofp", OpClass::KeepWide, TypeRule::Frozen, "integer-valued: exact only while small",
     countsAs},
    {"arith.bitcast", OpClass::Barrier, TypeRule::Frozen, "reads the bit pattern"},
    {"arith.constant", OpClass::ExactCommute, TypeRule::Frozen,
     "a constant is converted where it is used", isConstant, Movement::None, remakeConstant},
    {"arith.addi", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.addui_extended", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.andi", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.ceildivsi", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.ceildivui", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.cmpi", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.divsi", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.divui", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.extsi", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.extui", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.floordivsi", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.index_cast", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.index_castui", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.maxsi", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.maxui", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.minsi", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.minui", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.muli", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.mulsi_extended", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.mului_extended", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.ori", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.remsi", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.remui", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.shli", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.shrsi", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.shrui", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.subi", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.trunci", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"arith.xori", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
};
const ArrayRef<OpEntry> mlir::mp::detail::arithTable = kEntries;

void mlir::mp::detail::registerArithModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    attachModels<TableModel, TableSemantics,
#define GET_OP_LIST
#include "mlir/Dialect/Arith/IR/ArithOps.cpp.inc"
                 >(context);
  });
}
