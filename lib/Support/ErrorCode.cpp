// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of numbered errors.

#include "mp/Support/ErrorCode.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpcore::support;

ArrayRef<ErrorPage> mpcore::support::errorPages() {
  static const ErrorPage pages[] = {
#define MP_ERROR(NAME, NUMBER, TITLE, TEXT) {ErrorCode::NAME, TITLE, TEXT},
#include "mp/Support/Errors.def"
  };
  return pages;
}

ExitStatus mpcore::support::statusOf(ErrorCode code) {
  switch (int(code) / 100) {
  case 4:
  case 5:
  case 6: return ExitStatus::Failed;
  case 7: return ExitStatus::Missing;
  case 9: return ExitStatus::Internal;
  default: return ExitStatus::BadInput;
  }
}

std::string mpcore::support::tag(ErrorCode code) {
  return " [MP" + std::to_string(int(code)) + "]";
}

Error mpcore::support::error(ErrorCode code, const Twine &message) {
  std::string text = message.str();
  // An error inside has its number already, and its page says more.
  const bool isNumbered = StringRef(text).ends_with("]") && findCode(text) &&
                          StringRef(text).ends_with(tag(*findCode(text)));
  return createStringError(inconvertibleErrorCode(), isNumbered ? text : text + tag(code));
}

Error mpcore::support::errorOfWarnings(unsigned count) {
  return error(ErrorCode::Warnings,
               Twine(count) + (count == 1 ? " warning is an error" : " warnings are errors") +
                   " (--werror); no output was written");
}

std::optional<ErrorCode> mpcore::support::findCode(StringRef message) {
  size_t at = message.rfind("[MP");
  unsigned number;
  if (at == StringRef::npos ||
      message.substr(at + 3).take_until([](char c) { return c == ']'; }).getAsInteger(10, number))
    return std::nullopt;
  for (const ErrorPage &page : errorPages())
    if (unsigned(page.code) == number)
      return page.code;
  return std::nullopt;
}

static StringRef describe(ExitStatus status) {
  switch (status) {
  case ExitStatus::Done: return "done";
  case ExitStatus::Failed: return "a check or a conversion failed, or a limit was reached";
  case ExitStatus::BadInput: return "wrong usage or input, or an output that cannot be written";
  case ExitStatus::Internal: return "an internal error";
  case ExitStatus::Missing: return "something optional is missing";
  }
  return "";
}

Error mpcore::support::printErrorPages(StringRef word, raw_ostream &os) {
  StringRef digits = word;
  digits.consume_front_insensitive("mp");
  unsigned number = 0;
  bool any = false;
  if (word != "all" && digits.getAsInteger(10, number))
    return error(ErrorCode::BadOption,
                 "'" + word + "' is no number of an error, expected one such as MP301, or all");
  for (const ErrorPage &page : errorPages()) {
    if (word != "all" && unsigned(page.code) != number)
      continue;
    os << (any ? "\n" : "") << "# MP" << int(page.code) << ": " << page.title << "\n\n"
       << page.text << "\nExit status " << int(statusOf(page.code)) << ": "
       << describe(statusOf(page.code)) << ".\n";
    any = true;
  }
  if (!any)
    return error(ErrorCode::BadOption, "no error has the number '" + word +
                                           "'; --mp-explain-error=all prints those there are");
  return Error::success();
}
