// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says which words an option takes.

#include "mp/Support/ClosedWords.h"

#include "mp/Support/ErrorCode.h"
#include "mp/Support/Words.h"
#include "llvm/Support/WithColor.h"

using namespace mpcore::support;
using llvm::StringRef;

static thread_local RefusedWords *catching = nullptr;

RefusedWords::RefusedWords() : outer(catching) { catching = this; }
RefusedWords::~RefusedWords() { catching = outer; }

std::string mpcore::support::expectedWords(StringRef text, llvm::ArrayRef<StringRef> words) {
  std::string list = ", expected ";
  for (size_t i = 0; i < words.size(); ++i)
    list += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i].str();
  return list + didYouMean(text, words);
}

bool mpcore::support::refuseWord(StringRef option, StringRef text, StringRef reason) {
  std::string message = ("option '" + option + "' is '" + text + "'" + reason).str();
  if (!findCode(reason))
    message += tag(ErrorCode::BadOption);
  if (catching)
    catching->text = message;
  else
    llvm::WithColor::error(llvm::errs()) << message << '\n';
  return true;
}

void mpcore::support::explainWord(StringRef word, StringRef meaning, size_t width) {
  if (meaning.empty())
    return;
  llvm::outs() << "    =" << word;
  llvm::outs().indent(width > word.size() + 6 ? width - word.size() - 6 : 1)
      << " -   " << meaning << '\n';
}
