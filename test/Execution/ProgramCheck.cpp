// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps of a check: build; convert and check promises; lower a copy by passes in random order;
// compile all variants as one program; run it on draws of arguments; compare.

#include "ProgramCheck.h"
#include "../Transforms/Hostile/HostileGraph.h"
#include "Combine.h"
#include "HostileVerdict.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Execution/Compare/BoundCheck.h"
#include "mp/Execution/Compare/Trace.h"
#include "mp/Execution/Inputs.h"
#include "mp/InitAll.h"
#include "mp/Pipelines/Promises.h"
#include "mp/Transforms/Assign/Passes.h"
#include "mp/Transforms/Materialize/Passes.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

constexpr int64_t kDynamicSize = 5; ///< of every `?`
constexpr unsigned kDraws = 2;      ///< of arguments

struct Variant {
  OwningOpRef<ModuleOp> module;
  bool isTraced = false; ///< values inside are results, too
  func::FuncOp function() const { return (*module).lookupSymbol<func::FuncOp>("main"); }
  unsigned results() const { return function().getNumResults(); }
};

class Check {
public:
  Check(MLIRContext &context, const ProgramRecipe &recipe, ProgramTally &tally)
      : context(context), recipe(recipe), tally(tally) {}
  void run();
  void find(const Twine &what);

private:
  bool convert();
  void decide();
  void lower();
  void compareRuns();
  bool runDraw(unsigned draw);
  std::vector<Array> drawInputs(const Signature &signature, unsigned draw);
  void take(const BoundCheck &check, StringRef what);
  void compareBits(ArrayRef<Array> expected, ArrayRef<Array> found);

  MLIRContext &context;
  const ProgramRecipe &recipe;
  ProgramTally &tally;
  std::string said; ///< errors
  OwningOpRef<ModuleOp> original;
  Variant traced;    ///< the original
  Variant decided;   ///< phase 3
  Variant converted; ///< by the whole pipeline
  Variant lowered;   ///< by passes in random order behind it; may lack
  std::unique_ptr<Program> program, reference;
};

} // namespace

void Check::find(const Twine &what) { tally.findings.push_back({recipe, what.str() + said}); }

/// Returns values inside besides, where there is one block.
static void trace(Variant &variant) {
  if (!variant.function().getBody().hasOneBlock())
    return;
  SmallVector<Value> values;
  for (const TracedValue &traced : tracedValues(variant.function()))
    values.push_back(traced.value);
  llvm::Error error = returnValues(variant.function(), values);
  variant.isTraced = !error;
  llvm::consumeError(std::move(error));
}

bool Check::convert() {
  MixedPrecisionOptions options;
  options.format = *mpcore::support::findWord<ContractionFormat>(recipe.format);
  options.table = false;
  CheckedConversion checked = convertAndCheck(*original, options);
  if (!checked.broken.empty())
    return find("promise: " + checked.broken), false;
  converted.module = std::move(checked.converted);
  WalkResult casts = converted.module->walk([](CastOp) { return WalkResult::interrupt(); });
  tally.casts += casts.wasInterrupted();
  return true;
}

/// Phases 0 to 3: what follows rounds constants for good, which no bound of a result knows of.
void Check::decide() {
  if (recipe.format == "e4m3")
    return; // scaled: the pipeline has more phases
  PassManager manager(&context);
  AssignPrecisionOptions assign;
  assign.format = *mpcore::support::findWord<ContractionFormat>(recipe.format);
  manager.addPass(createAssignPrecision(assign));
  manager.addPass(createInsertCasts());
  manager.addPass(createSplitContractions());
  decided.module = original->clone();
  if (failed(manager.run(*decided.module))) {
    find("not decided: ");
    decided.module = {};
    return;
  }
  trace(decided);
}

void Check::lower() {
  OwningOpRef<ModuleOp> module = converted.module->clone();
  std::string wrong;
  llvm::raw_string_ostream stream(wrong);
  auto pipeline =
      parsePassPipeline("builtin.module(" + llvm::join(recipe.passes, ",") + ")", stream);
  if (failed(pipeline))
    return find("pipeline: " + wrong);
  PassManager manager(&context);
  static_cast<OpPassManager &>(manager) = std::move(*pipeline);
  manager.enableVerifier(false); // a pass that fails may leave anything behind
  if (failed(manager.run(*module))) {
    if (said.empty())
      return find("a pass fails without a word");
    ++tally.refused;
    said.clear();
  } else if (failed(verify(*module))) {
    find("not valid after passes: ");
  } else {
    lowered.module = std::move(module);
  }
}

static std::unique_ptr<Program> compile(ModuleOp module, bool inF64, std::string &why) {
  ProgramOptions how;
  how.promoteToF64 = inF64;
  how.optimise = false;
  how.runtimeContractions = false; // sums in the order written
  auto compiled = Program::compile(module, "main", how);
  if (compiled)
    return std::move(*compiled);
  why = llvm::toString(compiled.takeError());
  return nullptr;
}

