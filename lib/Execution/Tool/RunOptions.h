// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares the options of mp-run.

#ifndef MP_LIB_EXECUTION_RUNOPTIONS_H
#define MP_LIB_EXECUTION_RUNOPTIONS_H

#include "../Calibration/RoundWeights.h"
#include "../Trials/Bisect.h"
#include "../Trials/Budget.h"
#include "../Trials/Recipes.h"
#include "../Watch/BreakOn.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Execution/Inputs.h"
#include "mp/Numerics/TensorCore.h"

#include <array>

namespace mlir::mp {

/// The command line of mp-run, parsed.
struct RunOptions {
  std::string file;
  std::string entry;
  InputOptions inputs;
  std::vector<std::string> outputs; ///< paths, "-" for standard output
  std::string inputDir;             ///< for all arguments; empty for none
  std::string outputDir;            ///< for all results; empty for none
  std::string device = "cpu";
  std::string numericsName = "ieee";
  std::optional<numerics::Architecture> numerics; ///< nullopt for IEEE
  bool exactMath = false;
  std::string compare; ///< "", "f64" or a path
  std::optional<double> maxRelative;
  bool perOp = false;
  bool checkRanges = false, checkErrors = false;
  std::string json, html, monitor;
  int64_t steps = 1, logEvery = 1;
  std::string saveState; ///< folder for the state after the steps; empty for none
  std::string loadState; ///< folder or manifest of the state before them; empty for none
  std::optional<BreakCondition> breakOn;
  bool bisects = false;         ///< looks for contractions to widen until `keep` holds
  KeepCriterion keep;           ///< of --bisect
  std::string sensitivity;      ///< file of measured errors to write, and to take up; or empty
  bool scoresWeights = false;   ///< of --sensitivity
  bool byLayer = false;         ///< of --sensitivity: layers first
  double openAbove = INFINITY;  ///< error of a layer above which its contractions are measured, too
  std::string assign;           ///< options by which --bisect and --sensitivity convert
  std::string recipeA, recipeB; ///< policies that --ab compares; empty for none
  watch::PairedOptions paired;  ///< of --ab
  std::string policyOut;        ///< what --bisect or --budget decided; empty for none
  std::vector<std::string> formats = {"bf16", "f16"}; ///< of --sensitivity
  int64_t draws = 4;                                  ///< of --sensitivity
  size_t maxRuns = 1000;                              ///< of --bisect
  std::string estimate;      ///< the part whose time is modelled; empty for none
  std::string trace;         ///< file for the launches in time; empty for none
  uint64_t sampleBlocks = 0; ///< of each launch that is estimated; 0: all
  bool calibrates = false;   ///< some inputs were given by --calibrate
  CalibrationOptions calibration;
  std::string roundedOut; ///< the module with weights as --calibrate rounds them; empty for none
  WeightCodes weightCodes;
  ActivationCodes activationCodes;
  std::optional<double> roundLimit; ///< of the error of results; contractions may stay wide
  std::string smoothedOut;          ///< the module with channels smoothed; empty for none
  std::string prunedOut; ///< the module with weights pruned by what multiplies them; empty for none
  double smoothShare = 0.5;
  std::string rangesOut;  ///< the module with the ranges that --calibrate saw; empty for none
  double rangeMargin = 2; ///< times the largest magnitude seen
  BudgetOptions budget;   ///< of --budget; its limit is 0 where that is not asked for
  /// Options for PTX files only.
  std::string kernel, chip;
  std::vector<std::string> expected; ///< of the last arrays
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  uint32_t sharedBytes = 0;
  uint64_t maxInstructions = 10'000'000'000; ///< of the launch
  bool reverse = false;                      ///< the order of threads, on the emulator
  int64_t maxMemory = 0;                     ///< bytes of what is computed; 0: as it comes
  OptionalStoredFormat storeNarrow;          ///< in which that may be stored for it
  unsigned threads = 0;                      ///< 0: one per processor
  bool emitLLVM = false;
  bool help = false;
  bool version = false;
  bool refusedPtx = false;
  bool alarmRules = false;
};

/// Errors name the option, the value and what was expected.
llvm::Expected<RunOptions> parseRunOptions(llvm::ArrayRef<llvm::StringRef> arguments);

llvm::StringRef runHelp();

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_RUNOPTIONS_H
