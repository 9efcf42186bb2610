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

static constexpr OpEntry kEntries[] = {
    {"tosa.matmul", OpClass::TensorCore, TypeRule::Contraction,
     "contraction: narrow factors, f32 result", meaningOfMatmul},
    {"tosa.conv2d", OpClass::TensorCore, TypeRule::Uniform,
     "convolution: bias and result in the operand format, acc_type f32",
     meaningOfConvolution<tosa::Conv2DOp>},
    {"tosa.conv3d", OpClass::TensorCore, TypeRule::Uniform,
     "convolution: bias and result in the operand format, acc_type f32",
     meaningOfConvolution<tosa::Conv3DOp>},
    {"tosa.depthwise_conv2d", OpClass::TensorCore, TypeRule::Uniform,
     "convolution: bias and result in the operand format, acc_type f32", meaningOfDepthwise},
    {"tosa.transpose_conv2d", OpClass::TensorCore, TypeRule::Uniform,
     "convolution: bias and result in the operand format, acc_type f32",
     meaningOfConvolution<tosa::TransposeConv2DOp>},
    {"tosa.matmul_t_block_scaled", OpClass::TensorCore, TypeRule::Frozen, "already block-scaled"},
    {"tosa.avg_pool2d", OpClass::Accumulate, TypeRule::Uniform, "sums its window in f32",
     meaningOfAverage},
    {"tosa.max_pool2d", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding",
     meaningOfMaxPool},
    {"tosa.reduce_max", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding",
     reduces<tosa::ReduceMaxOp, ReduceFn::Max>},
    {"tosa.reduce_min", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding",
     reduces<tosa::ReduceMinOp, ReduceFn::Min>},
    {"tosa.abs", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding",
     computes<UnaryFn::Abs>},
    {"tosa.negate", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding",
     computes<UnaryFn::Neg>},
    {"tosa.maximum", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding",
     meaningOfExtremum<tosa::MaximumOp, BinaryFn::Maximum, BinaryFn::MaxNum>},
    {"tosa.minimum", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding",
     meaningOfExtremum<tosa::MinimumOp, BinaryFn::Minimum, BinaryFn::MinNum>},
    {"tosa.select", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding", selects},
    {"tosa.clamp", OpClass::Follow, TypeRule::Frozen,
     "exact only while the bounds are representable", meaningOfClamp},
    {"tosa.reduce_sum", OpClass::Accumulate, TypeRule::Uniform, "f16 would accumulate in f16",
     reduces<tosa::ReduceSumOp, ReduceFn::Sum>},
    {"tosa.reduce_product", OpClass::KeepWide, TypeRule::Uniform, "products explode",
     reduces<tosa::ReduceProductOp, ReduceFn::Product>},
    {"tosa.reduce_all", OpClass::Barrier, TypeRule::Frozen, "booleans only"},
    {"tosa.reduce_any", OpClass::Barrier, TypeRule::Frozen, "booleans only"},
    {"tosa.logical_and", OpClass::Barrier, TypeRule::Frozen, "booleans only"},
    {"tosa.logical_or", OpClass::Barrier, TypeRule::Frozen, "booleans only"},
    {"tosa.logical_not", OpClass::Barrier, TypeRule::Frozen, "booleans only"},
    {"tosa.logical_xor", OpClass::Barrier, TypeRule::Frozen, "booleans only"},
    {"tosa.argmax", OpClass::Discontinuous, TypeRule::Frozen, "ties decide"},
    {"tosa.add", OpClass::Follow, TypeRule::Uniform, "bounded by the sum of its operands",
     computes<BinaryFn::Add>},
    {"tosa.sub", OpClass::Follow, TypeRule::Uniform, "bounded by the sum of its operands",
     computes<BinaryFn::Sub>},
    {"tosa.mul", OpClass::RangeConditional, TypeRule::Uniform, "needs a bound on the product",
     computes<BinaryFn::Mul>},
    {"tosa.ceil", OpClass::Discontinuous, TypeRule::Uniform, "steps", computes<UnaryFn::Ceil>},
    {"tosa.floor", OpClass::Discontinuous, TypeRule::Uniform, "steps", computes<UnaryFn::Floor>},
    {"tosa.exp", OpClass::RangeConditional, TypeRule::Uniform,
     "overflows from 11.09 in f16: needs a bound", computes<UnaryFn::Exp>},
    {"tosa.log", OpClass::RangeConditional, TypeRule::Uniform, "needs an operand well above zero",
     computes<UnaryFn::Log>},
    {"tosa.pow", OpClass::KeepWide, TypeRule::Uniform, "powers explode", computes<BinaryFn::Pow>},
    {"tosa.reciprocal", OpClass::RangeConditional, TypeRule::Uniform,
     "needs a lower bound on the operand", computes<UnaryFn::Reciprocal>},
    {"tosa.rsqrt", OpClass::KeepWide, TypeRule::Uniform, "steep near zero: the epsilon of norms",
     computes<UnaryFn::Rsqrt>},
    {"tosa.sigmoid", OpClass::Follow, TypeRule::Uniform, "bounded", computes<UnaryFn::Sigmoid>},
    {"tosa.tanh", OpClass::Follow, TypeRule::Uniform, "bounded", computes<UnaryFn::Tanh>},
    {"tosa.erf", OpClass::Follow, TypeRule::Uniform, "bounded", computes<UnaryFn::Erf>},
    {"tosa.sin", OpClass::RangeConditional, TypeRule::Uniform,
     "needs a small argument: positions are not", computes<UnaryFn::Sin>},
    {"tosa.cos", OpClass::RangeConditional, TypeRule::Uniform,
     "needs a small argument: positions are not", computes<UnaryFn::Cos>},
    {"tosa.equal", OpClass::Discontinuous, TypeRule::Uniform, "a comparison may flip",
     comparesTo<arith::CmpFPredicate::OEQ>},
    {"tosa.greater", OpClass::Discontinuous, TypeRule::Uniform, "a comparison may flip",
     comparesTo<arith::CmpFPredicate::OGT>},
    {"tosa.greater_equal", OpClass::Discontinuous, TypeRule::Uniform, "a comparison may flip",
     comparesTo<arith::CmpFPredicate::OGE>},
    {"tosa.cast", OpClass::ExactCommute, TypeRule::Frozen,
     "a cast of the user: both formats are meant", meaningOfCast},
    {"tosa.cast_from_block_scaled", OpClass::ExactCommute, TypeRule::Frozen,
     "a cast of the user: both formats are meant"},
    {"tosa.cast_to_block_scaled", OpClass::ExactCommute, TypeRule::Frozen,
     "a cast of the user: both formats are meant"},
    {"tosa.rescale", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"tosa.table", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"tosa.apply_scale", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"tosa.arithmetic_right_shift", OpClass::Barrier, TypeRule::Frozen,
     "integers and indices only"},
    {"tosa.bitwise_and", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"tosa.bitwise_not", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"tosa.bitwise_or", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"tosa.bitwise_xor", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"tosa.clz", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"tosa.intdiv", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"tosa.logical_left_shift", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"tosa.logical_right_shift", OpClass::Barrier, TypeRule::Frozen, "integers and indices only"},
    {"tosa.add_shape", OpClass::Barrier, TypeRule::Frozen, "shapes only"},
    {"tosa.concat_shape", OpClass::Barrier, TypeRule::Frozen, "shapes only"},
    {"tosa.const_shape", OpClass::Barrier, TypeRule::Frozen, "shapes only"},
    {"tosa.dim", OpClass::Barrier, TypeRule::Frozen, "shapes only"},
    {"tosa.div_ceil_shape", OpClass::Barrier, TypeRule::Frozen, "shapes only"},
    {"tosa.div_floor_shape", OpClass::Barrier, TypeRule::Frozen, "shapes only"},
    {"tosa.exp2_shape", OpClass::Barrier, TypeRule::Frozen, "shapes only"},
    {"tosa.log2_ceil_shape", OpClass::Barrier, TypeRule::Frozen, "shapes only"},
    {"tosa.log2_floor_shape", OpClass::Barrier, TypeRule::Frozen, "shapes only"},
    {"tosa.max_shape", OpClass::Barrier, TypeRule::Frozen, "shapes only"},
    {"tosa.min_shape", OpClass::Barrier, TypeRule::Frozen, "shapes only"},
    {"tosa.mod_shape", OpClass::Barrier, TypeRule::Frozen, "shapes only"},
    {"tosa.mul_shape", OpClass::Barrier, TypeRule::Frozen, "shapes only"},
    {"tosa.slice_shape", OpClass::Barrier, TypeRule::Frozen, "shapes only"},
    {"tosa.sub_shape", OpClass::Barrier, TypeRule::Frozen, "shapes only"},
    {"tosa.const", OpClass::ExactCommute, TypeRule::Frozen,
     "a constant is converted where it is used", isConstant, Movement::None, remakeConstant},
    {"tosa.concat", OpClass::ExactCommute, TypeRule::Uniform, "moves data", mergesFloats},
    {"tosa.pad", OpClass::ExactCommute, TypeRule::Uniform, "moves data", mergesFloats},
    {"tosa.reshape", OpClass::ExactCommute, TypeRule::Uniform, "moves data", reshapes,
     Movement::View},
    {"tosa.reverse", OpClass::ExactCommute, TypeRule::Uniform, "moves data", moves<Rows::Other>,
     Movement::Whole},
    {"tosa.slice", OpClass::ExactCommute, TypeRule::Uniform, "moves data", moves<Rows::Part>,
     Movement::Slice},
    {"tosa.tile", OpClass::ExactCommute, TypeRule::Uniform, "moves data", moves<Rows::Other>,
     Movement::Whole},
    {"tosa.transpose", OpClass::ExactCommute, TypeRule::Uniform, "moves data", moves<Rows::Other>,
     Movement::Whole},
    {"tosa.gather", OpClass::ExactCommute, TypeRule::Uniform, "moves data", moves<Rows::Other>,
     Movement::Some},
    {"tosa.scatter", OpClass::ExactCommute, TypeRule::Uniform, "moves data", mergesFloats},
    {"tosa.identity", OpClass::ExactCommute, TypeRule::Uniform, "moves data", moves<Rows::Kept>,
     Movement::View},
    {"tosa.resize", OpClass::Follow, TypeRule::Uniform, "a weighted mean of neighbours"},
    {"tosa.fft2d", OpClass::KeepWide, TypeRule::Frozen, "grows with its length"},
    {"tosa.rfft2d", OpClass::KeepWide, TypeRule::Frozen, "grows with its length"},
    {"tosa.cond_if", OpClass::ExactCommute, TypeRule::Container,
     "carried values have one format each"},
    {"tosa.while_loop", OpClass::ExactCommute, TypeRule::Container,
     "carried values have one format each"},
    {"tosa.variable", OpClass::Barrier, TypeRule::Frozen, "state of the program"},
    {"tosa.variable_read", OpClass::Barrier, TypeRule::Frozen, "state of the program"},
    {"tosa.variable_write", OpClass::Barrier, TypeRule::Frozen, "state of the program"},
    {"tosa.custom", OpClass::Barrier, TypeRule::Frozen, "defined elsewhere"},
    {"tosa.yield", OpClass::Barrier, TypeRule::Frozen, "part of a body"},
};
const ArrayRef<OpEntry> mlir::mp::detail::tosaTable = kEntries;

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
