// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks options against the structs that declare them, and writes them as pass options.

#include "Options.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Pipelines/HostPipeline.h"
#include "mp/Pipelines/NVVMPipeline.h"
#include "mp/Support/JSON.h"
#include "mp/Support/Words.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::capi;
using llvm::createStringError;

namespace {

/// An options struct with the map of its options.
template <typename Options> struct Declared : Options {
  using mlir::detail::PassOptions::OptionsMap;
};

/// Answers what can be asked of the options of one pipeline.
struct Table {
  StringRef pipeline;
  void (*forEach)(llvm::function_ref<void(const llvm::cl::Option &)>);
  llvm::Error (*parse)(StringRef text);
};

template <typename Options>
void forEachOption(llvm::function_ref<void(const llvm::cl::Option &)> visit) {
  Declared<Options> options;
  SmallVector<llvm::cl::Option *> sorted;
  for (auto &[name, option] : options.OptionsMap)
    sorted.push_back(option);
  llvm::sort(sorted, [](auto *a, auto *b) { return a->ArgStr < b->ArgStr; });
  for (llvm::cl::Option *option : sorted)
    visit(*option);
}

template <typename Options> llvm::Error parseOptions(StringRef text) {
  std::string problem;
  llvm::raw_string_ostream os(problem);
  support::RefusedWords refused;
  Options options;
  if (succeeded(options.parseFromString(text, os)))
    return llvm::Error::success();
  return createStringError(refused.text.empty() ? StringRef(problem).trim() : refused.text);
}

template <typename Options> constexpr Table tableOf(StringRef pipeline) {
  return {pipeline, forEachOption<Options>, parseOptions<Options>};
}

const Table kTables[] = {
    tableOf<MixedPrecisionOptions>("mp-mixed-precision"),
    tableOf<TrainStepOptions>("mp-train-step"), tableOf<CPUOptions>("mp-to-cpu"),
    tableOf<NVVMPipelineOptions>("mp-to-nvvm"), tableOf<HostPipelineOptions>("mp-host-to-llvm")};

const Table *findTable(StringRef pipeline) {
  const Table *found =
      llvm::find_if(kTables, [&](const Table &table) { return table.pipeline == pipeline; });
  return found == std::end(kTables) ? nullptr : found;
}

} // namespace

llvm::Expected<llvm::json::Object> capi::parseObject(const char *text, StringRef what) {
  if (!text || StringRef(text).trim().empty())
    return llvm::json::Object();
  auto value = mpcore::support::parseJSON(text);
  if (!value)
    return createStringError(what + " are no JSON object: " + llvm::toString(value.takeError()));
  if (llvm::json::Object *object = value->getAsObject())
    return std::move(*object);
  return createStringError(what + " are JSON, but no object; expected e.g. {\"format\": \"bf16\"}");
}

/// One value as pass options take it.
static llvm::Expected<std::string> valueText(StringRef name, const llvm::json::Value &value) {
  if (auto flag = value.getAsBoolean())
    return *flag ? "true" : "false";
  if (auto whole = value.getAsInteger())
    return std::to_string(*whole);
  if (auto number = value.getAsNumber())
    return llvm::formatv("{0}", llvm::json::Value(*number)).str(); // with all its digits
  auto text = value.getAsString();
  if (!text)
    return createStringError("option '" + name +
                             "': expected a number, a string, true or false, or an array of those");
  if (!text->empty() && text->find_first_of(" \t\n'\"{}") == StringRef::npos)
    return text->str();
  for (StringRef quote : {"\"", "'"})
    if (!text->contains(quote))
      return (quote + *text + quote).str();
  return createStringError("option '" + name + "': has quotation marks of both kinds: " + *text);
}

