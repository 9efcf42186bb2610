// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts options at spaces that stand in no braces and quotes.

#include "mp/Support/OptionWords.h"
#include "mp/Support/ErrorCode.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

SmallVector<StringRef> mpcore::support::optionWords(StringRef text) {
  SmallVector<StringRef> words;
  size_t begin = 0;
  int open = 0;
  char quote = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    char c = at == text.size() ? ' ' : text[at];
    if (at == text.size() || (isSpace(c) && open <= 0 && !quote)) {
      if (at > begin)
        words.push_back(text.slice(begin, at));
      begin = at + 1;
    } else if (quote) {
      quote = c == quote ? 0 : quote;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else {
      open += int(c == '{') - int(c == '}');
    }
  }
  return words;
}

Error mpcore::support::checkOptionsOnce(StringRef text, const Twine &where) {
  StringSet<> given;
  for (StringRef word : optionWords(text)) {
    StringRef name = word.split('=').first;
    if (name.size() != word.size() && !given.insert(name).second)
      return error(ErrorCode::BadOption, where + ": option '" + name + "' is given twice");
  }
  return Error::success();
}
