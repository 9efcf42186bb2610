// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes and reads problems and answers as JSON, with the path of whatever is wrong in it.

#include "mp/Assignment/ProblemJSON.h"

#include "mp/Support/JSON.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mpcore::assignment;
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

static std::string toText(Weight weight) {
  std::string digits;
  bool negative = weight < 0;
  for (Weight rest = weight; rest != 0; rest /= 10)
    digits.insert(digits.begin(), char('0' + int(rest % 10) * (negative ? -1 : 1)));
  if (digits.empty())
    return "0";
  return negative ? "-" + digits : digits;
}

static bool fromText(llvm::StringRef text, Weight &weight) {
  bool negative = text.consume_front("-");
  if (text.empty() || text.size() > 38) // 10^38 < 2^127
    return false;
  weight = 0;
  for (char c : text) {
    if (c < '0' || c > '9')
      return false;
    weight = weight * 10 + (c - '0');
  }
  weight = negative ? -weight : weight;
  return true;
}

static json::Value certificateJSON(const Problem &problem, const Certificate &certificate) {
  json::Array multipliers;
  for (const Multiplier &m : certificate.multipliers)
    multipliers.push_back(json::Array{m.node, m.isResult ? "result" : "operand", m.index,
                                      typeName(problem, m.type), toText(m.amount)});
  const Objective &objective = certificate.objective;
  return json::Object{{"objective", json::Object{{"cost", toText(objective.cost)},
                                                 {"casts", toText(objective.casts)},
                                                 {"error", toText(objective.error)}}},
                      {"bound", toText(certificate.bound)},
                      {"multipliers", std::move(multipliers)}};
}

static json::Value answerJSON(const Problem &problem, const Solution &answer) {
  json::Array copies;
  for (const Copy &copy : answer.copies)
    copies.push_back(json::Object{{"value", copy.value},
                                  {"from", typeName(problem, copy.from)},
                                  {"to", typeName(problem, copy.to)}});
  json::Object object{
      {"labels", json::Array(answer.labels)}, {"cost", answer.score.cost},
      {"casts", answer.score.casts},          {"error", answer.score.error},
      {"lower_bound", answer.lowerBound},     {"proven_optimal", answer.provenOptimal},
      {"method", toString(answer.method)},    {"copies", std::move(copies)}};
  if (answer.certificate)
    object["certificate"] = certificateJSON(problem, *answer.certificate);
  return object;
}

