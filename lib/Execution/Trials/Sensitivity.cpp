// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One trial per layer, if asked for, one per contraction and format, and some of random sets, to
// see whether errors add.

#include "Sensitivity.h"

#include "WeightScores.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mp/Analysis/FunctionHash.h"
#include "mp/Analysis/Locations.h"
#include "mp/Execution/Executable.h"
#include "mp/Support/Files.h"
#include "mp/Support/Version.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SHA256.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace mlir::mp;

static std::string hashOf(StringRef text) {
  llvm::SHA256 hash;
  hash.update(text);
  return llvm::toHex(hash.final(), /*LowerCase=*/true).substr(0, 16);
}

static std::string versionText() {
  std::string text;
  llvm::raw_string_ostream os(text);
  support::printVersion(os);
  return text;
}

/// A hash of everything that the arguments are made from, files included.
static llvm::Expected<std::string> hashOfData(const TrialData &data) {
  std::string text = llvm::formatv("{0} {1} {2} {3}\n", data.steps, data.draws, data.inputs.seed,
                                   data.inputs.dynamicSize);
  auto addFile = [&](StringRef path) -> llvm::Error {
    auto buffer = support::readFile(path, path, /*isText=*/false);
    if (!buffer)
      return buffer.takeError();
    text += hashOf((*buffer)->getBuffer()) + "\n";
    return llvm::Error::success();
  };
  for (const std::string &input : data.inputs.inputs) {
    const size_t at = input.find('@');
    if (at == std::string::npos) {
      text += input + "\n";
      continue;
    }
    text += input.substr(0, at) + "@";
    StringRef path = StringRef(input).drop_front(at + 1);
    if (auto [file, name] = path.split(".safetensors:"); !name.empty()) {
      text += name.str();
      path = path.drop_back(name.size() + 1);
    }
    if (llvm::Error error = addFile(path))
      return std::move(error);
  }
  if (!data.inputs.params.empty())
    if (llvm::Error error = addFile(data.inputs.params))
      return std::move(error);
  return hashOf(text);
}

/// `format=` of the options replaced by another; int8 is a recipe, which goes for theirs.
static std::string withFormat(StringRef assign, StringRef format) {
  const bool isInteger = format == "int8";
  std::string text = isInteger ? "format=bf16 recipe=int8" : "format=" + format.str();
  SmallVector<StringRef> words;
  assign.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words)
    if (!word.starts_with("format=") && !(isInteger && word.starts_with("recipe=")))
      text += " " + word.str();
  return text;
}

/// The share of rows of the first matrix among the results whose largest element is another; none
/// where there is no matrix.
static std::optional<double> rowsApart(ArrayRef<Array> results, ArrayRef<Array> reference) {
  for (auto [result, exact] : llvm::zip_equal(results, reference)) {
    if (!exact.type.isFloat || exact.shape.size() != 2 || exact.shape[1] < 2 || !exact.shape[0])
      continue;
    auto largestOf = [columns = exact.shape[1]](const Array &array, int64_t row) {
      int64_t largest = 0;
      for (int64_t column = 1; column < columns; ++column)
        if (array.value(row * columns + column) > array.value(row * columns + largest))
          largest = column;
      return largest;
    };
    int64_t apart = 0;
    for (int64_t row = 0; row < exact.shape[0]; ++row)
      apart += largestOf(result, row) != largestOf(exact, row);
    return double(apart) / double(exact.shape[0]);
  }
  return std::nullopt;
}

namespace {
class Measuring {
public:
  Measuring(ModuleOp source, StringRef entry, StringRef assign, const TrialData &data,
            const SensitivityOptions &options, const assignment::MeasuredErrors *known)
      : source(source), entry(entry), assign(assign), data(data), options(options), known(known) {}

  llvm::Error run() {
    auto hash = hashOfData(data);
    if (!hash)
      return hash.takeError();
    report.errors.data = *hash;
    for (const std::string &format : options.formats) {
      auto trials = Trials::create(source, entry, withFormat(assign, format), data);
      if (!trials)
        return trials.takeError();
      if (report.errors.functions.empty())
        addFunctions(*trials);
      if (llvm::Error error = measure(*trials, format))
        return error;
      if (options.weights && format == options.formats.back())
        return scoreWeights(*trials);
    }
    return llvm::Error::success();
  }

