// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classes of the arith dialect (why: docs/reference/OpClasses.md).

#include "TableModel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::detail;

static constexpr ClassEntry kEntries[] = {
    {"arith.addf", OpClass::Follow, TypeRule::Uniform, "bounded by the sum of its operands"},
    {"arith.subf", OpClass::Follow, TypeRule::Uniform, "bounded by the sum of its operands"},
    {"arith.mulf", OpClass::RangeConditional, TypeRule::Uniform, "needs a bound on the product"},
    {"arith.divf", OpClass::RangeConditional, TypeRule::Uniform,
     "needs a lower bound on the denominator"},
    {"arith.remf", OpClass::KeepWide, TypeRule::Uniform, "discontinuous, and needs resolution"},
    {"arith.negf", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding"},
    {"arith.maximumf", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding"},
    {"arith.minimumf", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding"},
    {"arith.maxnumf", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding"},
    {"arith.minnumf", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding"},
    {"arith.select", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding"},
    {"arith.cmpf", OpClass::Discontinuous, TypeRule::Uniform, "a comparison may flip"},
    {"arith.extf", OpClass::ExactCommute, TypeRule::Frozen,
     "a cast of the user: both formats are meant"},
    {"arith.truncf", OpClass::ExactCommute, TypeRule::Frozen,
     "a cast of the user: both formats are meant"},
    {"arith.scaling_extf", OpClass::ExactCommute, TypeRule::Frozen,
     "a cast of the user: both formats are meant"},
    {"arith.scaling_truncf", OpClass::ExactCommute, TypeRule::Frozen,
     "a cast of the user: both formats are meant"},
    {"arith.fptosi", OpClass::Discontinuous, TypeRule::Frozen, "float to integer may step"},
    {"arith.fptoui", OpClass::Discontinuous, TypeRule::Frozen, "float to integer may step"},
    {"arith.sitofp", OpClass::KeepWide, TypeRule::Frozen, "integer-valued: exact only while small"},
    {"arith.uitofp", OpClass::KeepWide, TypeRule::Frozen, "integer-valued: exact only while small"},
    {"arith.bitcast", OpClass::Barrier, TypeRule::Frozen, "reads the bit pattern"},
    {"arith.constant", OpClass::ExactCommute, TypeRule::Frozen,
     "a constant is converted where it is used"},
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
const ArrayRef<ClassEntry> mlir::mp::detail::arithTable = kEntries;

void mlir::mp::detail::registerArithModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    attachModels<TableModel,
#define GET_OP_LIST
#include "mlir/Dialect/Arith/IR/ArithOps.cpp.inc"
                 >(context);
  });
}
