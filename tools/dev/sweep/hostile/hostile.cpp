// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the graphs of HostileTests and says what they show.
//
//   hostile --seed=N                 prints the graph of one seed
//   hostile --from=A --to=B          checks those seeds: what is false, by claim and hypothesis
//   hostile --graph=FILE --to=B      checks @main of a file, with the arguments of those seeds
//   hostile --list                   the claims, and the hypotheses of each
//   hostile --kinds --to=B           how many of those seeds are spelled, moved and run how
//
// With --json the counts are one line of JSON, as tools/dev/sweep/hostile-table.py adds them up.
// With --out=DIR the smallest graph of each kind of finding is written there, reduced, with the
// arguments that show it; `mp-run` takes them by --input.

#include "../../../../test/Execution/HostileRun.h"
#include "mlir/Parser/Parser.h"
#include "mp/Pipelines/Promises.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;
static llvm::cl::OptionCategory category("hostile graphs");
static llvm::cl::opt<uint64_t> seed("seed", llvm::cl::desc("Seed of the graph to print"),
                                    llvm::cl::init(~0ull), llvm::cl::cat(category));
static llvm::cl::opt<uint64_t> from("from", llvm::cl::desc("First seed to check"),
                                    llvm::cl::cat(category));
static llvm::cl::opt<uint64_t> to("to", llvm::cl::desc("Seed behind the last to check"),
                                  llvm::cl::cat(category));
static llvm::cl::opt<std::string> graphFile("graph", llvm::cl::desc("File to check, with @main"),
                                            llvm::cl::cat(category));
static llvm::cl::opt<bool> list("list", llvm::cl::desc("List claims and hypotheses"),
                                llvm::cl::cat(category));
static llvm::cl::opt<std::string> out("out",
                                      llvm::cl::desc("Folder for the smallest graph of each kind"),
                                      llvm::cl::cat(category));
static llvm::cl::opt<std::string>
    only("only", llvm::cl::desc("Check seeds alone whose description holds this text"),
         llvm::cl::cat(category));
static llvm::cl::opt<bool> claims("claims",
                                  llvm::cl::desc("Print what f16 gives by claim and hypothesis"),
                                  llvm::cl::cat(category));
static llvm::cl::opt<bool> asJSON("json", llvm::cl::desc("Print the counts as a line of JSON"),
                                  llvm::cl::cat(category));
static llvm::cl::opt<std::string>
    policyFile("policy", llvm::cl::desc("Policy that asks for proofs"),
               llvm::cl::init(MP_SOURCE_DIR "/test/Transforms/Assign/Inputs/proved.json"),
               llvm::cl::cat(category));

static llvm::cl::opt<bool> kinds("kinds", llvm::cl::desc("Count kinds of graphs, as JSON"),
                                 llvm::cl::cat(category));

static void printKinds() {
  llvm::json::Object counts;
  for (uint64_t s = from; s < to; ++s)
    for (const std::string &kind : HostileRecipe::of(s).kinds())
      counts[kind] = counts.getInteger(kind).value_or(0) + 1;
  llvm::outs() << llvm::json::Value(std::move(counts)) << "\n";
}

static void printList() {
  for (const HostileFamily &family : hostileFamilies()) {
    llvm::outs() << family.name << "\n";
    for (StringRef hypothesis : family.hypotheses())
      llvm::outs() << "  " << hypothesis << "\n";
  }
}

/// "overflow-f16-rms_norm-epsilon_negative.mlir"
static std::string fileName(const Finding &finding) {
  std::string violation = finding.recipe.violation();
  std::string name = llvm::formatv(
      "{0}-{1}-{2}-{3}", toString(finding.verdict), finding.format.empty() ? "f32" : finding.format,
      finding.recipe.familyName(), violation.empty() ? "all hold" : violation);
  for (char &c : name)
    c = llvm::isAlnum(c) || c == '-' ? c : '_';
  return name + ".mlir";
}

