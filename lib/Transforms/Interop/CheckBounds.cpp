// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-check-bounds: what would be undefined behaviour at run time fails with a message instead.

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/ViewBounds.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_CHECKBOUNDS
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

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
    Value no = arith::XOrIOp::create(b, holds, arith::ConstantIntOp::create(b, b.getI1Type(), 1));
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
    auto function =
        func::FuncOp::create(b, module.getLoc(), kFailName, b.getFunctionType(b.getI64Type(), {}));
    function.setPrivate();
    function->setAttr(kRuntimeChecksAttrName, b.getArrayAttr(messages));
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

/// An access to the element of `shaped` at `indices`.
static void checkBounds(Checks &checks, Operation *op, Value shaped, ValueRange indices) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  auto type = cast<ShapedType>(shaped.getType());
  for (auto [dim, index] : llvm::enumerate(indices)) {
    APInt known;
    if (matchPattern(index, m_ConstantInt(&known)) && !type.isDynamicDim(dim) &&
        known.ult(type.getDimSize(dim)))
      continue;
    if (index.getDefiningOp<linalg::IndexOp>())
      continue; // a loop of the enclosing op; wrong only if the file is
    Value inside =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, buildSize(b, shaped, dim));
    checks.require(b, inside,
                   "index out of bounds in dimension " + Twine(dim) + " of a " +
                       op->getName().getStringRef());
  }
}

/// A type that states sizes which the operand's leaves open.
static void checkCast(Checks &checks, Operation *op) {
  auto from = dyn_cast<ShapedType>(op->getOperand(0).getType()),
       to = dyn_cast<ShapedType>(op->getResult(0).getType());
  if (!from || !to || !from.hasRank() || !to.hasRank())
    return;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  for (int64_t dim = 0; dim < to.getRank(); ++dim)
    if (Value fits = buildSizeFits(b, op->getOperand(0), to, dim))
      checks.require(b, fits,
                     "dimension " + Twine(dim) + " of a " + op->getName().getStringRef() +
                         " is not of size " + Twine(to.getDimSize(dim)));
}

/// Sizes of a tensor that is made: none may be negative.
static void checkSizes(Checks &checks, Operation *op, ValueRange sizes) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  for (Value size : sizes) {
    if (size.getDefiningOp<ShapedDimOpInterface>() || getConstantIntValue(size).value_or(-1) >= 0)
      continue;
    Value zero = arith::ConstantIndexOp::create(b, 0);
    checks.require(b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, size, zero),
                   "negative size of a " + op->getName().getStringRef());
  }
}

/// Groups of dimensions that one dimension of `whole` falls into.
static void checkExpansion(Checks &checks, Operation *op, Value whole,
                           ArrayRef<ReassociationIndices> groups, ArrayRef<OpFoldResult> sizes) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  for (auto [dim, group] : llvm::enumerate(groups))
    if (Value fits = buildSplitFits(b, whole, dim, sizes.slice(group.front(), group.size())))
      checks.require(b, fits,
                     "sizes of a " + op->getName().getStringRef() +
                         " do not multiply to that of dimension " + Twine(dim));
}

/// As many elements as before, and the sizes that the type of the result states.
static void checkReshape(Checks &checks, tensor::ReshapeOp op) {
  auto source = dyn_cast<RankedTensorType>(op.getSource().getType());
  auto result = dyn_cast<RankedTensorType>(op.getType());
  if (!source || !result)
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value before = arith::ConstantIndexOp::create(b, 1), after = before;
  for (int64_t dim = 0; dim < source.getRank(); ++dim)
    before = arith::MulIOp::create(b, before, buildSize(b, op.getSource(), dim));
  for (int64_t dim = 0; dim < result.getRank(); ++dim) {
    Value size =
        tensor::ExtractOp::create(b, op.getShape(), Value(arith::ConstantIndexOp::create(b, dim)));
    if (!size.getType().isIndex())
      size = arith::IndexCastOp::create(b, b.getIndexType(), size);
    checkSizes(checks, op, size);
    if (!result.isDynamicDim(dim))
      checks.require(
          b,
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, size,
                                arith::ConstantIndexOp::create(b, result.getDimSize(dim))),
          "dimension " + Twine(dim) + " of a tensor.reshape is not of size " +
              Twine(result.getDimSize(dim)));
    after = arith::MulIOp::create(b, after, size);
  }
  checks.require(b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, before, after),
                 "a tensor.reshape changes the number of elements");
}

/// A slice of `whole` whose place is only known at run time.
static void checkSlice(Checks &checks, OffsetSizeAndStrideOpInterface op, Value whole) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  for (int64_t dim = 0; dim < cast<ShapedType>(whole.getType()).getRank(); ++dim)
    if (Value fits = buildSliceFits(b, op, whole, dim))
      checks.require(b, fits,
                     "slice out of bounds in dimension " + Twine(dim) + " of a " +
                         op->getName().getStringRef());
}

/// The inserted tensor fills the slice.
static void checkInserted(Checks &checks, tensor::InsertSliceOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (int64_t dim = 0, from = 0; dim < int64_t(sizes.size()); ++dim) {
    if (dropped[dim])
      continue;
    if (Value fits = buildSplitFits(b, op.getSource(), from++, sizes[dim]))
      checks.require(
          b, fits,
          "the source of a tensor.insert_slice is not of the slice's size in dimension " +
              Twine(dim));
  }
}

