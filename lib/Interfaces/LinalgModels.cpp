// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classes of the linalg dialect (why: docs/reference/OpClasses.md), and how structured ops
// are built again with other element types.

#include "Meanings.h"
#include "StructuredBody.h"
#include "TableModel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mp/Interfaces/LoopNest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::detail;

static FloatMeaning meaningOfSoftmax(Operation *op) {
  FloatMeaning meaning = FloatMeaning::of(Kind::Softmax, {0});
  meaning.dims = {static_cast<int64_t>(cast<linalg::SoftmaxOp>(op).getDimension())};
  return meaning;
}

static Value remakeFill(Operation *op, OpBuilder &builder, FloatType, Overflow,
                        llvm::function_ref<Value(Value)> operandIn) {
  auto fill = cast<linalg::FillOp>(op);
  Value scalar = operandIn(fill.getInputs()[0]);
  Value out = operandIn(fill.getOutputs()[0]);
  return linalg::FillOp::create(builder, fill.getLoc(), scalar, out).getResult(0);
}

static constexpr OpEntry kLinalgEntries[] = {
    {"linalg.matmul", kContraction},
    {"linalg.batch_matmul", kContraction},
    {"linalg.matvec", kContraction},
    {"linalg.vecmat", kContraction},
    {"linalg.batch_matvec", kContraction},
    {"linalg.batch_vecmat", kContraction},
    {"linalg.dot", kContraction},
    {"linalg.mmt4d", kContraction},
    {"linalg.batch_mmt4d", kContraction},
    {"linalg.batch_reduce_matmul", kContraction},
    {"linalg.contract", kContraction},
    {"linalg.conv_1d", kConvolution},
    {"linalg.conv_1d_ncw_fcw", kConvolution},
    {"linalg.conv_1d_nwc_wcf", kConvolution},
    {"linalg.conv_2d", kConvolution},
    {"linalg.conv_2d_nchw_fchw", kConvolution},
    {"linalg.conv_2d_ngchw_fgchw", kConvolution},
    {"linalg.conv_2d_ngchw_gfchw", kConvolution},
    {"linalg.conv_2d_nhwc_fhwc", kConvolution},
    {"linalg.conv_2d_nhwc_hwcf", kConvolution},
    {"linalg.conv_2d_nhwgc_gfhwc", kConvolution},
    {"linalg.conv_3d", kConvolution},
    {"linalg.conv_3d_ncdhw_fcdhw", kConvolution},
    {"linalg.conv_3d_ndhwc_dhwcf", kConvolution},
    {"linalg.depthwise_conv_1d_ncw_cw", kDepthwise},
    {"linalg.depthwise_conv_1d_nwc_wc", kDepthwise},
    {"linalg.depthwise_conv_1d_nwc_wcm", kDepthwise},
    {"linalg.depthwise_conv_2d_nchw_chw", kDepthwise},
    {"linalg.depthwise_conv_2d_nhwc_hwc", kDepthwise},
    {"linalg.depthwise_conv_2d_nhwc_hwcm", kDepthwise},
    {"linalg.depthwise_conv_3d_ncdhw_cdhw", kDepthwise},
    {"linalg.depthwise_conv_3d_ndhwc_dhwc", kDepthwise},
    {"linalg.depthwise_conv_3d_ndhwc_dhwcm", kDepthwise},
    {"linalg.winograd_filter_transform", kWinograd},
    {"linalg.winograd_input_transform", kWinograd},
    {"linalg.winograd_output_transform", kWinograd},
    {"linalg.quantized_matmul", kQuantized},
    {"linalg.quantized_batch_matmul", kQuantized},
    {"linalg.conv_2d_nchw_fchw_q", kQuantized},
    {"linalg.conv_2d_ngchw_gfchw_q", kQuantized},
    {"linalg.conv_2d_nhwc_fhwc_q", kQuantized},
    {"linalg.conv_2d_nhwc_hwcf_q", kQuantized},
    {"linalg.conv_2d_nhwgc_gfhwc_q", kQuantized},
    {"linalg.conv_3d_ndhwc_dhwcf_q", kQuantized},
    {"linalg.depthwise_conv_2d_nhwc_hwc_q", kQuantized},
    {"linalg.depthwise_conv_2d_nhwc_hwcm_q", kQuantized},
    {"linalg.pooling_nchw_max", kCommutes},
    {"linalg.pooling_ncw_max", kCommutes},
    {"linalg.pooling_ndhwc_max", kCommutes},
    {"linalg.pooling_ndhwc_min", kCommutes},
    {"linalg.pooling_nhwc_max", kCommutes},
    {"linalg.pooling_nhwc_min", kCommutes},
    {"linalg.pooling_nwc_max", kCommutes},
    {"linalg.pooling_nwc_min", kCommutes},
    {"linalg.pooling_nhwc_max_unsigned", kUnsignedOrder},
    {"linalg.pooling_nhwc_min_unsigned", kUnsignedOrder},
    {"linalg.pooling_nwc_max_unsigned", kUnsignedOrder},
    {"linalg.pooling_nwc_min_unsigned", kUnsignedOrder},
    {"linalg.pooling_nchw_sum", kWindowSum},
    {"linalg.pooling_ncw_sum", kWindowSum},
    {"linalg.pooling_ndhwc_sum", kWindowSum},
    {"linalg.pooling_nhwc_sum", kWindowSum},
    {"linalg.pooling_nwc_sum", kWindowSum},
    {"linalg.softmax",
     {OpClass::KeepWide, TypeRule::Uniform, "maximum, exponential and sum in f32"},
     meaningOfSoftmax},
    {"linalg.add", kSumOfOperands},
    {"linalg.sub", kSumOfOperands},
    {"linalg.mul", kProduct},
    {"linalg.square", kProduct},
    {"linalg.div", kQuotient},
    {"linalg.reciprocal", kQuotient},
    {"linalg.div_unsigned", kIntegersOnly},
    {"linalg.index", kIntegersOnly},
    {"linalg.sqrt", kRoot},
    {"linalg.rsqrt", kReciprocalRoot},
    {"linalg.exp", kExponential},
    {"linalg.log", kLogarithm},
    {"linalg.powf", kPower},
    {"linalg.erf", kBounded},
    {"linalg.tanh", kBounded},
    {"linalg.abs", kCommutes},
    {"linalg.negf", kCommutes},
    {"linalg.max", kCommutes},
    {"linalg.min", kCommutes},
    {"linalg.select", kCommutes},
    {"linalg.copy", kMovesData, nullptr, Movement::Whole},
    {"linalg.transpose", kMovesData, nullptr, Movement::Whole},
    {"linalg.broadcast", kMovesData, nullptr, Movement::Whole},
    {"linalg.pack", kMovesData},
    {"linalg.unpack", kMovesData},
    {"linalg.fill", kMovesData, nullptr, Movement::Whole, remakeFill},
    {"linalg.ceil", kSteps},
    {"linalg.floor", kSteps},
    {"linalg.round", kSteps},
    {"linalg.fill_rng_2d", {OpClass::Barrier, TypeRule::Frozen, "a bit-exact generator"}},
    {"linalg.generic", kByBody},
    {"linalg.map", kByBody},
    {"linalg.reduce", kByBody},
    {"linalg.elementwise", kByBody},
    {"linalg.yield", kPartOfBody},
};
const ArrayRef<OpEntry> mlir::mp::detail::linalgTable = kLinalgEntries;

