// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classes of the tosa dialect (why: docs/reference/OpClasses.md).

#include "CarriedValues.h"
#include "Meanings.h"
#include "TableModel.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::detail;

template <typename Op> static bool ignoresNaN(Op op) {
  return op.getNanMode() == tosa::NanPropagationMode::IGNORE;
}

template <typename Op, BinaryFn propagating, BinaryFn ignoring>
static FloatMeaning meaningOfExtremum(Operation *op) {
  return ignoresNaN(cast<Op>(op)) ? computes<ignoring>(op) : computes<propagating>(op);
}

static FloatMeaning meaningOfClamp(Operation *op) {
  auto clamp = cast<tosa::ClampOp>(op);
  auto low = dyn_cast<FloatAttr>(clamp.getMinVal()), high = dyn_cast<FloatAttr>(clamp.getMaxVal());
  if (!low || !high)
    return FloatMeaning::unknown();
  FloatMeaning meaning = FloatMeaning::of(Kind::Clamp, {0});
  meaning.lo = low.getValueAsDouble();
  meaning.hi = high.getValueAsDouble();
  meaning.dropsNaN = ignoresNaN(clamp);
  return meaning;
}

/// Each element is one of the window.
static FloatMeaning meaningOfMaxPool(Operation *op) {
  FloatMeaning meaning = moves<Rows::Other>(op);
  meaning.dropsNaN = ignoresNaN(cast<tosa::MaxPool2dOp>(op));
  return meaning;
}

/// Padding is left out of the count.
static FloatMeaning meaningOfAverage(Operation *op) {
  ArrayRef<int64_t> kernel = cast<tosa::AvgPool2dOp>(op).getKernel();
  FloatMeaning meaning = FloatMeaning::of(Kind::Average, {0});
  meaning.products = Extent::atMost(kernel[0] * kernel[1]);
  return meaning;
}

static FloatMeaning meaningOfCast(Operation *op) {
  return FloatMeaning::of(getFloatFormat(op->getOperand(0).getType()) ? Kind::Cast : Kind::Integer,
                          {0});
}

/// True if the sizes that matter below may be asked for.
static bool isRanked(Operation *op) {
  return llvm::none_of(op->getOperandTypes(), llvm::IsaPred<UnrankedTensorType>);
}

template <typename Op, ReduceFn fn> static FloatMeaning reduces(Operation *op) {
  if (!isRanked(op))
    return FloatMeaning::unknown();
  FloatMeaning meaning = FloatMeaning::of(Kind::Reduction, {0});
  meaning.reduce = fn;
  meaning.dims = {cast<Op>(op).getAxis()};
  if constexpr (fn == ReduceFn::Max || fn == ReduceFn::Min)
    meaning.dropsNaN = ignoresNaN(cast<Op>(op));
  return meaning;
}

static FloatMeaning meaningOfMatmul(Operation *op) {
  if (!isRanked(op))
    return FloatMeaning::unknown();
  FloatMeaning meaning = FloatMeaning::of(Kind::Contraction, {0, 1});
  meaning.products = extentOf(op->getOperand(0), 2);
  meaning.innermost[0] = true;
  return meaning;
}

/// Sums over the dimensions `summed` of the weights. Padding and strides leave products out.
static FloatMeaning sumsOver(Value weights, ArrayRef<int64_t> summed) {
  FloatMeaning meaning = FloatMeaning::of(Kind::Contraction, {0, 1, 2});
  meaning.products = Extent::exactly(1);
  for (int64_t dim : summed)
    meaning.products = product(meaning.products, extentOf(weights, dim));
  meaning.products.min = 0;
  return meaning;
}

/// Sums over all dimensions but the first, the outputs.
template <typename Op> static FloatMeaning meaningOfConvolution(Operation *op) {
  if (!isRanked(op))
    return FloatMeaning::unknown();
  Value weights = cast<Op>(op).getWeight();
  int64_t rank = cast<ShapedType>(weights.getType()).getRank();
  return sumsOver(weights, llvm::to_vector(llvm::seq<int64_t>(1, rank)));
}

static FloatMeaning meaningOfDepthwise(Operation *op) {
  return isRanked(op) ? sumsOver(cast<tosa::DepthwiseConv2DOp>(op).getWeight(), {0, 1})
                      : FloatMeaning::unknown();
}

