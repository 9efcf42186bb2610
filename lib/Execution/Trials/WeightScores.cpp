// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program as given runs with one weight changed at a time, in one compiled form.

#include "WeightScores.h"

#include "mlir/IR/Diagnostics.h"
#include "mp/Analysis/Parameters.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Execution/Compare/Trace.h"
#include "mp/Execution/Executable.h"
#include "mp/Numerics/Cast.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;

static double squareNorm(const Array &array) {
  double sum = 0;
  for (int64_t i = 0, e = array.size(); i < e; ++i)
    sum += array.value(i) * array.value(i);
  return sum;
}

/// Adds up the squares of what rounding to a format changes. Eight bits and less come with a scale
/// that makes the largest magnitude the format's. `format` is no split one.
static double roundingSquares(const Array &weight, StringRef format) {
  auto type = ElementType::parse(assignment::storedName(format.str()));
  const bool isInteger = format == "int8";
  double largest = 0, sum = 0;
  for (int64_t i = 0, e = weight.size(); i < e; ++i)
    largest = std::max(largest, std::fabs(weight.value(i)));
  double scale = 1;
  if (largest > 0 && (isInteger || type->bits() <= 8))
    scale = (isInteger ? 127 : numerics::info(type->format).maxFinite) / largest;
  for (int64_t i = 0, e = weight.size(); i < e; ++i) {
    const double value = weight.value(i) * scale;
    const double rounded =
        isInteger ? std::nearbyint(value)
                  : numerics::decode(numerics::encode(value, type->format), type->format);
    sum += std::pow((value - rounded) / scale, 2);
  }
  return sum;
}

/// `weight + by(i)`, in its own type.
static Array moved(const Array &weight, llvm::function_ref<double(int64_t)> by) {
  Array values(ElementType::floating(numerics::Format::F64), weight.shape);
  for (int64_t i = 0, e = weight.size(); i < e; ++i)
    values.setPattern(i, llvm::bit_cast<uint64_t>(weight.value(i) + by(i)));
  return llvm::cantFail(convertTo(std::move(values), weight.type)); // floats to floats
}

/// Uniform, of mean zero and variance one.
static Array noiseFor(const Array &weight, uint64_t seed) {
  return uniformArray(ElementType::floating(numerics::Format::F64), weight.shape, seed,
                      std::sqrt(3.0), 0);
}

namespace {
class Scoring {
public:
  Scoring(const Trials &trials, ArrayRef<std::string> formats) : trials(trials), formats(formats) {}

  llvm::Error run(ModuleOp source, StringRef entry, int64_t draws) {
    OwningOpRef<ModuleOp> program = cast<ModuleOp>(source->clone());
    if (llvm::Error error = prepare(*program, entry))
      return error;
    for (int64_t draw = 0; draw < draws && !rows.empty(); ++draw)
      if (llvm::Error error = trials.runChanged(
              *program, draw,
              [&](Trials::RunWith runWith, ArrayRef<Array> arguments) -> llvm::Error {
                return measure(runWith, arguments, uint64_t(draw));
              }))
        return error;
    return llvm::Error::success();
  }

  std::vector<assignment::MeasuredWeight> rows;

private:
  /// Finds parameters, what their noise is seen in, and gradients, which become results.
  llvm::Error prepare(ModuleOp program, StringRef entry) {
    auto function = findEntry(program, entry);
    if (!function)
      return function.takeError();
    auto signature = signatureOf(*function);
    if (!signature)
      return signature.takeError();
    const unsigned own = function->getNumResults();
    std::map<unsigned, Value> gradients;
    SmallVector<bool> isState(own);
    FailureOr<TrainingRoles> roles = failure();
    {
      // Most programs are no train steps.
      ScopedDiagnosticHandler quiet(program.getContext(), [](Diagnostic &) { return success(); });
      roles = findTrainingRoles(*function);
    }
    if (succeeded(roles))
      for (const Gradient &gradient : roles->gradients)
        if (gradient.argument &&
            gradient.value.getType() == function->getArgument(*gradient.argument).getType())
          gradients.try_emplace(*gradient.argument, gradient.value);
    // Seeds are found in other programs, too, but none of their arguments moves.
    const bool isStep = !gradients.empty();
    if (isStep)
      for (const TrainingState &state : roles->state)
        isState[state.result] = true;
    for (unsigned i = 0; i < own; ++i)
      if (!isState[i])
        seen.push_back(i);
    SmallVector<Value> values;
    for (unsigned i = 0; i < function->getNumArguments(); ++i) {
      const Parameter &parameter = signature->arguments[i];
      const bool isWeight = isStep
                                ? gradients.count(i)
                                : !whyParameter(cast<FunctionOpInterface>(**function), i).empty();
      if (!isWeight || !parameter.type.isFloat || parameter.shape.size() < 2)
        continue;
      rows.push_back({i, parameter.name, parameter.typeStr(), {}, {}});
      if (auto gradient = gradients.find(i); gradient != gradients.end()) {
        gradientOf[i] = own + values.size();
        values.push_back(gradient->second);
      }
    }
    return returnValues(*function, values);
  }

