// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the function batch by batch under an observer, and fits a magnitude to each histogram.

#include "Calibrate.h"
#include "../Host/Observer.h"
#include "../Steps.h"
#include "mp/Analysis/FunctionHash.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "llvm/Support/Format.h"

#include <limits>

using namespace mlir;
using namespace mlir::mp;
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
static llvm::Expected<int64_t> countBatches(ArrayRef<BatchedInput> batches,
                                            ArrayRef<Array> arguments) {
  if (batches.empty())
    return createStringError("--calibrate: expected at least one file of rows, found none");
  int64_t count = std::numeric_limits<int64_t>::max();
  for (const BatchedInput &batch : batches)
    count = std::min(count, batch.rows.shape[0] / arguments[batch.argument].shape[0]);
  return count;
}

llvm::Expected<StaticScales> mlir::mp::calibrate(ModuleOp original, StringRef entry,
                                                 const InputOptions &inputs,
                                                 const CalibrationOptions &options) {
  OwningOpRef<ModuleOp> module = original.clone();
  auto function = findEntry(*module, entry);
  if (!function)
    return function.takeError();
  StaticScales scales;
  scales.method = options.text;
  // Functions by their content as it is, before anything is added to them.
  struct Place {
    size_t function;
    ContractionFactor operand;
  };
  std::vector<Place> places;
  for (auto computed : module->getOps<func::FuncOp>()) {
    SmallVector<ContractionFactor> operands;
    if (!computed.isExternal() && !computed->hasAttr(kInitOfAttrName))
      operands = findContractionFactors(computed);
    if (operands.empty())
      continue;
    FunctionMagnitudes &measured = scales.functions.emplace_back();
    measured.name = computed.getName().str();
    measured.hash = hashFunction(computed);
    for (const ContractionFactor &operand : operands)
      places.push_back({scales.functions.size() - 1, operand});
  }
  if (places.empty())
    return createStringError("--calibrate: nothing that '" + function->getName() +
                             "' computes multiplies f32 tensors");
  for (auto [number, place] : llvm::enumerate(places))
    observe(*module, place.operand.op->getOpOperand(place.operand.operand), number);

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
  StepLoop loop((*program)->signature(), (*program)->signature().results.size());
  std::vector<numerics::MagnitudeHistogram> histograms(places.size());
  auto add = [&](int64_t place, ArrayRef<float> elements) { histograms[place].add(elements); };
  Observer observer(add);
  for (int64_t step = 0; step < *count; ++step) {
    if (llvm::Error error = loop.feed(*arguments, batches, step))
      return std::move(error);
    auto results = (*program)->run(*arguments);
    if (!results)
      return results.takeError();
  }
  // An operand that no batch reached has no magnitude.
  for (auto [place, histogram] : llvm::zip_equal(places, histograms))
    if (histogram.total() > 0)
      scales.functions[place.function]
          .operands[{place.operand.contraction, place.operand.operand}] = {
          numerics::calibrate(histogram, options.method, options.code, options.share),
          histogram.largest(), histogram.total(), histogram.nonFinite()};
  return scales;
}

void mlir::mp::printScales(llvm::raw_ostream &os, const StaticScales &scales) {
  for (const FunctionMagnitudes &function : scales.functions)
    for (const auto &[place, measured] : function.operands)
      os << "@" << function.name << ", contraction " << place.first << ", operand " << place.second
         << ": " << llvm::format("%.6g", measured.amax) << " of "
         << llvm::format("%.6g", measured.largest) << ", " << measured.values << " values"
         << (measured.nonFinite ? ", " + std::to_string(measured.nonFinite) + " not finite" : "")
         << "\n";
  os << scales.batches << " batches, " << scales.method << "\n";
}
