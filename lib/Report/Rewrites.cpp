// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a report says of rewrites that decisions offer: those that would help, and those that
// somebody asked for.

#include "mp/Analysis/Locations.h"
#include "mp/Analysis/Moves.h"
#include "mp/Analysis/Powers.h"
#include "mp/Dialect/MP/Prescaled.h"
#include "mp/Numerics/Format.h"
#include "mp/Report/Report.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace mlir::mp;

void Report::collectRewrite(FunctionOpInterface function, Operation *op) {
  auto place = op->getAttrOfType<StringAttr>(kPrescaledAttrName);
  std::optional<Multiple> product = getPrescaled(op);
  if (product && place.getValue() == "norm") {
    rewrites.push_back({function.getName().str(), describeLocation(op->getLoc()), "pre-scaled norm",
                        describeSource(product->source), typeText(product->source.getType()),
                        typeText(getFloatFormat(op->getResult(0).getType())), 0, product->power});
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
       ::mp::numerics::info(*::mp::numerics::formatOf(format.getFloatSemantics())).maxFinite, 0});
}

void Report::printRewrites(raw_ostream &os) const {
  std::map<std::pair<std::string, double>, int64_t> clamps;
  int64_t norms = 0;
  for (const RewriteRow &row : rewrites)
    if (row.exponent)
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
  // Offers of one kind as one line, with the largest range of those that have one.
  struct Sum {
    int64_t count = 0, unbounded = 0;
    const Offer *largest = nullptr;
  };
  llvm::MapVector<std::pair<StringRef, StringRef>, Sum> sums;
  for (const Placement &placement : placements)
    for (const Offer &offer : placement.offers) {
      Sum &sum = sums[{offer.rewrite, offer.option}];
      ++sum.count;
      bool isBounded = std::isfinite(offer.found);
      sum.unbounded += !isBounded;
      if (!sum.largest || (isBounded && !(offer.found <= sum.largest->found)))
        sum.largest = &offer;
    }
  for (auto &[kind, sum] : sums) {
    os << "  offer: " << kind.first << " (" << kind.second << ") for " << sum.count << " value"
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
    rows.push_back(llvm::json::Object{{"function", row.function},
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

llvm::json::Array Report::offersToJSON(const OpRow &row) const {
  llvm::json::Array rows;
  for (const Placement &placement : placements)
    for (const Offer &offer : placement.offers)
      if (placement.function == row.function && offer.ordinal == row.ordinal) {
        llvm::json::Value found = std::isfinite(offer.found) ? llvm::json::Value(offer.found)
                                                             : llvm::json::Value(nullptr);
        rows.push_back(llvm::json::Object{{"rewrite", offer.rewrite},
                                          {"option", offer.option},
                                          {"of", offer.of},
                                          {"found", std::move(found)},
                                          {"limit", offer.limit},
                                          {"format", offer.format}});
        if (offer.exponent)
          (*rows.back().getAsObject())["exponent"] = offer.exponent;
      }
  return rows;
}
