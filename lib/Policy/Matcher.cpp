// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matches the selectors of a policy's rules against ops.

#include "mp/Policy/Policy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"

using namespace mpcore::policy;
using llvm::StringRef;

StringRef mpcore::policy::toString(Place place) {
  switch (place) {
  case Place::Op: return "op";
  case Place::Argument: return "argument";
  case Place::Result: return "result";
  }
  llvm_unreachable("unknown place");
}

StringRef mpcore::policy::toString(Wish wish) {
  switch (wish) {
  case Wish::Narrow: return "narrow";
  case Wish::Wide: return "wide";
  case Wish::Inherit: return "inherit";
  }
  llvm_unreachable("unknown wish");
}

StringRef mpcore::policy::toString(RequiredEvidence kind) {
  switch (kind) {
  case RequiredEvidence::Assumed: return "assumed";
  case RequiredEvidence::Measured: return "measured";
  case RequiredEvidence::Proved: return "proved";
  }
  llvm_unreachable("unknown evidence");
}

StringRef mpcore::policy::toString(SignatureKind kind) {
  return kind == SignatureKind::Narrow ? "narrow" : "keep";
}

Matcher::Matcher(const Policy &policy) {
  auto glob = [](StringRef text) -> std::optional<llvm::GlobPattern> {
    if (text.empty())
      return std::nullopt;
    return llvm::cantFail(llvm::GlobPattern::create(text));
  };
  auto regex = [](StringRef text) -> std::optional<llvm::Regex> {
    if (text.empty())
      return std::nullopt;
    return llvm::Regex(text);
  };
  for (const Rule &rule : policy.rules)
    compiled.push_back({&rule, glob(rule.select.op), glob(rule.select.function),
                        regex(rule.select.location), regex(rule.select.name)});
}

bool Matcher::matches(Compiled &pattern, const Subject &subject) {
  const Selector &select = pattern.rule->select;
  if (select.place != subject.place)
    return false;
  if (pattern.op && !pattern.op->match(subject.op))
    return false;
  if (pattern.function && !pattern.function->match(subject.function))
    return false;
  if (!select.classes.empty() && !StringRef(select.classes).contains(subject.opClass))
    return false;
  for (const auto &[name, text] : select.attributes) {
    std::optional<std::string> found = subject.attribute(name);
    if (!found || (text && *text != *found))
      return false;
  }
  if (pattern.location && !pattern.location->match(subject.location()))
    return false;
  return !pattern.name || llvm::any_of(subject.names(), [&](const std::string &name) {
    return pattern.name->match(name);
  });
}

const Rule *Matcher::find(const Subject &subject) {
  for (Compiled &pattern : compiled)
    if (matches(pattern, subject)) {
      pattern.used = true;
      return pattern.rule;
    }
  return nullptr;
}

std::vector<const Rule *> Matcher::unused() const {
  std::vector<const Rule *> rules;
  for (const Compiled &pattern : compiled)
    if (!pattern.used && !pattern.rule->builtIn)
      rules.push_back(pattern.rule);
  return rules;
}
