// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks from a tensor back to constants; each op says by its rule which of its operands have to be
// multiplied for its result to be.

#include "ChannelPowers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/Scaling/ScalingExponents.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

/// Zeros, and what a result is written to, are multiplied by anything.
static bool isAnyMultiple(Value value) {
  if (value.getDefiningOp<tensor::EmptyOp>())
    return true;
  Attribute constant = getAdaptable(value);
  return constant && timesPowerOfTwo(constant, 1) == constant;
}

/// Per operand, the dimension that `loop` moves along, if any; false where it slides.
static bool findDims(ArrayRef<AffineMap> maps, unsigned loop,
                     SmallVectorImpl<std::optional<unsigned>> &dims) {
  for (AffineMap map : maps) {
    std::optional<unsigned> &found = dims.emplace_back();
    for (auto [dim, place] : llvm::enumerate(map.getResults())) {
      if (!place.isFunctionOfDim(loop))
        continue;
      if (found || !isa<AffineDimExpr>(place))
        return false;
      found = dim;
    }
  }
  return true;
}

/// The maps of a linalg op, or of an op that works element by element; empty for others.
static SmallVector<AffineMap> mapsOf(Operation *op) {
  if (op->getNumResults() != 1)
    return {};
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return structured.getIndexingMapsArray();
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !op->hasTrait<OpTrait::Elementwise>() ||
      !llvm::all_of(op->getOperandTypes(), [&](Type each) {
        auto tensor = dyn_cast<RankedTensorType>(each);
        return tensor && tensor.getShape() == type.getShape();
      }))
    return {};
  return SmallVector<AffineMap>(
      op->getNumOperands(), AffineMap::getMultiDimIdentityMap(type.getRank(), op->getContext()));
}

bool ChannelPowers::multiplyConstant(OpOperand &operand, unsigned dim, ArrayRef<int> powers) {
  DenseFPElementsAttr elements;
  if (!matchPattern(operand.get(), m_Constant(&elements)))
    return false;
  auto type = cast<RankedTensorType>(elements.getType());
  int64_t within = 1;
  for (int64_t size : type.getShape().drop_front(dim + 1))
    within *= size;
  SmallVector<APFloat> values;
  for (auto [at, value] : llvm::enumerate(elements.getValues<APFloat>())) {
    int power = powers[int64_t(at) / within % type.getDimSize(dim)];
    APFloat scaled = scalbn(value, power, APFloat::rmNearestTiesToEven);
    if (value.isFinite() && !value.isZero() && !(scaled.isFinite() && scaled.isNormal()))
      return false; // it would be rounded
    values.push_back(scaled);
  }
  changes.push_back({&operand, DenseElementsAttr::get(type, values)});
  return true;
}

bool ChannelPowers::multiplyResult(Operation *op, unsigned dim, ArrayRef<int> powers) {
  SmallVector<AffineMap> maps = mapsOf(op);
  if (maps.empty())
    return false;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  AffineMap result =
      structured ? structured.getMatchingIndexingMap(structured.getDpsInitOperand(0)) : maps[0];
  auto loop = dyn_cast<AffineDimExpr>(result.getResult(dim));
  SmallVector<std::optional<unsigned>> dims;
  if (!loop || !findDims(maps, loop.getPosition(), dims))
    return false;
  SmallVector<OpOperand *> candidates;
  for (OpOperand &operand : op->getOpOperands())
    if (dims[operand.getOperandNumber()] && getFloatFormat(operand.get().getType()) &&
        !isAnyMultiple(operand.get()))
      candidates.push_back(&operand);
  if (candidates.size() > 6)
    return false;
  // Few operands first: of a product, one.
  SmallVector<std::pair<int, unsigned>> sets;
  for (unsigned set = 1; set < 1u << candidates.size(); ++set)
    sets.push_back({llvm::popcount(set), set});
  llvm::sort(sets);
  for (auto [count, set] : sets) {
    auto isIn = [&, members = set](OpOperand &operand) {
      const auto *at = llvm::find(candidates, &operand);
      return at != candidates.end() && (members >> (at - candidates.begin()) & 1);
    };
    auto transfer = transferExponent(op, [&](OpOperand &operand) { return isIn(operand) ? 1 : 0; });
    if (!transfer || transfer->power != 1 || !llvm::all_of(transfer->constants, [](auto &constant) {
          return isAnyMultiple(constant.first->get());
        }))
      continue;
    size_t before = changes.size();
    if (llvm::all_of(candidates, [&](OpOperand *operand) {
          return !isIn(*operand) || multiply(*operand, *dims[operand->getOperandNumber()], powers);
        }))
      return true;
    changes.resize(before);
  }
  return false;
}

/// The dimension of the source that is this dimension of a reshaped tensor, with its size.
static std::optional<unsigned> findReshaped(Operation *op, unsigned dim) {
  auto source = cast<RankedTensorType>(op->getOperand(0).getType()),
       result = cast<RankedTensorType>(op->getResult(0).getType());
  auto before = [](RankedTensorType type, unsigned at) {
    int64_t count = 1;
    for (int64_t size : type.getShape().take_front(at))
      count *= size;
    return count;
  };
  for (unsigned at = 0; at != source.getRank(); ++at)
    if (source.getDimSize(at) == result.getDimSize(dim) &&
        before(source, at) == before(result, dim))
      return at;
  return std::nullopt;
}

/// True for zeros around whole channels.
static bool padsChannels(Operation *op, unsigned dim) {
  auto pad = dyn_cast<tensor::PadOp>(op);
  Value padding = pad ? pad.getConstantPaddingValue() : Value();
  return padding && matchPattern(padding, m_AnyZeroFloat()) && pad.getStaticLow()[dim] == 0 &&
         pad.getStaticHigh()[dim] == 0;
}

bool ChannelPowers::multiply(Value value, unsigned dim, ArrayRef<int> powers) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (padsChannels(op, dim))
    return multiply(op->getOpOperand(0), dim, powers);
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    std::optional<unsigned> source = type.hasStaticShape() ? findReshaped(op, dim) : std::nullopt;
    return source && multiply(op->getOpOperand(0), *source, powers);
  }
  return multiplyResult(op, dim, powers);
}

bool ChannelPowers::multiply(OpOperand &operand, unsigned dim, ArrayRef<int> powers) {
  Value value = operand.get();
  if (isAnyMultiple(value))
    return true;
  if (matchPattern(value, m_Constant()))
    return multiplyConstant(operand, dim, powers);
  return value.hasOneUse() && multiply(value, dim, powers);
}

void ChannelPowers::apply() {
  for (auto [operand, constant] : changes) {
    OpBuilder builder(operand->getOwner());
    operand->set(
        arith::ConstantOp::create(builder, operand->get().getLoc(), cast<TypedAttr>(constant)));
  }
}
