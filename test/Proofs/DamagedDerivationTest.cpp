// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker refuses damaged derivations, and says what it expected.

#include "ProofsFixture.h"
#include "mp/Transforms/Verify/Derivations.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::proofs;
using namespace mlir::mp::test;

namespace {

FunctionDerivation &functionOf(Derivation &derivation, StringRef name) {
  return *llvm::find_if(derivation.functions, [&](auto &f) { return f.name == name; });
}

/// The first claim of a function on a result of `op`, or on an argument for "".
Claim &claimOf(Derivation &derivation, StringRef function, StringRef op) {
  auto &claims = functionOf(derivation, function).claims;
  auto found = llvm::find_if(claims, [&](Claim &claim) { return claim.operation == op; });
  if (found == claims.end())
    ADD_FAILURE() << "no claim on " << op.str() << " in " << function.str();
  return found == claims.end() ? claims.front() : *found;
}

void removeClaim(Derivation &derivation, StringRef function, StringRef op) {
  auto &claims = functionOf(derivation, function).claims;
  Claim &claim = claimOf(derivation, function, op);
  claims.erase(claims.begin() + (&claim - claims.data()));
}

struct Damage {
  const char *name;
  void (*apply)(Derivation &);
  const char *expected; ///< part of what the checker says
};

const Damage kDamages[] = {
    {"bound tightened", [](Derivation &d) { claimOf(d, "softmax", "math.exp").high = 0.5; },
     "claims [0, 0.5]"},
    {"sign invented", [](Derivation &d) { claimOf(d, "norm", "arith.mulf").low = 1; },
     "claims [1,"},
    {"lower bound raised", [](Derivation &d) { claimOf(d, "norm", "arith.addf").low = 1; },
     "expected at least [1e-05"},
    {"sum raised",
     [](Derivation &d) {
       for (Claim &claim : functionOf(d, "softmax").claims)
         if (claim.rule == "shifted-exponentials")
           claim.low = 2;
     },
     "by shifted-exponentials: claims [2,"},
    {"NaN dropped", [](Derivation &d) { claimOf(d, "softmax", "math.exp").mayBeNaN = false; },
     "expected at least [0, 1] or NaN"},
    {"infinity dropped",
     [](Derivation &d) { claimOf(d, "softmax", "arith.subf").mayBeInfinite = false; },
     "expected at least [-inf, 0] or NaN or infinite"},
    {"maximum for self-difference",
     [](Derivation &d) { claimOf(d, "softmax", "arith.subf").rule = "self-difference"; },
     "expected an instance of the lemma"},
    {"quotient for exponentials",
     [](Derivation &d) { claimOf(d, "softmax", "arith.divf").rule = "shifted-exponentials"; },
     "expected an instance of the lemma"},
    {"maximum for quotient",
     [](Derivation &d) { claimOf(d, "softmax", "arith.divf").rule = "group-maximum"; },
     "expected an instance of the lemma"},
    {"exponentials for quotient",
     [](Derivation &d) {
       for (Claim &claim : functionOf(d, "softmax").claims)
         if (claim.rule == "shifted-exponentials")
           claim.rule = "dominated-quotient";
     },
     "expected an instance of the lemma"},
    {"lemma for plain product",
     [](Derivation &d) { claimOf(d, "loop", "arith.mulf").rule = "group-maximum"; },
     "expected an instance of the lemma"},
    {"no lemma for difference",
     [](Derivation &d) { claimOf(d, "softmax", "arith.subf").rule = "interval"; },
     "expected at least [-inf, inf]"},
    {"no lemma for norm",
     [](Derivation &d) {
       for (Claim &claim : functionOf(d, "norm").claims)
         if (claim.rule == "dominated-quotient")
           claim.rule = "interval";
     },
     "by interval: claims [-2.8"},
    {"difference missing", [](Derivation &d) { removeClaim(d, "softmax", "arith.subf"); },
     "of @softmax, by interval"},
    {"exponentials missing", [](Derivation &d) { removeClaim(d, "softmax", "math.exp"); },
     "of @softmax"},
    {"factor missing", [](Derivation &d) { removeClaim(d, "softmax", "arith.divf"); },
     "expected at most 65504"},
    {"carried value missing", [](Derivation &d) { removeClaim(d, "loop", ""); }, "of @loop"},
    {"value that is none",
     [](Derivation &d) { claimOf(d, "softmax", "math.exp").value = "%999#0"; },
     "a claim names '%999#0', expected a float value"},
    {"another value",
     [](Derivation &d) {
       claimOf(d, "softmax", "arith.divf").value = claimOf(d, "softmax", "math.exp").value;
     },
     "is said to be computed by 'arith.divf', expected 'math.exp'"},
    {"operation renamed",
     [](Derivation &d) { claimOf(d, "softmax", "math.exp").operation = "math.tanh"; },
     "is said to be computed by 'math.tanh', expected 'math.exp'"},
    {"claimed twice",
     [](Derivation &d) {
       auto &claims = functionOf(d, "softmax").claims;
       claims.push_back(claims.front());
     },
     "is claimed twice, expected once"},
    {"norm tightened", [](Derivation &d) { claimOf(d, "softmax", "arith.divf").norm = 0.25; },
     "rows of norm 0.25"},
    {"stated range tightened", [](Derivation &d) { claimOf(d, "stated", "").low = -1; },
     "claims [-1, 5]"},
    {"sum tightened", [](Derivation &d) { claimOf(d, "stated", "arith.addf").high = 8; },
     "expected at least [-6, 10]"},
    {"stated claim called proved",
     [](Derivation &d) { claimOf(d, "stated", "").basis = Basis::Proved; },
     "is said to be proved, expected stated"},
    {"sum of stated called proved",
     [](Derivation &d) { claimOf(d, "stated", "arith.addf").basis = Basis::Proved; },
     "is said to be proved, expected stated"},
    {"stated factor called proved",
     [](Derivation &d) { functionOf(d, "stated").conclusions.front().basis = Basis::Proved; },
     "is said to be proved, expected stated"},
    {"loop not inductive",
     [](Derivation &d) {
       for (Claim &claim : functionOf(d, "loop").claims)
         if (claim.rule == "carried")
           claim.high = 0.25;
     },
     "what is handed to it is not within its claim"},
    {"loop result tightened", [](Derivation &d) { claimOf(d, "loop", "scf.for").low = -0.5; },
     "what is handed to it is not within its claim"},
    {"clamp without its NaN",
     [](Derivation &d) {
       for (Claim &claim : functionOf(d, "chosen").claims)
         claim.mayBeNaN = false;
     },
     "or NaN"},
    {"clamp tightened", [](Derivation &d) { functionOf(d, "chosen").claims.back().high = 50; },
     "claims [-100, 50]"},
    {"conclusion of another value",
     [](Derivation &d) { functionOf(d, "softmax").conclusions.front().value = "%arg0"; },
     "is said to be %arg0, expected %"},
    {"conclusion of no op",
     [](Derivation &d) { functionOf(d, "softmax").conclusions.front().op = 999; },
     "expected an operand of one of"},
    {"conclusion of no operand",
     [](Derivation &d) { functionOf(d, "softmax").conclusions.front().operand = 9; },
     "expected an operand of one of"},
    {"function of another size", [](Derivation &d) { functionOf(d, "softmax").opCount += 1; },
     "the derivation is of a function of"},
    {"function renamed", [](Derivation &d) { functionOf(d, "softmax").name = "other"; },
     "which the module lacks"},
    {"format renamed", [](Derivation &d) { d.format = "f8"; },
     "the derivation is for 'f8', expected f16 or bf16"},
};

TEST(DamagedDerivation, IsRefusedAndSaysWhy) {
  ProofsFixture fixture;
  OwningOpRef<ModuleOp> module = fixture.decide(kProvedModule);
  ASSERT_TRUE(module);
  Derivation derivation = deriveProofs(*module);
  EXPECT_TRUE(fixture.check(*module, derivation).isConfirmed()) << fixture.errors;
  EXPECT_EQ(fixture.check(*module, derivation).conclusions, 5u);
  EXPECT_GE(std::size(kDamages), 30u);
  for (const Damage &damage : kDamages) {
    Derivation damaged = derivation;
    damage.apply(damaged);
    CheckResult result = fixture.check(*module, damaged);
    EXPECT_FALSE(result.isConfirmed()) << damage.name;
    EXPECT_NE(fixture.errors.find(damage.expected), std::string::npos)
        << damage.name << ": expected '" << damage.expected << "', found\n"
        << fixture.errors;
  }
}

TEST(DamagedDerivation, IsTheSameAfterJSON) {
  ProofsFixture fixture;
  OwningOpRef<ModuleOp> module = fixture.decide(kProvedModule);
  Derivation derivation = deriveProofs(*module);
  std::string text = llvm::formatv("{0}", toJSON(derivation));
  llvm::Expected<Derivation> parsed = parseDerivation(text);
  ASSERT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
  EXPECT_EQ(llvm::formatv("{0}", toJSON(*parsed)).str(), text);
  EXPECT_TRUE(fixture.check(*module, *parsed).isConfirmed()) << fixture.errors;
}

TEST(DamagedDerivation, IsNoJSON) {
  const std::pair<const char *, const char *> cases[] = {
      {"{", "Expected"},
      {"[]", "expected object"},
      {R"({"mp_proofs": 2, "format": "f16", "functions": []})", "'mp_proofs' is 2, expected 1"},
      {R"({"mp_proofs": 1, "functions": []})", "missing value at proofs.format"},
      {R"({"mp_proofs": 1, "format": "f16", "functions": [{"name": "f", "ops": 1, "conclusions": [],
           "claims": [{"value": "%0#0", "rule": "interval", "nan": true, "infinite": true,
                       "basis": "guessed"}]}]})",
       "expected proved, stated or measured"},
  };
  for (auto [text, expected] : cases) {
    llvm::Expected<Derivation> parsed = parseDerivation(text);
    ASSERT_FALSE(bool(parsed)) << text;
    std::string error = llvm::toString(parsed.takeError());
    EXPECT_NE(error.find(expected), std::string::npos) << error;
  }
}

} // namespace
