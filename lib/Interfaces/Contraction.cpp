// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads products and sums of bodies, sorts loops by the operands that they index, and views named
// and TOSA contractions the same way.

#include "mp/Interfaces/Contraction.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;

std::optional<ProductSum> mlir::mp::readProductSum(Block *body, BlockArgument out) {
  Operation *sum = body->getTerminator()->getOperand(0).getDefiningOp();
  if (auto fused = dyn_cast_or_null<math::FmaOp>(sum); fused && fused.getC() == out)
    return ProductSum{sum, sum, {fused.getA(), fused.getB()}};
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(sum))
    return std::nullopt;
  Value left = sum->getOperand(0), right = sum->getOperand(1);
  Value other = left == out ? right : right == out ? left : Value();
  Operation *product = other ? other.getDefiningOp() : nullptr;
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product))
    return std::nullopt;
  return ProductSum{sum, product, {product->getOperand(0), product->getOperand(1)}};
}

BlockArgument mlir::mp::getWidenedArgument(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto cast = dyn_cast<CastOp>(op);
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op) && (!cast || cast.isNarrowing()))
      return {};
    value = op->getOperand(0);
  }
  return dyn_cast<BlockArgument>(value);
}

FailureOr<LinearAccess> LinearAccess::of(AffineMap map) {
  LinearAccess access;
  if (map.getNumSymbols() != 0)
    return failure();
  for (AffineExpr result : map.getResults()) {
    SmallVector<int64_t> flat;
    if (failed(getFlattenedAffineExpr(result, map.getNumDims(), 0, &flat)) ||
        flat.size() != map.getNumDims() + 1)
      return failure();
    access.constants.push_back(flat.pop_back_val());
    access.coefficients.push_back(std::move(flat));
  }
  return access;
}

/// The product and the sum of a body over two inputs and one init that no fused op computes. A sum
/// of squares (a variance) is none: its factors are one value.
static std::optional<ProductSum> matchBody(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return std::nullopt;
  std::optional<ProductSum> found = readProductSum(op.getBody(), op.getBody()->getArgument(2));
  const bool isProduct = found && !found->isFused() && found->factors[0] != found->factors[1];
  return isProduct ? found : std::nullopt;
}

bool mlir::mp::looksLikeContraction(linalg::GenericOp op) {
  return op.getNumReductionLoops() != 0 && matchBody(op);
}

FailureOr<Contraction> mlir::mp::matchContraction(linalg::GenericOp op, std::string &reason) {
  auto refuse = [&](StringRef why) {
    reason = why.str();
    return failure();
  };
  std::optional<ProductSum> body = matchBody(op);
  if (!body || op.getNumReductionLoops() == 0)
    return refuse("it is no sum of products of two operands");
  auto [left, right] = body->factors;
  BlockArgument a = getWidenedArgument(left), b = getWidenedArgument(right);
  if (!a || !b || a == b || a.getArgNumber() > 1 || b.getArgNumber() > 1)
    return refuse("its factors are not the two operands as they are in memory");

  if (a.getArgNumber() > b.getArgNumber()) { // access and formats are in the order of operands
    std::swap(a, b);
    std::swap(left, right);
  }
  Contraction result;
  result.format = {a.getType(), b.getType()};
  result.isUnsigned = {bool(left.getDefiningOp<arith::ExtUIOp>()),
                       bool(right.getDefiningOp<arith::ExtUIOp>())};
  result.accumulator = body->sum->getResult(0).getType();
  auto isNarrow = [](Type type) { return type.getIntOrFloatBitWidth() == 8; };
  if (a.getType() != b.getType() && !(isa<FloatType>(a.getType()) && isa<FloatType>(b.getType()) &&
                                      isNarrow(a.getType()) && isNarrow(b.getType())))
    return refuse("its operands have different types");
  if (op.getBody()->getArgument(2).getType() != result.accumulator)
    return refuse("its result type is not its accumulator type");

  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (unsigned operand = 0; operand < 3; ++operand) {
    FailureOr<LinearAccess> access = LinearAccess::of(maps[operand]);
    if (failed(access))
      return refuse("an index expression is not linear in the loops");
    result.access[operand] = std::move(*access);
  }
  if (!maps[2].isProjectedPermutation(/*allowZeroInResults=*/true))
    return refuse("its result is not indexed by plain loops");

  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool inA = result.access[0].uses(loop), inB = result.access[1].uses(loop);
    bool inC = result.access[2].uses(loop);
    bool parallel = kind == utils::IteratorType::parallel;
    if (parallel != inC)
      return refuse("a parallel loop does not index the result");
    const bool isUnit = ranges[loop] == 1; // a dimension that views have added
    if (!inA && !inB && !isUnit)
      return refuse("a loop indexes neither operand");
    if (parallel)
      (inA == inB ? result.batch : inA ? result.m : result.n).push_back(loop);
    else if ((inA && inB) || isUnit)
      result.k.push_back(loop);
    else
      return refuse("a reduction loop indexes one operand only");
  }
  return result;
}