static constexpr OpEntry kTosaEntries[] = {
    {"tosa.matmul",
     {OpClass::TensorCore, TypeRule::Contraction, "contraction: narrow factors, f32 result"},
     meaningOfMatmul},
    {"tosa.conv2d", kTosaConvolution, meaningOfConvolution<tosa::Conv2DOp>},
    {"tosa.conv3d", kTosaConvolution, meaningOfConvolution<tosa::Conv3DOp>},
    {"tosa.depthwise_conv2d", kTosaConvolution, meaningOfDepthwise},
    {"tosa.transpose_conv2d", kTosaConvolution, meaningOfConvolution<tosa::TransposeConv2DOp>},
    {"tosa.matmul_t_block_scaled", {OpClass::TensorCore, TypeRule::Frozen, "already block-scaled"}},
    {"tosa.avg_pool2d",
     {OpClass::Accumulate, TypeRule::Uniform, "sums its window in f32"},
     meaningOfAverage},
    {"tosa.max_pool2d", kCommutes, meaningOfMaxPool},
    {"tosa.reduce_max", kCommutes, reduces<tosa::ReduceMaxOp, ReduceFn::Max>},
    {"tosa.reduce_min", kCommutes, reduces<tosa::ReduceMinOp, ReduceFn::Min>},
    {"tosa.abs", kCommutes, computes<UnaryFn::Abs>},
    {"tosa.negate", kCommutes, computes<UnaryFn::Neg>},
    {"tosa.maximum", kCommutes,
     meaningOfExtremum<tosa::MaximumOp, BinaryFn::Maximum, BinaryFn::MaxNum>},
    {"tosa.minimum", kCommutes,
     meaningOfExtremum<tosa::MinimumOp, BinaryFn::Minimum, BinaryFn::MinNum>},
    {"tosa.select", kCommutes, selects},
    {"tosa.clamp",
     {OpClass::Follow, TypeRule::Frozen, "exact only while the bounds are representable"},
     meaningOfClamp},
    {"tosa.reduce_sum",
     {OpClass::Accumulate, TypeRule::Uniform, "f16 would accumulate in f16"},
     reduces<tosa::ReduceSumOp, ReduceFn::Sum>},
    {"tosa.reduce_product",
     {OpClass::KeepWide, TypeRule::Uniform, "products explode"},
     reduces<tosa::ReduceProductOp, ReduceFn::Product>},
    {"tosa.reduce_all", kBooleansOnly},
    {"tosa.reduce_any", kBooleansOnly},
    {"tosa.logical_and", kBooleansOnly},
    {"tosa.logical_or", kBooleansOnly},
    {"tosa.logical_not", kBooleansOnly},
    {"tosa.logical_xor", kBooleansOnly},
    {"tosa.argmax", {OpClass::Discontinuous, TypeRule::Frozen, "ties decide"}},
    {"tosa.add", kSumOfOperands, computes<BinaryFn::Add>},
    {"tosa.sub", kSumOfOperands, computes<BinaryFn::Sub>},
    {"tosa.mul", kProduct, computes<BinaryFn::Mul>},
    {"tosa.ceil", kSteps, computes<UnaryFn::Ceil>},
    {"tosa.floor", kSteps, computes<UnaryFn::Floor>},
    {"tosa.exp", kExponential, computes<UnaryFn::Exp>},
    {"tosa.log", kLogarithm, computes<UnaryFn::Log>},
    {"tosa.pow", kPower, computes<BinaryFn::Pow>},
    {"tosa.reciprocal",
     {OpClass::RangeConditional, TypeRule::Uniform, "needs a lower bound on the operand"},
     computes<UnaryFn::Reciprocal>},
    {"tosa.rsqrt", kReciprocalRoot, computes<UnaryFn::Rsqrt>},
    {"tosa.sigmoid", kBounded, computes<UnaryFn::Sigmoid>},
    {"tosa.tanh", kBounded, computes<UnaryFn::Tanh>},
    {"tosa.erf", kBounded, computes<UnaryFn::Erf>},
    {"tosa.sin", kPeriodic, computes<UnaryFn::Sin>},
    {"tosa.cos", kPeriodic, computes<UnaryFn::Cos>},
    {"tosa.equal", kComparison, comparesTo<arith::CmpFPredicate::OEQ>},
    {"tosa.greater", kComparison, comparesTo<arith::CmpFPredicate::OGT>},
    {"tosa.greater_equal", kComparison, comparesTo<arith::CmpFPredicate::OGE>},
    {"tosa.cast", kUserCast, meaningOfCast},
    {"tosa.cast_from_block_scaled", kUserCast},
    {"tosa.cast_to_block_scaled", kUserCast},
    {"tosa.rescale", kIntegersOnly},
    {"tosa.table", kIntegersOnly},
    {"tosa.apply_scale", kIntegersOnly},
    {"tosa.arithmetic_right_shift", kIntegersOnly},
    {"tosa.bitwise_and", kIntegersOnly},
    {"tosa.bitwise_not", kIntegersOnly},
    {"tosa.bitwise_or", kIntegersOnly},
    {"tosa.bitwise_xor", kIntegersOnly},
    {"tosa.clz", kIntegersOnly},
    {"tosa.intdiv", kIntegersOnly},
    {"tosa.logical_left_shift", kIntegersOnly},
    {"tosa.logical_right_shift", kIntegersOnly},
    {"tosa.add_shape", kShapesOnly},
    {"tosa.concat_shape", kShapesOnly},
    {"tosa.const_shape", kShapesOnly},
    {"tosa.dim", kShapesOnly},
    {"tosa.div_ceil_shape", kShapesOnly},
    {"tosa.div_floor_shape", kShapesOnly},
    {"tosa.exp2_shape", kShapesOnly},
    {"tosa.log2_ceil_shape", kShapesOnly},
    {"tosa.log2_floor_shape", kShapesOnly},
    {"tosa.max_shape", kShapesOnly},
    {"tosa.min_shape", kShapesOnly},
    {"tosa.mod_shape", kShapesOnly},
    {"tosa.mul_shape", kShapesOnly},
    {"tosa.slice_shape", kShapesOnly},
    {"tosa.sub_shape", kShapesOnly},
    {"tosa.const", kConstant, isConstant, Movement::None, remakeConstant},
    {"tosa.concat", kMovesData, mergesFloats},
    {"tosa.pad", kMovesData, mergesFloats},
    {"tosa.reshape", kMovesData, reshapes, Movement::View},
    {"tosa.reverse", kMovesData, moves<Rows::Other>, Movement::Whole},
    {"tosa.slice", kMovesData, moves<Rows::Part>, Movement::Slice},
    {"tosa.tile", kMovesData, moves<Rows::Other>, Movement::Whole},
    {"tosa.transpose", kMovesData, moves<Rows::Other>, Movement::Whole},
    {"tosa.gather", kMovesData, moves<Rows::Other>, Movement::Some},
    {"tosa.scatter", kMovesData, mergesFloats},
    {"tosa.identity", kMovesData, moves<Rows::Kept>, Movement::View},
    {"tosa.resize", {OpClass::Follow, TypeRule::Uniform, "a weighted mean of neighbours"}},
    {"tosa.fft2d", kFourier},
    {"tosa.rfft2d", kFourier},
    {"tosa.cond_if", kCarries},
    {"tosa.while_loop", kCarries},
    {"tosa.variable", kState},
    {"tosa.variable_read", kState},
    {"tosa.variable_write", kState},
    {"tosa.custom", {OpClass::Barrier, TypeRule::Frozen, "defined elsewhere"}},
    {"tosa.yield", kPartOfBody},
};
const ArrayRef<OpEntry> mlir::mp::detail::tosaTable = kTosaEntries;

