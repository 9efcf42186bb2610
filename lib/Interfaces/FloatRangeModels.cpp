// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// External models of FloatRangeOpInterface. What an op is called says what it
// computes: arith, math, linalg and tosa spell functions alike but for suffixes.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Dialect/MP/SplitOps.h"
#include "mp/Interfaces/FloatRangeOpInterface.h"
#include "mp/Interfaces/LoopNest.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::Extent;
using domains::ReduceFn;
using domains::UnaryFn;
using Kind = FloatMeaning::Kind;
using Rows = FloatMeaning::Rows;

#include "mp/Interfaces/FloatRangeOpInterface.cpp.inc"

static std::optional<UnaryFn> findUnary(StringRef op) {
  static const llvm::StringMap<UnaryFn> table = {
      {"arith.negf", UnaryFn::Neg},   {"math.absf", UnaryFn::Abs},
      {"math.acos", UnaryFn::Acos},   {"math.acosh", UnaryFn::Acosh},
      {"math.asin", UnaryFn::Asin},   {"math.asinh", UnaryFn::Asinh},
      {"math.atan", UnaryFn::Atan},   {"math.atanh", UnaryFn::Atanh},
      {"math.cbrt", UnaryFn::Cbrt},   {"math.ceil", UnaryFn::Ceil},
      {"math.cos", UnaryFn::Cos},     {"math.cosh", UnaryFn::Cosh},
      {"math.erf", UnaryFn::Erf},     {"math.erfc", UnaryFn::Erfc},
      {"math.exp", UnaryFn::Exp},     {"math.exp2", UnaryFn::Exp2},
      {"math.expm1", UnaryFn::Expm1}, {"math.floor", UnaryFn::Floor},
      {"math.log", UnaryFn::Log},     {"math.log10", UnaryFn::Log10},
      {"math.log1p", UnaryFn::Log1p}, {"math.log2", UnaryFn::Log2},
      {"math.round", UnaryFn::Round}, {"math.roundeven", UnaryFn::RoundEven},
      {"math.rsqrt", UnaryFn::Rsqrt}, {"math.sin", UnaryFn::Sin},
      {"math.sinh", UnaryFn::Sinh},   {"math.sqrt", UnaryFn::Sqrt},
      {"math.tan", UnaryFn::Tan},     {"math.tanh", UnaryFn::Tanh},
      {"math.trunc", UnaryFn::Trunc}, {"tosa.abs", UnaryFn::Abs},
      {"tosa.ceil", UnaryFn::Ceil},   {"tosa.cos", UnaryFn::Cos},
      {"tosa.erf", UnaryFn::Erf},     {"tosa.exp", UnaryFn::Exp},
      {"tosa.floor", UnaryFn::Floor}, {"tosa.log", UnaryFn::Log},
      {"tosa.negate", UnaryFn::Neg},  {"tosa.reciprocal", UnaryFn::Reciprocal},
      {"tosa.rsqrt", UnaryFn::Rsqrt}, {"tosa.sigmoid", UnaryFn::Sigmoid},
      {"tosa.sin", UnaryFn::Sin},     {"tosa.tanh", UnaryFn::Tanh},
  };
  auto it = table.find(op);
  return it == table.end() ? std::nullopt : std::optional(it->second);
}

static std::optional<BinaryFn> findBinary(StringRef op) {
  static const llvm::StringMap<BinaryFn> table = {
      {"arith.addf", BinaryFn::Add},         {"arith.subf", BinaryFn::Sub},
      {"arith.mulf", BinaryFn::Mul},         {"arith.divf", BinaryFn::Div},
      {"arith.remf", BinaryFn::Rem},         {"arith.maximumf", BinaryFn::Maximum},
      {"arith.minimumf", BinaryFn::Minimum}, {"arith.maxnumf", BinaryFn::MaxNum},
      {"arith.minnumf", BinaryFn::MinNum},   {"math.atan2", BinaryFn::Atan2},
      {"math.copysign", BinaryFn::CopySign}, {"math.powf", BinaryFn::Pow},
      {"tosa.add", BinaryFn::Add},           {"tosa.sub", BinaryFn::Sub},
      {"tosa.mul", BinaryFn::Mul},           {"tosa.pow", BinaryFn::Pow},
  };
  auto it = table.find(op);
  return it == table.end() ? std::nullopt : std::optional(it->second);
}

/// A move of one operand.
static FloatMeaning moves(Rows rows, unsigned operand = 0) {
  FloatMeaning meaning = FloatMeaning::of(Kind::Move, {operand});
  meaning.rows = rows;
  return meaning;
}

