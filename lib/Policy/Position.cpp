// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the position of a value in a JSON text: llvm::json keeps no positions. The text is valid
// JSON.

#include "mp/Policy/PolicyJSON.h"
#include "llvm/ADT/STLExtras.h"

#include <string>

using namespace mpcore::policy;
using llvm::StringRef;

namespace {
class Cursor {
public:
  explicit Cursor(StringRef text) : text(text) { skipSpace(); }

  size_t offset() const { return at; }

  /// Moves to the member or element named; false if there is none.
  bool enter(StringRef step, bool atKey) {
    bool isObject = peek() == '{';
    if (!isObject && peek() != '[')
      return false;
    next();
    for (size_t index = 0; at < text.size() && peek() != '}' && peek() != ']'; ++index) {
      size_t key = at;
      bool found = isObject ? readString() == step : "[" + std::to_string(index) + "]" == step;
      if (isObject)
        next(); // the colon
      if (found) {
        if (atKey && isObject)
          at = key;
        return true;
      }
      skipValue();
      if (peek() == ',')
        next();
    }
    return false;
  }

private:
  char peek() const { return at < text.size() ? text[at] : '\0'; }
  void skipSpace() { at = std::min(text.find_first_not_of(" \t\r\n", at), text.size()); }
  void next() {
    ++at;
    skipSpace();
  }
  /// Reads a string, its escapes undone as far as names need.
  std::string readString() {
    std::string result;
    for (++at; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\' && at + 1 < text.size())
        ++at;
      result += text[at];
    }
    next();
    return result;
  }
  void skipValue() {
    unsigned depth = 0;
    do {
      switch (peek()) {
      case '"': readString(); continue;
      case '{':
      case '[': ++depth; break;
      case '}':
      case ']': --depth; break;
      }
      next();
    } while (at < text.size() && (depth > 0 || !StringRef(",}]").contains(peek())));
  }

  StringRef text;
  size_t at = 0;
};
} // namespace

/// Line and column, from 1.
static std::pair<unsigned, unsigned> positionOf(StringRef text, size_t offset) {
  StringRef before = text.take_front(offset);
  return {before.count('\n') + 1, before.size() - (before.rfind('\n') + 1) + 1};
}

std::pair<unsigned, unsigned>
mpcore::policy::findPosition(StringRef text, llvm::ArrayRef<std::string> path, bool atKey) {
  Cursor cursor(text);
  for (auto [index, step] : llvm::enumerate(path))
    if (!cursor.enter(step, atKey && index + 1 == path.size()))
      break;
  return positionOf(text, cursor.offset());
}
