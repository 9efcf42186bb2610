// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts the loops of a contraction by what they index, and lays rows and weights out by them.

#include "WeightSites.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/Values/View.h"
#include "mp/Dialect/MP/Scaling.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

/// A contraction's maps, of convolutions, too: a linalg op of two factors is the sum of products
/// that its class says.
static std::optional<ContractionView> viewProducts(Operation *op) {
  if (auto view = viewContraction(op))
    return view;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || structured.getNumDpsInputs() != 2 || structured.getNumDpsInits() != 1 ||
      !readProductSum(structured.getBlock(), structured.getBlock()->getArgument(
                                                 structured.getBlock()->getNumArguments() - 1)))
    return std::nullopt;
  SmallVector<AffineMap> maps = structured.getIndexingMapsArray();
  return ContractionView{structured.getDpsInputOperand(0),
                         structured.getDpsInputOperand(1),
                         structured.getDpsInits()[0],
                         {maps[0], maps[1], maps[2]}};
}

/// Per loop, how far it moves within a tensor of these sizes, and where all begin.
static std::optional<std::pair<SmallVector<int64_t>, int64_t>>
stepsOfLoops(AffineMap map, ArrayRef<int64_t> sizes) {
  FailureOr<LinearAccess> access = LinearAccess::of(map);
  if (failed(access))
    return std::nullopt;
  SmallVector<int64_t> steps(map.getNumDims());
  int64_t begin = 0, stride = 1;
  for (size_t dim = sizes.size(); dim-- > 0; stride *= sizes[dim]) {
    begin += stride * access->constants[dim];
    for (auto [loop, step] : llvm::enumerate(steps))
      step += stride * access->coefficients[dim][loop];
  }
  return std::pair(steps, begin);
}

/// The offsets of all combinations of `loops`, the last one moving first.
static std::vector<int64_t> combine(ArrayRef<unsigned> loops, ArrayRef<int64_t> counts,
                                    ArrayRef<int64_t> steps, int64_t begin = 0) {
  std::vector<int64_t> offsets{begin};
  for (unsigned loop : loops) {
    std::vector<int64_t> more;
    for (int64_t offset : offsets)
      for (int64_t i = 0; i != counts[loop]; ++i)
        more.push_back(offset + i * steps[loop]);
    offsets = std::move(more);
  }
  return offsets;
}

std::optional<WeightSite> WeightSite::find(const ObservedModule::Place &place, bool groups) {
  auto view = viewProducts(place.factor.op);
  if (!view || place.factor.op->getNumResults() != 1)
    return std::nullopt;
  WeightSite site;
  site.contraction = place;
  site.rows = &place.factor.op->getOpOperand(place.factor.operand);
  bool second = view->b == site.rows;
  site.weight = second ? view->a : view->b;
  auto type = dyn_cast<RankedTensorType>(site.weight->get().getType());
  auto rowsType = dyn_cast<RankedTensorType>(site.rows->get().getType());
  auto result = dyn_cast<RankedTensorType>(place.factor.op->getResult(0).getType());
  if (!type || !rowsType || !result || !rowsType.hasStaticShape() || !result.hasStaticShape() ||
      !result.getElementType().isF32() ||
      !matchPattern(site.weight->get(), m_Constant(&site.value)) ||
      !site.value.getElementType().isF32())
    return std::nullopt;
  site.sizes = llvm::to_vector(type.getShape());
  AffineMap rows = view->maps[second], weight = view->maps[!second];
  auto ofWeight = permutationOf(weight, weight.getNumResults()),
       ofResult = permutationOf(view->maps[2], view->maps[2].getNumResults());
  auto rowSteps = stepsOfLoops(rows, rowsType.getShape());
  auto weightSteps = stepsOfLoops(weight, type.getShape());
  if (!ofWeight || !ofResult || !rowSteps || !weightSteps)
    return std::nullopt;

  SmallVector<int64_t> counts(weight.getNumDims(), 0);
  SmallVector<unsigned> inputs, outputs, others;
  for (auto [dim, loop] : llvm::enumerate(*ofWeight)) {
    counts[loop] = type.getDimSize(dim);
    const auto *kept = llvm::find(*ofResult, loop);
    bool isKept = kept != ofResult->end();
    if (isKept && rowSteps->first[loop] != 0)
      return std::nullopt;
    (isKept ? outputs : inputs).push_back(loop);
    (isKept ? site.kept : site.summed).push_back(dim);
    if (isKept)
      site.keptInResult.push_back(kept - ofResult->begin());
  }
  for (auto [dim, loop] : llvm::enumerate(*ofResult))
    if (counts[loop] == 0) {
      counts[loop] = result.getDimSize(dim);
      others.push_back(loop);
    }
  if (llvm::is_contained(counts, 0)) // a loop of the rows alone
    return std::nullopt;
  if (auto dim = groups ? groupDimensionOf(*site.weight) : std::nullopt) {
    site.groupsInputs = true;
    llvm::erase(site.summed, *dim);
    site.summed.push_back(*dim);
    llvm::erase(inputs, (*ofWeight)[*dim]);
    inputs.push_back((*ofWeight)[*dim]);
  }
  site.inputOffsets = combine(inputs, counts, weightSteps->first);
  site.outputOffsets = combine(outputs, counts, weightSteps->first);
  site.rowOffsets = combine(others, counts, rowSteps->first, rowSteps->second);
  site.inputInRow = combine(inputs, counts, rowSteps->first);
  return site;
}