  std::vector<Array> visible(ArrayRef<Array> results) const {
    std::vector<Array> some;
    for (unsigned i : seen)
      some.push_back(results[i]);
    return some;
  }

  llvm::Error measure(Trials::RunWith runWith, ArrayRef<Array> arguments, uint64_t draw) {
    auto exact = runWith(std::nullopt, {});
    if (!exact)
      return exact.takeError();
    for (assignment::MeasuredWeight &row : rows) {
      const Array &weight = arguments[row.argument];
      const double whole = squareNorm(weight);
      const uint64_t seed = (draw << 20) + row.argument + 1;
      const Array noise = noiseFor(weight, seed);
      std::optional<double> curvature;
      if (gradientOf.count(row.argument) && whole > 0) {
        auto found = curvatureOf(runWith, weight, row.argument, noise);
        if (!found)
          return found.takeError();
        curvature = *found;
        row.curvature.push_back(*found);
      }
      for (const std::string &format : formats) {
        const double squares = roundingSquares(weight, format);
        const double size = whole > 0 ? std::sqrt(squares / whole) : 0;
        auto results = runWith(row.argument, moved(weight, [&](int64_t i) {
                                 return size * weight.value(i) * noise.value(i);
                               }));
        if (!results)
          return results.takeError();
        assignment::WeightScore &score = row.formats[assignment::storedName(format)];
        score.noise.push_back(meanSquareError(visible(*results), visible(*exact)));
        if (curvature)
          score.secondOrder.push_back(*curvature / double(weight.size()) * squares / 2);
      }
    }
    return llvm::Error::success();
  }

  llvm::Expected<double> curvatureOf(Trials::RunWith runWith, const Array &weight,
                                     unsigned argument, const Array &noise) {
    const double step = 1e-2 * std::sqrt(squareNorm(weight) / double(weight.size()));
    auto sign = [&](int64_t i) { return noise.value(i) < 0 ? -1.0 : 1.0; };
    double sum = 0;
    for (double side : {1.0, -1.0}) {
      auto results =
          runWith(argument, moved(weight, [&](int64_t i) { return side * step * sign(i); }));
      if (!results)
        return results.takeError();
      const Array &gradient = (*results)[gradientOf[argument]];
      for (int64_t i = 0, e = gradient.size(); i < e; ++i)
        sum += side * sign(i) * gradient.value(i);
    }
    return sum / (2 * step);
  }

  const Trials &trials;
  ArrayRef<std::string> formats;
  SmallVector<unsigned> seen;            ///< results that are no state
  std::map<unsigned, size_t> gradientOf; ///< by argument, the result
};
} // namespace

llvm::Expected<std::vector<assignment::MeasuredWeight>>
mlir::mp::measureWeights(ModuleOp source, StringRef entry, const Trials &trials,
                         const TrialData &data, ArrayRef<std::string> formats) {
  Scoring scoring(trials, formats);
  if (llvm::Error error = scoring.run(source, entry, data.draws))
    return std::move(error);
  return std::move(scoring.rows);
}

void mlir::mp::printWeights(llvm::raw_ostream &os, ArrayRef<assignment::MeasuredWeight> weights) {
  if (weights.empty())
    os << "weights: no argument is a parameter of two dimensions or more\n";
  for (const assignment::MeasuredWeight &weight : weights)
    for (const auto &[format, score] : weight.formats) {
      os << "weight " << weight.argument << (weight.name.empty() ? "" : " " + weight.name) << " ("
         << weight.type << "), " << format << ": noise of its rounding moves results by "
         << llvm::format("%.3g", std::sqrt(assignment::meanOf(score.noise))) << ", deviation "
         << llvm::format("%.2g", assignment::relativeDeviation(score.noise))
         << " of the mean square";
      if (!score.secondOrder.empty())
        os << "; second order: the loss by "
           << llvm::format("%.3g", assignment::meanOf(score.secondOrder)) << ", deviation "
           << llvm::format("%.2g", assignment::relativeDeviation(score.secondOrder));
      os << "\n";
    }
}
