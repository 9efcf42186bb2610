// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Multiplies the noise of each format with the amplification of the error model.

#include "ErrorShares.h"
#include "mp/Analysis/Cost/ExecutionFrequency.h"
#include "mp/Analysis/ReductionLength.h"
#include "mp/Dialect/MP/Factored.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;

ErrorShares::ErrorShares(FunctionDecisions &decisions, const AssignSettings &settings,
                         const OperandSchemes *schemes)
    : decisions(decisions), options(settings.placement), chip(settings.policy.target),
      schemes(schemes) {
  if (!options.modelsError() || !hasContractions())
    return;
  if (options.measured)
    measured = options.measured->find(decisions.getFunction().getName());
  if (measured)
    decisions.getFunction()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isContraction(op))
        ordinals.try_emplace(op, ordinals.size());
    });
  model = &decisions.getErrorModel();
  largest = (int64_t(1) << 58) / std::max<int64_t>(decisions.getOps().size(), 1);
  double whole = getShares();
  if (options.maxRelError > 0)
    whole = getUsable() * getUsable();
  unit = whole > 0 ? whole / kUnits : 1;
}

bool ErrorShares::hasContractions() const {
  return llvm::any_of(decisions.getOps(),
                      [](auto &entry) { return entry.second.opClass == OpClass::TensorCore; });
}

double ErrorShares::getShares() const {
  double all = 0;
  for (auto &[op, decision] : decisions.getOps())
    if (decision.opClass == OpClass::TensorCore)
      all += getShare(op, decision.getChoice());
  return all;
}

/// True if `op` rounds no factor.
static bool isAsFound(Operation *op, const ComputeChoice &choice) {
  return !choice.split && !choice.scaled && llvm::all_of(getFactors(op), [&](OpOperand *factor) {
    FloatType own = getFloatFormat(factor->get().getType());
    return !own || own == choice.format || holdsEveryValueOf(choice.format, own);
  });
}

std::optional<double> ErrorShares::estimate() {
  if (!hasContractions())
    return std::nullopt;
  if (!model)
    model = &decisions.getErrorModel();
  // The model is linear: of errors as large as the results it knows nothing. Nor of those that
  // reach no result, but what is printed or written, say.
  double error = std::sqrt(getShares());
  bool isSeen = error > 0 || llvm::all_of(decisions.getOps(), [](auto &entry) {
                  return entry.second.opClass != OpClass::TensorCore ||
                         isAsFound(entry.first, entry.second.getChoice());
                });
  return model->isKnown() && isSeen && error < 1 ? std::optional<double>(error) : std::nullopt;
}

std::optional<double> ErrorShares::ofScaled(Operation *op) {
  if (!model)
    model = &decisions.getErrorModel();
  if (!model->isKnown() || !schemes->getFormat(op))
    return std::nullopt;
  return getShare(op, {Float32Type::get(op->getContext()), {}, &schemes->getRecipe()});
}

FloatType ErrorShares::getStoredFormat(Operation *op, const numerics::Recipe &recipe) const {
  return schemes && &schemes->getRecipe() == &recipe
             ? schemes->getFormat(op)
             : floatTypeOf(op->getContext(), recipe.activation->code.floatFormat());
}

std::optional<double> ErrorShares::getMeasured(Operation *op, const ComputeChoice &choice) const {
  auto ordinal = ordinals.find(op);
  if (!measured || choice.split || ordinal == ordinals.end())
    return std::nullopt;
  FloatType format = choice.scaled ? getStoredFormat(op, *choice.scaled) : choice.format;
  return assignment::MeasuredErrors::lookup(*measured, ordinal->second, getFormatName(format));
}

/// Returns what was lost before, whatever format is chosen: the product by two factors is as far
/// from one by the whole weight as the factors are, relative to its norm.
double ErrorShares::getShareOfFactors(Operation *op) const {
  auto bound = op->getAttrOfType<FloatAttr>(kFactoredAttrName);
  if (!bound)
    return 0;
  const double error = bound.getValueAsDouble();
  return (error * error * model->getAmplification(op) + error * model->getFlips(op)) *
         std::max(getRunsPerCall(op).count, 1.0);
}

double ErrorShares::getShare(Operation *op, const ComputeChoice &choice) const {
  return getShareOfFactors(op) + getShareOfRounding(op, choice);
}

double ErrorShares::getShareOfRounding(Operation *op, const ComputeChoice &choice) const {
  if (isAsFound(op, choice))
    return 0;
  if (std::optional<double> known = getMeasured(op, choice))
    return std::min(*known, 1e12); // an infinite one, so that all add up
  int64_t products = getReductionLength(op).value_or(options.assumedDim);
  // Scaled values are as large as the format holds, so underflow is negligible.
  double noise = choice.split ? getContractionNoise(*choice.split, products, chip)
                 : choice.scaled
                     ? getContractionNoise(getStoredFormat(op, *choice.scaled), products, chip)
                     : getContractionNoise(choice.format, products, chip) +
                           model->getUnderflow(op, choice.format) +
                           model->getStored(op, choice.format);
  return (noise * model->getAmplification(op) + std::sqrt(noise) * model->getFlips(op)) *
         std::max(getRunsPerCall(op).count, 1.0);
}

int64_t ErrorShares::of(Operation *op, const ComputeChoice &choice) const {
  if (!model)
    return 0;
  double units = std::ceil(getShare(op, choice) / unit);
  return units < double(largest) ? int64_t(units) : largest;
}

double ErrorShares::findLeast(const assignment::Problem &problem) const {
  int64_t least = 0;
  for (const assignment::Node &node : problem.nodes) {
    int64_t own = node.variants.front().error;
    for (const assignment::Variant &variant : node.variants)
      own = std::min(own, variant.error);
    least += own;
  }
  return toRelative(least);
}

std::optional<int64_t> ErrorShares::getBudget() const {
  return options.maxRelError > 0 ? std::optional<int64_t>(int64_t(kUnits)) : std::nullopt;
}
