// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formats suggestions of rewrites for people.

#include "mp/Analysis/Cost/Suggestions.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir::mp;

std::string mlir::mp::describeSuggestion(const Suggestion &suggestion) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << suggestion.rewrite << " (" << suggestion.option << "): " << suggestion.of;
  if (std::isinf(suggestion.found))
    os << " has no bound";
  else
    os << " may reach " << llvm::format("%.4g", suggestion.found);
  os << ", " << suggestion.format << " ends at " << llvm::format("%.6g", suggestion.limit);
  if (suggestion.exponent)
    os << "; times 2^" << suggestion.exponent << " it fits";
  else if (suggestion.rewrite == "powers of two")
    os << "; times a power of two made of its magnitude, measured where it is computed";
  return text;
}
