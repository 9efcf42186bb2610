// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists how a contraction's products may be added up: one by one in the result's format, or as the
// Tensor Cores of the given chips do.

#include "mp/Analysis/AccumulationModes.h"

#include "mp/Dialect/MP/Formats.h"

using namespace mlir;
using namespace mlir::mp;
using domains::Accumulation;
using numerics::Architecture;

SmallVector<Accumulation> mlir::mp::getAccumulationModes(Type factor, numerics::Format result,
                                                         ArrayRef<Architecture> chips) {
  SmallVector<Accumulation> accumulations = {Accumulation::sequential(result)};
  auto format = getNumericsFormat(factor);
  if (format == numerics::Format::F32)
    format = numerics::Format::TF32;
  if (!format || result != numerics::Format::F32)
    return accumulations;
  for (Architecture chip : chips) {
    auto model = numerics::tensorCoreModel(chip, *format);
    if (!model)
      continue;
    if (model->stepResult == numerics::StepResult::E8M13)
      model->promoteEvery = 128;
    accumulations.push_back(Accumulation::tensorCore(*model));
  }
  return accumulations;
}