/// Padding in front and behind, and the sizes that the result's type states.
static void checkPadding(Checks &checks, tensor::PadOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  checkSizes(checks, op, op.getLow());
  checkSizes(checks, op, op.getHigh());
  auto type = op.getResultType();
  SmallVector<OpFoldResult> low = op.getMixedLowPad(), high = op.getMixedHighPad();
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    bool isKnown = !op.getSourceType().isDynamicDim(dim) && isa<Attribute>(low[dim]) &&
                   isa<Attribute>(high[dim]);
    if (type.isDynamicDim(dim) || isKnown)
      continue;
    Value size = buildSize(b, op.getSource(), dim);
    for (OpFoldResult side : {low[dim], high[dim]})
      size = arith::AddIOp::create(b, size, getValueOrCreateConstantIndexOp(b, b.getLoc(), side));
    Value stated = arith::ConstantIndexOp::create(b, type.getDimSize(dim));
    checks.require(b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, size, stated),
                   "dimension " + Twine(dim) + " of a tensor.pad is not of size " +
                       Twine(type.getDimSize(dim)));
  }
}

/// Parts of one size beside the dimension along which they follow each other, and there of the size
/// that is stated.
static void checkConcat(Checks &checks, tensor::ConcatOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = op.getResultType();
  Value whole = arith::ConstantIndexOp::create(b, 0);
  for (Value part : op.getInputs()) {
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      auto partType = cast<RankedTensorType>(part.getType());
      if (dim == int64_t(op.getDim()))
        whole = arith::AddIOp::create(b, whole, buildSize(b, part, dim));
      else if (part != op.getInputs().front() &&
               (partType.isDynamicDim(dim) || type.isDynamicDim(dim)))
        checks.require(b,
                       arith::CmpIOp::create(b, arith::CmpIPredicate::eq, buildSize(b, part, dim),
                                             buildSize(b, op.getInputs().front(), dim)),
                       "parts of a tensor.concat differ in dimension " + Twine(dim));
    }
  }
  if (!type.isDynamicDim(op.getDim()))
    checks.require(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, whole, buildSize(b, op, op.getDim())),
        "parts of a tensor.concat do not add up to " + Twine(type.getDimSize(op.getDim())));
}

/// True if `size` is that of this dimension by definition.
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
    anyEmpty = arith::OrIOp::create(b, anyEmpty,
                                    arith::CmpIOp::create(b, arith::CmpIPredicate::eq, size, zero));
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
      Value end =
          affine::AffineApplyOp::create(b, AffineMap::get(map.getNumDims(), 0, index), last);
      Value size = buildSize(b, operand.get(), dim);
      Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, end, size);
      checks.require(b, loop ? fits : arith::OrIOp::create(b, fits, anyEmpty),
                     "operand " + Twine(operand.getOperandNumber()) + " of a " +
                         op->getName().getStringRef() + " is too small in dimension " + Twine(dim));
    }
  }
}

/// A transfer of a vector. Beyond the end it may reach where it does not say `in_bounds` or lanes
/// are masked off; its lowering pads nothing in front.
static void checkTransfer(Checks &checks, VectorTransferOpInterface op) {
  Operation *place = isa<vector::MaskOp>(op->getParentOp()) ? op->getParentOp() : op.getOperation();
  ImplicitLocOpBuilder b(op.getLoc(), place);
  bool isMasked = op.getMask() || place != op.getOperation();
  SmallVector<Value> last(op.getIndices());
  VectorType type = op.getVectorType();
  for (auto [dim, index] : llvm::enumerate(op.getPermutationMap().getResults())) {
    auto along = dyn_cast<AffineDimExpr>(index);
    if (!along)
      continue;
    Value &end = last[along.getPosition()];
    if (!op.isDimInBounds(dim) || isMasked)
      end = Value();
    else
      end = arith::AddIOp::create(b, end,
                                  arith::ConstantIndexOp::create(b, type.getDimSize(dim) - 1));
  }
  for (auto [dim, first, end] : llvm::enumerate(op.getIndices(), last)) {
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, first, zero);
    if (end)
      inside = arith::AndIOp::create(b, inside,
                                     arith::CmpIOp::create(b, arith::CmpIPredicate::slt, end,
                                                           buildSize(b, op.getBase(), dim)));
    checks.require(b, inside,
                   "index out of bounds in dimension " + Twine(dim) + " of a " +
                       op->getName().getStringRef());
  }
}

/// Elements one after the other along the last dimension.
static void checkRow(Checks &checks, Operation *op, Value base, ValueRange indices,
                     VectorType type) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value size = buildSize(b, base, dim);
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, size);
    int64_t place = int64_t(dim) - (int64_t(indices.size()) - type.getRank());
    if (place >= 0) {
      Value end = arith::AddIOp::create(b, index,
                                        arith::ConstantIndexOp::create(b, type.getDimSize(place)));
      inside = arith::AndIOp::create(
          b, inside, arith::CmpIOp::create(b, arith::CmpIPredicate::sle, end, size));
    }
    checks.require(b, inside,
                   "index out of bounds in dimension " + Twine(dim) + " of a " +
                       op->getName().getStringRef());
  }
}

/// Bytes that a buffer of bytes is read as: all of them are its own.
static void checkView(Checks &checks, memref::ViewOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  checkSizes(checks, op, op.getSizes());
  MemRefType type = op.getType();
  Type element = type.getElementType();
  if (!element.isIntOrFloat())
    return;
  Value end = arith::ConstantIndexOp::create(b, (element.getIntOrFloatBitWidth() + 7) / 8);
  auto dynamic = op.getSizes().begin();
  for (int64_t size : type.getShape())
    end = arith::MulIOp::create(
        b, end,
        ShapedType::isDynamic(size) ? *dynamic++ : Value(arith::ConstantIndexOp::create(b, size)));
  end = arith::AddIOp::create(b, end, op.getByteShift());
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value behind = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, op.getByteShift(), zero);
  Value fits =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sle, end, buildSize(b, op.getSource(), 0));
  checks.require(b, arith::AndIOp::create(b, behind, fits),
                 "a memref.view reaches beyond its source");
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
