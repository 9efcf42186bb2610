// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Calibrate.h"
#include "../Tool/Steps.h"
#include "mp/Analysis/FunctionHash.h"
#include "mp/Execution/Trace.h"
#include "llvm/Support/Format.h"

#include <limits>

using namespace mlir;
using namespace mlir::mp;
namespace numerics = ::mp::numerics;
using llvm::createStringError;

llvm::Expected<CalibrationOptions> mlir::mp::parseCalibration(StringRef text) {
  CalibrationOptions options;
  options.text = text.str();
  auto [name, detail] = text.split(':');
  auto method = numerics::parseCalibrationMethod(name);
  auto bad = [&](const Twine &expected) {
    return createStringError("--calibrator=" + text + ": expected " + expected);
  };
  if (!method)
    return bad("absmax, percentile, mse or entropy");
  options.method = *method;
  if (!text.contains(':'))
    return options;
  if (*method == numerics::CalibrationMethod::Percentile) {
    if (detail.getAsDouble(options.share) || !(options.share > 0 && options.share <= 1))
      return bad("a share of the values above 0 and up to 1, as in percentile:0.999");
  } else if (*method == numerics::CalibrationMethod::MSE) {
    if (detail == "e5m2")
      options.code = numerics::Format::F8E5M2;
    else if (detail == "int8")
      options.code = numerics::CodeFormat::integer(8);
    else if (detail != "e4m3")
      return bad("mse:e4m3, mse:e5m2 or mse:int8");
  } else {
    return bad("nothing after " + name);
  }
  return options;
}

/// Whole batches in what is given as such.
static llvm::Expected<int64_t> countBatches(ArrayRef<BatchedInput> batches, ArrayRef<Array> arguments) {
  if (batches.empty())
    return createStringError("--calibrate: expected at least one file of rows, found none");
  int64_t count = std::numeric_limits<int64_t>::max();
  for (const BatchedInput &batch : batches)
    count = std::min(count, batch.rows.shape[0] / arguments[batch.argument].shape[0]);
  return count;
}

llvm::Expected<StaticScales> mlir::mp::calibrate(ModuleOp original, StringRef entry, const InputOptions &inputs,
                                                 const CalibrationOptions &options) {
  OwningOpRef<ModuleOp> module = original.clone();
  auto function = findEntry(*module, entry);
  if (!function)
    return function.takeError();
  // Only what the function computes itself can be returned from it.
  SmallVector<ContractionOperand> operands;
  SmallVector<Value> values;
  for (const ContractionOperand &place : findContractionOperands(*function))
    if (place.op->getBlock() == &function->getBody().front()) {
      operands.push_back(place);
      values.push_back(place.op->getOperand(place.operand));
    }
  if (operands.empty())
    return createStringError("--calibrate: '" + function->getName() + "' multiplies no f32 tensors in its own block");
  StaticScales scales;
  scales.method = options.text;
  FunctionMagnitudes &measured = scales.functions.emplace_back();
  measured.name = function->getName().str();
  measured.hash = hashFunction(*function);
  size_t own = function->getNumResults();
  if (llvm::Error error = returnValues(*function, values))
    return std::move(error);

  auto program = Program::compile(*module, entry);
  if (!program)
    return program.takeError();
  std::vector<std::string> notes;
  std::vector<BatchedInput> batches;
  auto arguments = makeInputs((*program)->signature(), inputs, notes, &batches);
  if (!arguments)
    return arguments.takeError();
  auto count = countBatches(batches, *arguments);
  if (!count)
    return count.takeError();
  scales.batches = *count;
  StepLoop loop((*program)->signature(), own);
  std::vector<numerics::MagnitudeHistogram> histograms(operands.size());
  for (int64_t step = 0; step < *count; ++step) {
    if (llvm::Error error = loop.feed(*arguments, batches, step))
      return std::move(error);
    auto results = (*program)->run(*arguments);
    if (!results)
      return results.takeError();
    for (auto [i, histogram] : llvm::enumerate(histograms)) {
      const Array &seen = (*results)[own + i];
      histogram.add(ArrayRef(reinterpret_cast<const float *>(seen.data.data()), size_t(seen.size())));
    }
  }
  for (auto [place, histogram] : llvm::zip_equal(operands, histograms))
    measured.operands[{place.contraction, place.operand}] = {
        numerics::calibrate(histogram, options.method, options.code, options.share), histogram.largest(),
        histogram.total(), histogram.nonFinite()};
  return scales;
}

void mlir::mp::printScales(llvm::raw_ostream &os, const StaticScales &scales) {
  for (const FunctionMagnitudes &function : scales.functions)
    for (const auto &[place, measured] : function.operands)
      os << "@" << function.name << ", contraction " << place.first << ", operand " << place.second << ": "
         << llvm::format("%.6g", measured.amax) << " of " << llvm::format("%.6g", measured.largest) << ", "
         << measured.values << " values"
         << (measured.nonFinite ? ", " + std::to_string(measured.nonFinite) + " not finite" : "") << "\n";
  os << scales.batches << " batches, " << scales.method << "\n";
}
