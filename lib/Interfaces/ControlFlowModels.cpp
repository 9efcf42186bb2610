// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classes of the scf, func and cf dialects (why: docs/reference/OpClasses.md).

#include "CarriedValues.h"
#include "TableModel.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::detail;

static constexpr OpEntry kScfEntries[] = {
    {"scf.for", kCarries},
    {"scf.if", kCarries},
    {"scf.index_switch", kCarries},
    {"scf.execute_region", kCarries},
    {"scf.while", kCarries},
    {"scf.forall", kCarries},
    {"scf.parallel", {OpClass::Barrier, TypeRule::Frozen, "reduces in an order of its own"}},
    {"scf.condition", kPartOfParent},
    {"scf.forall.in_parallel", kPartOfParent},
    {"scf.reduce", kPartOfParent},
    {"scf.reduce.return", kPartOfParent},
    {"scf.yield", kPartOfParent},
};
const ArrayRef<OpEntry> mlir::mp::detail::scfTable = kScfEntries;

static constexpr OpEntry kFuncEntries[] = {
    {"func.call", kCall},
    {"func.call_indirect", kCall},
    {"func.constant", kSymbol},
    {"func.func", kSymbol},
    {"func.return", {OpClass::Barrier, TypeRule::Frozen, "formats are those of the signature"}},
};
const ArrayRef<OpEntry> mlir::mp::detail::funcTable = kFuncEntries;

static constexpr OpEntry kCfEntries[] = {
    {"cf.assert", {OpClass::Barrier, TypeRule::Frozen, "checks, computes nothing"}},
    {"cf.br", kBranch},
    {"cf.cond_br", kBranch},
    {"cf.switch", kBranch},
};
const ArrayRef<OpEntry> mlir::mp::detail::cfTable = kCfEntries;

namespace {
/// Control flow carries values by its branches, or, where threads combine slices, by destination.
template <typename Op> struct ScfModel : TableAnswers<ScfModel<Op>, Op> {
  void getCarriedValues(Operation *op, SmallVectorImpl<CarriedValue> &carried) const {
    if constexpr (std::is_same_v<Op, scf::ForallOp>)
      collectCombined(op, carried);
    else if (TableModel<Op>::entry().rule == TypeRule::Container)
      collectForwarded(op, carried);
  }
};
} // namespace

void mlir::mp::detail::registerControlFlowModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, scf::SCFDialect *) {
    attachModels<ScfModel, TableSemantics,
#define GET_OP_LIST
#include "mlir/Dialect/SCF/IR/SCFOps.cpp.inc"
                 >(context);
  });
  registry.addExtension(+[](MLIRContext *context, func::FuncDialect *) {
    attachModels<TableModel, TableSemantics,
#define GET_OP_LIST
#include "mlir/Dialect/Func/IR/FuncOps.cpp.inc"
                 >(context);
  });
  registry.addExtension(+[](MLIRContext *context, cf::ControlFlowDialect *) {
    attachModels<TableModel, TableSemantics,
#define GET_OP_LIST
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.cpp.inc"
                 >(context);
  });
}
