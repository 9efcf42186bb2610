// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what each contraction adds to the error of the results in each format, measured on data: a
// file that mp-run --sensitivity writes and that stands in for the modelled error.

#ifndef MP_ASSIGNMENT_MEASUREDERRORS_H
#define MP_ASSIGNMENT_MEASUREDERRORS_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <string>
#include <vector>

namespace mpcore::assignment {

/// Version of the file; a reader refuses others.
inline constexpr int64_t kMeasuredErrorsVersion = 1;

/// Mean square errors of the results, each relative to its own mean square and all added up, one a
/// draw. Infinity stands for results that were no numbers.
struct MeasuredError {
  std::vector<double> draws;
  /// By draw, they say what a user of the results notices: see MeasuredErrors::metric.
  std::vector<double> metrics;
  std::string key; ///< hash of all that the numbers follow from
  /// The set whose error this is an equal share of; empty where it was measured alone.
  std::string set;

  double mean() const;
  double deviation() const; ///< over the draws
  double worst() const;
};

/// One contraction in one function; errors by format ("bf16", "f16", "f8E4M3FN").
struct MeasuredContraction {
  unsigned ordinal = 0; ///< among the contractions of the function, in walk order
  std::string op, location, name;
  std::map<std::string, MeasuredError> formats;
};

/// Contractions that were narrow together, such as those of a layer.
struct MeasuredSet {
  std::string name;
  std::vector<unsigned> ordinals;
  std::map<std::string, MeasuredError> formats;
};

struct MeasuredFunction {
  std::string name, hash; ///< of its content
  std::vector<MeasuredContraction> contractions;
  std::vector<MeasuredSet> sets; ///< where it was asked for them
};

/// Says how much results mind that one weight is stored in a format, by a number a draw.
struct WeightScore {
  std::vector<double> noise;       ///< mean square errors under noise as large as the rounding
  std::vector<double> secondOrder; ///< what the loss is expected to gain by it; or none
};

/// One parameter of the entry.
struct MeasuredWeight {
  unsigned argument = 0;
  std::string name, type;
  std::vector<double> curvature; ///< traces of the Hessian's block, a draw each; or none
  std::map<std::string, WeightScore> formats;
};

double meanOf(const std::vector<double> &numbers);
/// The deviation relative to the mean's magnitude; 0 where there is none.
double relativeDeviation(const std::vector<double> &numbers);

/// The name under which numbers of a format, as `format=` has it, are kept.
std::string storedName(const std::string &format);

class MeasuredErrors {
public:
  std::string data; ///< hash of the inputs
  /// Names what `metrics` are: relative changes of the "loss", or shares of "rows" whose largest
  /// element is another; empty where results are neither.
  std::string metric;
  std::vector<MeasuredFunction> functions;
  std::vector<MeasuredWeight> weights; ///< where it was asked for them
  std::string weightsKey;              ///< hash of all that those follow from
  /// Measured over summed errors of random sets of contractions: at worst this factor, one way or
  /// the other; 0 if it was not looked at.
  double additiveWithin = 0;

  llvm::json::Value toJSON() const;
  /// Errors name what was expected.
  static llvm::Expected<MeasuredErrors> parse(llvm::StringRef text);

  const MeasuredFunction *find(llvm::StringRef function) const;
  /// The mean square error of contraction `ordinal` in `format`, or nothing.
  static std::optional<double> lookup(const MeasuredFunction &function, unsigned ordinal,
                                      llvm::StringRef format);
};

} // namespace mpcore::assignment

#endif // MP_ASSIGNMENT_MEASUREDERRORS_H
