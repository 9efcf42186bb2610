// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums second moments of what multiplies weights, and rounds those by them.

#include "RoundWeights.h"
#include "ObservedModule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mp/Dialect/MP/Scaling.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Numerics/Scaling/SecondOrder.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

llvm::Expected<WeightCodes> mlir::mp::parseWeightCodes(StringRef text) {
  WeightCodes codes;
  auto [format, group] = text.split(':');
  bool fine = format.consume_front("i") && !format.getAsInteger(10, codes.bits) &&
              codes.bits >= 2 && codes.bits <= 8;
  if (!group.empty())
    fine &= !group.getAsInteger(10, codes.group) && codes.group >= 1;
  if (!fine)
    return createStringError("--weight-codes=" + text +
                             ": expected iN with N from 2 to 8, or iN:GROUP, as in i4:128");
  return codes;
}

namespace {
/// A constant matrix, and the operand whose rows it multiplies.
struct Site {
  size_t place; ///< of the operand
  ObservedModule::Place contraction;
  OpOperand *weight;
  DenseElementsAttr value;
  unsigned summed; ///< dimension of the weight
};
} // namespace

/// Nullopt where the other factor is no constant matrix, or its rows do not end in what is summed.
static std::optional<Site> findSite(const ObservedModule::Place &place, size_t number) {
  auto view = viewContraction(place.factor.op);
  if (!view)
    return std::nullopt;
  OpOperand *operand = &place.factor.op->getOpOperand(place.factor.operand);
  bool second = view->b == operand;
  Site site{number, place, second ? view->a : view->b, {}, 0};
  auto type = dyn_cast<RankedTensorType>(site.weight->get().getType());
  if (!type || type.getRank() != 2 || !matchPattern(site.weight->get(), m_Constant(&site.value)) ||
      !site.value.getElementType().isF32())
    return std::nullopt;
  AffineMap rows = view->maps[second], weight = view->maps[!second];
  for (unsigned dim : {0u, 1u}) {
    bool isSummed = !view->maps[2].getResultPosition(weight.getResult(dim));
    auto at = rows.getResultPosition(weight.getResult(dim));
    if (isSummed && at && *at + 1 == rows.getNumResults()) {
      site.summed = dim;
      return view->maps[2].getResultPosition(weight.getResult(1 - dim)) ? std::optional(site)
                                                                        : std::nullopt;
    }
  }
  return std::nullopt;
}

/// [inputs][outputs] from the weight as it lies, or back.
template <typename T>
static std::vector<T> turn(ArrayRef<T> values, size_t rows, size_t columns, bool transposes) {
  if (!transposes)
    return values.vec();
  std::vector<T> turned(values.size());
  for (size_t i = 0; i != rows; ++i)
    for (size_t j = 0; j != columns; ++j)
      turned[j * rows + i] = values[i * columns + j];
  return turned;
}

static void replaceByCodes(const Site &site, ArrayRef<int8_t> codes, ArrayRef<float> steps,
                           int64_t groups, unsigned bits) {
  OpBuilder builder(site.contraction.factor.op);
  Location loc = site.weight->get().getLoc();
  auto type = cast<RankedTensorType>(site.weight->get().getType());
  auto stored = type.clone(builder.getIntegerType(bits <= 4 ? 4 : 8));
  SmallVector<int64_t> shape(type.getShape());
  shape[site.summed] = groups;
  SmallVector<APInt> values;
  for (int8_t code : codes)
    values.push_back(APInt(stored.getElementTypeBitWidth(), uint64_t(int64_t(code)),
                           /*isSigned=*/true));
  Value constant = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(stored, values));
  Value scales =
      arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type.clone(shape), steps));
  site.weight->set(DequantizeOp::create(builder, loc, type, constant, scales, UnitAttr()));
}

llvm::Expected<std::vector<RoundedWeight>> mlir::mp::roundWeights(ModuleOp module, StringRef entry,
                                                                  const InputOptions &inputs,
                                                                  const WeightCodes &wanted) {
  auto observed = observeFactors(module, entry);
  if (!observed)
    return observed.takeError();
  std::vector<Site> sites;
  std::map<size_t, numerics::SecondMoments> moments;
  for (auto [number, place] : llvm::enumerate(observed->places))
    if (auto site = findSite(place, number)) {
      sites.push_back(*site);
      moments.emplace(number,
                      cast<ShapedType>(site->weight->get().getType()).getDimSize(site->summed));
    }
  if (sites.empty())
    return createStringError("--round-weights: expected a contraction with a constant matrix of "
                             "f32, found none; weights that are arguments stay");
  auto count = runBatches(*observed, entry, inputs, [&](int64_t place, ArrayRef<float> elements) {
    if (auto found = moments.find(place); found != moments.end())
      found->second.add(elements);
  });
  if (!count)
    return count.takeError();
  std::vector<RoundedWeight> rounded;
  for (Site &site : sites) {
    auto type = cast<RankedTensorType>(site.weight->get().getType());
    bool turns = site.summed == 1;
    size_t k = type.getDimSize(site.summed), n = type.getDimSize(1 - site.summed);
    size_t group = wanted.group ? size_t(wanted.group) : k;
    if (k % group)
      return createStringError("--weight-codes: expected groups that divide what contraction " +
                               Twine(site.contraction.factor.contraction) + " sums over, " +
                               Twine(k) + ", found " + Twine(group));
    numerics::WeightRounding shape{k, n, group, (1 << (wanted.bits - 1)) - 1};
    std::vector<float> values(site.value.value_begin<float>(), site.value.value_end<float>());
    std::vector<float> weights = turn<float>(values, n, k, turns);
    std::vector<float> steps = numerics::stepsOf(weights, shape);
    const numerics::SecondMoments &seen = moments.at(site.place);
    std::vector<int8_t> codes = numerics::roundSecondOrder(weights, steps, seen, shape);
    rounded.push_back(
        {site.contraction.function.getName().str(), site.contraction.factor.contraction, int64_t(k),
         int64_t(n), numerics::squaredError(weights, codes, steps, seen, shape),
         numerics::squaredError(weights, numerics::roundNearest(weights, steps, shape), steps, seen,
                                shape)});
    replaceByCodes(site, turn<int8_t>(codes, k, n, turns), turn<float>(steps, k / group, n, turns),
                   int64_t(k / group), wanted.bits);
  }
  return rounded;
}

void mlir::mp::printRounded(llvm::raw_ostream &os, ArrayRef<RoundedWeight> weights) {
  for (const RoundedWeight &weight : weights)
    os << "@" << weight.function << ", contraction " << weight.contraction << ": " << weight.inputs
       << " x " << weight.outputs << " weights, squared error "
       << llvm::format("%.6g", weight.error) << " (to nearest "
       << llvm::format("%.6g", weight.nearest) << ")\n";
}
