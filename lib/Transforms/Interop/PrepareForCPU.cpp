// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-prepare-for-cpu: what upstream's loops would get wrong, on tensors.

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mp/Analysis/Moves.h"
#include "mp/Analysis/SliceBounds.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_PREPAREFORCPU
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

//===----------------------------------------------------------------------===//
// Rewrites
//===----------------------------------------------------------------------===//

/// x^n by squaring for small constant n, so that x^2 is x * x; else powf.
static void expandIntegerPower(IRRewriter &rewriter, math::FPowIOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value base = op.getLhs();
  Type type = base.getType();
  auto one = [&]() -> Value {
    auto format = cast<FloatType>(getElementTypeOrSelf(type));
    TypedAttr attr = rewriter.getFloatAttr(format, 1.0);
    if (auto shaped = dyn_cast<ShapedType>(type))
      attr = DenseElementsAttr::get(shaped, attr);
    return arith::ConstantOp::create(rewriter, loc, attr);
  };
  APInt power;
  if (!matchPattern(op.getRhs(), m_ConstantInt(&power)) || power.abs().ugt(64)) {
    Value exponent = arith::SIToFPOp::create(rewriter, loc, type, op.getRhs());
    rewriter.replaceOpWithNewOp<math::PowFOp>(op, base, exponent);
    return;
  }
  Value result;
  Value square = base;
  for (uint64_t n = power.abs().getZExtValue(); n; n >>= 1) {
    if (n & 1)
      result = result ? arith::MulFOp::create(rewriter, loc, result, square) : square;
    if (n > 1)
      square = arith::MulFOp::create(rewriter, loc, square, square);
  }
  if (!result)
    result = one();
  if (power.isNegative())
    result = arith::DivFOp::create(rewriter, loc, one(), result);
  rewriter.replaceOp(op, result);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

namespace {

class Checks {
public:
  explicit Checks(ModuleOp module) : module(module) {}

  /// Fails with `message` at run time unless `condition` holds.
  void require(ImplicitLocOpBuilder &b, Value condition, const Twine &message) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << message << " at " << b.getLoc();
    messages.push_back(b.getStringAttr(text));
    Value holds = condition;
    Value no = arith::XOrIOp::create(
        b, holds, arith::ConstantIntOp::create(b, b.getI1Type(), 1));
    auto branch = scf::IfOp::create(b, no, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value code = arith::ConstantIntOp::create(b, b.getI64Type(), int64_t(messages.size()));
    func::CallOp::create(b, kFailName, TypeRange(), code);
  }

  void finish() {
    if (messages.empty())
      return;
    OpBuilder b(module.getBody(), module.getBody()->begin());
    auto function = func::FuncOp::create(b, module.getLoc(), kFailName,
                                         b.getFunctionType(b.getI64Type(), {}));
    function.setPrivate();
    function->setAttr(kChecksAttrName, b.getArrayAttr(messages));
  }

private:
  ModuleOp module;
  SmallVector<Attribute> messages;
};

} // namespace

static void checkAssert(Checks &checks, cf::AssertOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  checks.require(b, op.getArg(), "assertion failed: " + op.getMsg());
  op.erase();
}

static void checkBounds(Checks &checks, tensor::ExtractOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = op.getTensor().getType();
  for (auto [dim, index] : llvm::enumerate(op.getIndices())) {
    APInt known;
    if (matchPattern(index, m_ConstantInt(&known)) && !type.isDynamicDim(dim) &&
        known.ult(type.getDimSize(dim)))
      continue;
    if (index.getDefiningOp<linalg::IndexOp>())
      continue; // a loop of the enclosing op; wrong only if the file is
    Value size = tensor::DimOp::create(b, op.getTensor(), int64_t(dim));
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, size);
    checks.require(b, inside, "index out of bounds in dimension " + Twine(dim) + " of a tensor.extract");
  }
}

/// A load or store of a user's own loops over buffers.
static void checkBounds(Checks &checks, Operation *op, Value buffer, ValueRange indices) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  auto type = cast<MemRefType>(buffer.getType());
  for (auto [dim, index] : llvm::enumerate(indices)) {
    APInt known;
    if (matchPattern(index, m_ConstantInt(&known)) && !type.isDynamicDim(dim) && known.ult(type.getDimSize(dim)))
      continue;
    Value size = memref::DimOp::create(b, buffer, int64_t(dim));
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, size);
    checks.require(b, inside, "index out of bounds in dimension " + Twine(dim) + " of a " + op->getName().getStringRef());
  }
}

/// A slice of `whole` whose place is only known at run time.
static void checkSlice(Checks &checks, OffsetSizeAndStrideOpInterface op, Value whole) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  for (int64_t dim = 0; dim < cast<ShapedType>(whole.getType()).getRank(); ++dim)
    if (Value fits = buildSliceFits(b, op, whole, dim))
      checks.require(b, fits, "slice out of bounds in dimension " + Twine(dim) + " of a " + op->getName().getStringRef());
}

