// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker. For each function:
//
//   1. names       every claim names a value, once, and the op that computes it;
//   2. cuts        what loops, blocks and calls carry is taken at its claim;
//   3. claims      in program order, each derived from what was derived of its operands, and
//                  compared; what was derived goes on, not what was claimed;
//   4. cuts again  what feeds them lies within their claims (induction on the steps of execution);
//   5. conclusions the factors fit the format.

#include "mp/Proofs/Checker.h"
#include "Feeds.h"
#include "Transfer.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "llvm/Support/Format.h"
#include <deque>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::proofs;

/// A claim may be tighter than what the checker derives by this share: both round outward, in
/// different ways. The checker goes on with what it derived.
static constexpr double kTolerance = 0x1p-6;
/// Cuts are taken wider as often, before they are said to grow.
static constexpr unsigned kMostRounds = 6;

namespace {
/// Facts of the values of all functions, which calls share.
struct ModuleState {
  DenseMap<Value, Facts> facts;
  DenseMap<Value, const Claim *> claims;
  DenseSet<Value> cuts;
  /// Cuts that were taken too narrow by less than the tolerance, and are now wider.
  bool widened = false;
  std::vector<std::pair<Location, std::string>> errors;
};

class FunctionChecker {
public:
  FunctionChecker(FunctionOpInterface function, const FunctionDerivation &derivation,
                  FloatType narrow, ModuleState &state, CheckResult &result)
      : function(function), derivation(derivation), narrow(narrow), names(function), state(state),
        result(result), transfer(narrow, [this](Value value) { return factsOf(value); }) {}

  void readNames();
  void checkClaims();
  void checkCuts();
  void checkConclusions();

private:
  Facts factsOf(Value value);
  void checkClaim(Value value, const Claim &claim);
  bool useLemmas(Value value, const Claim &claim, Facts &found);
  void useStatedRange(Value value, Facts &found);
  void refuse(Value value, const Claim &claim, const Twine &why);
  std::string whyNot(const Facts &found, const Claim &claim, bool isInBody);

  FunctionOpInterface function;
  const FunctionDerivation &derivation;
  FloatType narrow;
  ValueNames names;
  ModuleState &state;
  CheckResult &result;
  Transfer transfer;
  std::vector<std::pair<Value, const Claim *>> ordered;
};
} // namespace

static Facts asFacts(const Claim &claim) {
  Facts facts;
  facts.low = claim.low;
  facts.high = claim.high;
  facts.mayBeNaN = claim.mayBeNaN;
  facts.mayBeInfinite = claim.mayBeInfinite;
  facts.norm = claim.norm;
  facts.basis = claim.basis;
  return facts;
}

static std::string describe(const Facts &facts) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[" << llvm::format("%.6g", facts.low) << ", " << llvm::format("%.6g", facts.high) << "]";
  if (facts.mayBeNaN)
    os << " or NaN";
  if (facts.mayBeInfinite)
    os << " or infinite";
  if (facts.norm < kInf)
    os << ", rows of norm " << llvm::format("%.6g", facts.norm);
  os << " (" << toString(facts.basis) << ")";
  return text;
}

Facts FunctionChecker::factsOf(Value value) {
  if (auto known = state.facts.find(value); known != state.facts.end())
    return known->second;
  if (auto constant = transfer.constant(value))
    return *constant;
  // Arguments of bodies need no claims: they are elements of the operands.
  if (isa<BlockArgument>(value) && enclosingStructured(value))
    return transfer.derive(value).value_or(Facts());
  return Facts();
}

void FunctionChecker::refuse(Value value, const Claim &claim, const Twine &why) {
  ++result.refused;
  Operation *op = value.getDefiningOp();
  state.errors.emplace_back(
      op ? op->getLoc() : value.getLoc(),
      (claim.value + " of @" + function.getName() + ", by " + claim.rule + ": " + why).str());
}

//===-- names ---------------------------------------------------------------------------------===//

void FunctionChecker::readNames() {
  if (derivation.opCount != names.size()) {
    ++result.refused;
    state.errors.emplace_back(function.getLoc(),
                              ("the derivation is of a function of " + Twine(derivation.opCount) +
                               " ops, expected " + Twine(names.size()))
                                  .str());
    return;
  }
  for (const Claim &claim : derivation.claims) {
    Value value = names.find(claim.value);
    if (!value || !formatOf(value.getType())) {
      ++result.refused;
      state.errors.emplace_back(function.getLoc(), "a claim names '" + claim.value +
                                                       "', expected a float value of @" +
                                                       function.getName().str());
      continue;
    }
    Operation *op = value.getDefiningOp();
    StringRef name = op ? op->getName().getStringRef() : "";
    if (name != claim.operation) {
      refuse(value, claim,
             "is said to be computed by '" + claim.operation + "', expected '" + name + "'");
      continue;
    }
    if (!state.claims.try_emplace(value, &claim).second) {
      refuse(value, claim, "is claimed twice, expected once");
      continue;
    }
    ordered.push_back({value, &claim});
    if (isCut(value)) {
      state.cuts.insert(value);
      state.facts[value] = asFacts(claim);
    }
  }
  llvm::stable_sort(
      ordered, [&](auto &a, auto &b) { return names.getPlace(a.first) < names.getPlace(b.first); });
}