/// Number of terms along dimension `dim`, if static; else any.
static Extent extentOf(Value value, int64_t dim) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || dim < 0 || dim >= type.getRank() || type.isDynamicDim(dim))
    return Extent::unknown();
  return Extent::exactly(type.getDimSize(dim));
}

static Extent product(Extent a, Extent b) {
  Extent result;
  result.min = llvm::SaturatingMultiply<uint64_t>(a.min, b.min);
  if (a.max && b.max)
    result.max = llvm::SaturatingMultiply<uint64_t>(*a.max, *b.max);
  return result;
}

//===-- by structure
//------------------------------------------------------------------------------===//

/// A contraction in linalg's form: the extent of its reduction loops, and who reads them how.
static FloatMeaning meaningOfContraction(linalg::LinalgOp op) {
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

static FloatMeaning meaningOfConvolution(Operation *op, Value weights, unsigned outputs) {
  FloatMeaning meaning = FloatMeaning::of(Kind::Contraction, {0, 1, 2});
  meaning.products = Extent::exactly(1);
  for (int64_t dim = 0, rank = cast<ShapedType>(weights.getType()).getRank(); dim < rank; ++dim)
    if (dim != outputs)
      meaning.products = product(meaning.products, extentOf(weights, dim));
  // Padding and strides leave products out.
  meaning.products.min = 0;
  return meaning;
}

static FloatMeaning reduces(ReduceFn fn, int64_t dim, bool dropsNaN = false) {
  FloatMeaning meaning = FloatMeaning::of(Kind::Reduction, {0});
  meaning.dropsNaN = dropsNaN;
  meaning.reduce = fn;
  meaning.dims = {dim};
  return meaning;
}

static FloatMeaning compares(arith::CmpFPredicate predicate) {
  FloatMeaning meaning = FloatMeaning::of(Kind::Compare, {0, 1});
  meaning.predicate = predicate;
  return meaning;
}

static FloatMeaning binaryOf(BinaryFn fn) {
  FloatMeaning meaning = FloatMeaning::of(Kind::Binary, {0, 1});
  meaning.binary = fn;
  return meaning;
}

template <typename Op> static bool ignoresNaN(Op op) {
  return op.getNanMode() == tosa::NanPropagationMode::IGNORE;
}

static FloatMeaning clampsTo(Attribute lo, Attribute hi, bool dropsNaN) {
  auto low = dyn_cast<FloatAttr>(lo), high = dyn_cast<FloatAttr>(hi);
  if (!low || !high)
    return FloatMeaning::unknown();
  FloatMeaning meaning = FloatMeaning::of(Kind::Clamp, {0});
  meaning.lo = low.getValueAsDouble();
  meaning.hi = high.getValueAsDouble();
  meaning.dropsNaN = dropsNaN;
  return meaning;
}

/// All float operands may be among the result's elements.
static FloatMeaning mergesFloats(Operation *op) {
  FloatMeaning meaning = FloatMeaning::of(Kind::Merge, {});
  for (OpOperand &operand : op->getOpOperands())
    if (getFloatFormat(operand.get().getType()))
      meaning.operands.push_back(operand.getOperandNumber());
  return meaning;
}

/// Rows survive a change of shape that keeps the innermost dimension.
static Rows rowsOfReshape(Type from, Type to) {
  auto before = dyn_cast<RankedTensorType>(from), after = dyn_cast<RankedTensorType>(to);
  if (!before || !after || before.getRank() == 0 || after.getRank() == 0)
    return Rows::Other;
  int64_t a = before.getShape().back(), b = after.getShape().back();
  if (ShapedType::isDynamic(a) || ShapedType::isDynamic(b))
    return Rows::Other;
  return a == b ? Rows::Kept : a % std::max<int64_t>(b, 1) == 0 ? Rows::Part : Rows::Other;
}

static FloatMeaning meaningOfTensor(Operation *op) {
  if (isa<tensor::CastOp>(op))
    return moves(Rows::Kept);
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp>(op))
    return moves(rowsOfReshape(op->getOperand(0).getType(), op->getResult(0).getType()));
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return moves(slice.getSourceType().getRank() == slice.getResultType().getRank() ? Rows::Part
                                                                                    : Rows::Other);
  if (isa<tensor::ExtractOp, tensor::GatherOp, tensor::SplatOp>(op))
    return moves(Rows::Other);
  if (isa<tensor::ConcatOp, tensor::InsertSliceOp, tensor::InsertOp, tensor::FromElementsOp,
          tensor::ScatterOp>(op))
    return mergesFloats(op);
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    FloatAttr value;
    Value padding = llvm::cast<tensor::YieldOp>(pad.getBody()->getTerminator()).getValue();
    auto cast = padding.getDefiningOp<CastOp>(); // with what is padded
    if (cast)
      padding = cast.getSource();
    if (!matchPattern(padding, m_Constant(&value)) || (cast && !value.getValue().isZero()))
      return FloatMeaning::unknown();
    FloatMeaning meaning = FloatMeaning::of(Kind::Merge, {0});
    meaning.padding = value.getValueAsDouble();
    return meaning;
  }
  return FloatMeaning::unknown();
}