  SensitivityReport report;

private:
  /// Scores weights in all formats at once; what the file has under the same key stays.
  llvm::Error scoreWeights(const Trials &trials) {
    std::string text = llvm::join(options.formats, ",") + " " + entry.str() + " " + versionText() +
                       report.errors.data;
    for (const assignment::MeasuredFunction &function : report.errors.functions)
      text += " " + function.hash;
    report.errors.weightsKey = hashOf(text);
    if (known && known->weightsKey == report.errors.weightsKey) {
      report.errors.weights = known->weights;
      return llvm::Error::success();
    }
    auto weights = measureWeights(source, entry, trials, data, options.formats);
    if (!weights)
      return weights.takeError();
    report.errors.weights = std::move(*weights);
    return llvm::Error::success();
  }

  /// Makes a row for each contraction, and one for each layer of several.
  void addFunctions(const Trials &trials) {
    for (const TrialContraction &place : trials.contractions()) {
      auto *function = report.errors.functions.empty() ? nullptr : &report.errors.functions.back();
      if (!function || function->name != place.function) {
        auto op = source.lookupSymbol<func::FuncOp>(place.function);
        report.errors.functions.push_back({place.function, hashFunction(op), {}, {}});
        function = &report.errors.functions.back();
      }
      function->contractions.push_back({place.ordinal, place.op, place.location, place.name, {}});
      if (std::string layer = folderOf(place.name); options.byLayer && !layer.empty())
        setOf(*function, layer).ordinals.push_back(place.ordinal);
    }
    for (assignment::MeasuredFunction &function : report.errors.functions)
      llvm::erase_if(function.sets, [](auto &set) { return set.ordinals.size() < 2; });
    report.lacksLayers =
        options.byLayer &&
        llvm::all_of(report.errors.functions, [](auto &function) { return function.sets.empty(); });
  }

  static assignment::MeasuredSet &setOf(assignment::MeasuredFunction &function, StringRef name) {
    for (assignment::MeasuredSet &set : function.sets)
      if (set.name == name)
        return set;
    return function.sets.emplace_back(assignment::MeasuredSet{name.str(), {}, {}});
  }

  assignment::MeasuredContraction &rowOf(const TrialContraction &place) {
    for (assignment::MeasuredFunction &function : report.errors.functions)
      for (assignment::MeasuredContraction &row : function.contractions)
        if (function.name == place.function && row.ordinal == place.ordinal)
          return row;
    llvm_unreachable("addFunctions has made a row for each");
  }

  /// Hashes all that the error of contractions of a function follows from.
  std::string keyOf(StringRef function, ArrayRef<unsigned> ordinals, StringRef format) const {
    std::string hash;
    for (const assignment::MeasuredFunction &one : report.errors.functions)
      hash += one.hash + (one.name == function ? "*" : " ");
    SmallVector<std::string> numbers;
    for (unsigned ordinal : ordinals)
      numbers.push_back(std::to_string(ordinal));
    return hashOf(hash + llvm::formatv(" {0} {1} {2} {3} {4}", llvm::join(numbers, ","),
                                       withFormat(assign, format), report.errors.data,
                                       versionText(), entry)
                             .str());
  }

  /// Returns what an earlier run has measured under the key.
  const assignment::MeasuredError *findKnown(StringRef key, StringRef format) const {
    const assignment::MeasuredError *found = nullptr;
    auto look = [&](const auto &rows) {
      for (const auto &row : rows)
        if (auto error = row.formats.find(format.str());
            error != row.formats.end() && error->second.key == key)
          found = &error->second;
    };
    if (known)
      for (const assignment::MeasuredFunction &function : known->functions) {
        look(function.contractions);
        look(function.sets);
      }
    return found;
  }

  /// The error of contractions of a function that are narrow together, from the file or measured.
  llvm::Expected<assignment::MeasuredError> errorOf(const Trials &trials, StringRef function,
                                                    ArrayRef<unsigned> ordinals, StringRef format) {
    const std::string key = keyOf(function, ordinals, format);
    if (const auto *before = findKnown(key, assignment::storedName(format.str()))) {
      ++report.reused;
      return *before;
    }
    SmallVector<unsigned> narrow;
    for (auto [number, place] : llvm::enumerate(trials.contractions()))
      if (place.function == function && llvm::is_contained(ordinals, place.ordinal))
        narrow.push_back(unsigned(number));
    auto measured = errorsWith(trials, narrow);
    if (measured) {
      measured->key = key;
      measuredAny = true;
    }
    return measured;
  }

