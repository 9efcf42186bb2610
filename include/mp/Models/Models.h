// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The example models: their list, their options, building and printing them.

#ifndef MP_MODELS_MODELS_H
#define MP_MODELS_MODELS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir::mp {

class GraphBuilder;
class ModelOptions;

/// One option: `--name=value`. A flag may be written without a value; a choice
/// written without one takes `bare`, where that is set.
struct OptionSpec {
  enum class Kind { Integer, Flag, Choice };
  StringRef name;
  Kind kind;
  std::string defaultValue;
  StringRef help;
  int64_t min = 0, max = 0;
  SmallVector<StringRef> choices = {};
  StringRef bare = {};

  static OptionSpec integer(StringRef name, int64_t value, StringRef help, int64_t min = 1,
                            int64_t max = 1 << 20);
  static OptionSpec flag(StringRef name, StringRef help);
  static OptionSpec choice(StringRef name, ArrayRef<StringRef> choices, StringRef help,
                           StringRef bare = {});
};

struct ModelInfo {
  StringRef name;
  StringRef summary;
  /// The model's own options; those of commonModelOptions come in addition.
  SmallVector<OptionSpec> options;
  /// Builds @main; an error names the option that does not fit.
  llvm::Error (*build)(GraphBuilder &graph, const ModelOptions &options);
  /// True if it has a stack of layers that --control-flow and --calls apply to.
  bool layered = true;
};

/// The values of all options of a model.
class ModelOptions {
public:
  /// Parses `--name=value` words. Unknown names and bad values are errors that
  /// name option, value and the nearest valid one.
  static llvm::Expected<ModelOptions> parse(const ModelInfo &model, ArrayRef<StringRef> words);

  int64_t integer(StringRef name) const;
  bool flag(StringRef name) const;
  StringRef choice(StringRef name) const;

private:
  llvm::StringMap<std::string> values;
};

ArrayRef<ModelInfo> getModels();
/// Options that every model has: dialect, weights, seed and variants.
ArrayRef<OptionSpec> commonModelOptions();
/// The model of that name; the error names the nearest one.
llvm::Expected<const ModelInfo *> findModel(StringRef name);

/// A verified module with the model as @main; the dialects it needs are loaded.
llvm::Expected<OwningOpRef<ModuleOp>> buildModel(MLIRContext &context, const ModelInfo &model,
                                                 const ModelOptions &options);

/// Prints the module with the names of the function arguments as their locations
/// (`loc("name")`), and no other locations. Streams: memory does not grow with the text.
void printModel(ModuleOp module, raw_ostream &os);

} // namespace mlir::mp

#endif // MP_MODELS_MODELS_H
