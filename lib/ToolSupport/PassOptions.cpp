// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Knows the options of a pass by what its help prints, which is the only place where upstream
// tells.

#include "PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/OptionWords.h"
#include "mp/Support/Words.h"
#include "mp/Target/TargetModel.h"
#include "mp/Target/Targets.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;
using namespace mlir::mp;
using namespace mpcore::support;
using mlir::PassInfo;
using mlir::PassPipelineInfo;
using mlir::PassRegistryEntry;

namespace {
struct KnownOption {
  std::string name;
  std::vector<std::string> values; ///< all that it takes; none where it takes others. Options of
                                   ///< mp's passes say themselves what they take.
};
} // namespace

/// Catches what is printed to standard output; empty where that is not possible.
static std::string printed(function_ref<void()> print) {
  outs().flush();
  int file = memfd_create("printed", MFD_CLOEXEC), kept = dup(STDOUT_FILENO);
  std::string text;
  if (file >= 0 && kept >= 0 && dup2(file, STDOUT_FILENO) >= 0) {
    print();
    outs().flush();
    dup2(kept, STDOUT_FILENO);
    text.resize(size_t(std::max<off_t>(lseek(file, 0, SEEK_END), 0)));
    if (pread(file, text.data(), text.size(), 0) != ssize_t(text.size()))
      text.clear();
  }
  for (int open : {file, kept})
    if (open >= 0)
      close(open);
  return text;
}

/// Reads lines "  --name=<kind>  - text" and, below, "    =value  -   text".
static std::vector<KnownOption> optionsOf(const PassRegistryEntry &entry) {
  size_t width = std::max(entry.getOptionWidth(), entry.getPassArgument().size() + 4);
  std::string text = printed([&] { entry.printHelpStr(/*indent=*/0, width + 4); });
  std::vector<KnownOption> options;
  SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n');
  for (StringRef line : ArrayRef(lines).drop_front()) {
    if (line.consume_front("  --"))
      options.push_back({line.take_until([](char c) { return c == '=' || c == ' '; }).str(), {}});
    else if (line.consume_front("    =") && !options.empty())
      options.back().values.push_back(line.take_until([](char c) { return c == ' '; }).str());
  }
  return options;
}

/// Names the option that a value without one belongs to: "bf16" is a format.
static std::string describeBareWord(StringRef word, ArrayRef<StringRef> names) {
  StringRef format = mpcore::target::canonicalFormatName(word);
  if (is_contained(names, "format") && mpcore::target::findFormat(format))
    return ("; did you mean 'format=" + (word.starts_with("fp") ? format : word) + "'?").str();
  if (is_contained(names, "target")) {
    if (auto target = mpcore::target::lookupTarget(word))
      return ("; did you mean 'target=" + word + "'?").str();
    else
      consumeError(target.takeError());
  }
  return "";
}

static Error checkWord(StringRef flag, StringRef word, ArrayRef<KnownOption> options) {
  auto [name, value] = word.split('=');
  auto option = find_if(options, [&](const KnownOption &known) { return known.name == name; });
  if (option == options.end()) {
    SmallVector<StringRef> names(map_range(options, [](auto &o) -> StringRef { return o.name; }));
    std::string meant = word == name ? describeBareWord(word, names) : "";
    return error(ErrorCode::UnknownOption, "--" + flag + " has no option '" + name + "'" +
                                               (meant.empty() ? suggestWord(name, names) : meant));
  }
  SmallVector<StringRef> given, values(option->values.begin(), option->values.end());
  value.split(given, ','); // a list
  for (StringRef one : given)
    if (word != name && !values.empty() && !is_contained(values, one) && !flag.starts_with("mp-"))
      return error(ErrorCode::BadOption, "--" + flag + ": " + name + "=" + one + ": expected " +
                                             join(values, ", ") + didYouMean(one, values));
  return Error::success();
}

Error mlir::mp::checkPassOptions(ArrayRef<char *> arguments) {
  for (StringRef argument : arguments) {
    if (!argument.starts_with("-"))
      continue;
    auto [flag, text] = argument.ltrim('-').split('=');
    const PassRegistryEntry *entry = PassInfo::lookup(flag);
    if (!entry)
      entry = PassPipelineInfo::lookup(flag);
    if (!entry || text.empty())
      continue;
    std::vector<KnownOption> options = optionsOf(*entry);
    for (StringRef word : optionWords(text))
      if (!options.empty())
        if (Error wrong = checkWord(flag, word, options))
          return wrong;
    // Upstream's passes have lists that are given one by one.
    if (flag.starts_with("mp-"))
      if (Error wrong = checkOptionsOnce(text, "--" + flag))
        return wrong;
  }
  return Error::success();
}
