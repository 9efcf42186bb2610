// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wraps LLVM's parser of command lines.

#include "CommandLine.h"
#include "PassOptions.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/Version.h"
#include "mp/Support/Words.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <unistd.h>

using namespace llvm;
using namespace mlir::mp;
using namespace mpcore::support;

/// Replaces the parser's "Did you mean", which names options however far.
static std::string explainUnknown(StringRef option) {
  SmallVector<StringRef> known;
  for (auto &entry : cl::getRegisteredOptions())
    if (!entry.first.empty())
      known.push_back(entry.first);
  StringRef name = option.ltrim('-').split('=').first;
  std::string text = "unknown option '" + option.split('=').first.str() + "'";
  if (std::string meant = didYouMean(name, known, "--"); !meant.empty())
    return text + meant;
  return text + "; options of passes and pipelines stand behind their flag, as in "
                "--mp-mixed-precision=\"format=bf16 target=sm_90a\"";
}

Error mlir::mp::parseArguments(StringRef tool, const ToolArguments &given, StringRef overview,
                               OptArguments &files) {
  static cl::opt<std::string> input(cl::Positional, cl::desc("<input file>"), cl::init("-"));
  static cl::opt<std::string> output("o", cl::desc("Output filename"), cl::value_desc("filename"),
                                     cl::init("-"));
  static std::string common = "\nOptions of every tool:\n\n" + commonHelp().str() +
                              "\nExit status: 0 done, 1 a check or a conversion failed, or a limit "
                              "was reached, 2 wrong usage or input,\n70 an internal error, 77 "
                              "something optional is missing.\n";
  static cl::extrahelp help(common);
  cl::SetVersionPrinter(printVersion);
  if (Error wrong = checkPassOptions(given.arguments))
    return wrong;
  std::string name = tool.str(), messages;
  std::vector<const char *> words = {name.c_str()};
  words.insert(words.end(), given.arguments.begin(), given.arguments.end());
  raw_string_ostream stream(messages);
  if (!cl::ParseCommandLineOptions(int(words.size()), words.data(), overview, &stream)) {
    StringRef rest(messages);
    if (size_t at = rest.find("Unknown command line argument '"); at != StringRef::npos)
      return error(ErrorCode::UnknownOption,
                   explainUnknown(rest.substr(at).split('\'').second.split('\'').first));
    rest.consume_front(name + ": ");
    if (rest.trim().empty()) // the option's parser has said it
      return error(ErrorCode::BadOption, "an option is not what it should be; see above");
    return error(ErrorCode::BadOption, rest.trim());
  }
  if (output.getNumOccurrences() > 1)
    return error(ErrorCode::BadOption, "-o is given " + Twine(output.getNumOccurrences()) +
                                           " times; there is one output");
  files.input = input;
  files.output = output;
  return Error::success();
}

static bool isInForeignMain = false;

int mlir::mp::callForeignMain(StringRef tool, const ToolArguments &given,
                              function_ref<int(int, char **)> foreignMain) {
  cl::SetVersionPrinter(printVersion);
  std::string name = tool.str();
  SmallVector<char *> words = {name.data()};
  words.append(given.arguments.begin(), given.arguments.end());
  int count = int(words.size());
  words.push_back(nullptr);
  // LLVM's parser of command lines exits with 1.
  on_exit(
      [](int status, void *) {
        if (isInForeignMain && status == 1)
          _exit(int(ExitStatus::BadInput));
      },
      nullptr);
  isInForeignMain = true;
  int status = foreignMain(count, words.data());
  isInForeignMain = false;
  return status;
}