  /// The error of each draw with `narrow` narrow and the rest wide.
  llvm::Expected<assignment::MeasuredError> errorsWith(const Trials &trials,
                                                       ArrayRef<unsigned> narrow) {
    if (!reference) {
      auto run = trials.runReference();
      if (!run)
        return run.takeError();
      reference = std::move(*run);
    }
    SmallVector<unsigned> wide;
    for (unsigned i = 0; i < trials.contractions().size(); ++i)
      if (!llvm::is_contained(narrow, i))
        wide.push_back(i);
    auto program = trials.convertWith(wide);
    if (!program)
      return program.takeError();
    auto run = trials.run(**program);
    if (!run)
      return run.takeError();
    ++report.runs;
    assignment::MeasuredError measured;
    for (auto [results, exact] : llvm::zip_equal(run->results, reference->results))
      measured.draws.push_back(meanSquareError(results, exact));
    addMetrics(*run, measured);
    return measured;
  }

  void addMetrics(const TrialRun &run, assignment::MeasuredError &measured) {
    for (size_t draw = 0; draw < run.results.size(); ++draw) {
      if (!reference->losses[draw].empty()) {
        report.errors.metric = "loss";
        const double exact = reference->losses[draw].back();
        measured.metrics.push_back(std::fabs(run.losses[draw].back() - exact) / std::fabs(exact));
      } else if (auto rows = rowsApart(run.results[draw], reference->results[draw])) {
        report.errors.metric = "rows";
        measured.metrics.push_back(*rows);
      }
    }
  }

  /// Measures layers; contractions of those that are not opened get their share.
  llvm::Error measureSets(const Trials &trials, StringRef format) {
    const std::string stored = assignment::storedName(format.str());
    for (assignment::MeasuredFunction &function : report.errors.functions)
      for (assignment::MeasuredSet &set : function.sets) {
        auto measured = errorOf(trials, function.name, set.ordinals, format);
        if (!measured)
          return measured.takeError();
        set.formats[stored] = *measured;
        const double mean = measured->mean();
        if (!std::isfinite(mean) || std::sqrt(mean) > options.openAbove)
          continue;
        assignment::MeasuredError share{{}, {}, "", set.name};
        for (double draw : measured->draws)
          share.draws.push_back(draw / double(set.ordinals.size()));
        for (assignment::MeasuredContraction &row : function.contractions)
          if (llvm::is_contained(set.ordinals, row.ordinal))
            row.formats[stored] = share;
      }
    return llvm::Error::success();
  }

  llvm::Error measure(const Trials &trials, StringRef format) {
    const std::string stored = assignment::storedName(format.str());
    measuredAny = false;
    if (llvm::Error error = measureSets(trials, format))
      return error;
    std::vector<double> means;
    for (const TrialContraction &place : trials.contractions()) {
      auto &formats = rowOf(place).formats;
      if (!formats.count(stored)) {
        auto measured = errorOf(trials, place.function, place.ordinal, format);
        if (!measured)
          return measured.takeError();
        formats[stored] = std::move(*measured);
      }
      means.push_back(formats[stored].mean());
    }
    if (llvm::any_of(means, [](double mean) { return !std::isfinite(mean); }))
      report.notAdditive.push_back(stored);
    else if (measuredAny)
      return testSums(trials, means);
    else if (known)
      report.errors.additiveWithin = std::max(report.errors.additiveWithin, known->additiveWithin);
    if (!measuredAny && known)
      report.errors.metric = known->metric;
    return llvm::Error::success();
  }

  /// Measures random sets beside the sums of their members.
  llvm::Error testSums(const Trials &trials, ArrayRef<double> means) {
    std::mt19937 random(1);
    for (size_t set = 0; means.size() > 1 && set < options.randomSets; ++set) {
      SmallVector<unsigned> narrow;
      double sum = 0;
      for (unsigned i = 0; i < means.size(); ++i)
        if (random() % 2) {
          narrow.push_back(i);
          sum += means[i];
        }
      if (narrow.size() < 2 || sum == 0)
        continue;
      auto measured = errorsWith(trials, narrow);
      if (!measured)
        return measured.takeError();
      const double ratio = measured->mean() / sum;
      report.errors.additiveWithin =
          std::max({report.errors.additiveWithin, ratio, ratio > 0 ? 1 / ratio : INFINITY});
    }
    return llvm::Error::success();
  }

  ModuleOp source;
  StringRef entry, assign;
  const TrialData &data;
  const SensitivityOptions &options;
  const assignment::MeasuredErrors *known;
  std::optional<TrialRun> reference; ///< the program as given
  bool measuredAny = false;          ///< in the present format
};
} // namespace

llvm::Expected<SensitivityReport>
mlir::mp::measureSensitivity(ModuleOp source, StringRef entry, StringRef assign,
                             const TrialData &data, const SensitivityOptions &options,
                             const assignment::MeasuredErrors *known) {
  Measuring measuring(source, entry, assign, data, options, known);
  if (llvm::Error error = measuring.run())
    return std::move(error);
  return std::move(measuring.report);
}
