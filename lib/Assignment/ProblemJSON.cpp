// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Assignment/ProblemJSON.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mp::assignment;
namespace json = llvm::json;

static constexpr llvm::StringLiteral schemaName = "mp-assignment-problem";
static constexpr int64_t schemaVersion = 1;

static std::string typeName(const Problem &problem, TypeId type) {
  return type == anyType ? "any" : problem.types[type];
}

template <typename Range> static json::Array typeArray(const Problem &problem, const Range &types) {
  json::Array array;
  for (TypeId type : types)
    array.push_back(typeName(problem, type));
  return array;
}

static json::Value valueJSON(const Problem &problem, const Value &value) {
  json::Array casts;
  for (const CastCost &cast : value.casts)
    casts.push_back(json::Object{{"from", typeName(problem, cast.from)},
                                 {"to", typeName(problem, cast.to)},
                                 {"cost", cast.cost}});
  json::Object object{{"name", json::fixUTF8(value.name)}, {"casts", std::move(casts)}};
  if (value.constant)
    object["constant"] = true;
  return object;
}

static json::Value nodeJSON(const Problem &problem, const Node &node) {
  json::Array variants;
  for (const Variant &v : node.variants)
    variants.push_back(json::Object{{"name", json::fixUTF8(v.name)},
                                    {"in", typeArray(problem, v.in)},
                                    {"out", typeArray(problem, v.out)},
                                    {"cost", v.cost},
                                    {"error", v.error}});
  json::Object object{{"name", json::fixUTF8(node.name)},
                      {"operands", json::Array(node.operands)},
                      {"results", json::Array(node.results)},
                      {"frequency", node.frequency},
                      {"variants", std::move(variants)}};
  if (node.pinned)
    object["pinned"] = *node.pinned;
  return object;
}

static json::Value answerJSON(const Problem &problem, const Solution &answer) {
  json::Array copies;
  for (const Copy &copy : answer.copies)
    copies.push_back(json::Object{{"value", copy.value},
                                  {"from", typeName(problem, copy.from)},
                                  {"to", typeName(problem, copy.to)}});
  return json::Object{
      {"labels", json::Array(answer.labels)}, {"cost", answer.score.cost},
      {"casts", answer.score.casts},          {"error", answer.score.error},
      {"lower_bound", answer.lowerBound},     {"proven_optimal", answer.provenOptimal},
      {"method", toString(answer.method)},    {"copies", std::move(copies)}};
}

void mp::assignment::writeProblem(const Problem &problem, const Solution *answer,
                                  llvm::raw_ostream &os) {
  auto list = [&](llvm::StringRef key, auto &items, auto toJSON) {
    os << ",\n\"" << key << "\": [";
    llvm::interleave(
        items, [&](auto &item) { os << "\n  " << json::Value(toJSON(item)); }, [&] { os << ","; });
    os << "\n]";
  };
  os << "{\"schema\": \"" << schemaName << "\", \"version\": " << schemaVersion;
  os << ",\n\"types\": " << json::Value(json::Array(problem.types));
  list("values", problem.values, [&](const Value &v) { return valueJSON(problem, v); });
  list("nodes", problem.nodes, [&](const Node &n) { return nodeJSON(problem, n); });
  list("gangs", problem.gangs, [](auto &gang) { return json::Value(json::Array(gang)); });
  if (problem.errorBudget)
    os << ",\n\"error_budget\": " << *problem.errorBudget;
  if (problem.costBudget)
    os << ",\n\"cost_budget\": " << *problem.costBudget;
  if (answer)
    os << ",\n\"answer\": " << answerJSON(problem, *answer);
  os << "}\n";
}

namespace {

/// Reads with llvm::json paths for errors.
class Reader {
public:
  explicit Reader(Problem &problem) : problem(problem) {}

  bool read(const json::Value &root, std::optional<Labels> &labels, json::Path path) {
    json::ObjectMapper map(root, path);
    std::string schema;
    int64_t version = 0;
    if (!map || !map.map("schema", schema) || !map.map("version", version))
      return false;
    if (schema != schemaName || version != schemaVersion) {
      path.report("expected schema mp-assignment-problem, version 1");
      return false;
    }
    if (!map.map("types", problem.types) || !map.mapOptional("error_budget", problem.errorBudget) ||
        !map.mapOptional("cost_budget", problem.costBudget))
      return false;
    const json::Object &object = *root.getAsObject();
    if (!readList(object, "values", path, [&](auto &v, auto p) { return readValue(v, p); }) ||
        !readList(object, "nodes", path, [&](auto &v, auto p) { return readNode(v, p); }) ||
        !readList(object, "gangs", path, [&](auto &v, auto p) { return readGang(v, p); }))
      return false;
    if (const json::Value *answer = object.get("answer")) {
      json::ObjectMapper answerMap(*answer, path.field("answer"));
      std::vector<int64_t> list;
      if (!answerMap || !answerMap.map("labels", list))
        return false;
      labels.emplace(list.begin(), list.end());
    }
    return true;
  }

private:
  template <typename Fn>
  bool readList(const json::Object &object, llvm::StringRef key, json::Path path, Fn readItem) {
    const json::Array *array = object.getArray(key);
    if (!array) {
      path.field(key).report("expected an array");
      return false;
    }
    for (auto [i, item] : llvm::enumerate(*array))
      if (!readItem(item, path.field(key).index(i)))
        return false;
    return true;
  }

