// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the function batch by batch under an observer, and fits a magnitude to each histogram, or
// states what range the values had.

#include "Calibrate.h"
#include "../Steps.h"
#include "ObservedModule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mp/Analysis/FunctionHash.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"

#include <cmath>
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

void mlir::mp::unpackConstants(ModuleOp module) {
  module.walk([](arith::ConstantOp constant) {
    auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
    if (!resource || !resource.getElementType().isF32())
      return;
    if (std::optional<ArrayRef<char>> raw = getRawElements(resource))
      constant.setValueAttr(DenseElementsAttr::getFromRawBuffer(resource.getType(), *raw));
  });
}

llvm::Expected<ObservedModule> mlir::mp::observeFactors(ModuleOp original, StringRef entry) {
  auto function = findEntry(original, entry);
  if (!function)
    return function.takeError();
  ObservedModule observed;
  IRMapping mapping;
  observed.module = cast<ModuleOp>(original->clone(mapping));
  for (auto computed : original.getOps<func::FuncOp>())
    if (!computed.isExternal() && !computed->hasAttr(kInitOfAttrName))
      for (const ContractionFactor &factor : findContractionFactors(computed))
        observed.places.push_back({computed, factor});
  if (observed.places.empty())
    return createStringError("--calibrate: nothing that '" + function->getName() +
                             "' computes multiplies f32 tensors");
  for (auto [number, place] : llvm::enumerate(observed.places))
    observe(*observed.module, mapping.lookup(place.factor.op)->getOpOperand(place.factor.operand),
            number);
  return observed;
}

llvm::Expected<int64_t> mlir::mp::runBatches(const ObservedModule &observed, StringRef entry,
                                             const InputOptions &inputs, Observation observation,
                                             llvm::function_ref<void(ArrayRef<Array>)> finish,
                                             const FiniteCheck *finite) {
  auto program = Program::compile(*observed.module, entry);
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
  StepLoop loop((*program)->signature(), (*program)->signature().results.size());
  Observer observer(observation);
  for (int64_t step = 0; step < *count; ++step) {
    if (llvm::Error error = loop.feed(*arguments, batches, step))
      return std::move(error);
    auto results = (*program)->run(*arguments);
    if (!results)
      return results.takeError();
    if (finite)
      if (llvm::Error error =
              finite->check(observed, (*program)->signature(), step, *arguments, batches))
        return std::move(error);
    if (finish)
      finish(*results);
  }
  return count;
}

llvm::Expected<StaticScales> mlir::mp::calibrate(ModuleOp module, StringRef entry,
                                                 const InputOptions &inputs,
                                                 const CalibrationOptions &options) {
  auto observed = observeFactors(module, entry);
  if (!observed)
    return observed.takeError();
  std::vector<numerics::MagnitudeHistogram> histograms(observed->places.size());
  auto count = runBatches(*observed, entry, inputs, [&](int64_t place, ArrayRef<float> elements) {
    histograms[place].add(elements);
  });
  if (!count)
    return count.takeError();
  if (llvm::all_of(histograms, [](auto &histogram) { return histogram.total() == 0; }))
    return createStringError("--calibrate: nothing that ran multiplies f32 tensors; --entry= names "
                             "the function to run");
  StaticScales scales;
  scales.method = options.text;
  scales.batches = *count;
  func::FuncOp last;
  for (auto [place, histogram] : llvm::zip_equal(observed->places, histograms)) {
    if (place.function != last) {
      last = place.function;
      FunctionMagnitudes &measured = scales.functions.emplace_back();
      measured.name = last.getName().str();
      measured.hash = hashFunction(last);
    }
    if (histogram.total() > 0) // else no batch reached it
      scales.functions.back().operands[{place.factor.contraction, place.factor.operand}] = {
          numerics::calibrate(histogram, options.method, options.code, options.share),
          histogram.largest(), histogram.total(), histogram.nonFinite()};
  }
  return scales;
}

//===-- ranges --------------------------------------------------------------------------------===//

namespace {
/// The least and largest element seen of a value, in all its places.
struct SeenRange {
  double low = INFINITY, high = -INFINITY;
  bool isFinite = true;

  void add(ArrayRef<float> elements) {
    for (float element : elements) {
      low = std::min<double>(low, element);
      high = std::max<double>(high, element);
      isFinite &= std::isfinite(element);
    }
  }
};
} // namespace

/// True if `mp.range` can say something of a value: it is an argument, or the only result of its
/// op. Constants speak for themselves.
static bool canStateRange(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return function && argument.getOwner() == &function.getBody().front() &&
           !function.getArgAttr(argument.getArgNumber(), kRangeAttrName);
  }
  Operation *op = value.getDefiningOp();
  return op->getNumResults() == 1 && !op->hasTrait<OpTrait::ConstantLike>() &&
         !op->hasAttr(kRangeAttrName);
}

static void stateArgumentRange(Value value, ArrayAttr range) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    cast<func::FuncOp>(argument.getOwner()->getParentOp())
        .setArgAttr(argument.getArgNumber(), kRangeAttrName, range);
  else
    value.getDefiningOp()->setAttr(kRangeAttrName, range);
}

llvm::Expected<MeasuredRanges> mlir::mp::stateMeasuredRanges(ModuleOp module, StringRef entry,
                                                             const InputOptions &inputs,
                                                             double margin) {
  auto observed = observeFactors(module, entry);
  if (!observed)
    return observed.takeError();
  llvm::MapVector<Value, SeenRange> seen;
  std::vector<Value> values;
  for (const ObservedModule::Place &place : observed->places)
    values.push_back(place.factor.op->getOperand(place.factor.operand));
  auto count = runBatches(*observed, entry, inputs, [&](int64_t place, ArrayRef<float> elements) {
    seen[values[place]].add(elements);
  });
  if (!count)
    return count.takeError();
  MeasuredRanges measured;
  measured.batches = *count;
  std::string origin;
  llvm::raw_string_ostream(origin) << *count << " batches, times " << llvm::format("%g", margin);
  Builder builder(module.getContext());
  for (const auto &[value, range] : seen) {
    const double reach = (margin - 1) * std::max(std::fabs(range.low), std::fabs(range.high));
    if (!range.isFinite || !(range.low <= range.high) || !canStateRange(value)) {
      measured.left +=
          !value.getDefiningOp() || !value.getDefiningOp()->hasTrait<OpTrait::ConstantLike>();
      continue;
    }
    stateArgumentRange(value, builder.getArrayAttr({builder.getF64FloatAttr(range.low - reach),
                                                    builder.getF64FloatAttr(range.high + reach),
                                                    builder.getStringAttr(origin)}));
    ++measured.stated;
  }
  return measured;
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
