// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the state of a choice among versions off the results of steps.

#include "VersionLog.h"

#include "mp/Dialect/MP/Versions.h"

using namespace mlir;
using namespace mlir::mp;

static std::vector<std::string> stringsIn(DictionaryAttr said, StringRef name) {
  std::vector<std::string> strings;
  for (Attribute text : said.getAs<ArrayAttr>(name))
    strings.push_back(cast<StringAttr>(text).str());
  return strings;
}

VersionLog::VersionLog(func::FuncOp step, const Signature &signature) {
  auto said = step->getAttrOfType<DictionaryAttr>(kVersionsAttrName);
  if (!said)
    return;
  versions = stringsIn(said, "versions");
  reasons = stringsIn(said, "reasons");
  for (const Parameter &argument : signature.arguments)
    if (argument.role == kRoleVersion && argument.nextValue)
      result = size_t(*argument.nextValue);
}

void VersionLog::record(llvm::raw_ostream &os, int64_t step, ArrayRef<Array> results) {
  if (!result || *result >= results.size())
    return;
  const Array &state = results[*result];
  const auto version = int64_t(state.value(int64_t(VersionState::Version)));
  if (version == last || version < 0 || size_t(version) >= versions.size())
    return;
  const auto rule = int64_t(state.value(int64_t(VersionState::Rule)));
  os << "step " << step << ": version ";
  if (last >= 0)
    os << versions[last] << " -> ";
  os << versions[version] << " ("
     << (rule >= 0 && size_t(rule) < reasons.size() ? reasons[rule] : "no rule holds") << ")\n";
  last = version;
}
