// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks for keys that stand twice: llvm::json keeps neither them nor positions.

#include "mp/Support/JSON.h"
#include "llvm/ADT/Twine.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

using llvm::StringRef;
using llvm::Twine;

/// The offset behind the string that begins at `at`.
static size_t endOfString(StringRef text, size_t at) {
  for (++at; text[at] != '"'; ++at)
    if (text[at] == '\\')
      ++at;
  return at + 1;
}

/// `text` is valid JSON.
static llvm::Error checkKeys(StringRef text) {
  std::vector<std::optional<std::set<std::string>>> scopes; // keys of objects, nothing of arrays
  bool isKey = false;
  for (size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
    case '{':
      scopes.emplace_back(std::in_place);
      isKey = true;
      break;
    case '[':
      scopes.emplace_back(std::nullopt);
      isKey = false;
      break;
    case '}':
    case ']': scopes.pop_back(); break;
    case ',': isKey = scopes.back().has_value(); break;
    case '"': {
      const size_t end = endOfString(text, at);
      if (isKey) {
        llvm::json::Value key = llvm::cantFail(llvm::json::parse(text.slice(at, end)));
        std::string name = key.getAsString()->str();
        StringRef before = text.take_front(at);
        if (!scopes.back()->insert(name).second)
          return llvm::createStringError(
              "[" + Twine(before.count('\n') + 1) + ":" + Twine(at - (before.rfind('\n') + 1) + 1) +
              ", byte=" + Twine(at) + "]: key '" + name + "' is given twice");
        isKey = false;
      }
      at = end - 1;
      break;
    }
    }
  }
  return llvm::Error::success();
}

llvm::Expected<llvm::json::Value> mpcore::support::parseJSON(StringRef text) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (value)
    if (llvm::Error error = checkKeys(text))
      return std::move(error);
  return value;
}