/// Fills the region of a named op from its own region builder.
static void buildNamedBody(linalg::LinalgOp op) {
  Block &block = op->getRegion(0).emplaceBlock();
  for (Value operand : op->getOperands())
    block.addArgument(getElementTypeOrSelf(operand.getType()), op.getLoc());
  ImplicitLocOpBuilder builder(op.getLoc(), op.getContext());
  builder.setInsertionPointToStart(&block);
  op.getRegionBuilder()(builder, block, op->getAttrs(), [&] { return op->emitOpError(); });
}

/// Gives the body's arguments the operands' new formats. Where the body computes,
/// it keeps its own: a narrow argument is widened once, on entry.
static void retypeGenericBody(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  bool computes = !body->without_terminator().empty();
  OpBuilder builder = OpBuilder::atBlockBegin(body);
  for (auto [argument, operand] : llvm::zip_equal(body->getArguments(), op->getOperands())) {
    Type before = argument.getType(), after = getElementTypeOrSelf(operand.getType());
    if (before == after)
      continue;
    argument.setType(after);
    if (!computes || argument.use_empty())
      continue;
    auto widened = arith::ExtFOp::create(builder, op.getLoc(), before, argument);
    argument.replaceAllUsesExcept(widened, widened);
  }
}

static Operation *rebuildStructured(OpBuilder &builder, linalg::LinalgOp op, ValueRange operands,
                                    TypeRange resultTypes) {
  if (operands.getTypes() == op->getOperandTypes() && resultTypes == op->getResultTypes())
    return cloneWithTypes(builder, op, operands, resultTypes);
  if (!op.getRegionBuilder()) {
    auto copy = cast<linalg::LinalgOp>(cloneWithTypes(builder, op, operands, resultTypes));
    FloatType own = getFloatFormat(op->getResult(0).getType());
    FloatType result = getFloatFormat(resultTypes.front());
    if (own && result.getWidth() > own.getWidth())
      widenBody(copy, result);
    else
      retypeGenericBody(copy);
    return copy;
  }
  Operation *copy = op->cloneWithoutRegions();
  copy->setOperands(operands);
  for (auto [result, type] : llvm::zip_equal(copy->getResults(), resultTypes))
    result.setType(type);
  builder.insert(copy);
  buildNamedBody(cast<linalg::LinalgOp>(copy));
  return copy;
}

