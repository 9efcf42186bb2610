// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-check-bounds: what would be undefined behaviour at run time fails with a message instead.

#include "BoundsChecks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_CHECKBOUNDS
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

void Checks::require(ImplicitLocOpBuilder &b, Value condition, const Twine &message) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << message << " at " << b.getLoc();
  messages.push_back(b.getStringAttr(text));
  Value holds = condition;
  Value no = arith::XOrIOp::create(b, holds, arith::ConstantIntOp::create(b, b.getI1Type(), 1));
  auto branch = scf::IfOp::create(b, no, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value code = arith::ConstantIntOp::create(b, b.getI64Type(), int64_t(messages.size()));
  func::CallOp::create(b, kFailName, TypeRange(), code);
}

void Checks::finish() {
  if (messages.empty())
    return;
  OpBuilder b(module.getBody(), module.getBody()->begin());
  auto function =
      func::FuncOp::create(b, module.getLoc(), kFailName, b.getFunctionType(b.getI64Type(), {}));
  function.setPrivate();
  function->setAttr(kRuntimeChecksAttrName, b.getArrayAttr(messages));
}

static void checkAssert(Checks &checks, cf::AssertOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  checks.require(b, op.getArg(), "assertion failed: " + op.getMsg());
  op.erase();
}

/// Traps on the host: division by zero, and the one quotient that overflows.
static void checkDivision(Checks &checks, Operation *op) {
  Value divisor = op->getOperand(1);
  auto type = dyn_cast<IntegerType>(divisor.getType());
  APInt known;
  bool isKnown = matchPattern(divisor, m_ConstantInt(&known));
  if ((!type && !divisor.getType().isIndex()) || (isKnown && !known.isZero() && !known.isAllOnes()))
    return;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(divisor.getType(), 0));
  Value nonZero = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, divisor, zero);
  checks.require(b, nonZero, "integer division by zero");
  if (!type || !isa<arith::DivSIOp, arith::RemSIOp>(op))
    return;
  auto constant = [&](APInt value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  };
  Value fits = arith::OrIOp::create(
      b,
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, divisor,
                            constant(APInt::getAllOnes(type.getWidth()))),
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, op->getOperand(0),
                            constant(APInt::getSignedMinValue(type.getWidth()))));
  checks.require(b, fits, "integer overflow in a division");
}

namespace {

struct CheckBounds : mlir::mp::impl::CheckBoundsBase<CheckBounds> {
  void runOnOperation() override {
    Checks checks(getOperation());
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      check(checks, op);
    checks.finish();
  }

  static void check(Checks &checks, Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](cf::AssertOp assertion) { checkAssert(checks, assertion); })
        .Case([&](tensor::ExtractOp extract) {
          checkBounds(checks, op, extract.getTensor(), extract.getIndices());
        })
        .Case([&](tensor::InsertOp insert) {
          checkBounds(checks, op, insert.getDest(), insert.getIndices());
        })
        .Case([&](memref::LoadOp load) {
          checkBounds(checks, op, load.getMemRef(), load.getIndices());
        })
        .Case([&](memref::StoreOp store) {
          checkBounds(checks, op, store.getMemRef(), store.getIndices());
        })
        .Case([&](linalg::LinalgOp structured) { checkShapes(checks, structured); })
        .Case([&](tensor::ExtractSliceOp slice) { checkSlice(checks, slice, slice.getSource()); })
        .Case([&](tensor::InsertSliceOp slice) {
          checkSlice(checks, slice, slice.getDest());
          checkInserted(checks, slice);
        })
        .Case([&](VectorTransferOpInterface transfer) { checkTransfer(checks, transfer); })
        .Case<vector::LoadOp, vector::StoreOp>([&](auto access) {
          checkRow(checks, op, access.getBase(), access.getIndices(), access.getVectorType());
        })
        .Case([&](memref::ViewOp view) { checkView(checks, view); })
        .Case([&](memref::SubViewOp slice) { checkSlice(checks, slice, slice.getSource()); })
        .Case<tensor::CastOp, memref::CastOp>([&](auto) { checkCast(checks, op); })
        .Case<tensor::ExpandShapeOp, memref::ExpandShapeOp>([&](auto expand) {
          checkExpansion(checks, op, expand.getSrc(), expand.getReassociationIndices(),
                         expand.getMixedOutputShape());
        })
        .Case([&](tensor::ReshapeOp reshape) { checkReshape(checks, reshape); })
        .Case<tensor::EmptyOp, tensor::SplatOp, memref::AllocOp, memref::AllocaOp>(
            [&](auto made) { checkSizes(checks, op, made.getDynamicSizes()); })
        .Case([&](tensor::GenerateOp made) { checkSizes(checks, op, made.getDynamicExtents()); })
        .Case([&](tensor::PadOp pad) { checkPadding(checks, pad); })
        .Case([&](tensor::ConcatOp concat) { checkConcat(checks, concat); })
        .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
            [&](auto) { checkDivision(checks, op); });
  }
};

} // namespace
