// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts the report's JSON and the parts of lib/Report/Page together into one page.

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Report/Exports.h"
#include "mp/Support/Version.h"

// The parts of the page (lib/Report/Page), as string literals.
#include "PageParts.inc"

using namespace mlir;
using namespace mlir::mp;

/// What the page says of itself, beside the report.
static llvm::json::Object aboutJSON(const Report &report) {
  std::string version;
  llvm::raw_string_ostream os(version);
  support::printVersion(os);
  return llvm::json::Object{{"model", llvm::json::fixUTF8(report.model)},
                            {"command", llvm::json::fixUTF8(report.command)},
                            {"version", StringRef(version).trim().str()}};
}

/// JSON that cannot end the script element it stands in.
static std::string embeddedJSON(llvm::json::Value json) {
  std::string text, safe;
  llvm::raw_string_ostream(text) << json;
  for (size_t i = 0; i < text.size(); ++i) {
    safe += text[i];
    if (text[i] == '<' && i + 1 < text.size() && (text[i + 1] == '/' || text[i + 1] == '!')) {
      safe.pop_back();
      safe += "\\u003c";
    }
  }
  return safe;
}

void mlir::mp::writeHTML(const Report &report, raw_ostream &os) {
  StringRef rest = kPageHtml;
  while (!rest.empty()) {
    auto [before, after] = rest.split('@');
    os << before;
    auto [name, behind] = after.split('@');
    if (name == "CSS")
      os << kPageCss;
    else if (name == "JS")
      os << kDataJs << kGraphJs << kTablesJs;
    else if (name == "DATA")
      os << embeddedJSON(report.toJSON());
    else if (name == "ABOUT")
      os << embeddedJSON(aboutJSON(report));
    rest = behind;
  }
}