namespace {
/// A structured op: roles by destination style; class, where the table leaves it
/// to the body, by the body.
template <typename Op>
struct StructuredModel : PrecisionOpInterface::ExternalModel<StructuredModel<Op>, Op> {
  static bool isByBody() {
    return std::is_same_v<Op, linalg::GenericOp> || std::is_same_v<Op, linalg::MapOp> ||
           std::is_same_v<Op, linalg::ReduceOp> || std::is_same_v<Op, linalg::ElementwiseOp>;
  }
  static const OpEntry &entry() {
    static const OpEntry &line = lookupEntry(Op::getOperationName());
    return line;
  }
  BodyFacts facts(Operation *op) const {
    if (op->getNumResults() ==
        0) // on buffers, which are written in place: no value to decide about
      return {OpClass::Barrier, TypeRule::Frozen, "on buffers"};
    if (isByBody())
      return classifyBody(cast<Op>(op));
    if (entry().opClass == OpClass::TensorCore && !hasFloatFormat(op->getResult(0).getType()) &&
        llvm::any_of(op->getOperandTypes(), hasFloatFormat))
      return {OpClass::Discontinuous, TypeRule::Frozen, "a contraction of floats into integers"};
    if (entry().rule == TypeRule::Uniform && castsInBody(op))
      return {entry().opClass, TypeRule::Frozen, "casts in its body"};
    return {entry().opClass, entry().rule, entry().note};
  }
  /// Named ops convert what they read to the format of their result.
  static bool castsInBody(Operation *op) {
    FloatType result = getFloatFormat(op->getResult(0).getType());
    return result && llvm::any_of(op->getOperandTypes(), [&](Type type) {
             FloatType format = getFloatFormat(type);
             return format && format != result;
           });
  }
  OpClass getOpClass(Operation *op) const { return facts(op).opClass; }
  StringRef getClassNote(Operation *op) const { return facts(op).note; }
  TypeRule getTypeRule(Operation *op) const {
    return isByBody() && op->getNumResults() > 0 ? getBodyRule(cast<Op>(op)) : facts(op).rule;
  }
  OperandRole getOperandRole(Operation *op, unsigned index) const {
    if (!hasFloatFormat(op->getOperand(index).getType()))
      return OperandRole::Other;
    // On tensors every init has a result; asking the op which they are makes attributes.
    if (op->getNumResults() > 0 ? index + op->getNumResults() >= op->getNumOperands()
                                : cast<linalg::LinalgOp>(op).isDpsInit(&op->getOpOperand(index)))
      return OperandRole::Init;
    // No need to look at the body of what reduces nothing; convolutions and products by name always
    // do.
    bool reducesByName =
        entry().rule == TypeRule::Contraction && !std::is_same_v<Op, linalg::ContractOp>;
    bool mayContract = isByBody() || entry().rule == TypeRule::Contraction;
    if (!mayContract || (!reducesByName && cast<Op>(op).getNumReductionLoops() == 0))
      return OperandRole::Data;
    return getTypeRule(op) == TypeRule::Contraction ? OperandRole::Factor : OperandRole::Data;
  }
  bool canComputeWider(Operation *op) const {
    return cast<linalg::LinalgOp>(op).getRegionBuilder() ? isRebuiltByTypes(op)
                                                         : canWidenBody(cast<linalg::LinalgOp>(op));
  }
  Operation *rebuild(Operation *op, OpBuilder &builder, ValueRange operands,
                     TypeRange resultTypes) const {
    return rebuildStructured(builder, cast<linalg::LinalgOp>(op), operands, resultTypes);
  }
};

/// A contraction in linalg's form: the extent of its reduction loops, and who reads them how.
FloatMeaning meaningOfContraction(linalg::LinalgOp op) {
  FloatMeaning meaning = FloatMeaning::of(Kind::Contraction, {0, 1, 2});
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return FloatMeaning::unknown();
  meaning.products = Extent::exactly(1);
  unsigned reductions = 0, last = 0;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t, 4> sizes = readLoopSizes(op, maps);
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (kind != utils::IteratorType::reduction)
      continue;
    ++reductions;
    last = loop;
    bool isDynamic = ShapedType::isDynamic(sizes[loop]);
    meaning.products =
        product(meaning.products, isDynamic ? Extent::unknown() : Extent::exactly(sizes[loop]));
  }
  for (unsigned operand : {0u, 1u})
    meaning.innermost[operand] =
        reductions == 1 && maps[operand].getNumResults() > 0 &&
        maps[operand].getResults().back() == getAffineDimExpr(last, op.getContext());
  return meaning;
}

/// A structured op computes what its body says; a contraction is known as one.
template <typename Op> struct StructuredSemantics : SemanticsAnswers<StructuredSemantics<Op>, Op> {
  FloatMeaning getMeaning(Operation *op) const {
    using Model = StructuredModel<Op>;
    bool mayContract = !Model::isByBody() || cast<Op>(op).getNumReductionLoops() > 0;
    return mayContract && Model().getOpClass(op) == OpClass::TensorCore
               ? meaningOfContraction(cast<linalg::LinalgOp>(op))
               : FloatMeaning::of(Kind::Structured, {});
  }
};
} // namespace

void mlir::mp::detail::registerLinalgModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    attachModels<StructuredModel, StructuredSemantics,
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
                 >(context);
    attachModels<TableModel, TableSemantics,
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgOps.cpp.inc"
                 ,
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgRelayoutOps.cpp.inc"
                 >(context);
  });
}