void mpcore::assignment::writeProblem(const Problem &problem, const Solution *answer,
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
  list("ties", problem.ties, [](auto &tie) { return json::Value(json::Array(tie)); });
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

  bool read(const json::Value &root, std::optional<Solution> &answer, json::Path path) {
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
        !readList(object, "ties", path, [&](auto &v, auto p) { return readTie(v, p); }))
      return false;
    if (const json::Value *claimed = object.get("answer"))
      return readAnswer(*claimed, answer.emplace(), path.field("answer"));
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

  /// A field, or null where there is none.
  static const json::Value &fieldOf(const json::Object &object, llvm::StringRef key) {
    static const json::Value none = nullptr;
    const json::Value *field = object.get(key);
    return field ? *field : none;
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

  /// The types between which `item` casts.
  bool readEnds(const json::Value &item, TypeId &from, TypeId &to, json::Path path) {
    const json::Object &object = *item.getAsObject();
    return readType(fieldOf(object, "from"), from, path.field("from")) &&
           readType(fieldOf(object, "to"), to, path.field("to"));
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
      if (!castMap || !castMap.map("cost", cast.cost) || !readEnds(item, cast.from, cast.to, p))
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
    if (!readIndices(fieldOf(object, "operands"), node.operands, path.field("operands")) ||
        !readIndices(fieldOf(object, "results"), node.results, path.field("results")))
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

  bool readAnswer(const json::Value &json, Solution &answer, json::Path path) {
    json::ObjectMapper map(json, path);
    std::string method;
    if (!map || !map.map("cost", answer.score.cost) || !map.map("casts", answer.score.casts) ||
        !map.map("error", answer.score.error) || !map.map("lower_bound", answer.lowerBound) ||
        !map.map("proven_optimal", answer.provenOptimal) || !map.map("method", method))
      return false;
    for (Method known : {Method::MinCut, Method::Frontier, Method::Expansion})
      if (toString(known) == method)
        answer.method = known;
    const json::Object &object = *json.getAsObject();
    if (!readIndices(fieldOf(object, "labels"), answer.labels, path.field("labels")))
      return false;
    auto readCopy = [&](const json::Value &item, json::Path p) {
      Copy copy{};
      json::ObjectMapper copyMap(item, p);
      if (!copyMap || !copyMap.map("value", copy.value) || !readEnds(item, copy.from, copy.to, p))
        return false;
      answer.copies.push_back(copy);
      return true;
    };
    if (!readList(object, "copies", path, readCopy))
      return false;
    const json::Value *certificate = object.get("certificate");
    return !certificate ||
           readCertificate(*certificate, answer.certificate.emplace(), path.field("certificate"));
  }

  bool readWeight(const json::Object *object, llvm::StringRef key, Weight &weight,
                  json::Path path) {
    std::optional<llvm::StringRef> text = object ? object->getString(key) : std::nullopt;
    if (text && fromText(*text, weight))
      return true;
    path.field(key).report("expected an integer as text");
    return false;
  }

  bool readCertificate(const json::Value &json, Certificate &certificate, json::Path path) {
    const json::Object *object = json.getAsObject();
    const json::Object *objective = object ? object->getObject("objective") : nullptr;
    if (!readWeight(objective, "cost", certificate.objective.cost, path.field("objective")) ||
        !readWeight(objective, "casts", certificate.objective.casts, path.field("objective")) ||
        !readWeight(objective, "error", certificate.objective.error, path.field("objective")) ||
        !readWeight(object, "bound", certificate.bound, path))
      return false;
    return readList(*object, "multipliers", path, [&](const json::Value &item, json::Path p) {
      const json::Array *fields = item.getAsArray();
      Multiplier m{};
      if (!fields || fields->size() != 5) {
        p.report("expected [node, \"result\" or \"operand\", index, type, amount]");
        return false;
      }
      std::optional<int64_t> node = (*fields)[0].getAsInteger(),
                             index = (*fields)[2].getAsInteger();
      std::optional<llvm::StringRef> amount = (*fields)[4].getAsString();
      m.isResult = (*fields)[1].getAsString() == "result";
      if (!node || *node < 0 || size_t(*node) >= problem.nodes.size() || !index || *index < 0 ||
          size_t(*index) >= (m.isResult ? problem.nodes[*node].results.size()
                                        : problem.nodes[*node].operands.size()) ||
          !amount || !fromText(*amount, m.amount)) {
        p.report("expected the index of a node, of its port, and an integer as text");
        return false;
      }
      m.node = *node;
      m.index = *index;
      if (!readType((*fields)[3], m.type, p.index(3)))
        return false;
      certificate.multipliers.push_back(m);
      return true;
    });
  }

  bool readTie(const json::Value &json, json::Path path) {
    problem.ties.emplace_back();
    return readIndices(json, problem.ties.back(), path);
  }

  Problem &problem;
};

} // namespace

llvm::Expected<ProblemFile> mpcore::assignment::readProblem(llvm::StringRef text) {
  llvm::Expected<json::Value> root = mpcore::support::parseJSON(text);
  if (!root)
    return root.takeError();
  ProblemFile file;
  json::Path::Root pathRoot("problem");
  if (!Reader(file.problem).read(*root, file.answer, pathRoot))
    return pathRoot.getError();
  if (llvm::Error e = file.problem.validate())
    return e;
  if (file.answer && file.answer->labels.size() != file.problem.nodes.size())
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "answer has %zu labels for %zu nodes",
                                   file.answer->labels.size(), file.problem.nodes.size());
  return file;
}
