// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classes of the tensor dialect (why: docs/reference/OpClasses.md).

#include "Meanings.h"
#include "TableModel.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::detail;

static FloatMeaning meaningOfSlice(Operation *op) {
  auto slice = cast<tensor::ExtractSliceOp>(op);
  return slice.getSourceType().getRank() == slice.getResultType().getRank()
             ? moves<Rows::Part>(op)
             : moves<Rows::Other>(op);
}

static FloatMeaning meaningOfPad(Operation *op) {
  FloatAttr value;
  Value padding =
      cast<tensor::YieldOp>(cast<tensor::PadOp>(op).getBody()->getTerminator()).getValue();
  auto converted = padding.getDefiningOp<CastOp>(); // with what is padded
  if (converted)
    padding = converted.getSource();
  if (!matchPattern(padding, m_Constant(&value)) || (converted && !value.getValue().isZero()))
    return FloatMeaning::unknown();
  FloatMeaning meaning = FloatMeaning::of(Kind::Merge, {0});
  meaning.padding = value.getValueAsDouble();
  return meaning;
}

static Value remakeEmpty(Operation *op, OpBuilder &builder, FloatType format, Overflow,
                         llvm::function_ref<Value(Value)>) {
  return cloneWithTypes(builder, op, op->getOperands(),
                        withFormat(op->getResult(0).getType(), format))
      ->getResult(0);
}

static constexpr OpEntry kTensorEntries[] = {
    {"tensor.cast", kMovesData, moves<Rows::Kept>, Movement::View},
    {"tensor.collapse_shape", kMovesData, reshapes, Movement::View},
    {"tensor.expand_shape", kMovesData, reshapes, Movement::View},
    {"tensor.reshape", kMovesData, reshapes, Movement::View},
    {"tensor.concat", kMovesData, mergesFloats},
    {"tensor.extract_slice", kMovesData, meaningOfSlice, Movement::Slice},
    {"tensor.insert_slice", kMovesData, mergesFloats},
    {"tensor.gather", kMovesData, moves<Rows::Other>, Movement::Some},
    {"tensor.scatter", kMovesData, mergesFloats},
    {"tensor.empty", kMovesData, nullptr, Movement::None, remakeEmpty},
    {"tensor.splat", kMovesData, moves<Rows::Other>, Movement::Whole},
    {"tensor.pad",
     {OpClass::ExactCommute, TypeRule::Uniform, "moves data; the padding value is converted"},
     meaningOfPad},
    {"tensor.extract", kMovesElements, moves<Rows::Other>, Movement::Some},
    {"tensor.insert", kMovesElements, mergesFloats},
    {"tensor.from_elements", kMovesElements, mergesFloats},
    {"tensor.generate", {OpClass::ExactCommute, TypeRule::Frozen, "its body makes the values"}},
    {"tensor.bitcast", kBitPattern},
    {"tensor.parallel_insert_slice",
     {OpClass::Barrier, TypeRule::Frozen, "writes through a destination shared by threads"}},
    {"tensor.dim", kIntegersOnly},
    {"tensor.rank", kIntegersOnly},
    {"tensor.yield", kPartOfBody},
};
const ArrayRef<OpEntry> mlir::mp::detail::tensorTable = kTensorEntries;

namespace {
/// tensor.pad yields the padding value from a region: it follows the format.
struct PadModel : TableAnswers<PadModel, tensor::PadOp> {
  Operation *rebuild(Operation *op, OpBuilder &builder, ValueRange operands,
                     TypeRange resultTypes) const {
    Operation *copy = cloneWithTypes(builder, op, operands, resultTypes);
    FloatType before = getFloatFormat(op->getResult(0).getType());
    FloatType after = getFloatFormat(resultTypes[0]);
    if (!before || before == after)
      return copy;
    Operation *yield = copy->getRegion(0).front().getTerminator();
    OpBuilder inside(yield);
    bool narrowing = !holdsEveryValueOf(after, before);
    auto cast = CastOp::create(
        inside, op->getLoc(), after, yield->getOperand(0), Value(), RoundingAttr(),
        narrowing ? OverflowAttr::get(op->getContext(), Overflow::IEEE) : OverflowAttr(),
        inside.getUnitAttr());
    yield->setOperand(0, cast);
    return copy;
  }
};

template <typename Op>
struct TensorModel
    : std::conditional_t<std::is_same_v<Op, tensor::PadOp>, PadModel, TableModel<Op>> {};
} // namespace

void mlir::mp::detail::registerTensorModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    attachModels<TensorModel, TableSemantics,
#define GET_OP_LIST
#include "mlir/Dialect/Tensor/IR/TensorOps.cpp.inc"
                 >(context);
  });
}