static FloatMeaning meaningOfTosa(Operation *op) {
  if (isa<tosa::ConstOp>(op))
    return FloatMeaning::of(Kind::Constant, {});
  if (isa<tosa::IdentityOp>(op))
    return moves(Rows::Kept);
  if (isa<tosa::ReshapeOp>(op))
    return moves(rowsOfReshape(op->getOperand(0).getType(), op->getResult(0).getType()));
  if (isa<tosa::TransposeOp, tosa::TileOp, tosa::GatherOp, tosa::ReverseOp>(op))
    return moves(Rows::Other);
  if (isa<tosa::SliceOp>(op))
    return moves(Rows::Part);
  if (isa<tosa::ConcatOp, tosa::ScatterOp>(op))
    return mergesFloats(op);
  if (isa<tosa::SelectOp>(op))
    return FloatMeaning::of(Kind::Select, {1, 2});
  if (isa<tosa::GreaterOp, tosa::GreaterEqualOp, tosa::EqualOp>(op))
    return compares(isa<tosa::GreaterOp>(op)        ? arith::CmpFPredicate::OGT
                    : isa<tosa::GreaterEqualOp>(op) ? arith::CmpFPredicate::OGE
                                                    : arith::CmpFPredicate::OEQ);
  if (auto max = dyn_cast<tosa::MaximumOp>(op))
    return binaryOf(ignoresNaN(max) ? BinaryFn::MaxNum : BinaryFn::Maximum);
  if (auto min = dyn_cast<tosa::MinimumOp>(op))
    return binaryOf(ignoresNaN(min) ? BinaryFn::MinNum : BinaryFn::Minimum);
  if (auto pad = dyn_cast<tosa::PadOp>(op))
    return mergesFloats(op); // the padding value is an operand
  if (auto clamp = dyn_cast<tosa::ClampOp>(op))
    return clampsTo(clamp.getMinVal(), clamp.getMaxVal(), ignoresNaN(clamp));
  if (isa<tosa::MaxPool2dOp>(op))
    return moves(Rows::Other); // each element is one of the window
  if (auto pool = dyn_cast<tosa::AvgPool2dOp>(op)) {
    FloatMeaning meaning = FloatMeaning::of(Kind::Average, {0}); // padding is left out of the count
    meaning.products = Extent::atMost(pool.getKernel()[0] * pool.getKernel()[1]);
    return meaning;
  }
  if (auto cast = dyn_cast<tosa::CastOp>(op))
    return FloatMeaning::of(getFloatFormat(cast.getInput().getType()) ? Kind::Cast : Kind::Integer,
                            {0});
  if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<UnrankedTensorType>))
    return FloatMeaning::unknown(); // of what follows, sizes matter
  if (auto sum = dyn_cast<tosa::ReduceSumOp>(op))
    return reduces(ReduceFn::Sum, sum.getAxis());
  if (auto max = dyn_cast<tosa::ReduceMaxOp>(op))
    return reduces(ReduceFn::Max, max.getAxis(), ignoresNaN(max));
  if (auto min = dyn_cast<tosa::ReduceMinOp>(op))
    return reduces(ReduceFn::Min, min.getAxis(), ignoresNaN(min));
  if (auto all = dyn_cast<tosa::ReduceProductOp>(op))
    return reduces(ReduceFn::Product, all.getAxis());
  if (auto matmul = dyn_cast<tosa::MatMulOp>(op)) {
    FloatMeaning meaning = FloatMeaning::of(Kind::Contraction, {0, 1});
    meaning.products = extentOf(matmul.getA(), 2);
    meaning.innermost[0] = true;
    return meaning;
  }
  if (auto conv = dyn_cast<tosa::Conv2DOp>(op))
    return meaningOfConvolution(op, conv.getWeight(), 0);
  if (auto conv = dyn_cast<tosa::Conv3DOp>(op))
    return meaningOfConvolution(op, conv.getWeight(), 0);
  if (auto conv = dyn_cast<tosa::TransposeConv2DOp>(op))
    return meaningOfConvolution(op, conv.getWeight(), 0);
  if (auto conv = dyn_cast<tosa::DepthwiseConv2DOp>(op)) {
    FloatMeaning meaning = FloatMeaning::of(Kind::Contraction, {0, 1, 2});
    meaning.products = product(extentOf(conv.getWeight(), 0), extentOf(conv.getWeight(), 1));
    meaning.products.min = 0;
    return meaning;
  }
  return FloatMeaning::unknown();
}

