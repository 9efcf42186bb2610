// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses what --calibrate is to learn, and where it goes.

#include "OptionHandlers.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

Handlers mlir::mp::calibrationOptions(RunOptions &options) {
  return {
      {"calibrate",
       [&options](StringRef value) -> llvm::Error {
         options.calibrates = true;
         options.inputs.inputs.push_back("batches:" + value.str());
         return llvm::Error::success();
       }},
      {"calibrator",
       [&options](StringRef value) -> llvm::Error {
         auto calibration = parseCalibration(value);
         if (!calibration)
           return calibration.takeError();
         options.calibration = std::move(*calibration);
         return llvm::Error::success();
       }},
      {"ranges", textOption(options.rangesOut)},
      {"round-weights", textOption(options.roundedOut)},
      {"weight-codes",
       [&options](StringRef value) -> llvm::Error {
         auto codes = parseWeightCodes(value);
         if (!codes)
           return codes.takeError();
         options.weightCodes = *codes;
         return llvm::Error::success();
       }},
      {"activation-codes",
       [&options](StringRef value) -> llvm::Error {
         auto codes = parseActivationCodes(value);
         if (!codes)
           return codes.takeError();
         options.activationCodes = *codes;
         return llvm::Error::success();
       }},
      {"round-limit",
       [&options](StringRef v) -> llvm::Error {
         double limit;
         if (v.getAsDouble(limit) || !(limit > 0) || !std::isfinite(limit))
           return badOption("round-limit", v, "a number above 0");
         options.roundLimit = limit;
         return llvm::Error::success();
       }},
      {"prune", textOption(options.prunedOut)},
      {"smooth", textOption(options.smoothedOut)},
      {"smooth-share",
       [&options](StringRef v) -> llvm::Error {
         const bool fine = !v.getAsDouble(options.smoothShare) && options.smoothShare >= 0 &&
                           options.smoothShare <= 1;
         return fine ? llvm::Error::success() : badOption("smooth-share", v, "a share from 0 to 1");
       }},
      {"range-margin",
       [&options](StringRef v) -> llvm::Error {
         return v.getAsDouble(options.rangeMargin) || !(options.rangeMargin >= 1)
                    ? badOption("range-margin", v, "a factor of at least 1")
                    : llvm::Error::success();
       }},
  };
}

llvm::Error mlir::mp::checkCalibration(const RunOptions &options) {
  const std::tuple<StringRef, StringRef, const std::string &> written[] = {
      {"--ranges", "states", options.rangesOut},
      {"--round-weights", "rounds by", options.roundedOut},
      {"--smooth", "divides channels by", options.smoothedOut},
      {"--prune", "scores weights by", options.prunedOut}};
  const bool writes = !options.json.empty() || llvm::any_of(written, [](const auto &option) {
    return !std::get<2>(option).empty();
  });
  if (options.calibrates && (!writes || options.device != "cpu" || !options.compare.empty()))
    return createStringError("--calibrate writes scales to --json=FILE, ranges to --ranges=FILE, "
                             "weights to --round-weights=FILE, smoothed ones to --smooth=FILE or "
                             "pruned ones to --prune=FILE, runs on the CPU, and compares nothing");
  for (const auto &[name, does, path] : written)
    if (!options.calibrates && !path.empty())
      return createStringError(name + " " + does + " what --calibrate=@FILE.npy sees");
  if (options.roundLimit && options.roundedOut.empty())
    return createStringError("--round-limit is of what --round-weights=FILE rounds");
  if (options.activationCodes.bits != 0 && options.roundedOut.empty())
    return createStringError("--activation-codes rounds what the weights of --round-weights=FILE "
                             "multiply");
  return llvm::Error::success();
}