/// Whether `size` is that of this dimension by definition.
static bool isSizeOf(OpFoldResult size, Value shaped, int64_t dim) {
  auto value = dyn_cast<Value>(size);
  auto read = value ? value.getDefiningOp<ShapedDimOpInterface>() : ShapedDimOpInterface();
  return read && read.getShapedValue() == shaped && getConstantIntValue(read.getDimension()) == dim;
}

/// Operands whose sizes, known at run time only, do not fit the loops of a structured op.
static void checkShapes(Checks &checks, linalg::LinalgOp op) {
  if (!op.hasDynamicShape())
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  SmallVector<Range> loops = op.createLoopRanges(b, op.getLoc());
  Value one = arith::ConstantIndexOp::create(b, 1), zero = arith::ConstantIndexOp::create(b, 0);
  SmallVector<Value> last; // index of each loop
  Value anyEmpty = arith::ConstantIntOp::create(b, b.getI1Type(), 0);
  for (Range &loop : loops) {
    Value size = getValueOrCreateConstantIndexOp(b, op.getLoc(), loop.size);
    last.push_back(arith::SubIOp::create(b, size, one));
    anyEmpty = arith::OrIOp::create(b, anyEmpty, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, size, zero));
  }
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<ShapedType>(operand.get().getType());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, index] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(index);
      bool isDynamic = type.isDynamicDim(dim);
      for (unsigned i = 0; i < loops.size(); ++i)
        isDynamic |= index.isFunctionOfDim(i) && !isa<Attribute>(loops[i].size);
      if (!isDynamic || (loop && isSizeOf(loops[loop.getPosition()].size, operand.get(), dim)))
        continue;
      Value end = affine::AffineApplyOp::create(b, AffineMap::get(map.getNumDims(), 0, index), last);
      Value size = isa<TensorType>(type) ? Value(tensor::DimOp::create(b, operand.get(), int64_t(dim)))
                                         : memref::DimOp::create(b, operand.get(), int64_t(dim));
      Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, end, size);
      checks.require(b, loop ? fits : arith::OrIOp::create(b, fits, anyEmpty),
                     "operand " + Twine(operand.getOperandNumber()) + " of a " + op->getName().getStringRef() +
                         " is too small in dimension " + Twine(dim));
    }
  }
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

struct PrepareForCPU : mlir::mp::impl::PrepareForCPUBase<PrepareForCPU> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    IRRewriter rewriter(&getContext());
    SmallVector<math::FPowIOp> powers;
    module.walk([&](math::FPowIOp op) { powers.push_back(op); });
    for (math::FPowIOp op : powers)
      expandIntegerPower(rewriter, op);

    module.walk([](linalg::LinalgOp op) {
      auto isTF32 = [](Value value) { return getElementTypeOrSelf(value).isF32() && holdsTF32(value); };
      if (op.getNumDpsInputs() == 2 && llvm::all_of(op.getDpsInputs(), isTF32))
        op->setAttr(kOperandsTF32AttrName, UnitAttr::get(op->getContext()));
    });
    addChecks(module);
    SmallVector<memref::DeallocOp> frees;
    module.walk([&](memref::DeallocOp op) { frees.push_back(op); });
    for (memref::DeallocOp op : frees)
      op.erase();
    for (auto function : module.getOps<func::FuncOp>())
      dropIntent(function);
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal())
        exposeToC(function);
  }

  /// Wishes on arguments have been heard; the LLVM dialect would warn of each.
  static void dropIntent(FunctionOpInterface function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      for (NamedAttribute attribute : llvm::to_vector(function.getArgAttrs(i)))
        if (isa_and_nonnull<MPDialect>(attribute.getNameDialect()))
          function.removeArgAttr(i, attribute.getName());
  }

  static void exposeToC(func::FuncOp function) {
    Builder b(function.getContext());
    // Roles and state mean nothing in the LLVM dialect, which warns of them.
    for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i)
      for (NamedAttribute attribute : FunctionOpInterface(function).getArgAttrs(i))
        if (attribute.getName().strref().starts_with("mp."))
          function.removeArgAttr(i, attribute.getName());
    function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), b.getUnitAttr());
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (isa<TensorType>(function.getArgument(i).getType()))
        function.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName,
                            b.getBoolAttr(false));
  }

  static void addChecks(ModuleOp module) {
    Checks checks(module);
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      if (auto assertion = dyn_cast<cf::AssertOp>(op))
        checkAssert(checks, assertion);
      else if (auto extract = dyn_cast<tensor::ExtractOp>(op))
        checkBounds(checks, extract);
      else if (auto structured = dyn_cast<linalg::LinalgOp>(op))
        checkShapes(checks, structured);
      else if (auto load = dyn_cast<memref::LoadOp>(op))
        checkBounds(checks, load, load.getMemRef(), load.getIndices());
      else if (auto store = dyn_cast<memref::StoreOp>(op))
        checkBounds(checks, store, store.getMemRef(), store.getIndices());
      else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
        checkSlice(checks, slice, slice.getSource());
      else if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
        checkSlice(checks, slice, slice.getDest());
      else if (auto slice = dyn_cast<memref::SubViewOp>(op))
        checkSlice(checks, slice, slice.getSource());
      else if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
        checkDivision(checks, op);
    }
    checks.finish();
  }
};

} // namespace
