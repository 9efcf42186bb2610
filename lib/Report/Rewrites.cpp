// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports rewrites that decisions suggest: those that would help, and those that somebody asked
// for.

#include "mp/Analysis/DataMovement.h"
#include "mp/Analysis/Locations.h"
#include "mp/Analysis/Scaling/ScalingExponents.h"
#include "mp/Dialect/MP/AttributeNames.h"
#include "mp/Dialect/MP/Factored.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Numerics/Format.h"
#include "mp/Report/Report.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace mlir::mp;

/// A weight that is two factors now; the first size of the second one is their rank.
static constexpr llvm::StringLiteral kFactors = "low-rank factors";

void Report::collectRewrite(FunctionOpInterface function, Operation *op) {
  auto place = op->getAttrOfType<StringAttr>(kPrescaledAttrName);
  std::optional<Multiple> product = getPrescaled(op);
  if (product && place.getValue() == "norm") {
    rewrites.push_back({function.getName().str(), describeLocation(op->getLoc()), "pre-scaled norm",
                        describeSource(product->source), typeText(product->source.getType()),
                        typeText(getFloatFormat(op->getResult(0).getType())), 0, product->power});
    return;
  }
  if (auto bound = op->getAttrOfType<FloatAttr>(kFactoredAttrName)) {
    if (auto view = viewContraction(op))
      rewrites.push_back({function.getName().str(), describeLocation(op->getLoc()), kFactors.str(),
                          describeSource(view->b->get()), typeText(view->b->get().getType()),
                          typeText(getFloatFormat(view->b->get().getType())),
                          bound.getValueAsDouble(), 0});
    return;
  }
  // Constants that saturate have rows of their own.
  auto clamp = dyn_cast<CastOp>(op);
  if (!clamp || !clamp.getInserted() || clamp.getOverflow() != Overflow::Saturate ||
      findConstant(clamp.getSource()))
    return;
  FloatType format = clamp.getResultFormat();
  rewrites.push_back(
      {function.getName().str(), describeLocation(op->getLoc()), "clamp",
       describeSource(clamp.getSource()), typeText(clamp.getSource().getType()), typeText(format),
       numerics::info(*numerics::formatOf(format.getFloatSemantics())).maxFinite, 0});
}

void Report::printRewrites(raw_ostream &os) const {
  std::map<std::pair<std::string, double>, int64_t> clamps;
  int64_t norms = 0;
  for (const RewriteRow &row : rewrites)
    if (row.rewrite == kFactors)
      os << "  weight of " << row.location << " is two factors, the second of " << row.type
         << " (mp-factor-weights): off by at most " << llvm::format("%.3g", row.limit)
         << " of its norm\n";
    else if (row.exponent)
      ++norms;
    else
      ++clamps[{row.format, row.limit}];
  for (auto &[limit, count] : clamps)
    os << "  " << count << " value" << (count == 1 ? "" : "s") << " clamped to what " << limit.first
       << " holds, +-" << llvm::format("%.6g", limit.second)
       << " (clamp-unproven): results change where it would have overflowed\n";
  if (norms)
    os << "  " << norms << " operand" << (norms == 1 ? "" : "s")
       << " of squares in norms times a power of two (prescale-norms): exact but for overflow and "
          "underflow\n";
  // Suggestions of one kind as one line, with the largest range of those that have one.
  struct Sum {
    int64_t count = 0, unbounded = 0;
    const Suggestion *largest = nullptr;
  };
  llvm::MapVector<std::pair<StringRef, StringRef>, Sum> sums;
  for (const Placement &placement : placements)
    for (const Suggestion &suggestion : placement.suggestions) {
      Sum &sum = sums[{suggestion.rewrite, suggestion.option}];
      ++sum.count;
      bool isBounded = std::isfinite(suggestion.found);
      sum.unbounded += !isBounded;
      if (!sum.largest || (isBounded && !(suggestion.found <= sum.largest->found)))
        sum.largest = &suggestion;
    }
  for (auto &[kind, sum] : sums) {
    os << "  suggestion: " << kind.first << " (" << kind.second << ") for " << sum.count << " value"
       << (sum.count == 1 ? "" : "s") << ": ";
    if (sum.unbounded)
      os << sum.unbounded << " without a bound";
    if (sum.unbounded < sum.count)
      os << (sum.unbounded ? ", the others up to " : "up to ")
         << llvm::format("%.4g", sum.largest->found);
    os << "; " << sum.largest->format << " ends at " << llvm::format("%.6g", sum.largest->limit)
       << "\n";
  }
}

llvm::json::Array Report::rewritesToJSON() const {
  llvm::json::Array rows;
  for (const RewriteRow &row : rewrites) {
    rows.push_back(llvm::json::Object{{"function", llvm::json::fixUTF8(row.function)},
                                      {"location", llvm::json::fixUTF8(row.location)},
                                      {"rewrite", row.rewrite},
                                      {"tensor", llvm::json::fixUTF8(row.tensor)},
                                      {"type", row.type},
                                      {"format", row.format}});
    llvm::json::Object &object = *rows.back().getAsObject();
    if (row.exponent)
      object["exponent"] = row.exponent;
    else
      object["limit"] = row.limit;
  }
  return rows;
}

llvm::json::Array Report::suggestionsToJSON(const OpRow &row) const {
  llvm::json::Array rows;
  for (const Placement &placement : placements)
    for (const Suggestion &suggestion : placement.suggestions)
      if (placement.function == row.function && suggestion.ordinal == row.ordinal) {
        llvm::json::Value found = std::isfinite(suggestion.found)
                                      ? llvm::json::Value(suggestion.found)
                                      : llvm::json::Value(nullptr);
        rows.push_back(llvm::json::Object{{"rewrite", suggestion.rewrite},
                                          {"option", suggestion.option},
                                          {"of", suggestion.of},
                                          {"found", std::move(found)},
                                          {"limit", suggestion.limit},
                                          {"format", suggestion.format}});
        if (suggestion.exponent)
          (*rows.back().getAsObject())["exponent"] = suggestion.exponent;
      }
  return rows;
}
