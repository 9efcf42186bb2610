// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks quantised operands, scales and products against the contraction that they replace.

#include "ErasureScaling.h"
#include "ErasureState.h"
#include "mlir/IR/Matchers.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Numerics/ArrayCast.h"
#include "mp/Numerics/Scaling/Blocks.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;

bool mlir::mp::isInsertedScaling(Operation *op) {
  return TypeSwitch<Operation *, bool>(op)
      .Case<AmaxOp, ComputeScaleOp, QuantizeOp, BlockQuantizeOp, DequantizeOp, HadamardOp>(
          [](auto scaling) { return scaling.getInserted(); })
      .Default(false);
}

Value mlir::mp::sourceOfScaled(Value codes, ValueRange scales) {
  // One scale, known beforehand or left by an earlier step.
  if (auto stored = codes.getDefiningOp<QuantizeOp>()) {
    bool same = stored.getInserted() && scales.size() == 1 &&
                (areReciprocalConstants(stored.getEnc(), scales[0]) ||
                 areThreadedScales(stored.getEnc(), scales[0]));
    return same ? stored.getSource() : Value();
  }
  auto stored = codes.getDefiningOp<BlockQuantizeOp>();
  if (!stored || !stored.getInserted() || codes != stored.getResult() || scales.empty() ||
      scales[0] != stored.getScale())
    return {};
  // A scale of the whole tensor is the partner of the one that block scales are relative to.
  auto outer =
      stored.getParent() ? stored.getParent().getDefiningOp<ComputeScaleOp>() : ComputeScaleOp();
  if (stored.getParent() ? scales.size() != 2 || !outer || stored.getParent() != outer.getEnc() ||
                               scales[1] != outer.getScale()
                         : scales.size() != 1)
    return {};
  return stored.getSource();
}

Value mlir::mp::sourceOfDequantized(Value value) {
  auto restored = value.getDefiningOp<DequantizeOp>();
  return restored && restored.getInserted()
             ? sourceOfScaled(restored.getSource(), restored.getScales())
             : Value();
}

/// Elements of a constant as f64, whatever their type; nullopt where they are missing.
static std::optional<SmallVector<double, 0>> readNumbers(Attribute attr) {
  auto elements = dyn_cast_or_null<ElementsAttr>(attr);
  if (!elements)
    return std::nullopt;
  SmallVector<double, 0> numbers;
  if (auto integers = dyn_cast<DenseIntElementsAttr>(attr)) {
    for (const APInt &value : integers.getValues<APInt>())
      numbers.push_back(double(value.getSExtValue()));
    return numbers;
  }
  if (elements.getElementType().isInteger(8)) {
    if (std::optional<ArrayRef<char>> raw = getRawElements(elements))
      for (char byte : *raw)
        numbers.push_back(double(static_cast<signed char>(byte)));
    return numbers;
  }
  auto format = dyn_cast<FloatType>(elements.getElementType());
  auto known = format ? numerics::formatOf(format.getFloatSemantics()) : std::nullopt;
  std::optional<ArrayRef<char>> raw = known ? getRawElements(elements) : std::nullopt;
  if (!raw)
    return std::nullopt;
  numbers.resize(raw->size() / numerics::storageBytes(*known));
  numerics::convertArray(raw->data(), *known, numbers.data(), numerics::Format::F64,
                         numbers.size());
  if (numbers.size() == 1)
    numbers.assign(elements.getNumElements(), double(numbers.front()));
  return numbers;
}

bool mlir::mp::holdsScaled(Attribute original, Value codes, ValueRange scales) {
  auto type = cast<RankedTensorType>(codes.getType());
  auto code = codeFormatOf(type.getElementType());
  Attribute stored;
  auto wanted = readNumbers(original);
  if (!code || !wanted || !matchPattern(codes, m_Constant(&stored)))
    return false;
  auto found = readNumbers(stored);
  if (!found || found->size() != wanted->size() || int64_t(found->size()) != type.getNumElements())
    return false;
  SmallVector<double, 0> factors(found->size(), 1);
  for (Value scale : scales) {
    Attribute attr;
    if (!matchPattern(scale, m_Constant(&attr)))
      return false;
    auto values = readNumbers(attr);
    auto layout = numerics::BlockLayout::get(type.getShape(),
                                             cast<RankedTensorType>(scale.getType()).getShape());
    if (!values || !layout || values->size() != layout->scales())
      return false;
    layout->forEachRun([&](size_t first, size_t length, size_t index) {
      for (size_t i = first; i != first + length; ++i)
        factors[i] *= (*values)[index];
    });
  }
  // The encode scale is known up to a rounding only: the neighbours of the nearest code will do.
  for (auto [value, number, factor] : llvm::zip_equal(*wanted, *found, factors)) {
    if (factor == 0) { // a block of zeros, whose scale is theirs
      if (value != 0 || !std::isfinite(number))
        return false;
      continue;
    }
    float scaled = float(value / factor);
    float below = code->decode(code->encode(scaled * (1 - 0x1p-20f))),
          above = code->decode(code->encode(scaled * (1 + 0x1p-20f)));
    bool near = std::min(below, above) <= number && number <= std::max(below, above);
    if (!near && !(std::isnan(number) && std::isnan(value)))
      return false;
  }
  return true;
}

bool mlir::mp::isSameContraction(Operation *original, ScaledMatmulOp converted) {
  auto view = viewContraction(original);
  return view && converted.getInserted() &&
         llvm::equal(view->maps, converted.getIndexingMaps().getAsValueRange<AffineMapAttr>());
}

std::pair<Value, Value> mlir::mp::sourcesOfProduct(ScaledMatmulOp product) {
  Value a = sourceOfScaled(product.getA(), product.getScalesA()),
        b = sourceOfScaled(product.getB(), product.getScalesB());
  auto before = a ? a.getDefiningOp<HadamardOp>() : HadamardOp(),
       beside = b ? b.getDefiningOp<HadamardOp>() : HadamardOp();
  if (!before || !beside || !before.getInserted() || !beside.getInserted() || before.getInverse() ||
      beside.getInverse() || before.getSigns() != beside.getSigns())
    return {a, b};
  // The transform is orthogonal: along one loop that is summed over, on both sides, it cancels.
  auto maps = llvm::to_vector(product.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  AffineExpr loop = maps[0].getResult(before.getAxis());
  bool cancels = loop == maps[1].getResult(beside.getAxis()) && !maps[2].getResultPosition(loop);
  return cancels ? std::pair<Value, Value>(before.getSource(), beside.getSource())
                 : std::pair(a, b);
}
