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

/// Modules of more ops are nothing to read: their page says that their text is left out.
static constexpr int64_t kMostOpsOfText = 20'000;

/// Returns what the page says of itself, beside the report.
static llvm::json::Object aboutJSON(const Report &report) {
  std::string version;
  llvm::raw_string_ostream os(version);
  support::printVersion(os);
  std::string table;
  llvm::raw_string_ostream words(table);
  report.printTable(words);
  return llvm::json::Object{
      {"model", llvm::json::fixUTF8(report.model)},
      {"command", llvm::json::fixUTF8(report.command)},
      {"version", StringRef(version).trim().str()},
      {"table", llvm::json::fixUTF8(table)},
      {"before", llvm::json::fixUTF8(report.textBefore)},
      {"after", llvm::json::fixUTF8(report.textAfter)},
      {"against", llvm::json::fixUTF8(report.against)},
      {"changes", report.changes ? toJSON(*report.changes) : llvm::json::Value(nullptr)}};
}

std::string mlir::mp::printForPage(ModuleOp module) {
  int64_t ops = 0;
  module.walk([&](Operation *) {
    return ++ops > kMostOpsOfText ? WalkResult::interrupt() : WalkResult::advance();
  });
  std::string text;
  if (ops > kMostOpsOfText)
    return text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().elideLargeElementsAttrs(16).elideLargeResourceString(64));
  return text;
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
      os << kDataJs << kGraphJs << kTablesJs << kTextJs;
    else if (name == "DATA")
      os << embeddedJSON(report.toJSON());
    else if (name == "ABOUT")
      os << embeddedJSON(aboutJSON(report));
    rest = behind;
  }
}