static FloatMeaning meaningOfArith(Operation *op) {
  if (isa<arith::ConstantOp>(op))
    return FloatMeaning::of(Kind::Constant, {});
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return FloatMeaning::of(Kind::Cast, {0});
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
    return FloatMeaning::of(Kind::Integer, {0});
  if (isa<arith::SelectOp>(op))
    return FloatMeaning::of(Kind::Select, {1, 2});
  if (auto comparison = dyn_cast<arith::CmpFOp>(op))
    return compares(comparison.getPredicate());
  if (isa<math::FmaOp>(op))
    return FloatMeaning::of(Kind::Fma, {0, 1, 2});
  if (auto power = dyn_cast<math::FPowIOp>(op)) {
    APInt exponent;
    if (matchPattern(power.getRhs(), m_ConstantInt(&exponent)) && exponent.isSignedIntN(32)) {
      bool isSquare = exponent == 2;
      FloatMeaning meaning = FloatMeaning::of(isSquare ? Kind::Unary : Kind::IntegerPower, {0});
      meaning.unary = isSquare ? UnaryFn::Square : UnaryFn::Identity;
      meaning.exponent = exponent.getSExtValue();
      return meaning;
    }
  }
  return FloatMeaning::unknown();
}

static FloatMeaning meaningOfLinalg(Operation *op) {
  if (isa<linalg::SoftmaxOp>(op)) {
    FloatMeaning meaning = FloatMeaning::of(Kind::Softmax, {0});
    meaning.dims = {static_cast<int64_t>(cast<linalg::SoftmaxOp>(op).getDimension())};
    return meaning;
  }
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return FloatMeaning::unknown();
  return getOpClass(op) == OpClass::TensorCore ? meaningOfContraction(structured)
                                               : FloatMeaning::of(Kind::Structured, {});
}

FloatMeaning mlir::mp::getFloatMeaning(Operation *op) {
  auto interface = dyn_cast<FloatRangeOpInterface>(op);
  return interface ? interface.getMeaning() : FloatMeaning::unknown();
}

static FloatMeaning meaningOfMP(Operation *op) {
  if (isa<SplitResidualOp>(op))
    return FloatMeaning::of(Kind::SplitResidual, {0});
  if (auto joined = dyn_cast<JoinSplitOp>(op))
    return FloatMeaning::of(Kind::JoinSplit, joined.getInit() ? ArrayRef<unsigned>{0, 1, 2}
                                                              : ArrayRef<unsigned>{0, 1});
  return FloatMeaning::of(Kind::Cast, {0});
}

namespace {
/// The model of one op: a named function of one or two operands, or what its dialect's function
/// says.
template <FloatMeaning (*meaningOf)(Operation *), typename Op>
struct RangeModel : FloatRangeOpInterface::ExternalModel<RangeModel<meaningOf, Op>, Op> {
  FloatMeaning getMeaning(Operation *op) const {
    static const std::optional<UnaryFn> unary = findUnary(Op::getOperationName());
    static const std::optional<BinaryFn> binary = findBinary(Op::getOperationName());
    if (unary) {
      FloatMeaning meaning = FloatMeaning::of(Kind::Unary, {0});
      meaning.unary = *unary;
      return meaning;
    }
    return binary ? binaryOf(*binary) : meaningOf(op);
  }
};

template <FloatMeaning (*meaningOf)(Operation *), typename... Ops>
void attach(MLIRContext *context) {
  (Ops::template attachInterface<RangeModel<meaningOf, Ops>>(*context), ...);
}
} // namespace

void mlir::mp::registerFloatRangeModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    attach<meaningOfArith,
#define GET_OP_LIST
#include "mlir/Dialect/Arith/IR/ArithOps.cpp.inc"
           >(context);
  });
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    attach<meaningOfArith,
#define GET_OP_LIST
#include "mlir/Dialect/Math/IR/MathOps.cpp.inc"
           >(context);
  });
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    attach<meaningOfTensor,
#define GET_OP_LIST
#include "mlir/Dialect/Tensor/IR/TensorOps.cpp.inc"
           >(context);
  });
  registry.addExtension(+[](MLIRContext *context, tosa::TosaDialect *) {
    attach<meaningOfTosa,
#define GET_OP_LIST
#include "mlir/Dialect/Tosa/IR/TosaOps.cpp.inc"
           >(context);
  });
  registry.addExtension(+[](MLIRContext *context, MPDialect *) {
    attach<meaningOfMP, CastOp, RoundOp, SplitResidualOp, JoinSplitOp>(context);
  });
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    attach<meaningOfLinalg, linalg::SoftmaxOp,
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
           >(context);
  });
}
