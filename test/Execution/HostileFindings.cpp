// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Findings are added up, printed, written down and reduced here.

#include "HostileRun.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace mlir;
using namespace mlir::mp::test;

StringRef mlir::mp::test::toString(Verdict verdict) {
  constexpr StringLiteral names[] = {"overflow",  "pole",   "range",  "error",
                                     "constants", "broken", "assumed"};
  return names[int(verdict)];
}

void HostileTally::add(const HostileTally &other) {
  graphs += other.graphs;
  runs += other.runs;
  for (const auto &[name, claim] : other.claims) {
    Claim &sum = claims[name];
    sum.graphs += claim.graphs;
    sum.narrowGraphs += claim.narrowGraphs;
    sum.contractions += claim.contractions;
    sum.narrow += claim.narrow;
  }
  values += other.values;
  bounded += other.bounded;
  assumed += other.assumed;
  beyond += other.beyond;
  confirmed += other.confirmed;
  for (const auto &[family, count] : other.unconfirmed)
    unconfirmed[family] += count;
  llvm::append_range(findings, other.findings);
}

HostileTally::Claim HostileTally::sum(bool holds) const {
  HostileTally one;
  for (const auto &[name, claim] : claims)
    if (name.second.empty() == holds) {
      HostileTally part;
      part.claims[{}] = claim;
      one.add(part);
    }
  return one.claims[{}];
}

std::string Finding::reproducer() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "// " << recipe.str() << "\n// " << toString(verdict) << " in "
     << (format.empty() ? "f32" : format) << ", " << arithmetic << ": " << what << "\n";
  for (const std::string &input : inputs)
    os << "// INPUT: " << input << "\n";
  os << graph;
  return text;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

std::vector<FindingClass> mlir::mp::test::classesOf(const HostileTally &tally) {
  std::map<std::tuple<Verdict, std::string, StringRef, std::string>, FindingClass> classes;
  for (const Finding &finding : tally.findings) {
    FindingClass &found = classes[{finding.verdict, finding.format, finding.recipe.familyName(),
                                   finding.recipe.violation()}];
    if (found.count++ == 0 || finding.graph.size() < found.smallest.graph.size())
      found.smallest = finding;
  }
  std::vector<FindingClass> list;
  for (auto &[kind, found] : classes)
    list.push_back(std::move(found));
  return list;
}

void mlir::mp::test::printTally(llvm::raw_ostream &os, const HostileTally &tally) {
  HostileTally::Claim valid = tally.sum(true), broken = tally.sum(false);
  os << tally.graphs << " graphs, " << tally.runs << " runs, " << tally.values
     << " values compared, " << tally.bounded << " of them bounded\n"
     << "f16 where proved: " << valid.narrow << " of " << valid.contractions
     << " contractions of graphs whose hypotheses hold, " << broken.narrow << " of "
     << broken.contractions << " of the others\n"
     << tally.confirmed << " factors confirmed by the checker";
  for (const auto &[family, count] : tally.unconfirmed)
    os << "; not all of " << count << " graphs of " << family;
  os << "\n";
  std::map<std::pair<Verdict, std::string>, std::set<uint64_t>> graphs;
  for (const Finding &finding : tally.findings)
    graphs[{finding.verdict, finding.format}].insert(finding.recipe.seed);
  for (const auto &[what, seeds] : graphs)
    os << toString(what.first) << " " << (what.second.empty() ? "f32" : what.second) << ": "
       << seeds.size() << " graphs\n";
  for (const FindingClass &found : classesOf(tally)) {
    const Finding &example = found.smallest;
    std::string violation = example.recipe.violation();
    os << llvm::formatv("{0,-9} {1,-4} {2,4}  {3} | {4} | seed {5}, {6}: {7}\n",
                        toString(example.verdict), example.format.empty() ? "f32" : example.format,
                        found.count, example.recipe.familyName(),
                        violation.empty() ? "all hold" : violation, example.recipe.seed,
                        example.arithmetic, example.what);
  }
}

void mlir::mp::test::printClaims(llvm::raw_ostream &os, const HostileTally &tally) {
  std::map<std::pair<std::string, std::string>, std::set<uint64_t>> breaking;
  for (const Finding &finding : tally.findings)
    if (finding.verdict != Verdict::Assumed)
      breaking[{finding.recipe.familyName().str(), finding.recipe.violation()}].insert(
          finding.recipe.seed);
  for (const auto &[name, claim] : tally.claims)
    os << llvm::formatv("{0} | {1}: {2} graphs, {3} narrow, {4} break; {5} of {6} contractions\n",
                        name.first, name.second.empty() ? "all hold" : name.second, claim.graphs,
                        claim.narrowGraphs, breaking[name].size(), claim.narrow,
                        claim.contractions);
}

//===----------------------------------------------------------------------===//
// Reduction
//===----------------------------------------------------------------------===//

Finding mlir::mp::test::reduceHostile(MLIRContext &context, const Finding &finding,
                                      const HostileOptions &options) {
  Finding best = finding;
  auto consider = [&](HostileRecipe recipe) {
    HostileTally tally;
    checkHostileGraphs(context, recipe, options, tally);
    for (Finding &found : tally.findings)
      if (found.verdict == best.verdict && found.format == best.format &&
          found.graph.size() <= best.graph.size()) {
        best = std::move(found);
        return;
      }
  };
  auto without = [&](auto change) {
    HostileRecipe simpler = best.recipe;
    change(simpler);
    if (simpler.str() != best.recipe.str())
      consider(simpler);
  };
  without([](HostileRecipe &r) { r.detour = false; });
  without([](HostileRecipe &r) { r.permuted = false; });
  without([](HostileRecipe &r) { r.dynamic = false; });
  if (!best.recipe.substitutes)
    without([](HostileRecipe &r) { r.control = Control::None; });
  without([](HostileRecipe &r) { r.respelling = Respelling::None; });
  without([](HostileRecipe &r) { r.reader = Reader::Matmul; });
  without([](HostileRecipe &r) {
    r.spelling = Spelling::Tensor;
    r.respelling = Respelling::None;
  });
  for (uint64_t seed = 0; seed < 24; ++seed) // other sizes and variants
    without([&](HostileRecipe &r) { r.seed = seed; });
  return best;
}
