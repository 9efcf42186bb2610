// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights as codes that change the products of given data least.

#ifndef MP_LIB_EXECUTION_CALIBRATION_ROUNDWEIGHTS_H
#define MP_LIB_EXECUTION_CALIBRATION_ROUNDWEIGHTS_H

#include "RoundActivations.h"

#include <set>

namespace mlir::mp {

struct WeightCodes {
  unsigned bits = 4;           ///< 2 to 8, symmetric
  int64_t group = 0;           ///< values along what is summed over that share a step; 0: all
  bool leastError = false;     ///< steps of least squared error, not of the largest magnitude
  bool layerByLayer = false;   ///< moments of what reaches a weight once those before are rounded
  bool keepsMeans = false;     ///< the mean of each output is what it was
  bool makesUp = false;        ///< weights make up for what those before them have changed
  bool descends = false;       ///< codes and steps move on to a local minimum of the error
  bool keepsTwo = false;       ///< two of each four inputs in a row are left
  ActivationCodes activations; ///< of what weights multiply
  CalibrationOptions ends;     ///< the way their grids end
};

/// Parses iN or iN:GROUP, and behind commas mse, layers, means, targets, descent and 2:4.
llvm::Expected<WeightCodes> parseWeightCodes(StringRef text);

struct RoundedWeight {
  std::string function;
  unsigned contraction; ///< in walk order over the function
  int64_t inputs, outputs, group;
  double error, nearest; ///< squared, of the products with what was seen; by rounding to nearest
  std::optional<numerics::UniformGrid> rows; ///< of what it multiplies
  bool isSparse = false;                     ///< two of four are left
};

/// Runs `entry` once for each batch (layer by layer: for each weight again), and replaces every
/// constant weight of a contraction or convolution by codes, rounded by GPTQ, that `mp.dequantize`
/// brings back. What a window holds is in the largest groups up to the size wanted that are blocks
/// of the weight. What weights multiply is rounded first, where that is wanted, to a grid fitted to
/// the function as it was. With `only`, those of which the rows are such factors, by number in
/// walk order over the module.
llvm::Expected<std::vector<RoundedWeight>> roundWeights(ModuleOp module, StringRef entry,
                                                        const InputOptions &inputs,
                                                        const WeightCodes &codes,
                                                        const std::set<size_t> *only = nullptr);

void printRounded(llvm::raw_ostream &os, ArrayRef<RoundedWeight> weights);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_CALIBRATION_ROUNDWEIGHTS_H
