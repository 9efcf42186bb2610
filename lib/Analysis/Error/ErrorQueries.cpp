// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers of a model that is built say what single ops add; a contraction's own noise needs none.

#include "mp/Analysis/Error/ErrorModel.h"
#include "mp/Domains/Variance.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Numerics/TensorCore.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;

double ErrorModel::getAmplification(Operation *op) const {
  double sum = 0;
  for (Value result : op->getResults()) {
    double size = rms.lookup(result);
    sum += size * size * amplification.lookup(result);
  }
  return sum;
}

double ErrorModel::getFlips(Operation *op) const {
  double sum = 0;
  for (Value result : op->getResults())
    sum += rms.lookup(result) * flips.lookup(result);
  return sum;
}

/// Returns how the Tensor Cores of `chip` sum products of `format`; f32 one by one where it has
/// none.
static domains::Accumulation getAccumulation(StringRef chip,
                                             std::optional<numerics::Format> format) {
  auto architecture = numerics::parseArchitecture(chip);
  auto model =
      architecture && format ? numerics::tensorCoreModel(*architecture, *format) : std::nullopt;
  return model ? domains::Accumulation::tensorCore(*model)
               : domains::Accumulation::sequential(numerics::Format::F32);
}

std::optional<double> ErrorModel::getKnownSize(Value value) const {
  auto known = knownSizes.find(value);
  return known == knownSizes.end() ? std::nullopt : std::optional(known->second);
}

double mlir::mp::getUnderflowNoise(double size, FloatType format) {
  // Half of the spacing at most, uniformly; but zero is no further off than the whole value.
  double spacing = APFloat::getSmallest(format.getFloatSemantics()).convertToDouble();
  return size > 0 ? std::min(spacing * spacing / (12 * size * size), 1.0) : 0;
}

double ErrorModel::getUnderflow(Operation *contraction, FloatType format) const {
  double sum = 0;
  for (OpOperand *factor : getFactors(contraction))
    sum +=
        getUnderflowNoise(getKnownSize(factor->get()).value_or(rms.lookup(factor->get())), format);
  return sum;
}

double ErrorModel::getStored(Operation *contraction, FloatType format) const {
  auto interface = cast<PrecisionOpInterface>(contraction);
  auto stored = numerics::formatOf(format.getFloatSemantics());
  double size = rms.lookup(contraction->getResult(0)), sum = 1;
  // tf32 is no format of storage.
  if (interface.getTypeRule() != TypeRule::Uniform || !stored || format.isTF32() || !(size > 0))
    return 0;
  for (OpOperand &operand : contraction->getOpOperands())
    if (interface.getOperandRole(operand.getOperandNumber()) == OperandRole::Addend) {
      double addend = rms.lookup(operand.get()) / size;
      sum += addend * addend;
    }
  double rounding = domains::kRoundingRms * numerics::info(*stored).unitRoundoff;
  return rounding * rounding * sum +
         getUnderflowNoise(getKnownSize(contraction->getResult(0)).value_or(size), format);
}

double mlir::mp::getContractionNoise(FloatType format, int64_t products, StringRef chip) {
  std::optional<numerics::Format> operands;
  if (!format.isF32())
    operands = numerics::formatOf(format.getFloatSemantics());
  domains::Signal sum =
      domains::contractionSignal({1, 0}, {1, 0}, std::max<int64_t>(products, 1), operands,
                                 getAccumulation(chip, operands), numerics::Format::F32);
  return sum.variance / (sum.rms * sum.rms);
}

double mlir::mp::getContractionNoise(numerics::SplitScheme scheme, int64_t products,
                                     StringRef chip) {
  domains::Signal sum = domains::splitSignal({1, 0}, {1, 0}, std::max<int64_t>(products, 1), scheme,
                                             getAccumulation(chip, numerics::partFormat(scheme)));
  return sum.variance / (sum.rms * sum.rms);
}