/// The accumulator of convolutions and average pooling is an attribute.
static constexpr StringLiteral kAccumulatorAttrName = "acc_type";

static FloatType readAccumulator(Operation *op) {
  auto type = op->getAttrOfType<TypeAttr>(kAccumulatorAttrName);
  return type ? dyn_cast<FloatType>(type.getValue()) : getResultAccumulator(op);
}

static void writeAccumulator(Operation *op, FloatType format) {
  if (op->hasAttr(kAccumulatorAttrName))
    op->setAttr(kAccumulatorAttrName, TypeAttr::get(format));
}

namespace {
/// Contractions: two factors, then perhaps a bias, then the zero points, which
/// are constants of the factors' formats.
template <typename Op> struct TosaContractionModel : TableAnswers<TosaContractionModel<Op>, Op> {
  OperandRole getOperandRole(Operation *op, unsigned index) const {
    if (!getFloatFormat(op->getOperand(index).getType()))
      return OperandRole::Other;
    if (index < 2)
      return OperandRole::Factor;
    return index == 2 && TableModel<Op>::entry().rule == TypeRule::Uniform ? OperandRole::Addend
                                                                           : OperandRole::Data;
  }
  FloatType getAccumulator(Operation *op) const { return readAccumulator(op); }
  void setAccumulator(Operation *op, FloatType format) const { writeAccumulator(op, format); }
};

template <typename Op>
constexpr bool isTosaContraction =
    llvm::is_one_of<Op, tosa::MatMulOp, tosa::Conv2DOp, tosa::Conv3DOp, tosa::DepthwiseConv2DOp,
                    tosa::TransposeConv2DOp>::value;

/// All in the table but the accumulator.
template <typename Op> struct TosaPoolingModel : TableAnswers<TosaPoolingModel<Op>, Op> {
  FloatType getAccumulator(Operation *op) const { return readAccumulator(op); }
  void setAccumulator(Operation *op, FloatType format) const { writeAccumulator(op, format); }
};

/// Control flow passes every value in by position, in one type.
template <typename Op> struct TosaFlowModel : TableAnswers<TosaFlowModel<Op>, Op> {
  void getCarriedValues(Operation *op, SmallVectorImpl<CarriedValue> &carried) const {
    collectByPosition(op, isLoop(), carried);
  }
  static constexpr bool isLoop() { return std::is_same_v<Op, tosa::WhileOp>; }
};

template <typename Op>
constexpr bool isTosaFlow = llvm::is_one_of<Op, tosa::IfOp, tosa::WhileOp>::value;

template <typename Op>
using TosaOtherModel = std::conditional_t<isTosaFlow<Op>, TosaFlowModel<Op>,
                                          std::conditional_t<std::is_same_v<Op, tosa::AvgPool2dOp>,
                                                             TosaPoolingModel<Op>, TableModel<Op>>>;

template <typename Op>
struct TosaModel
    : std::conditional_t<isTosaContraction<Op>, TosaContractionModel<Op>, TosaOtherModel<Op>> {};
} // namespace

void mlir::mp::detail::registerTosaModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tosa::TosaDialect *) {
    attachModels<TosaModel, TableSemantics,
#define GET_OP_LIST
#include "mlir/Dialect/Tosa/IR/TosaOps.cpp.inc"
                 >(context);
  });
}
