// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Gates.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace kernelreport;
using llvm::StringRef;
using llvm::Twine;

static llvm::Error readChecks(Gate &gate, const llvm::json::Object &object, StringRef key,
                              Check::Relation relation) {
  const llvm::json::Value *value = object.get(key);
  if (!value)
    return llvm::Error::success();
  const llvm::json::Object *bounds = value->getAsObject();
  if (!bounds)
    return llvm::createStringError("gate " + gate.id + ": " + key + " is no object");
  for (auto &[metric, bound] : *bounds) {
    Check check{metric.str(), relation, 0, ""};
    const llvm::json::Object *relative = bound.getAsObject();
    std::optional<double> number = relative ? relative->getNumber("times") : bound.getAsNumber();
    if (!number || (relative && !relative->getString("of")))
      return llvm::createStringError("gate " + gate.id + ": " + key + "." + check.metric +
                                     " is neither a number nor {\"times\": NUMBER, \"of\": ID}");
    check.bound = *number;
    if (relative)
      check.other = relative->getString("of")->str();
    gate.checks.push_back(std::move(check));
  }
  // Objects have no order: by name.
  llvm::sort(gate.checks, [](const Check &a, const Check &b) { return a.metric < b.metric; });
  return llvm::Error::success();
}

static llvm::Expected<Gate> readGate(const llvm::json::Value &value) {
  const llvm::json::Object *object = value.getAsObject();
  if (!object || !object->getString("id"))
    return llvm::createStringError("a gate has no \"id\"");
  Gate gate;
  gate.id = object->getString("id")->str();
  for (auto [key, member] :
       {std::pair("family", &gate.family), {"target", &gate.target}, {"what", &gate.what}}) {
    if (!object->getString(key))
      return llvm::createStringError("gate " + gate.id + " has no \"" + key + "\"");
    *member = object->getString(key)->str();
  }
  gate.facts.elementBytes = object->getNumber("element_bytes").value_or(0);
  gate.facts.dynamicShared = unsigned(object->getInteger("dynamic_shared").value_or(0));
  for (auto [key, relation] : {std::pair("at_most", Check::AtMost),
                               {"at_least", Check::AtLeast},
                               {"equals", Check::Equals}})
    if (llvm::Error error = readChecks(gate, *object, key, relation))
      return std::move(error);
  if (gate.checks.empty())
    return llvm::createStringError("gate " + gate.id + " checks nothing");
  return gate;
}

llvm::Expected<std::vector<Gate>> kernelreport::readGates(StringRef json) {
  llvm::Expected<llvm::json::Value> root = llvm::json::parse(json);
  if (!root)
    return root.takeError();
  const llvm::json::Object *object = root->getAsObject();
  if (!object || object->getString("schema") != StringRef("mp-kernel-gates") ||
      object->getInteger("version") != 1 || !object->getArray("gates"))
    return llvm::createStringError("expected {\"schema\": \"mp-kernel-gates\", \"version\": 1, "
                                   "\"gates\": [...]}");
  std::vector<Gate> gates;
  for (const llvm::json::Value &value : *object->getArray("gates")) {
    llvm::Expected<Gate> gate = readGate(value);
    if (!gate)
      return gate.takeError();
    if (llvm::any_of(gates, [&](const Gate &g) { return g.id == gate->id; }))
      return llvm::createStringError("gate " + gate->id + " occurs twice");
    gates.push_back(std::move(*gate));
  }
  for (const Gate &gate : gates)
    for (const Check &check : gate.checks)
      if (!check.other.empty() &&
          llvm::none_of(gates, [&](const Gate &g) { return g.id == check.other; }))
        return llvm::createStringError("gate " + gate.id + " compares with an unknown gate " +
                                       check.other);
  return gates;
}

namespace {
using Metrics = std::map<std::string, double>;

/// A bound in a line for people, and whether it is kept.
struct Judgement {
  bool kept;
  std::string line;
};
} // namespace

static Judgement judge(const Check &check, const Metrics &metrics,
                       const std::map<std::string, Metrics> &all) {
  auto found = metrics.find(check.metric);
  if (found == metrics.end())
    return {false, "missed " + check.metric + ": the kernel has no such figure"};
  double bound = check.bound;
  std::string of;
  if (!check.other.empty()) {
    auto other = all.find(check.other);
    if (other == all.end() || !other->second.count(check.metric))
      return {false, "missed " + check.metric + ": " + check.other + " was not emitted"};
    of = llvm::formatv(" ({0} x {1})", check.bound, check.other);
    bound *= other->second.at(check.metric);
  }
  const double value = found->second;
  static constexpr StringRef signs[] = {"<=", ">=", "=="};
  const bool kept = check.relation == Check::AtMost    ? value <= bound
                    : check.relation == Check::AtLeast ? value >= bound
                                                       : value == bound;
  std::string line;
  llvm::raw_string_ostream(line) << (kept ? "kept   " : "missed ") << check.metric << " "
                                 << llvm::format("%.4g ", value) << signs[check.relation]
                                 << llvm::format(" %.4g", bound) << of;
  return {kept, line};
}

llvm::Expected<std::vector<Result>>
kernelreport::checkGates(llvm::ArrayRef<Gate> gates, StringRef folder, const LoadOptions &options) {
  auto files = listFiles({folder.str()});
  if (!files)
    return files.takeError();
  std::map<std::string, Metrics> metrics;
  for (const std::string &path : *files) {
    const std::string id = llvm::sys::path::stem(path).str();
    const Gate *gate = llvm::find_if(gates, [&](const Gate &g) { return g.id == id; });
    if (gate == gates.end())
      return llvm::createStringError(path + " belongs to no gate; gates have the names of files");
    llvm::Expected<LoadedFile> loaded = loadFile(path, options);
    if (!loaded)
      return loaded.takeError();
    if (loaded->kernels.size() != 1)
      return llvm::createStringError(path + " has " + Twine(loaded->kernels.size()) +
                                     " kernels, a gate is about one");
    const std::string found = "sm_" + std::to_string(loaded->cubin->sm);
    if (StringRef(gate->target).rtrim("a") != found)
      return llvm::createStringError(path + " is for " + found + ", its gate for " + gate->target);
    if (!metrics.try_emplace(id, metricsOf(*loaded, loaded->kernels.front(), gate->facts)).second)
      return llvm::createStringError("two files for gate " + id);
  }
  std::vector<Result> results;
  for (const Gate &gate : gates) {
    Result result{&gate, Outcome::NotEmitted, {}};
    if (auto it = metrics.find(gate.id); it != metrics.end()) {
      result.outcome = Outcome::Passed;
      for (const Check &check : gate.checks) {
        Judgement judgement = judge(check, it->second, metrics);
        if (!judgement.kept)
          result.outcome = Outcome::Missed;
        result.lines.push_back(std::move(judgement.line));
      }
    }
    results.push_back(std::move(result));
  }
  return results;
}
