// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classes of the tosa dialect (why: docs/reference/OpClasses.md).

#include "CarriedValues.h"
#include "TableModel.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::detail;

static constexpr ClassEntry kEntries[] = {
    {"tosa.matmul", OpClass::TensorCore, TypeRule::Contraction,
     "contraction: narrow factors, f32 result"},
    {"tosa.conv2d", OpClass::TensorCore, TypeRule::Uniform,
     "convolution: bias and result in the operand format, acc_type f32"},
    {"tosa.conv3d", OpClass::TensorCore, TypeRule::Uniform,
     "convolution: bias and result in the operand format, acc_type f32"},
    {"tosa.depthwise_conv2d", OpClass::TensorCore, TypeRule::Uniform,
     "convolution: bias and result in the operand format, acc_type f32"},
    {"tosa.transpose_conv2d", OpClass::TensorCore, TypeRule::Uniform,
     "convolution: bias and result in the operand format, acc_type f32"},
    {"tosa.matmul_t_block_scaled", OpClass::TensorCore, TypeRule::Frozen, "already block-scaled"},
    {"tosa.avg_pool2d", OpClass::Accumulate, TypeRule::Uniform, "sums its window in f32"},
    {"tosa.max_pool2d", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding"},
    {"tosa.reduce_max", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding"},
    {"tosa.reduce_min", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding"},
    {"tosa.abs", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding"},
    {"tosa.negate", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding"},
    {"tosa.maximum", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding"},
    {"tosa.minimum", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding"},
    {"tosa.select", OpClass::ExactCommute, TypeRule::Uniform, "commutes with rounding"},
    {"tosa.clamp", OpClass::Follow, TypeRule::Frozen,
     "exact only while the bounds are representable"},
    {"tosa.reduce_sum", OpClass::Accumulate, TypeRule::Uniform, "f16 would accumulate in f16"},
    {"tosa.reduce_product", OpClass::KeepWide, TypeRule::Uniform, "products explode"},
    {"tosa.reduce_all", OpClass::Barrier, TypeRule::Frozen, "booleans only"},
    {"tosa.reduce_any", OpClass::Barrier, TypeRule::Frozen, "booleans only"},
    {"tosa.logical_and", OpClass::Barrier, TypeRule::Frozen, "booleans only"},
    {"tosa.logical_or", OpClass::Barrier, TypeRule::Frozen, "booleans only"},
    {"tosa.logical_not", OpClass::Barrier, TypeRule::Frozen, "booleans only"},
    {"tosa.logical_xor", OpClass::Barrier, TypeRule::Frozen, "booleans only"},
    {"tosa.argmax", OpClass::Discontinuous, TypeRule::Frozen, "ties decide"},
    {"tosa.add", OpClass::Follow, TypeRule::Uniform, "bounded by the sum of its operands"},
    {"tosa.sub", OpClass::Follow, TypeRule::Uniform, "bounded by the sum of its operands"},
    {"tosa.mul", OpClass::RangeConditional, TypeRule::Uniform, "needs a bound on the product"},
    {"tosa.ceil", OpClass::Discontinuous, TypeRule::Uniform, "steps"},
    {"tosa.floor", OpClass::Discontinuous, TypeRule::Uniform, "steps"},
    {"tosa.exp", OpClass::RangeConditional, TypeRule::Uniform,
     "overflows from 11.09 in f16: needs a bound"},
    {"tosa.log", OpClass::RangeConditional, TypeRule::Uniform, "needs an operand well above zero"},
    {"tosa.pow", OpClass::KeepWide, TypeRule::Uniform, "powers explode"},
    {"tosa.reciprocal", OpClass::RangeConditional, TypeRule::Uniform,
     "needs a lower bound on the operand"},
    {"tosa.rsqrt", OpClass::KeepWide, TypeRule::Uniform, "steep near zero: the epsilon of norms"},
    {"tosa.sigmoid", OpClass::Follow, TypeRule::Uniform, "bounded"},
    {"tosa.tanh", OpClass::Follow, TypeRule::Uniform, "bounded"},
    {"tosa.erf", OpClass::Follow, TypeRule::Uniform, "bounded"},
    {"tosa.sin", OpClass::RangeConditional, TypeRule::Uniform,
     "needs a small argument: positions are not"},
    {"tosa.cos", OpClass::RangeConditional, TypeRule::Uniform,
     "needs a small argument: positions are not"},
    {"tosa.equal", OpClass::Discontinuous, TypeRule::Uniform, "a comparison may flip"},
    {"tosa.greater", OpClass::Discontinuous, TypeRule::Uniform, "a comparison may flip"},
    {"tosa.greater_equal", OpClass::Discontinuous, TypeRule::Uniform, "a comparison may flip"},
    {"tosa.cast", OpClass::ExactCommute, TypeRule::Frozen,
     "a cast of the user: both formats are meant"},
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
     "a constant is converted where it is used"},
    {"tosa.concat", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    {"tosa.pad", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    {"tosa.reshape", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    {"tosa.reverse", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    {"tosa.slice", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    {"tosa.tile", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    {"tosa.transpose", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    {"tosa.gather", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    {"tosa.scatter", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
    {"tosa.identity", OpClass::ExactCommute, TypeRule::Uniform, "moves data"},
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
const ArrayRef<ClassEntry> mlir::mp::detail::tosaTable = kEntries;

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
    attachModels<TosaModel,
#define GET_OP_LIST
#include "mlir/Dialect/Tosa/IR/TosaOps.cpp.inc"
                 >(context);
  });
}