  bool readType(const json::Value &value, TypeId &type, json::Path path) {
    std::optional<llvm::StringRef> name = value.getAsString();
    if (name == "any") {
      type = anyType;
      return true;
    }
    auto it = name ? llvm::find(problem.types, *name) : problem.types.end();
    if (it == problem.types.end() || it - problem.types.begin() >= maxTypes) {
      path.report("expected one of the names in types");
      return false;
    }
    type = it - problem.types.begin();
    return true;
  }

  template <typename List>
  bool readTypes(const json::Object &object, llvm::StringRef key, List &types, json::Path path) {
    return readList(object, key, path, [&](const json::Value &v, json::Path p) {
      types.push_back(0);
      return readType(v, types.back(), p);
    });
  }

  template <typename List> bool readIndices(const json::Value &value, List &list, json::Path path) {
    std::vector<int64_t> numbers;
    if (!json::fromJSON(value, numbers, path))
      return false;
    for (int64_t n : numbers) {
      if (n < 0 || n > UINT32_MAX) {
        path.report("expected an index");
        return false;
      }
      list.push_back(n);
    }
    return true;
  }

  bool readValue(const json::Value &json, json::Path path) {
    Value value;
    std::optional<bool> constant;
    json::ObjectMapper map(json, path);
    if (!map || !map.map("name", value.name) || !map.mapOptional("constant", constant))
      return false;
    value.constant = constant.value_or(false);
    auto readCast = [&](const json::Value &item, json::Path p) {
      CastCost cast{};
      json::ObjectMapper castMap(item, p);
      const json::Object *object = item.getAsObject();
      if (!castMap || !castMap.map("cost", cast.cost))
        return false;
      json::Value null = nullptr;
      const json::Value *from = object->get("from"), *to = object->get("to");
      if (!readType(from ? *from : null, cast.from, p.field("from")) ||
          !readType(to ? *to : null, cast.to, p.field("to")))
        return false;
      value.casts.push_back(cast);
      return true;
    };
    if (!readList(*json.getAsObject(), "casts", path, readCast))
      return false;
    problem.values.push_back(std::move(value));
    return true;
  }

  bool readNode(const json::Value &json, json::Path path) {
    Node node;
    json::ObjectMapper map(json, path);
    std::optional<int64_t> pinned, frequency;
    if (!map || !map.map("name", node.name) || !map.mapOptional("pinned", pinned) ||
        !map.mapOptional("frequency", frequency))
      return false;
    node.frequency = frequency.value_or(1);
    if (pinned)
      node.pinned = *pinned < 0 ? UINT32_MAX : *pinned;
    const json::Object &object = *json.getAsObject();
    json::Value null = nullptr;
    const json::Value *operands = object.get("operands"), *results = object.get("results");
    if (!readIndices(operands ? *operands : null, node.operands, path.field("operands")) ||
        !readIndices(results ? *results : null, node.results, path.field("results")))
      return false;
    auto readVariant = [&](const json::Value &item, json::Path p) {
      Variant variant;
      std::optional<int64_t> error;
      json::ObjectMapper variantMap(item, p);
      if (!variantMap || !variantMap.map("name", variant.name) ||
          !variantMap.map("cost", variant.cost) || !variantMap.mapOptional("error", error))
        return false;
      variant.error = error.value_or(0);
      if (!readTypes(*item.getAsObject(), "in", variant.in, p) ||
          !readTypes(*item.getAsObject(), "out", variant.out, p))
        return false;
      node.variants.push_back(std::move(variant));
      return true;
    };
    if (!readList(object, "variants", path, readVariant))
      return false;
    problem.nodes.push_back(std::move(node));
    return true;
  }

  bool readGang(const json::Value &json, json::Path path) {
    problem.gangs.emplace_back();
    return readIndices(json, problem.gangs.back(), path);
  }

  Problem &problem;
};

} // namespace

llvm::Expected<ProblemFile> mp::assignment::readProblem(llvm::StringRef text) {
  llvm::Expected<json::Value> root = json::parse(text);
  if (!root)
    return root.takeError();
  ProblemFile file;
  json::Path::Root pathRoot("problem");
  if (!Reader(file.problem).read(*root, file.labels, pathRoot))
    return pathRoot.getError();
  if (llvm::Error e = file.problem.validate())
    return std::move(e);
  if (file.labels && file.labels->size() != file.problem.nodes.size())
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "answer has %zu labels for %zu nodes", file.labels->size(),
                                   file.problem.nodes.size());
  return file;
}
