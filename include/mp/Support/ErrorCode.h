// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of errors. A message ends in its number, "[MP301]"; the number's hundred is the exit
// status of the tool that prints it, and each number has a page (docs/reference/Errors.md).

#ifndef MP_SUPPORT_ERRORCODE_H
#define MP_SUPPORT_ERRORCODE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>

namespace mpcore::support {

enum class ErrorCode {
#define MP_ERROR(NAME, NUMBER, TITLE, TEXT) NAME = NUMBER,
#include "mp/Support/Errors.def"
};

/// Says how every tool ends.
enum class ExitStatus {
  Done = 0,
  Failed = 1,    ///< a check or a conversion failed, or a limit was reached
  BadInput = 2,  ///< wrong usage or input, or an output that cannot be written
  Internal = 70, ///< a defect of mp, or of what it is built on
  Missing = 77,  ///< something optional is not installed: a driver, ptxas
};

/// The status of errors of this number.
ExitStatus statusOf(ErrorCode code);

/// " [MP301]", to end a message with.
std::string tag(ErrorCode code);

/// An error whose text is `message` and the tag.
llvm::Error error(ErrorCode code, const llvm::Twine &message);

/// The error of --werror after `count` warnings.
llvm::Error errorOfWarnings(unsigned count);

/// The number in a message: the last tag in it.
std::optional<ErrorCode> findCode(llvm::StringRef message);

/// The page of a number as Markdown: title, what it means, what to do.
struct ErrorPage {
  ErrorCode code;
  llvm::StringRef title, text;
};

/// All pages, in the order of their numbers.
llvm::ArrayRef<ErrorPage> errorPages();

/// Prints the pages as Markdown; those of `word` ("MP301" or "301"), or of all numbers for "all".
/// An error where no number is meant.
llvm::Error printErrorPages(llvm::StringRef word, llvm::raw_ostream &os);

} // namespace mpcore::support

#endif // MP_SUPPORT_ERRORCODE_H