//===-- claims --------------------------------------------------------------------------------===//

std::string FunctionChecker::whyNot(const Facts &found, const Claim &claim, bool isInBody) {
  Facts said = asFacts(claim);
  if (found.isEmpty() && !found.mayBeNaN)
    return "";
  // An end may be off by a share of itself, or of the other end where there is one.
  double size = said.isBounded() ? said.magnitude() : 0;
  auto slackOf = [&](double end) {
    return kTolerance * std::max(std::isfinite(end) ? std::abs(end) : 0, size);
  };
  bool fits = found.isEmpty() || (found.low >= said.low - slackOf(said.low) &&
                                  found.high <= said.high + slackOf(said.high));
  fits &= (!found.mayBeNaN || said.mayBeNaN) && (!found.mayBeInfinite || said.mayBeInfinite);
  bool fitsNorm =
      isInBody || found.isEmpty() || found.norm <= said.norm * (1 + kTolerance) + 1e-300;
  if (!fits || !fitsNorm)
    return "claims " + describe(said) + ", expected at least " + describe(found);
  if (found.basis > said.basis)
    return "is said to be " + toString(said.basis).str() + ", expected " +
           toString(found.basis).str();
  return "";
}

void FunctionChecker::useStatedRange(Value value, Facts &found) {
  ArrayAttr range;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == &function.getFunctionBody().front())
      range = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), kRangeAttrName);
  } else {
    range = value.getDefiningOp()->getAttrOfType<ArrayAttr>(kRangeAttrName);
  }
  if (!range)
    return;
  double low = cast<FloatAttr>(range[0]).getValueAsDouble();
  double high = cast<FloatAttr>(range[1]).getValueAsDouble();
  bool isKnown = !found.mayBeNaN && !found.mayBeInfinite && found.low >= low && found.high <= high;
  if (isKnown)
    return;
  found.low = std::max(found.low, low);
  found.high = std::min(found.high, high);
  found.mayBeNaN = found.mayBeInfinite = false;
  found.basis = std::max(found.basis, range.size() > 2 ? Basis::Measured : Basis::Stated);
  relateNorm(found, rowLength(value.getType()));
}

/// False if a lemma is named that says nothing of the value.
bool FunctionChecker::useLemmas(Value value, const Claim &claim, Facts &found) {
  bool isLemma = llvm::is_contained(
      {"self-difference", "group-maximum", "dominated-quotient", "shifted-exponentials"},
      claim.rule);
  if (!isLemma)
    return true;
  Relations relations(value.getContext(), [&](Value other) { return factsOf(other); });
  bool applies = false;
  for (const Conclusive &conclusion : relations.conclude(value)) {
    applies |= conclusion.lemma == claim.rule;
    found.low = std::max(found.low, conclusion.low);
    found.high = std::min(found.high, conclusion.high);
    found.norm = std::min(found.norm, conclusion.norm);
    found.restOn(conclusion.basis);
  }
  if (found.isBounded())
    found.mayBeInfinite = false;
  return applies;
}

void FunctionChecker::checkClaim(Value value, const Claim &claim) {
  bool isArgument = isa<BlockArgument>(value) && !enclosingStructured(value);
  std::optional<Facts> derived = isArgument ? Facts() : transfer.derive(value);
  // A range that the program states needs no derivation.
  Facts found = derived.value_or(Facts());
  bool applies = useLemmas(value, claim, found);
  useStatedRange(value, found);
  if (!applies) {
    refuse(value, claim, "expected an instance of the lemma, found none in what computes it");
    state.facts[value] = found;
    return;
  }
  bool isInBody = bool(enclosingStructured(value));
  if (isa<ShapedType>(value.getType()))
    relateNorm(found, rowLength(value.getType()));
  std::string reason = whyNot(found, claim, isInBody);
  if (!reason.empty() && !derived) {
    ++result.notChecked;
    ++result.unknownOps[value.getDefiningOp() ? value.getDefiningOp()->getName().getStringRef()
                                              : "argument"];
    found = asFacts(claim);
    found.confirmed = false;
  } else if (!reason.empty()) {
    refuse(value, claim, reason);
  } else {
    ++result.confirmed;
  }
  state.facts[value] = found;
}

void FunctionChecker::checkClaims() {
  for (auto [value, claim] : ordered)
    if (!state.cuts.contains(value))
      checkClaim(value, *claim);
}

//===-- cuts and conclusions ------------------------------------------------------------------===//

