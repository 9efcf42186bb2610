// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files that parse mp-run's command line share these: each option has a handler.

#ifndef MP_LIB_EXECUTION_TOOL_OPTIONHANDLERS_H
#define MP_LIB_EXECUTION_TOOL_OPTIONHANDLERS_H

#include "RunOptions.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

#include <functional>

namespace mlir::mp {

/// Takes the text behind the option's `=`.
using Handler = std::function<llvm::Error(StringRef)>;
using Handlers = std::vector<std::pair<StringRef, Handler>>;

inline llvm::Error badOption(StringRef option, StringRef value, const Twine &expected) {
  return llvm::createStringError("--" + option + "=" + value + ": expected " + expected);
}

template <typename T>
llvm::Error parseInteger(StringRef option, StringRef value, T least, T &result) {
  if (value.getAsInteger(10, result) || result < least)
    return badOption(option, value, "an integer of at least " + Twine(least));
  return llvm::Error::success();
}

inline Handler textOption(std::string &target) {
  return [&target](StringRef value) -> llvm::Error {
    target = value.str();
    return llvm::Error::success();
  };
}

/// Options, by name, that say nothing of the kind of file or device that is given.
llvm::Error checkKindOfFile(const llvm::StringSet<> &given, const RunOptions &options);

/// Options, by name, that say something of others, none of which is given.
llvm::Error checkPartners(const llvm::StringSet<> &given, const RunOptions &options);

/// Options of the modes that run a program to learn something of it, and what they exclude.
Handlers searchOptions(RunOptions &options);
llvm::Error checkSearches(const RunOptions &options);

/// Options of what --calibrate learns from data; they and what it writes go together.
Handlers calibrationOptions(RunOptions &options);
llvm::Error checkCalibration(const RunOptions &options);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_TOOL_OPTIONHANDLERS_H
