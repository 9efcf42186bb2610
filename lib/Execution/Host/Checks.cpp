// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects the messages of a program's checks and turns exit codes back into them.

#include "Checks.h"

#include "mp/Runtime/Runtime.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/Memory.h"
#include "mp/Transforms/Interop/Passes.h"

using namespace mlir;

std::vector<std::string> mlir::mp::takeChecks(ModuleOp module) {
  std::vector<std::string> messages;
  if (Operation *fail = module.lookupSymbol(kFailName))
    if (auto texts = fail->getAttrOfType<ArrayAttr>(kRuntimeChecksAttrName)) {
      for (Attribute text : texts)
        messages.push_back(cast<StringAttr>(text).str());
      fail->removeAttr(kRuntimeChecksAttrName);
    }
  return messages;
}

std::string mlir::mp::failureText(int64_t code, ArrayRef<std::string> checks) {
  if (code == -1)
    return "the program ran out of memory; " +
           mpcore::support::formatBytes(mpcore::support::availableMemory()) + " are free" +
           mpcore::support::tag(mpcore::support::ErrorCode::TooLarge);
  if (code >= 1 && code <= int64_t(checks.size())) {
    std::string text = "the program failed a check: " + checks[code - 1];
    if (StringRef details = mp_rt_failure_text(); !details.empty())
      text += "\n  " + details.str();
    return text;
  }
  return "the program failed with code " + std::to_string(code);
}
