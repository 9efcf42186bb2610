// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes example models as MLIR text.

#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Models/Models.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/Files.h"
#include "mp/Support/Version.h"
#include "mp/ToolSupport/Driver.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mp;

static constexpr StringLiteral kUsage = R"(usage: mp-gen list
       mp-gen MODEL --help
       mp-gen MODEL [--OPTION=VALUE ...] [-o FILE]

Writes an example model as MLIR text to FILE, or to standard output (also as '-').
)";

static void printOptions(ArrayRef<OptionSpec> options) {
  for (const OptionSpec &option : options) {
    std::string form = ("--" + option.name).str();
    if (option.kind == OptionSpec::Kind::Integer)
      form += "=N";
    if (option.kind == OptionSpec::Kind::Choice)
      form += "=" + llvm::join(option.choices, "|");
    llvm::outs() << llvm::formatv("  {0,-44} {1}", form, option.help);
    if (option.kind != OptionSpec::Kind::Flag)
      llvm::outs() << llvm::formatv(" [{0}]", option.defaultValue);
    llvm::outs() << "\n";
  }
}

static void printModels() {
  for (const ModelInfo &model : getModels())
    llvm::outs() << llvm::formatv("{0,-14} {1}\n", model.name, model.summary);
}

static llvm::Error writeModel(const ModelInfo &model, ArrayRef<StringRef> words, StringRef file,
                              const CommonOptions &common) {
  llvm::Expected<ModelOptions> options = ModelOptions::parse(model, words);
  if (!options)
    return options.takeError();
  DialectRegistry registry;
  registry.insert<MPDialect>();
  MLIRContext context(registry);
  llvm::Expected<OwningOpRef<ModuleOp>> module = buildModel(context, model, *options);
  if (!module)
    return module.takeError();
  if (llvm::Error error = checkModuleSize(**module, common))
    return error;
  support::FilesOfRun files;
  auto output = support::OutputFile::open(file, ("-o " + file).str());
  if (!output)
    return output.takeError();
  printModel(**module, (*output)->os());
  if (llvm::Error error = (*output)->commit())
    return error;
  return files.commit();
}

static llvm::Error run(const ToolArguments &given) {
  SmallVector<StringRef> words(given.arguments.begin(), given.arguments.end());
  if (words.empty() || words.front() == "--help" || words.front() == "-h") {
    llvm::outs() << kUsage << "\nModels:\n";
    printModels();
    llvm::outs() << "\nOptions of every model, with defaults:\n";
    printOptions(commonModelOptions());
    llvm::outs() << "\nOptions of every tool:\n" << commonHelp();
    return llvm::Error::success();
  }
  if (words.front() == "--version") {
    support::printVersion(llvm::outs());
    return llvm::Error::success();
  }
  if (words.front() == "list") {
    if (words.size() > 1)
      return llvm::createStringError("unexpected '" + words[1] + "' after 'list'");
    printModels();
    return llvm::Error::success();
  }

  StringRef file = "-", name;
  bool hasFile = false;
  SmallVector<StringRef> options;
  for (size_t index = 0; index != words.size(); ++index) {
    StringRef word = words[index];
    if (word == "-o" || word.starts_with("-o=")) {
      if (std::exchange(hasFile, true))
        return llvm::createStringError("-o is given twice; there is one output");
      if (!word.consume_front("-o=") && ++index == words.size())
        return llvm::createStringError("-o needs a file name, or '-' for standard output");
      file = word == "-o" ? words[index] : word;
    } else if (name.empty() && !word.starts_with("-")) {
      name = word;
    } else {
      options.push_back(word);
    }
  }
  if (name.empty())
    return llvm::createStringError("no model named; 'mp-gen list' shows them");
  llvm::Expected<const ModelInfo *> model = findModel(name);
  if (!model)
    return model.takeError();
  if (llvm::is_contained(options, "--help")) {
    llvm::outs() << (*model)->name << ": " << (*model)->summary << "\n\nOptions, with defaults:\n";
    printOptions((*model)->options);
    for (const OptionSpec &option : commonModelOptions())
      if (llvm::none_of((*model)->options, [&](auto &own) { return own.name == option.name; }))
        printOptions(option);
    return llvm::Error::success();
  }
  return writeModel(**model, options, file, given.common);
}

int main(int argc, char **argv) {
  return runTool("mp-gen", argc, argv, [](ToolArguments &given) {
    llvm::Error error = run(given);
    if (!error)
      return 0;
    std::string text = llvm::toString(std::move(error));
    llvm::errs() << "mp-gen: error: " << text << "\n";
    std::optional<support::ErrorCode> code = support::findCode(text);
    return int(code ? support::statusOf(*code) : support::ExitStatus::BadInput);
  });
}