std::optional<ContractionView> mlir::mp::viewContraction(Operation *op) {
  if (auto product = dyn_cast<tosa::MatMulOp>(op)) {
    Builder b(op->getContext());
    auto map = [&](unsigned x, unsigned y) {
      return AffineMap::get(4, 0,
                            {b.getAffineDimExpr(0), b.getAffineDimExpr(x), b.getAffineDimExpr(y)},
                            b.getContext());
    };
    return ContractionView{
        &product.getAMutable(), &product.getBMutable(), Value(), {map(1, 3), map(3, 2), map(1, 2)}};
  }
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || !linalg::isaContractionOpInterface(structured) ||
      structured.getNumDpsInputs() != 2 || !structured.hasPureTensorSemantics())
    return std::nullopt;
  SmallVector<AffineMap> maps = structured.getIndexingMapsArray();
  bool floats =
      llvm::all_of(op->getOperands(), [](Value v) { return bool(getFloatFormat(v.getType())); });
  if (!floats || !llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
    return std::nullopt;
  return ContractionView{structured.getDpsInputOperand(0),
                         structured.getDpsInputOperand(1),
                         structured.getDpsInitOperand(0)->get(),
                         {maps[0], maps[1], maps[2]}};
}

namespace {
/// The maps of an operand, of the result, and of the other factor if the operand is one.
struct OperandMaps {
  AffineMap own, result, other;
};
} // namespace

static std::optional<OperandMaps> mapsOf(OpOperand &operand) {
  if (auto view = viewContraction(operand.getOwner())) {
    const bool isB = &operand == view->b;
    return OperandMaps{view->maps[isB], view->maps[2], view->maps[!isB]};
  }
  auto structured = dyn_cast<linalg::LinalgOp>(operand.getOwner());
  if (!structured || structured.getNumDpsInits() != 1)
    return std::nullopt;
  OperandMaps maps{structured.getMatchingIndexingMap(&operand),
                   structured.getMatchingIndexingMap(structured.getDpsInitOperand(0)),
                   {}};
  if (structured.getNumDpsInputs() == 2 && structured.isDpsInput(&operand))
    maps.other = structured.getMatchingIndexingMap(
        structured.getDpsInputOperand(operand.getOperandNumber() == 0));
  return maps;
}

std::optional<SmallVector<Along>> mlir::mp::dimensionsOf(OpOperand &operand) {
  std::optional<OperandMaps> maps = mapsOf(operand);
  if (!maps)
    return std::nullopt;
  SmallVector<Along> dimensions;
  for (AffineExpr place : maps->own.getResults()) {
    bool keeps = false, sums = false;
    for (unsigned loop = 0; loop != maps->own.getNumDims(); ++loop)
      if (place.isFunctionOfDim(loop))
        (maps->result.isFunctionOfDim(loop) ? keeps : sums) = true;
    dimensions.push_back(keeps && sums ? Along::Slides : sums ? Along::Sums : Along::Keeps);
  }
  return dimensions;
}

std::optional<unsigned> mlir::mp::groupDimensionOf(OpOperand &weight, int64_t size) {
  std::optional<OperandMaps> maps = mapsOf(weight);
  std::optional<SmallVector<Along>> dimensions = dimensionsOf(weight);
  auto type = dyn_cast<RankedTensorType>(weight.get().getType());
  if (!dimensions || !type)
    return std::nullopt;
  std::optional<unsigned> channel, window;
  for (auto [dim, along] : llvm::enumerate(*dimensions)) {
    if (along != Along::Sums || type.isDynamicDim(dim) || type.getDimSize(dim) % size)
      continue;
    AffineExpr loop = maps->own.getResult(dim);
    const bool isPlain = maps->other && maps->other.getResultPosition(loop);
    (isPlain ? channel : window) = unsigned(dim);
  }
  return channel ? channel : window;
}
