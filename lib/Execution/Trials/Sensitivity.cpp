// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One trial per contraction and format, and some of random sets, to see whether errors add.

#include "Sensitivity.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mp/Analysis/FunctionHash.h"
#include "mp/Execution/Executable.h"
#include "mp/Support/Files.h"
#include "mp/Support/Version.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
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

/// `format=` of the options replaced by another.
static std::string withFormat(StringRef assign, StringRef format) {
  std::string text = "format=" + format.str();
  SmallVector<StringRef> words;
  assign.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words)
    if (!word.starts_with("format="))
      text += " " + word.str();
  return text;
}

/// The name under which errors of a format are looked up.
static std::string storedName(StringRef format) {
  return format == "e4m3" ? "f8E4M3FN" : format == "e5m2" ? "f8E5M2" : format.str();
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
    }
    return llvm::Error::success();
  }

  SensitivityReport report;

private:
  void addFunctions(const Trials &trials) {
    for (const TrialContraction &place : trials.contractions()) {
      auto *function = report.errors.functions.empty() ? nullptr : &report.errors.functions.back();
      if (!function || function->name != place.function) {
        auto op = source.lookupSymbol<func::FuncOp>(place.function);
        report.errors.functions.push_back({place.function, hashFunction(op), {}});
        function = &report.errors.functions.back();
      }
      function->contractions.push_back({place.ordinal, place.op, place.location, place.name, {}});
    }
  }

  assignment::MeasuredContraction &rowOf(const TrialContraction &place) {
    for (assignment::MeasuredFunction &function : report.errors.functions)
      for (assignment::MeasuredContraction &row : function.contractions)
        if (function.name == place.function && row.ordinal == place.ordinal)
          return row;
    llvm_unreachable("addFunctions has made a row for each");
  }

  std::string keyOf(const TrialContraction &place, StringRef format) const {
    std::string hash;
    for (const assignment::MeasuredFunction &function : report.errors.functions)
      hash += function.hash + (function.name == place.function ? "*" : " ");
    return hashOf(hash + llvm::formatv(" {0} {1} {2} {3} {4}", place.ordinal,
                                       withFormat(assign, format), report.errors.data,
                                       versionText(), entry)
                             .str());
  }

  /// Returns what an earlier run has measured under the key.
  const assignment::MeasuredError *findKnown(StringRef key, StringRef format) const {
    if (!known)
      return nullptr;
    for (const assignment::MeasuredFunction &function : known->functions)
      for (const assignment::MeasuredContraction &row : function.contractions)
        if (auto error = row.formats.find(format.str());
            error != row.formats.end() && error->second.key == key)
          return &error->second;
    return nullptr;
  }

  /// The error of each draw with `narrow` narrow and the rest wide.
  llvm::Expected<std::vector<double>> errorsWith(const Trials &trials, ArrayRef<unsigned> narrow) {
    if (!reference) {
      auto run = trials.runSource();
      if (!run)
        return run.takeError();
      reference = std::move(*run);
    }
    SmallVector<unsigned> wide;
    for (unsigned i = 0; i < trials.contractions().size(); ++i)
      if (!llvm::is_contained(narrow, i))
        wide.push_back(i);
    auto policy = trials.policyWith(wide);
    if (!policy)
      return policy.takeError();
    auto program = trials.convert(*policy);
    if (!program)
      return program.takeError();
    auto run = trials.run(**program);
    if (!run)
      return run.takeError();
    ++report.runs;
    std::vector<double> errors;
    for (auto [results, exact] : llvm::zip_equal(run->results, reference->results))
      errors.push_back(meanSquareError(results, exact));
    return errors;
  }

  llvm::Error measure(const Trials &trials, StringRef format) {
    const std::string stored = storedName(format);
    bool measuredAny = false;
    std::vector<double> means;
    for (auto [number, place] : llvm::enumerate(trials.contractions())) {
      assignment::MeasuredError error;
      error.key = keyOf(place, format);
      if (const auto *before = findKnown(error.key, stored)) {
        error = *before;
        ++report.reused;
      } else {
        auto draws = errorsWith(trials, {unsigned(number)});
        if (!draws)
          return draws.takeError();
        error.draws = std::move(*draws);
        measuredAny = true;
      }
      means.push_back(error.mean());
      rowOf(place).formats[stored] = std::move(error);
    }
    if (llvm::any_of(means, [](double mean) { return !std::isfinite(mean); }))
      report.notAdditive.push_back(stored);
    else if (measuredAny)
      return testSums(trials, means);
    else if (known)
      report.errors.additiveWithin = std::max(report.errors.additiveWithin, known->additiveWithin);
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
      auto errors = errorsWith(trials, narrow);
      if (!errors)
        return errors.takeError();
      assignment::MeasuredError measured{*errors, ""};
      const double ratio = measured.mean() / sum;
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
  std::optional<TrialRun> reference;
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

void mlir::mp::printSensitivity(llvm::raw_ostream &os, const SensitivityReport &report) {
  struct Row {
    std::string format;
    const assignment::MeasuredContraction *contraction;
    const assignment::MeasuredError *error;
  };
  std::vector<Row> rows;
  for (const assignment::MeasuredFunction &function : report.errors.functions)
    for (const assignment::MeasuredContraction &contraction : function.contractions)
      for (const auto &[format, error] : contraction.formats)
        rows.push_back({format, &contraction, &error});
  llvm::stable_sort(rows, [](const Row &x, const Row &y) {
    return std::pair(x.format, -x.error->mean()) < std::pair(y.format, -y.error->mean());
  });
  for (const Row &row : rows)
    os << row.format << ": error " << llvm::format("%.3g", std::sqrt(row.error->mean()))
       << ", worst draw " << llvm::format("%.3g", std::sqrt(row.error->worst())) << ", deviation "
       << llvm::format("%.2g", row.error->mean() > 0 && std::isfinite(row.error->mean())
                                   ? row.error->deviation() / row.error->mean()
                                   : 0.0)
       << " of the mean square: contraction " << row.contraction->ordinal << ", "
       << row.contraction->op << " at " << row.contraction->location << "\n";
  os << report.runs << " runs, " << report.reused << " numbers from the file there was";
  if (report.errors.additiveWithin > 0)
    os << "; errors of random sets are sums within "
       << llvm::format("%.2f", report.errors.additiveWithin);
  os << "\n";
  for (const std::string &format : report.notAdditive)
    os << "note: " << format
       << ": a contraction alone makes what is no number; decide by ranges before errors\n";
}
