// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks words of options that are names in a table.

#include "mp/Transforms/Options.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mp/Dialect/MP/FakeQuantize.h"
#include "mp/Numerics/ProbeRecord.h"
#include "mp/Numerics/Scaling/Recipes.h"

using namespace mlir;
using namespace mlir::mp;

std::optional<std::string> RecipeSet::refuse(StringRef text) {
  SmallVector<StringRef> known = llvm::map_to_vector(
      numerics::scalingRecipes(), [](const auto &recipe) -> StringRef { return recipe.name; });
  if (text.empty() || llvm::is_contained(known, text))
    return std::nullopt;
  return support::expectedWords(text, known);
}

std::optional<numerics::Format> ProbedFormatSet::read(StringRef text) {
  StringRef spelling = text == "e4m3" ? "f8E4M3FN" : text == "e5m2" ? "f8E5M2" : text;
  auto format = numerics::parseFormat(spelling);
  return format && numerics::canBeProbed(*format) ? format : std::nullopt;
}

std::optional<std::string> ProbedFormatSet::refuse(StringRef text) {
  if (read(text))
    return std::nullopt;
  return ", expected a float narrower than f32 with sign and zero, as f16, bf16, e4m3 or e5m2";
}

std::optional<std::string> CodeSet::refuse(StringRef text) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  Type format = parseType(text, &context);
  if (format && getCodeRange(format))
    return std::nullopt;
  return ", expected iN or uiN with N from 2 to 8, or a float of at most 8 bits, as f8E4M3FN or "
         "f4E2M1FN";
}

std::optional<double> SaturatedShareSet::read(StringRef text) {
  double share = text == "on" ? 1 : 0;
  if (text == "on" || text == "off")
    return share;
  if (text.getAsDouble(share) || !(share >= 0 && share <= 1))
    return std::nullopt;
  return share;
}

std::optional<std::string> SaturatedShareSet::refuse(StringRef text) {
  if (read(text))
    return std::nullopt;
  return ", expected off, on or a share of elements from 0 to 1";
}
