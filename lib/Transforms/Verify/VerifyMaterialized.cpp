// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-verify-materialized: check that types and casts alone say it all: phase 3 (exact).

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Analysis/FunctionWalk.h"
#include "mp/Dialect/MP/Scaling.h"
#include "mp/Dialect/MP/SplitOps.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Transforms/Verify/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_VERIFYMATERIALIZED
#include "mp/Transforms/Verify/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static LogicalResult verifyCast(CastOp cast) {
  FloatType from = cast.getSourceFormat(), to = cast.getResultFormat();
  if (!cast.getInserted())
    return success();
  if (from == to)
    return cast.emitOpError() << "was inserted but converts " << from << " to itself";
  FloatType other = from.isF64() ? to : from;
  if ((from.isF64() || to.isF64()) && other.getWidth() < 32)
    return cast.emitOpError() << "was inserted between " << from << " and " << to
                              << "; f64 stays f64, it is never joined to a narrow format";
  return success();
}

/// A contraction that mp narrowed accumulates in f32.
static LogicalResult verifyContraction(PrecisionOpInterface op) {
  bool narrowedHere = false;
  for (OpOperand *factor : getFactors(op))
    if (auto cast = factor->get().getDefiningOp<CastOp>())
      narrowedHere |= cast.getInserted() && cast.isNarrowing();
  if (!narrowedHere || op.getTypeRule() != TypeRule::Contraction)
    return success();
  for (Type type : op->getResultTypes())
    if (FloatType format = getFloatFormat(type); format && format.getWidth() < 32)
      return op->emitOpError() << "was narrowed and accumulates in " << format
                               << "; contractions accumulate in f32";
  return success();
}

static LogicalResult verifyMaterializedOp(Operation *op) {
  if (op->hasAttr(kPrecisionAttrName))
    return op->emitOpError() << "still has 'mp.precision', which mp-insert-casts takes away";
  if (op->hasAttr(kSplitAttrName))
    return op->emitOpError() << "still has 'mp.split', which mp-split-contractions takes away";
  if (op->hasAttr(kScaledAttrName))
    return op->emitOpError() << "still has 'mp.scaled', which mp-scale-contractions takes away";
  for (Type type : op->getResultTypes())
    if (FloatType format = getFloatFormat(type); format && format.isTF32())
      return op->emitOpError() << "returns " << type << "; tf32 is not stored, see 'mp.round tf32'";
  if (auto cast = dyn_cast<CastOp>(op))
    return verifyCast(cast);
  if (isContraction(op))
    return verifyContraction(cast<PrecisionOpInterface>(op));
  return success();
}

namespace {
struct VerifyMaterialized : mlir::mp::impl::VerifyMaterializedBase<VerifyMaterialized> {
  void runOnOperation() override {
    bool valid = true;
    walkFunctions(getOperation(), [&](FunctionOpInterface function) {
      auto phase = function->getAttrOfType<StringAttr>(kPhaseAttrName);
      if (phase && (phase.getValue() == "materialized" || phase.getValue() == "optimized"))
        function->walk([&](Operation *op) { valid &= succeeded(verifyMaterializedOp(op)); });
    });
    if (!valid)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
