// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes measured errors.

#include "mp/Assignment/MeasuredErrors.h"
#include "mp/Support/JSON.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mpcore;
using namespace mpcore::assignment;
using llvm::createStringError;
using llvm::json::Array;
using llvm::json::Object;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

double assignment::meanOf(const std::vector<double> &numbers) {
  double sum = 0;
  for (double number : numbers)
    sum += number;
  return numbers.empty() ? 0 : sum / double(numbers.size());
}

static double deviationOf(const std::vector<double> &numbers) {
  const double mean = meanOf(numbers);
  if (numbers.size() < 2 || !std::isfinite(mean))
    return 0;
  double squares = 0;
  for (double number : numbers)
    squares += (number - mean) * (number - mean);
  return std::sqrt(squares / double(numbers.size() - 1));
}

double assignment::relativeDeviation(const std::vector<double> &numbers) {
  const double mean = std::fabs(meanOf(numbers));
  return mean > 0 && std::isfinite(mean) ? deviationOf(numbers) / mean : 0;
}

std::string assignment::storedName(const std::string &format) {
  return format == "e4m3" ? "f8E4M3FN" : format == "e5m2" ? "f8E5M2" : format;
}

double MeasuredError::mean() const { return meanOf(draws); }

double MeasuredError::deviation() const { return deviationOf(draws); }

double MeasuredError::worst() const {
  return draws.empty() ? 0 : *std::max_element(draws.begin(), draws.end());
}

/// Infinity is null.
static Array toArray(const std::vector<double> &numbers) {
  Array array;
  for (double number : numbers)
    array.push_back(std::isfinite(number) ? llvm::json::Value(number) : nullptr);
  return array;
}

static std::vector<double> fromArray(const Array *array) {
  std::vector<double> numbers;
  for (const llvm::json::Value &number : array ? *array : Array())
    numbers.push_back(number.getAsNumber().value_or(kInfinity));
  return numbers;
}

static Array weightsToJSON(const std::vector<MeasuredWeight> &weights) {
  Array rows;
  for (const MeasuredWeight &weight : weights) {
    Object formats;
    for (const auto &[format, score] : weight.formats)
      formats[format] =
          Object{{"noise", toArray(score.noise)}, {"second_order", toArray(score.secondOrder)}};
    rows.push_back(Object{{"argument", weight.argument},
                          {"name", weight.name},
                          {"type", weight.type},
                          {"curvature", toArray(weight.curvature)},
                          {"formats", std::move(formats)}});
  }
  return rows;
}

static llvm::Error parseWeights(const Array &rows, std::vector<MeasuredWeight> &weights) {
  for (const llvm::json::Value &value : rows) {
    const Object *row = value.getAsObject();
    auto argument = row ? row->getInteger("argument") : std::nullopt;
    const Object *formats = row ? row->getObject("formats") : nullptr;
    if (!argument || *argument < 0 || !formats)
      return createStringError("expected 'argument' and 'formats' of each of 'weights'");
    MeasuredWeight &weight = weights.emplace_back();
    weight.argument = unsigned(*argument);
    weight.name = row->getString("name").value_or("").str();
    weight.type = row->getString("type").value_or("").str();
    weight.curvature = fromArray(row->getArray("curvature"));
    for (const auto &[format, entry] : *formats)
      if (const Object *score = entry.getAsObject())
        weight.formats[format.str()] = {fromArray(score->getArray("noise")),
                                        fromArray(score->getArray("second_order"))};
  }
  return llvm::Error::success();
}

static Object formatsToJSON(const std::map<std::string, MeasuredError> &errors) {
  Object formats;
  for (const auto &[format, error] : errors) {
    Object entry{
        {"draws", toArray(error.draws)}, {"metrics", toArray(error.metrics)}, {"key", error.key}};
    if (!error.set.empty())
      entry["set"] = error.set;
    formats[format] = std::move(entry);
  }
  return formats;
}

static Object functionToJSON(const MeasuredFunction &function) {
  Array rows;
  for (const MeasuredContraction &contraction : function.contractions)
    rows.push_back(Object{{"contraction", contraction.ordinal},
                          {"op", contraction.op},
                          {"location", contraction.location},
                          {"name", contraction.name},
                          {"formats", formatsToJSON(contraction.formats)}});
  Object object{
      {"name", function.name}, {"hash", function.hash}, {"contractions", std::move(rows)}};
  Array sets;
  for (const MeasuredSet &set : function.sets)
    sets.push_back(Object{{"name", set.name},
                          {"contractions", Array(set.ordinals)},
                          {"formats", formatsToJSON(set.formats)}});
  if (!sets.empty())
    object["sets"] = std::move(sets);
  return object;
}

llvm::json::Value MeasuredErrors::toJSON() const {
  Array functionRows;
  for (const MeasuredFunction &function : functions)
    functionRows.push_back(functionToJSON(function));
  Object file{{"mp_sensitivity", kMeasuredErrorsVersion},
              {"data", data},
              {"metric", metric},
              {"additive_within", additiveWithin},
              {"functions", std::move(functionRows)}};
  if (!weightsKey.empty()) {
    file["weights"] = weightsToJSON(weights);
    file["weights_key"] = weightsKey;
  }
  return file;
}