static int write(MLIRContext &context, const HostileTally &tally, const HostileOptions &options) {
  if (std::error_code error = llvm::sys::fs::create_directories(out)) {
    llvm::errs() << "hostile: --out is '" << out << "': " << error.message() << "\n";
    return 2;
  }
  for (const FindingClass &found : classesOf(tally)) {
    Finding small = reduceHostile(context, found.smallest, options);
    std::string path = out + "/" + fileName(small);
    std::error_code error;
    llvm::raw_fd_ostream file(path, error);
    file << small.reproducer();
    if (error) {
      llvm::errs() << "hostile: " << path << ": " << error.message() << "\n";
      return 2;
    }
  }
  return 0;
}

/// Counts of everything, by claim; findings by verdict and format, each with its description.
static llvm::json::Object toJSON(const HostileTally &tally) {
  llvm::json::Object claims, unconfirmed;
  for (const auto &[name, claim] : tally.claims) {
    llvm::json::Object &counts =
        *claims.try_emplace(name.first, llvm::json::Object()).first->second.getAsObject();
    StringRef state = name.second.empty() ? "hold" : "broken";
    for (auto [what, count] : {std::pair("graphs", claim.graphs),
                               {"contractions", claim.contractions},
                               {"narrow", claim.narrow}}) {
      std::string key = (Twine(what) + " " + state).str();
      counts[key] = counts.getInteger(key).value_or(0) + int64_t(count);
    }
  }
  for (const auto &[family, count] : tally.unconfirmed)
    unconfirmed[family] = int64_t(count);
  llvm::json::Array findings;
  for (const Finding &finding : tally.findings)
    findings.push_back(llvm::json::Object{{"verdict", toString(finding.verdict)},
                                          {"format", finding.format},
                                          {"graph", finding.recipe.str()},
                                          {"arithmetic", finding.arithmetic},
                                          {"what", finding.what}});
  return llvm::json::Object{
      {"graphs", int64_t(tally.graphs)},       {"runs", int64_t(tally.runs)},
      {"values", int64_t(tally.values)},       {"bounded", int64_t(tally.bounded)},
      {"beyond", int64_t(tally.beyond)},       {"confirmed", int64_t(tally.confirmed)},
      {"unconfirmed", std::move(unconfirmed)}, {"claims", std::move(claims)},
      {"findings", std::move(findings)}};
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv, "Graphs made to break proofs\n");
  if (kinds) {
    printKinds();
    return 0;
  }
  if (list) {
    printList();
    return 0;
  }
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadHostileDialects(context);
  if (seed != ~0ull) {
    HostileRecipe recipe = HostileRecipe::of(seed);
    llvm::outs() << "// " << recipe.str() << "\n"
                 << printModule(*buildHostileGraph(&context, recipe).module);
    return 0;
  }
  HostileOptions options;
  options.proved = policyFile;
  if (!graphFile.empty()) {
    auto module = parseSourceFile<ModuleOp>(graphFile, &context);
    if (!module || !module->lookupSymbol<func::FuncOp>("main")) {
      llvm::errs() << "hostile: --graph is '" << graphFile << "': expected a module with @main\n";
      return 2;
    }
    options.written = [module = std::make_shared<OwningOpRef<ModuleOp>>(std::move(module))] {
      return HostileGraph{(*module)->clone(), /*dynamicSize=*/4};
    };
  }
  HostileTally tally;
  std::vector<HostileRecipe> recipes;
  for (uint64_t s = from; s < to; ++s)
    if (HostileRecipe recipe = HostileRecipe::of(s);
        StringRef(recipe.str()).contains(std::string(only)))
      recipes.push_back(std::move(recipe));
  checkHostileGraphs(context, recipes, options, tally);
  if (asJSON)
    llvm::outs() << llvm::json::Value(toJSON(tally)) << "\n";
  else
    printTally(llvm::outs(), tally);
  if (claims)
    printClaims(llvm::outs(), tally);
  bool isClean = llvm::all_of(tally.findings, [](const Finding &finding) {
    return finding.verdict == Verdict::Assumed || finding.verdict == Verdict::Constants;
  });
  int written = out.empty() ? 0 : write(context, tally, options);
  return written ? written : !isClean;
}