std::vector<float> WeightSite::rowsOf(ArrayRef<float> elements) const {
  std::vector<float> found;
  found.reserve(rowOffsets.size() * inputs());
  for (int64_t row : rowOffsets)
    for (int64_t input : inputInRow)
      found.push_back(elements[row + input]);
  return found;
}

SmallVector<int64_t> WeightSite::elementOrder() const {
  SmallVector<int64_t> order;
  for (int64_t input : inputOffsets)
    for (int64_t output : outputOffsets)
      order.push_back(input + output);
  return order;
}

std::vector<float> WeightSite::matrix() const {
  std::vector<float> elements(value.value_begin<float>(), value.value_end<float>()), matrix;
  for (int64_t at : elementOrder())
    matrix.push_back(elements[at]);
  return matrix;
}

std::optional<SmallVector<int64_t>> WeightSite::stepShape(size_t group) const {
  SmallVector<int64_t> shape(sizes);
  int64_t left = int64_t(group);
  for (unsigned dim : llvm::reverse(summed)) {
    int64_t within = std::min(left, sizes[dim]);
    if (within == 0 || sizes[dim] % within || left % within)
      return std::nullopt;
    shape[dim] = sizes[dim] / within;
    left /= within;
  }
  return left == 1 ? std::optional(shape) : std::nullopt;
}

void WeightSite::replace(ArrayRef<int8_t> codes, ArrayRef<float> steps, ArrayRef<int64_t> stepShape,
                         unsigned bits) const {
  OpBuilder builder(contraction.factor.op);
  Location loc = weight->get().getLoc();
  auto type = cast<RankedTensorType>(weight->get().getType());
  auto stored = type.clone(builder.getIntegerType(bits <= 4 ? 4 : 8));
  SmallVector<APInt> values(codes.size());
  for (auto [at, code] : llvm::zip_equal(elementOrder(), codes))
    values[at] = APInt(stored.getElementTypeBitWidth(), uint64_t(int64_t(code)), /*isSigned=*/true);
  // Steps come as [groups of inputs][outputs], and lie as the dimensions of the weight do.
  SmallVector<int64_t> strides(stepShape.size(), 1);
  for (size_t dim = stepShape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * stepShape[dim];
  SmallVector<unsigned> order(summed);
  order.append(kept);
  std::vector<float> placed(steps.size());
  for (auto [at, step] : llvm::zip_equal(combine(order, stepShape, strides), steps))
    placed[at] = step;
  Value constant = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(stored, values));
  Value scales = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type.clone(stepShape), ArrayRef<float>(placed)));
  weight->set(DequantizeOp::create(builder, loc, type, constant, scales, UnitAttr()));
}

void WeightSite::subtract(ArrayRef<float> numbers) const {
  Operation *op = contraction.factor.op;
  Location loc = op->getLoc();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> exprs;
  for (auto [dim, inResult] : llvm::zip_equal(kept, keptInResult)) {
    shape.push_back(sizes[dim]);
    exprs.push_back(builder.getAffineDimExpr(inResult));
  }
  Value constant = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(RankedTensorType::get(shape, builder.getF32Type()), numbers));
  AffineMap whole = builder.getMultiDimIdentityMap(result.getRank());
  AffineMap each = AffineMap::get(result.getRank(), 0, exprs, builder.getContext());
  Value empty = tensor::EmptyOp::create(builder, loc, result.getShape(), builder.getF32Type());
  SmallVector<utils::IteratorType> loops(result.getRank(), utils::IteratorType::parallel);
  auto corrected = linalg::GenericOp::create(
      builder, loc, TypeRange{result}, ValueRange{op->getResult(0), constant}, ValueRange{empty},
      ArrayRef<AffineMap>{whole, each, whole}, loops, [](OpBuilder &b, Location at, ValueRange x) {
        Value difference = arith::SubFOp::create(b, at, x[0], x[1]);
        linalg::YieldOp::create(b, at, difference);
      });
  op->getResult(0).replaceAllUsesExcept(corrected.getResult(0), corrected);
}