void FunctionChecker::checkCuts() {
  for (auto [value, claim] : ordered) {
    if (!state.cuts.contains(value))
      continue;
    std::optional<SmallVector<Value>> feeds = findFeeds(value);
    bool isConfirmed = feeds.has_value();
    std::string reason;
    Facts taken = state.facts[value];
    for (Value feed : feeds.value_or(SmallVector<Value>())) {
      Facts known = factsOf(feed);
      useStatedRange(value, known);
      if (rowLength(feed.getType()) != rowLength(value.getType()))
        known.norm = kInf;
      relateNorm(known, rowLength(value.getType()));
      isConfirmed &= known.confirmed;
      if (reason.empty())
        reason = whyNot(known, *claim, /*isInBody=*/false);
      if (known.isEmpty())
        continue;
      // The next round takes somewhat more than what is handed over.
      auto widen = [&](double &end, double by, bool isBeyond) {
        if (!isBeyond)
          return;
        end = by;
        state.widened = true;
      };
      auto more = [](double end) { return 0x1p-12 * std::min(std::abs(end), 1e300); };
      widen(taken.low, known.low - more(known.low), known.low < taken.low);
      widen(taken.high, known.high + more(known.high), known.high > taken.high);
      widen(taken.norm, known.norm * (1 + 0x1p-12), known.norm > taken.norm);
    }
    if (!reason.empty())
      refuse(value, *claim, "what is handed to it is not within its claim: " + reason);
    else if (isConfirmed)
      ++result.confirmed;
    else
      ++result.notChecked;
    taken.confirmed = isConfirmed;
    state.facts[value] = taken;
  }
}

void FunctionChecker::checkConclusions() {
  std::optional<Format> format = formatOf(narrow);
  // A conclusion that rests on an open cut is open: the cuts of a function stand for all of it.
  bool allCuts = llvm::all_of(state.cuts, [&](Value cut) { return state.facts[cut].confirmed; });
  for (const Conclusion &conclusion : derivation.conclusions) {
    Operation *op = names.getOp(conclusion.op);
    auto fail = [&](const Twine &why) {
      ++result.refusedConclusions;
      state.errors.emplace_back(op ? op->getLoc() : function.getLoc(),
                                ("operand " + Twine(conclusion.operand) + " of op " +
                                 Twine(conclusion.op) + " of @" + function.getName() + ": " + why)
                                    .str());
    };
    if (!op || conclusion.operand >= op->getNumOperands()) {
      fail("expected an operand of one of " + Twine(names.size()) + " ops");
      continue;
    }
    Value value = op->getOperand(conclusion.operand);
    if (names.getName(value) != conclusion.value) {
      fail("is said to be " + conclusion.value + ", expected " + names.getName(value));
      continue;
    }
    Facts found = factsOf(value);
    if (found.mayBeInfinite || !(found.magnitude() <= format->largest)) {
      fail("is " + describe(found) + ", expected at most " + Twine(int64_t(format->largest)));
      continue;
    }
    if (found.basis > conclusion.basis) {
      fail("is said to be " + toString(conclusion.basis) + ", expected " + toString(found.basis));
      continue;
    }
    ++(found.confirmed && allCuts ? result.conclusions : result.openConclusions);
  }
}

CheckResult mlir::mp::proofs::checkDerivation(ModuleOp module, const Derivation &derivation) {
  CheckResult result;
  ModuleState state;
  Builder builder(module.getContext());
  FloatType narrow = derivation.format == "f16"    ? FloatType(builder.getF16Type())
                     : derivation.format == "bf16" ? FloatType(builder.getBF16Type())
                                                   : FloatType();
  if (!narrow) {
    module.emitError() << "mp-check-proofs: the derivation is for '" << derivation.format
                       << "', expected f16 or bf16";
    ++result.refused;
    return result;
  }
  // Functions of modules in modules may share a name: they are told apart by their order.
  llvm::StringMap<std::deque<FunctionOpInterface>> functions;
  module.walk<WalkOrder::PreOrder>([&](FunctionOpInterface function) {
    if (!function.isExternal())
      functions[function.getName()].push_back(function);
  });
  std::vector<std::unique_ptr<FunctionChecker>> checkers;
  for (const FunctionDerivation &part : derivation.functions) {
    std::deque<FunctionOpInterface> &named = functions[part.name];
    FunctionOpInterface function = named.empty() ? FunctionOpInterface() : named.front();
    if (function) {
      named.pop_front();
    } else {
      module.emitError() << "mp-check-proofs: the derivation is of function '" << part.name
                         << "', which the module lacks";
      ++result.refused;
      continue;
    }
    checkers.push_back(std::make_unique<FunctionChecker>(function, part, narrow, state, result));
  }
  for (auto &checker : checkers)
    checker->readNames();
  // Errors of names do not change; the rest is found anew each round.
  const CheckResult named = result;
  const size_t namedErrors = state.errors.size();
  for (unsigned round = 0; round < kMostRounds; ++round) {
    state.widened = false;
    state.errors.resize(namedErrors, {module.getLoc(), ""});
    result = named;
    for (auto step : {&FunctionChecker::checkClaims, &FunctionChecker::checkCuts,
                      &FunctionChecker::checkConclusions})
      for (auto &checker : checkers)
        ((*checker).*step)();
    if (!state.widened)
      break;
  }
  if (state.widened) {
    state.errors.emplace_back(module.getLoc(),
                              "what loops and calls carry keeps growing beyond its claims");
    ++result.refused;
  }
  for (auto &[location, text] : state.errors)
    emitError(location) << "mp-check-proofs: " << text;
  return result;
}