std::vector<Array> Check::drawInputs(const Signature &signature, unsigned draw) {
  InputOptions options;
  options.seed = recipe.seed + draw;
  options.dynamicSize = kDynamicSize;
  std::vector<std::string> notes;
  return llvm::cantFail(makeInputs(signature, options, notes));
}

void Check::take(const BoundCheck &check, StringRef what) {
  tally.values += check.values;
  tally.bounded += check.bounded;
  if (!check.violations.empty())
    find(what + check.violations.front());
}

/// Compares patterns; NaN equals NaN, whatever its sign and payload.
void Check::compareBits(ArrayRef<Array> expected, ArrayRef<Array> found) {
  for (auto [number, pair] : llvm::enumerate(llvm::zip_equal(expected, found))) {
    auto &[before, after] = pair;
    for (int64_t i = 0, e = before.size(); i < e; ++i) {
      bool areNaN =
          before.type.isFloat && std::isnan(before.value(i)) && std::isnan(after.value(i));
      if (before.pattern(i) != after.pattern(i) && !areNaN)
        return find(llvm::formatv("passes change result {0}[{1}] from {2} to {3}", number, i,
                                  before.value(i), after.value(i)));
    }
  }
  ++tally.lowered;
}

/// Keeps what is said of arguments: a check states the ranges of its draw.
static auto keepArguments(func::FuncOp function) {
  return llvm::scope_exit([function, given = function.getAllArgAttrs()]() mutable {
    if (given)
      function.setAllArgAttrs(given);
    else
      function.removeArgAttrsAttr();
  });
}

/// Runs all variants, and the decided one in f64 beside them. False if nothing more is to be seen.
bool Check::runDraw(unsigned draw) {
  std::vector<Array> inputs = drawInputs(program->signature(), draw), kept = inputs;
  auto results = program->run(inputs);
  if (!results)
    return find("does not run: " + llvm::toString(results.takeError())), false;
  ArrayRef<Array> rest = *results;
  auto next = [&](const Variant &variant) {
    ArrayRef<Array> own = rest.take_front(variant.results());
    rest = rest.drop_front(variant.results());
    return own;
  };
  ArrayRef<Array> ofTraced = next(traced);
  auto keepTraced = keepArguments(traced.function());
  if (traced.isTraced)
    take(checkRanges(*traced.module, traced.function(), kept, ofTraced), "range: ");
  ArrayRef<Array> ofConverted = next(converted);
  if (lowered.module)
    compareBits(ofConverted, next(lowered));
  if (!reference)
    return true;
  ArrayRef<Array> ofDecided = next(decided);
  auto keepDecided = keepArguments(decided.function());
  auto exact = runInF64(*reference, kept);
  if (!exact)
    return find("does not run in f64: " + llvm::toString(exact.takeError())), false;
  take(checkErrors(*decided.module, decided.function(), kept, ofDecided, *exact, ""), "error: ");
  return true;
}

void Check::compareRuns() {
  SmallVector<ModuleOp> parts = {*traced.module, *converted.module};
  if (lowered.module)
    parts.push_back(*lowered.module);
  if (decided.module)
    parts.push_back(*decided.module);
  std::string why, alone;
  program = compile(*combine(*original, parts), /*inF64=*/false, why);
  if (!program) {
    if (!compile(*original, /*inF64=*/false, alone)) {
      ++tally.unrun;
      said.clear();
      return;
    }
    return find("the host runs the original, but not what became of it: " + why);
  }
  if (decided.isTraced)
    reference = compile(*decided.module, /*inF64=*/true, why);
  if (decided.isTraced && !reference)
    return find("not compiled in f64: " + why);
  for (unsigned draw = 0, before = tally.findings.size(); draw < kDraws; ++draw)
    if (!runDraw(draw) || tally.findings.size() > before)
      return;
  ++tally.ran;
}

void Check::run() {
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && said.size() < 2000)
      said += "\n" + diagnostic.str();
    return success();
  });
  original = buildProgram(context, recipe);
  if (!original)
    return;
  ++tally.programs;
  tally.models += !recipe.model.empty();
  if (failed(verify(*original)))
    return find("the generator made an invalid program");
  if (!convert())
    return;
  lower();
  decide();
  traced.module = original->clone();
  trace(traced);
  compareRuns();
}

void mlir::mp::test::checkProgram(MLIRContext &context, const ProgramRecipe &recipe,
                                  ProgramTally &tally) {
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext recovery;
  Check check(context, recipe, tally);
  if (!recovery.RunSafely([&] { check.run(); }))
    check.find("crashed");
}

void mlir::mp::test::loadProgramDialects(MLIRContext &context) {
  static bool registered =
      (mlir::mp::registerAllPasses(), registerTransformsPasses(), registerLinalgPasses(), true);
  (void)registered;
  loadHostileDialects(context);
}
