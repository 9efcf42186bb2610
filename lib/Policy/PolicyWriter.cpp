// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a policy as JSON.

#include "mp/Policy/PolicyJSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mpcore::policy;
using llvm::StringRef;
namespace json = llvm::json;

static void writeSelector(const Selector &select, json::OStream &out) {
  auto writeText = [&](StringRef key, StringRef text) {
    if (!text.empty())
      out.attribute(key, text);
  };
  writeText("op", select.op);
  writeText("function", select.function);
  writeText("class", select.classes);
  writeText("location", select.location);
  writeText(select.place == Place::Op ? "name" : toString(select.place), select.name);
  if (select.attributes.empty())
    return;
  out.attributeObject("attribute", [&] {
    for (const auto &[name, text] : select.attributes) {
      if (text)
        out.attribute(name, *text);
      else
        out.attribute(name, true);
    }
  });
}

static void writeRule(const Rule &rule, json::OStream &out) {
  out.attribute("name", rule.name);
  out.attributeObject("select", [&] { writeSelector(rule.select, out); });
  out.attribute("precision", toString(rule.wish));
  if (!rule.format.empty())
    out.attribute("format", rule.format);
  if (!rule.reason.empty())
    out.attribute("reason", rule.reason);
}

void mpcore::policy::writePolicy(const Policy &policy, llvm::raw_ostream &os) {
  json::OStream out(os, /*IndentSize=*/2);
  auto writeBound = [&](StringRef key, auto bound) {
    out.attribute(key, bound ? json::Value(*bound) : json::Value(nullptr));
  };
  out.object([&] {
    out.attribute("mp_policy", policyVersion);
    out.attribute("name", policy.name);
    out.attribute("extends", "nothing"); // every rule is written below
    if (!policy.format.empty())
      out.attribute("format", policy.format);
    if (!policy.target.empty())
      out.attribute("target", policy.target);
    out.attributeObject("limits", [&] {
      writeBound("largest-activation", policy.limits.largestActivation);
      writeBound("largest-constant", policy.limits.largestConstant);
      writeBound("longest-reduction", policy.limits.longestReduction);
    });
    out.attribute("evidence", toString(policy.evidence));
    out.attribute("parameters", toString(policy.parameters));
    out.attributeArray("rules", [&] {
      for (const Rule &rule : policy.rules)
        out.object([&] { writeRule(rule, out); });
    });
  });
  os << "\n";
}
