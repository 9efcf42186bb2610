// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading a policy. What is not known is an error at its line and column.

#include "mp/Policy/PolicyJSON.h"
#include "mp/Support/JSON.h"
#include "mp/Support/Words.h"
#include "mp/Target/TargetModel.h"
#include "mp/Target/Targets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mpcore::policy;
using llvm::StringRef;
using llvm::Twine;
using mpcore::support::didYouMean;
using mpcore::support::listWords;
namespace json = llvm::json;

namespace {
/// Keeps the path to what is being read; the first error wins.
class Reader {
public:
  Reader(StringRef text, StringRef file) : text(text), file(file) {}

  bool readDocument(const json::Value &root, StringRef format, Policy &policy);
  llvm::Error takeError() { return llvm::createStringError(message); }

private:
  /// A line that starts with file, line and column; always false.
  bool fail(const Twine &what, bool atKey = false) {
    if (message.empty()) {
      auto [line, column] = findPosition(text, path, atKey);
      message = (file + ":" + Twine(line) + ":" + Twine(column) + ": " + what).str();
    }
    return false;
  }

  bool expectWord(StringRef found, llvm::ArrayRef<StringRef> words) {
    if (llvm::is_contained(words, found))
      return true;
    return fail("expected " + llvm::join(words, " or ") + ", found '" + found + "'" +
                didYouMean(found, words));
  }

  /// Reads an object; `field` is called for each member, with the path at its value.
  bool readObject(const json::Value &value, llvm::ArrayRef<StringRef> keys,
                  llvm::function_ref<bool(StringRef, const json::Value &)> field) {
    const json::Object *object = value.getAsObject();
    if (!object)
      return fail("expected an object");
    for (const auto &[key, member] : *object) {
      path.push_back(key.str());
      if (!llvm::is_contained(keys, StringRef(key)))
        return fail("unknown key '" + key.str() + "'" + listWords(key, keys, "here"),
                    /*atKey=*/true);
      if (!field(key, member))
        return false;
      path.pop_back();
    }
    return true;
  }

  bool readString(const json::Value &value, std::string &result) {
    if (std::optional<StringRef> string = value.getAsString()) {
      result = *string;
      return true;
    }
    return fail("expected a string");
  }

  /// A positive number, or null for none.
  template <typename T> bool readBound(const json::Value &value, std::optional<T> &result) {
    if (value.getAsNull())
      return true;
    std::optional<double> number = value.getAsNumber();
    // Only what an integer can hold may become one.
    const bool fits = number && *number > 0 && (!std::is_integral_v<T> || *number < 0x1p63);
    if (!fits || *number != double(T(*number)))
      return fail("expected a positive " + Twine(std::is_integral_v<T> ? "integer" : "number") +
                  ", or null for no limit");
    result = T(*number);
    return true;
  }

  bool readFormat(const json::Value &value, std::string &result) {
    return readString(value, result) && expectWord(result, {"bf16", "f16", "tf32"});
  }

  bool readTarget(const json::Value &value, std::string &result) {
    if (!readString(value, result))
      return false;
    llvm::Expected<const mpcore::target::TargetModel &> target =
        mpcore::target::lookupTarget(result);
    return target ? true : fail(llvm::toString(target.takeError()));
  }

  bool readLimits(const json::Value &value, RewriteLimits &limits);
  bool readSelector(const json::Value &value, Selector &select);
  bool readRule(const json::Value &value, Rule &rule);
  bool readRules(const json::Value &value, std::vector<Rule> &rules);
  bool readAttributes(const json::Value &value, Selector &select);

  StringRef text, file;
  std::vector<std::string> path;
  std::string message;
};
} // namespace

bool Reader::readLimits(const json::Value &value, RewriteLimits &limits) {
  return readObject(value, {"largest-activation", "largest-constant", "longest-reduction"},
                    [&](StringRef key, const json::Value &member) {
                      if (key == "largest-activation")
                        return readBound(member, limits.largestActivation);
                      if (key == "largest-constant")
                        return readBound(member, limits.largestConstant);
                      return readBound(member, limits.longestReduction);
                    });
}

bool Reader::readAttributes(const json::Value &value, Selector &select) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return fail("expected an object of attribute names, each with the text it must have or true");
  for (const auto &[key, member] : *object) {
    path.push_back(key.str());
    std::optional<std::string> expected;
    if (member.getAsBoolean() != true) {
      std::optional<StringRef> string = member.getAsString();
      if (!string)
        return fail("expected the attribute's text, or true where it only has to be there");
      expected = *string;
    }
    select.attributes.push_back({key.str(), expected});
    path.pop_back();
  }
  llvm::sort(select.attributes);
  return true;
}