static llvm::Error parseFormats(const Object &formats,
                                std::map<std::string, MeasuredError> &errors) {
  for (const auto &[format, value] : formats) {
    const Object *entry = value.getAsObject();
    const Array *draws = entry ? entry->getArray("draws") : nullptr;
    if (!draws || draws->empty())
      return createStringError("expected 'draws', an array of errors, of format '" +
                               llvm::Twine(format.str()) + "'");
    MeasuredError &error = errors[format.str()];
    error.key = entry->getString("key").value_or("").str();
    error.set = entry->getString("set").value_or("").str();
    error.metrics = fromArray(entry->getArray("metrics"));
    for (const llvm::json::Value &draw : *draws) {
      const double number = draw.getAsNumber().value_or(kInfinity);
      if (!(number >= 0))
        return createStringError("expected errors of at least 0, found " + std::to_string(number));
      error.draws.push_back(number);
    }
  }
  return llvm::Error::success();
}

static llvm::Error parseContraction(const llvm::json::Value &entry, MeasuredFunction &function) {
  const Object *object = entry.getAsObject();
  auto ordinal = object ? object->getInteger("contraction") : std::nullopt;
  const Object *formats = object ? object->getObject("formats") : nullptr;
  if (!ordinal || *ordinal < 0 || !formats)
    return createStringError("expected 'contraction' and 'formats' in function '" + function.name +
                             "'");
  MeasuredContraction &contraction = function.contractions.emplace_back();
  contraction.ordinal = unsigned(*ordinal);
  contraction.op = object->getString("op").value_or("").str();
  contraction.location = object->getString("location").value_or("").str();
  contraction.name = object->getString("name").value_or("").str();
  return parseFormats(*formats, contraction.formats);
}

static llvm::Error parseSet(const llvm::json::Value &entry, MeasuredFunction &function) {
  const Object *object = entry.getAsObject();
  const Array *ordinals = object ? object->getArray("contractions") : nullptr;
  const Object *formats = object ? object->getObject("formats") : nullptr;
  if (!ordinals || !formats || !object->getString("name"))
    return createStringError("expected 'name', 'contractions' and 'formats' of each of 'sets'");
  MeasuredSet &set = function.sets.emplace_back();
  set.name = object->getString("name")->str();
  for (const llvm::json::Value &ordinal : *ordinals)
    set.ordinals.push_back(unsigned(ordinal.getAsInteger().value_or(0)));
  return parseFormats(*formats, set.formats);
}

static llvm::Error parseFunction(const llvm::json::Value &value,
                                 std::vector<MeasuredFunction> &functions) {
  const Object *row = value.getAsObject();
  const Array *rows = row ? row->getArray("contractions") : nullptr;
  if (!rows || !row->getString("name") || !row->getString("hash"))
    return createStringError("expected 'name', 'hash' and 'contractions' of each function");
  MeasuredFunction &function = functions.emplace_back();
  function.name = row->getString("name")->str();
  function.hash = row->getString("hash")->str();
  for (const llvm::json::Value &entry : *rows)
    if (llvm::Error error = parseContraction(entry, function))
      return error;
  if (const Array *sets = row->getArray("sets"))
    for (const llvm::json::Value &entry : *sets)
      if (llvm::Error error = parseSet(entry, function))
        return error;
  return llvm::Error::success();
}

llvm::Expected<MeasuredErrors> MeasuredErrors::parse(llvm::StringRef text) {
  auto parsed = mpcore::support::parseJSON(text);
  if (!parsed)
    return parsed.takeError();
  const Object *root = parsed->getAsObject();
  std::optional<int64_t> version = root ? root->getInteger("mp_sensitivity") : std::nullopt;
  if (!version)
    return createStringError(
        "expected a file that mp-run --sensitivity wrote, found no 'mp_sensitivity'");
  if (*version != kMeasuredErrorsVersion)
    return createStringError("expected version " + llvm::Twine(kMeasuredErrorsVersion) +
                             ", found " + llvm::Twine(*version));
  MeasuredErrors errors;
  errors.data = root->getString("data").value_or("").str();
  errors.metric = root->getString("metric").value_or("").str();
  errors.weightsKey = root->getString("weights_key").value_or("").str();
  if (const Array *rows = root->getArray("weights"))
    if (llvm::Error error = parseWeights(*rows, errors.weights))
      return std::move(error);
  errors.additiveWithin = root->getNumber("additive_within").value_or(0);
  const Array *functions = root->getArray("functions");
  if (!functions)
    return createStringError("expected an array 'functions'");
  for (const llvm::json::Value &value : *functions)
    if (llvm::Error error = parseFunction(value, errors.functions))
      return std::move(error);
  return errors;
}

const MeasuredFunction *MeasuredErrors::find(llvm::StringRef name) const {
  for (const MeasuredFunction &function : functions)
    if (function.name == name)
      return &function;
  return nullptr;
}

std::optional<double> MeasuredErrors::lookup(const MeasuredFunction &function, unsigned ordinal,
                                             llvm::StringRef format) {
  for (const MeasuredContraction &contraction : function.contractions) {
    if (contraction.ordinal != ordinal)
      continue;
    auto found = contraction.formats.find(format.str());
    if (found != contraction.formats.end())
      return found->second.mean();
  }
  return std::nullopt;
}
