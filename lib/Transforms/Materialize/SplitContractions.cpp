// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-split-contractions: f32 contractions that carry `mp.split` become split products.

#include "../Common/SplitCode.h"
#include "mlir/IR/Matchers.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Transforms/Materialize/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_SPLITCONTRACTIONS
#include "mp/Transforms/Materialize/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;
using numerics::SplitScheme;

namespace {
/// Splits the contractions of one function; readers of one value share its parts.
class ContractionSplitter {
public:
  explicit ContractionSplitter(MLIRContext *context) : builder(context) {}

  LogicalResult split(Operation *op) {
    SplitScheme scheme = *getSplitScheme(op);
    std::string why;
    std::optional<SplitOperands> view = viewSplit(op, scheme, &why);
    if (!view)
      return op->emitOpError("carries 'mp.split' = \"")
             << numerics::toString(scheme) << "\", but cannot be computed so: " << why;
    SmallVector<Value> parts[2];
    for (unsigned i : {0u, 1u})
      llvm::append_range(parts[i], partsOf(view->factors[i]->get(), scheme));

    builder.setInsertionPoint(op);
    Value zero = view->init ? zeroLike(*view->init) : Value();
    Value small, large;
    for (auto [a, b] : numerics::partPairs(scheme)) {
      bool isLeading = a == 0 && b == 0;
      Value factors[2] = {parts[0][a], parts[1][b]};
      // Smaller products go into one accumulator; the leading one must not start from what they
      // left.
      Value product = multiply(op, *view, factors, isLeading || !small ? zero : small, isLeading);
      if (isLeading)
        large = product;
      else
        small = view->init || !small ? product : join(op->getLoc(), product, small);
    }
    Value init = view->init && !isZeroTensor(view->init->get()) ? view->init->get() : Value();
    op->getResult(0).replaceAllUsesWith(join(op->getLoc(), large, small, init));
    op->erase();
    return success();
  }

  /// Constants that nothing reads any more, and parts that nothing came to read.
  void eraseUnusedConstants() {
    for (Operation *constant : constants)
      if (constant->use_empty())
        constant->erase();
  }

private:
  /// The parts of a value, made behind its definition; of a constant, constants.
  ArrayRef<Value> partsOf(Value value, SplitScheme scheme) {
    FloatType format = getPartType(builder.getContext(), scheme);
    SmallVector<Value, 3> &known = made[{value, format}];
    if (known.empty() && !makeConstants(value, scheme, known))
      known.push_back(makeFirst(value, format));
    OpBuilder::InsertionGuard guard(builder);
    while (known.size() < numerics::partCount(scheme)) {
      builder.setInsertionPointAfterValue(known.back());
      known.push_back(SplitResidualOp::create(builder, value.getLoc(), known.front().getType(),
                                              TypeAttr::get(format), value, known,
                                              builder.getUnitAttr()));
    }
    return known;
  }

  /// All parts that any scheme of the format takes, at once: unused ones go.
  bool makeConstants(Value value, SplitScheme scheme, SmallVectorImpl<Value> &into) {
    Operation *def = value.getDefiningOp();
    Attribute constant;
    if (!def || def->getNumOperands() != 0 || !matchPattern(value, m_Constant(&constant)))
      return false;
    bool isTF32 = numerics::partFormat(scheme) == numerics::Format::TF32;
    SmallVector<Attribute> parts =
        splitConstant(constant, isTF32 ? SplitScheme::TF32x3 : SplitScheme::BF16x6);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(def);
    for (Attribute part : parts) {
      Operation *copy = cloneConstant(def, part, cast<TypedAttr>(part).getType());
      into.push_back(builder.insert(copy)->getResult(0));
      constants.push_back(copy);
    }
    if (!parts.empty())
      constants.push_back(def);
    return !parts.empty();
  }

  Value makeFirst(Value value, FloatType format) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(value);
    if (format.isTF32())
      return RoundOp::create(builder, value.getLoc(), value.getType(), TypeAttr::get(format), value,
                             builder.getUnitAttr());
    return CastOp::create(builder, value.getLoc(), withFormat(value.getType(), format), value,
                          Value(), RoundingAttr(),
                          OverflowAttr::get(builder.getContext(), Overflow::IEEE),
                          builder.getUnitAttr());
  }

  Value join(Location loc, Value large, Value small, Value init = {}) {
    return JoinSplitOp::create(builder, loc, large.getType(), large, small, init,
                               builder.getUnitAttr());
  }

  /// Zeros in the shape of what is added to, which the fill does not read.
  Value zeroLike(OpOperand &init) {
    if (isZeroTensor(init.get()))
      return init.get();
    Location loc = init.getOwner()->getLoc();
    Value scalar = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
    return linalg::FillOp::create(builder, loc, scalar, init.get()).getResult(0);
  }

  /// The contraction of these parts, added to `init` where it adds to something.
  Value multiply(Operation *op, const SplitOperands &view, ArrayRef<Value> factors, Value init,
                 bool keepsAddends) {
    SmallVector<Value> operands(op->getOperands());
    for (auto [operand, factor] : llvm::zip_equal(view.factors, factors))
      operands[operand->getOperandNumber()] = factor;
    if (view.init)
      operands[view.init->getOperandNumber()] = init;
    for (OpOperand *addend : view.addends)
      if (!keepsAddends)
        operands[addend->getOperandNumber()] = arith::ConstantOp::create(
            builder, op->getLoc(), cast<TypedAttr>(builder.getZeroAttr(addend->get().getType())));
    for (OpOperand *zero : view.zeros)
      operands[zero->getOperandNumber()] = zeroPoint(*zero, getFloatFormat(factors[0].getType()));
    Operation *copy =
        cast<PrecisionOpInterface>(op).rebuild(builder, operands, op->getResultTypes());
    copy->removeAttr(kSplitAttrName);
    return copy->getResult(0);
  }

  Value zeroPoint(OpOperand &zero, FloatType format) {
    Type type = withFormat(zero.get().getType(), format);
    if (type == zero.get().getType())
      return zero.get();
    Value &known = zeroPoints[{zero.get(), format}];
    if (known)
      return known;
    Operation *def = zero.get().getDefiningOp();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(def);
    Operation *copy = def->clone();
    for (NamedAttribute attribute : def->getAttrs())
      if (auto elements = dyn_cast<ElementsAttr>(attribute.getValue()))
        copy->setAttr(attribute.getName(), builder.getZeroAttr(type));
    copy->getResult(0).setType(type);
    return known = builder.insert(copy)->getResult(0);
  }

  OpBuilder builder;
  DenseMap<std::pair<Value, FloatType>, SmallVector<Value, 3>> made;
  DenseMap<std::pair<Value, FloatType>, Value> zeroPoints;
  SmallVector<Operation *> constants;
};

struct SplitContractions : mlir::mp::impl::SplitContractionsBase<SplitContractions> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> contractions;
    getOperation()->walk([&](Operation *op) {
      if (getSplitScheme(op))
        contractions.push_back(op);
    });
    if (contractions.empty())
      return markAllAnalysesPreserved(); // nothing to verify again
    ContractionSplitter splitter(&getContext());
    for (Operation *op : contractions)
      if (failed(splitter.split(op)))
        return signalPassFailure();
    splitter.eraseUnusedConstants();
  }
};
} // namespace
