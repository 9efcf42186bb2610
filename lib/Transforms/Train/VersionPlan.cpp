// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the file of mp-merge-versions.

#include "VersionPlan.h"

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Support/Files.h"
#include "mp/Support/JSON.h"
#include "mp/Support/Words.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::mp;

namespace {
/// The parts of the file, read in order; the first that is wrong is the error.
struct PlanReader {
  StringRef path;
  VersionPlan plan;

  llvm::Error fail(const Twine &text) { return llvm::createStringError("'" + path + "': " + text); }

  llvm::Error checkKeys(const llvm::json::Object &object, ArrayRef<StringRef> known,
                        const Twine &of) {
    for (const auto &entry : object)
      if (!llvm::is_contained(known, StringRef(entry.first)))
        return fail(of + " has unknown key '" + StringRef(entry.first) + "'" +
                    support::didYouMean(entry.first, known));
    return llvm::Error::success();
  }

  llvm::Expected<int64_t> versionNamed(std::optional<StringRef> name, const Twine &of) {
    for (auto [number, version] : llvm::enumerate(plan.versions))
      if (name && version.name == *name)
        return int64_t(number);
    return fail(of + " expects the name of a version, found " +
                (name ? "'" + *name + "'" : Twine("none")));
  }

  llvm::Error readVersions(const llvm::json::Array *versions) {
    for (const llvm::json::Value &value : versions ? *versions : llvm::json::Array()) {
      const llvm::json::Object *row = value.getAsObject();
      if (!row || !row->getString("name") || row->getString("name")->empty())
        return fail("expected an object with 'name' of each version, from the widest on");
      if (llvm::Error error = checkKeys(*row, {"name", "file"}, "a version"))
        return error;
      plan.versions.push_back(
          {row->getString("name")->str(), row->getString("file").value_or("").str()});
    }
    if (plan.versions.size() < 2)
      return fail("expected at least two 'versions', found " + Twine(plan.versions.size()));
    if (llvm::count_if(plan.versions, [](auto &version) { return version.file.empty(); }) != 1)
      return fail("expected one version without 'file', which is the module itself");
    return llvm::Error::success();
  }

  int64_t signalNamed(StringRef name) {
    auto found = llvm::find(plan.signals, name);
    if (found == plan.signals.end())
      found = plan.signals.insert(found, name.str());
    return found - plan.signals.begin();
  }

  llvm::Error readRule(const llvm::json::Value &value) {
    const Twine of = "a rule";
    const llvm::json::Object *row = value.getAsObject();
    if (!row || !row->getString("signal"))
      return fail("expected an object with 'signal' of each rule");
    if (llvm::Error error =
            checkKeys(*row, {"signal", "from", "below", "nan", "version", "reason"}, of))
      return error;
    VersionRule rule;
    rule.signal = signalNamed(*row->getString("signal"));
    rule.from = row->getNumber("from");
    rule.below = row->getNumber("below");
    rule.onNaN = row->getBoolean("nan").value_or(false);
    rule.reason = row->getString("reason").value_or("").str();
    auto version = versionNamed(row->getString("version"), of);
    if (!version)
      return version.takeError();
    rule.version = *version;
    if ((!rule.from && !rule.below && !rule.onNaN) ||
        (rule.from && rule.below && !(*rule.from < *rule.below)))
      return fail("a rule of '" + *row->getString("signal") +
                  "' expects 'from' below 'below', one of them, or 'nan'");
    plan.rules.push_back(std::move(rule));
    return llvm::Error::success();
  }

  llvm::Error readAll(const llvm::json::Object &root) {
    if (llvm::Error error =
            checkKeys(root, {"mp_versions", "versions", "otherwise", "hold", "rules"}, "the file"))
      return error;
    if (root.getInteger("mp_versions") != kVersionPlanVersion)
      return fail("expected \"mp_versions\": " + Twine(kVersionPlanVersion) +
                  ", the version of the layout");
    if (llvm::Error error = readVersions(root.getArray("versions")))
      return error;
    auto otherwise = versionNamed(root.getString("otherwise"), "'otherwise'");
    if (!otherwise)
      return otherwise.takeError();
    plan.otherwise = *otherwise;
    plan.hold = root.getInteger("hold").value_or(0);
    if (plan.hold < 0)
      return fail("expected 'hold' to be at least 0, found " + Twine(plan.hold));
    const llvm::json::Array *rules = root.getArray("rules");
    if (!rules)
      return fail("expected an array 'rules'");
    for (const llvm::json::Value &rule : *rules)
      if (llvm::Error error = readRule(rule))
        return error;
    return llvm::Error::success();
  }
};
} // namespace

llvm::Expected<VersionPlan> VersionPlan::read(StringRef path, StringRef option) {
  auto buffer = support::readFile(path, option);
  if (!buffer)
    return buffer.takeError();
  PlanReader reader{path, {}};
  auto parsed = mpcore::support::parseJSON((*buffer)->getBuffer());
  if (!parsed)
    return reader.fail(llvm::toString(parsed.takeError()));
  const llvm::json::Object *root = parsed->getAsObject();
  if (!root)
    return reader.fail("expected an object");
  if (llvm::Error error = reader.readAll(*root))
    return std::move(error);
  return std::move(reader.plan);
}