bool Reader::readSelector(const json::Value &value, Selector &select) {
  auto readGlob = [&](const json::Value &member, std::string &result) {
    if (!readString(member, result))
      return false;
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(result);
    return pattern ? true : fail("bad wildcards: " + llvm::toString(pattern.takeError()));
  };
  auto readRegex = [&](const json::Value &member, std::string &result) {
    std::string error;
    if (!readString(member, result))
      return false;
    return llvm::Regex(result).isValid(error) || fail("bad regular expression: " + error);
  };
  const json::Object *object = value.getAsObject();
  if (object && (object->get("argument") || object->get("result"))) {
    select.place = object->get("argument") ? Place::Argument : Place::Result;
    return readObject(value, {toString(select.place), "function"},
                      [&](StringRef key, const json::Value &member) {
                        return key == "function" ? readGlob(member, select.function)
                                                 : readRegex(member, select.name);
                      });
  }
  return readObject(
      value, {"op", "function", "class", "location", "name", "attribute", "argument", "result"},
      [&](StringRef key, const json::Value &member) {
        if (key == "op")
          return readGlob(member, select.op);
        if (key == "function")
          return readGlob(member, select.function);
        if (key == "location")
          return readRegex(member, select.location);
        if (key == "name")
          return readRegex(member, select.name);
        if (key == "attribute")
          return readAttributes(member, select);
        if (!readString(member, select.classes))
          return false;
        size_t wrong = StringRef(select.classes).find_first_not_of("TFEDAKRB");
        bool isValid = !select.classes.empty() && wrong == StringRef::npos;
        return isValid || fail("expected letters of classes (T F E D A K R B), found '" +
                               select.classes + "'");
      });
}

bool Reader::readRule(const json::Value &value, Rule &rule) {
  bool selects = false, decides = false;
  bool read = readObject(
      value, {"name", "select", "precision", "format", "reason"},
      [&](StringRef key, const json::Value &member) {
        if (key == "name")
          return readString(member, rule.name);
        if (key == "reason")
          return readString(member, rule.reason);
        if (key == "format")
          return readFormat(member, rule.format);
        if (key == "select") {
          selects = true;
          return readSelector(member, rule.select);
        }
        std::string word;
        decides = true;
        if (!readString(member, word) || !expectWord(word, {"narrow", "wide", "inherit"}))
          return false;
        rule.wish = word == "narrow" ? Wish::Narrow : word == "wide" ? Wish::Wide : Wish::Inherit;
        return true;
      });
  if (!read)
    return false;
  if (!selects || !decides)
    return fail(Twine("a rule needs '") + (selects ? "precision" : "select") + "'");
  if (!rule.format.empty() && rule.wish != Wish::Narrow)
    return fail("'format' goes with precision narrow only");
  return true;
}

bool Reader::readRules(const json::Value &value, std::vector<Rule> &rules) {
  const json::Array *array = value.getAsArray();
  if (!array)
    return fail("expected an array of rules");
  for (auto [index, item] : llvm::enumerate(*array)) {
    path.push_back("[" + std::to_string(index) + "]");
    Rule rule;
    if (!readRule(item, rule))
      return false;
    if (rule.name.empty())
      rule.name = "rule " + std::to_string(index + 1);
    rules.push_back(std::move(rule));
    path.pop_back();
  }
  return true;
}

bool Reader::readDocument(const json::Value &root, StringRef format, Policy &policy) {
  std::string base = "inference";
  bool versioned = false;
  bool read = readObject(
      root,
      {"mp_policy", "name", "extends", "format", "target", "limits", "evidence", "parameters",
       "rules"},
      [&](StringRef key, const json::Value &member) {
        if (key == "mp_policy") {
          versioned = true;
          return member.getAsInteger() == policyVersion ||
                 fail("expected version " + Twine(policyVersion));
        }
        if (key == "name")
          return readString(member, policy.name);
        if (key == "extends")
          return readString(member, base) && expectWord(base, {"inference", "training", "nothing"});
        if (key == "format")
          return readFormat(member, policy.format);
        if (key == "target")
          return readTarget(member, policy.target);
        if (key == "limits")
          return readLimits(member, policy.limits);
        if (key == "rules")
          return readRules(member, policy.rules);
        std::string word;
        if (!readString(member, word))
          return false;
        if (key == "evidence") {
          policy.evidence = word == "proved"     ? RequiredEvidence::Proved
                            : word == "measured" ? RequiredEvidence::Measured
                                                 : RequiredEvidence::Assumed;
          return expectWord(word, {"assumed", "measured", "proved"});
        }
        policy.parameters = word == "narrow" ? SignatureKind::Narrow : SignatureKind::Keep;
        return expectWord(word, {"keep", "narrow"});
      });
  if (!read)
    return false;
  if (!versioned)
    return fail("expected \"mp_policy\": " + Twine(policyVersion) +
                ", the version of the layout, among the keys");
  // The user's rules first: the first that matches decides.
  if (std::optional<Policy> rest =
          builtIn(base, policy.format.empty() ? format : StringRef(policy.format)))
    llvm::append_range(policy.rules, rest->rules);
  return true;
}

llvm::Expected<Policy> mpcore::policy::readPolicy(StringRef text, StringRef file,
                                                  StringRef format) {
  llvm::Expected<json::Value> root = mpcore::support::parseJSON(text);
  if (!root) {
    llvm::Error error = root.takeError();
    StringRef kind = error.isA<json::ParseError>() ? "not JSON: " : "";
    // "[LINE:COLUMN, byte=N]: what"
    std::string what = llvm::toString(std::move(error));
    auto [place, rest] = StringRef(what).split("]: ");
    StringRef position = place.drop_front().split(',').first;
    return llvm::createStringError(file + ":" + position + ": " + kind + rest);
  }
  Policy policy;
  Reader reader(text, file);
  if (!reader.readDocument(*root, format, policy))
    return reader.takeError();
  if (policy.name.empty())
    policy.name = file;
  return policy;
}
