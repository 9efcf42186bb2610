// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fits constants of the model to measurements: the least mean of |log(modelled / measured)|, held
// to the constants' priors where the data leave them open, by Nelder and Mead's simplex on the
// logarithms of the constants.

#ifndef MP_TOOLS_DEV_FITMODEL_FIT_H
#define MP_TOOLS_DEV_FITMODEL_FIT_H

#include "Data.h"

namespace fitmodel {

/// A measurement and everything that could have been launched for it.
struct Sample {
  const Point *point;
  std::vector<mpcore::performance::Candidate> menu;
};

/// An error names the problem that no schedule runs.
llvm::Expected<std::vector<Sample>> prepare(llvm::ArrayRef<const Point *> points);

/// The modelled time of the menu's best schedule over the measured one, as a logarithm.
double logError(const Sample &sample, const mpcore::performance::Calibration &constants);

/// Means and quantiles of |log(modelled / measured)|.
struct Errors {
  double mean = 0, median = 0, p90 = 0, bias = 0;
};
Errors summarize(std::vector<double> logErrors);

/// Moves the constants in `free`; the others keep their values in `start`.
mpcore::performance::Calibration fit(llvm::ArrayRef<const Sample *> samples,
                                     llvm::ArrayRef<mpcore::performance::Constant> free,
                                     const mpcore::performance::Calibration &start);

/// Errors on samples that the fit did not see: those of one fold, with constants fitted on the
/// others. Samples of equal m, n and k are in one fold, whatever their batch.
std::vector<double> crossValidate(llvm::ArrayRef<Sample> samples,
                                  llvm::ArrayRef<mpcore::performance::Constant> free,
                                  const mpcore::performance::Calibration &start, unsigned folds);

} // namespace fitmodel

#endif // MP_TOOLS_DEV_FITMODEL_FIT_H