llvm::Expected<std::string> capi::optionText(const llvm::json::Object &options) {
  std::map<std::string, const llvm::json::Value *> sorted;
  for (const auto &[name, value] : options)
    sorted.emplace(name.str(), &value);
  std::string text;
  for (const auto &[name, value] : sorted) {
    SmallVector<std::string> parts;
    if (const llvm::json::Array *array = value->getAsArray()) {
      for (const llvm::json::Value &element : *array) {
        auto part = valueText(name, element);
        if (!part)
          return part.takeError();
        parts.push_back(*part);
      }
    } else {
      auto part = valueText(name, *value);
      if (!part)
        return part.takeError();
      parts.push_back(*part);
    }
    text += (text.empty() ? "" : " ") + name + "=" + llvm::join(parts, ",");
  }
  return text;
}

template <typename T> static bool isOptionOf(const llvm::cl::Option &option) {
  return dynamic_cast<const mlir::detail::PassOptions::Option<T> *>(&option);
}

/// Errors where an option that takes numbers, or true and false, is given something else: upstream
/// says so on standard error.
static llvm::Error checkKind(const llvm::cl::Option &option, const llvm::json::Value &value) {
  auto text = valueText(option.ArgStr, value);
  if (!text)
    return text.takeError();
  double real;
  int64_t whole;
  StringRef expected;
  if (isOptionOf<double>(option) && StringRef(*text).getAsDouble(real))
    expected = "a number";
  else if (isOptionOf<int64_t>(option) && StringRef(*text).getAsInteger(10, whole))
    expected = "a whole number";
  else if (isOptionOf<bool>(option) && *text != "true" && *text != "false")
    expected = "true or false";
  if (expected.empty())
    return llvm::Error::success();
  return createStringError("option '" + option.ArgStr + "' is '" + *text + "', expected " +
                           expected);
}

llvm::Error capi::checkOptions(StringRef pipeline, const llvm::json::Object &options) {
  const Table *table = findTable(pipeline);
  if (!table)
    return llvm::Error::success();
  SmallVector<StringRef> known;
  llvm::Error error = llvm::Error::success();
  table->forEach([&](const llvm::cl::Option &option) {
    known.push_back(option.ArgStr);
    if (const llvm::json::Value *value = options.get(option.ArgStr))
      error = llvm::joinErrors(std::move(error), checkKind(option, *value));
  });
  if (error)
    return error;
  for (const auto &[name, value] : options)
    if (StringRef given = name; !llvm::is_contained(known, given))
      return createStringError("no option '" + given + "' of " + pipeline +
                               support::listWords(given, known, "options"));
  auto text = optionText(options);
  if (!text)
    return text.takeError();
  return table->parse(*text);
}

/// The part of `text` up to the brace that closes the one before it.
static StringRef untilBrace(StringRef text) {
  int depth = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
    if (depth == 0)
      return text.take_front(i);
  }
  return text;
}

llvm::Error capi::checkOptionsIn(StringRef text) {
  for (const Table &table : kTables)
    for (size_t at = text.find(table.pipeline); at != StringRef::npos;
         at = text.find(table.pipeline, at + 1)) {
      StringRef rest = text.drop_front(at + table.pipeline.size());
      if (rest.consume_front("{"))
        if (llvm::Error error = table.parse(untilBrace(rest)))
          return createStringError(table.pipeline + ": " + llvm::toString(std::move(error)));
    }
  return llvm::Error::success();
}

llvm::Expected<std::string> capi::describeOptions(StringRef pipeline) {
  const Table *table = findTable(pipeline);
  if (!table) {
    SmallVector<StringRef> known;
    for (const Table &each : kTables)
      known.push_back(each.pipeline);
    return createStringError("no pipeline '" + pipeline + "'" +
                             support::listWords(pipeline, known, "pipelines"));
  }
  llvm::json::Array rows;
  table->forEach([&](const llvm::cl::Option &option) {
    StringRef kind = isOptionOf<double>(option)    ? "number"
                     : isOptionOf<int64_t>(option) ? "integer"
                     : isOptionOf<bool>(option)    ? "boolean"
                                                   : "text";
    rows.push_back(
        llvm::json::Object{{"name", option.ArgStr}, {"kind", kind}, {"text", option.HelpStr}});
  });
  return llvm::formatv("{0:2}", llvm::json::Value(std::move(rows))).str();
}
