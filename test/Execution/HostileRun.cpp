// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HostileRun.h"
#include "Combine.h"
#include "HostileInputs.h"
#include "HostileVerdict.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Execution/Compare/BoundCheck.h"
#include "mp/Execution/Compare/Trace.h"
#include "mp/Execution/TensorCores.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Pipelines/Pipelines.h"
#include "mp/Pipelines/Promises.h"
#include "mp/Proofs/Checker.h"
#include "mp/Transforms/Assign/Passes.h"
#include "mp/Transforms/Materialize/Passes.h"
#include "mp/Transforms/Verify/Derivations.h"
#include "llvm/Support/CrashRecoveryContext.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;
using numerics::Architecture;

//===----------------------------------------------------------------------===//
// Variants of a graph in one program
//===----------------------------------------------------------------------===//

namespace {

/// The graph, or a conversion of it, with all that it computes as results where that is possible.
struct Variant {
  std::string format; ///< empty: as it was written
  bool isProved = true;
  OwningOpRef<ModuleOp> module = {};
  unsigned own = 0;      ///< results of its own
  unsigned all = 0;      ///< and values inside
  bool isTraced = false; ///< values inside are results
  func::FuncOp function() const { return (*module).lookupSymbol<func::FuncOp>("main"); }
};

/// A graph, its variants, and what they show.
class Check {
public:
  Check(MLIRContext &context, const HostileRecipe &recipe, const HostileOptions &options,
        HostileTally &tally)
      : context(context), recipe(recipe), options(options), tally(tally),
        graph(options.written ? options.written() : buildHostileGraph(&context, recipe)) {}

  void run();
  void crashed() { find(Verdict::Broken, nullptr, "", "crashed", {}); }

private:
  bool addVariant(StringRef format, bool proved);
  OwningOpRef<ModuleOp> convert(StringRef format, bool proved);
  /// The graph, with what a test says falsely of it.
  OwningOpRef<ModuleOp> claimed();
  void checkProofs(ModuleOp decided);
  void trace(Variant &variant);
  std::unique_ptr<Program> compile(ArrayRef<Variant> variants, bool inF64);
  bool runDraw(unsigned draw);
  void compareResults(const Variant &variant, ArrayRef<Array> inputs, ArrayRef<Array> before,
                      ArrayRef<Array> after, StringRef arithmetic);
  void checkValues(Variant &variant, unsigned draw, ArrayRef<Array> inputs, ArrayRef<Array> results,
                   ArrayRef<Array> exact, StringRef chip);
  void countContractions(const Variant &variant);
  void find(Verdict verdict, const Variant *variant, StringRef arithmetic, const Twine &what,
            ArrayRef<Array> inputs);

  MLIRContext &context;
  const HostileRecipe &recipe;
  const HostileOptions &options;
  HostileTally &tally;
  HostileGraph graph;
  bool isChecked = false; ///< by lib/Proofs
  bool isBeyond = false;  ///< breaks where f32 comes near its limit
  SmallVector<Variant> variants;
  std::unique_ptr<Program> program;
  std::unique_ptr<Program> reference; ///< the first variant in f64
};

} // namespace

void Check::find(Verdict verdict, const Variant *variant, StringRef arithmetic, const Twine &what,
                 ArrayRef<Array> inputs) {
  for (const Finding &known : tally.findings)
    if (known.verdict == verdict && known.recipe.seed == recipe.seed &&
        known.format == (variant ? variant->format : ""))
      return;
  Finding finding{verdict,
                  recipe,
                  variant ? variant->format : "",
                  arithmetic.str(),
                  what.str(),
                  printModule(*graph.module),
                  {}};
  for (const Array &input : inputs)
    finding.inputs.push_back(literalOf(input));
  tally.findings.push_back(std::move(finding));
}

OwningOpRef<ModuleOp> Check::claimed() {
  OwningOpRef<ModuleOp> module = graph.module->clone();
  if (options.plant)
    options.plant(module->lookupSymbol<func::FuncOp>("main"));
  return module;
}

/// Runs phases 0 to 3: what follows keeps every value, but rounds constants for good, which no
/// bound of the result can know of.
OwningOpRef<ModuleOp> Check::convert(StringRef format, bool proved) {
  OwningOpRef<ModuleOp> module = claimed();
  PassManager manager(&context);
  manager.enableVerifier(false);
  AssignPrecisionOptions assign;
  assign.format = *mpcore::support::findWord<ContractionFormat>(format);
  assign.policyFile = proved ? options.proved : "";
  manager.addPass(createAssignPrecision(assign));
  if (failed(manager.run(*module)))
    return {};
  if (format == "f16" && proved && !std::exchange(isChecked, true))
    checkProofs(*module);
  PassManager rest(&context);
  rest.enableVerifier(false);
  rest.addPass(createInsertCasts());
  if (failed(rest.run(*module)) || failed(verify(*module)))
    return {};
  return module;
}

/// Counts what the checker of lib/Proofs, which knows less, confirms.
void Check::checkProofs(ModuleOp decided) {
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  proofs::CheckResult result = proofs::checkDerivation(decided, deriveProofs(decided));
  tally.confirmed += result.conclusions;
  if (!result.isConfirmed())
    ++tally.unconfirmed[recipe.familyName().str()];
}

void Check::trace(Variant &variant) {
  variant.own = variant.all = variant.function().getNumResults();
  if (!variant.function().getBody().hasOneBlock())
    return;
  SmallVector<Value> values;
  for (const TracedValue &traced : tracedValues(variant.function()))
    values.push_back(traced.value);
  if (llvm::Error error = returnValues(variant.function(), values))
    return llvm::consumeError(std::move(error));
  variant.isTraced = true;
  variant.all = variant.function().getNumResults();
}

/// Returns false if the graph cannot be converted.
bool Check::addVariant(StringRef format, bool proved) {
  Variant variant{format.str(), proved};
  variant.module = format.empty() ? claimed() : convert(format, proved);
  if (!variant.module)
    return false;
  countContractions(variant);
  bool hasCasts =
      (*variant.module).walk([](CastOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (!format.empty() && !hasCasts)
    return true; // nothing to run
  trace(variant);
  variants.push_back(std::move(variant));
  return true;
}

void Check::countContractions(const Variant &variant) {
  if (variant.format != "f16" || !variant.isProved)
    return;
  HostileTally::Claim &claim = tally.claims[{recipe.familyName().str(), recipe.violation()}];
  bool isNarrowGraph = false;
  (*variant.module).walk([&](Operation *op) {
    auto interface = dyn_cast<PrecisionOpInterface>(op);
    if (!interface || getOpClass(op) != OpClass::TensorCore)
      return;
    bool isNarrow = false;
    for (OpOperand &operand : op->getOpOperands())
      isNarrow |= interface.getOperandRole(operand.getOperandNumber()) == OperandRole::Factor &&
                  getElementTypeOrSelf(operand.get().getType()).isF16();
    ++claim.contractions;
    claim.narrow += isNarrow;
    isNarrowGraph |= isNarrow;
  });
  ++claim.graphs;
  claim.narrowGraphs += isNarrowGraph;
}

std::unique_ptr<Program> Check::compile(ArrayRef<Variant> parts, bool inF64) {
  ProgramOptions how;
  how.promoteToF64 = inF64;
  how.optimise = false;
  auto modules = llvm::map_to_vector(parts, [](const Variant &part) { return *part.module; });
  auto compiled = Program::compile(*combine(*graph.module, modules), "main", how);
  if (compiled)
    return std::move(*compiled);
  find(Verdict::Broken, nullptr, "", llvm::toString(compiled.takeError()), {});
  return nullptr;
}

/// Proofs are of finite arguments and of graphs whose values stay below this in f32:
/// a small number times an infinite argument is infinite and NaN where it is rounded to zero, and a
/// sum of products that comes nearer to the largest number may be infinite with rounded factors.
/// The largest number itself and minus infinity are meant, by masks and starts of maxima.
static bool isBeyondPremises(ArrayRef<Array> inputs, ArrayRef<Array> values) {
  constexpr double limit = 0x1p127, largest = 0x1.fffffep127;
  auto has = [](ArrayRef<Array> arrays, auto isOdd) {
    return llvm::any_of(arrays, [&](const Array &array) {
      return array.type.isFloat && llvm::any_of(array.values(), isOdd);
    });
  };
  auto isBeyond = [](double x) {
    bool isMeant = std::fabs(x) == largest || x == -HUGE_VAL;
    return std::fabs(x) >= limit && !isMeant;
  };
  return has(inputs, [](double x) { return std::isinf(x); }) || has(values, isBeyond);
}

void Check::compareResults(const Variant &variant, ArrayRef<Array> inputs, ArrayRef<Array> before,
                           ArrayRef<Array> after, StringRef arithmetic) {
  for (unsigned i = 0; i < variant.own; ++i) {
    const Array &was = before[i], &is = after[i];
    for (int64_t j = 0, e = was.size(); was.type.isFloat && j < e; ++j) {
      if (std::isfinite(is.value(j)) || !std::isfinite(was.value(j)))
        continue;
      std::string what;
      llvm::raw_string_ostream(what)
          << "result " << i << "[" << j << "] is " << is.value(j) << " for " << was.value(j);
      if (isBeyondPremises(inputs, before) || exceedsF32(*graph.module, inputs)) {
        tally.beyond += !std::exchange(isBeyond, true);
        return;
      }
      Verdict verdict = variant.isProved
                            ? whyNotFinite(*graph.module, *variant.module, recipe, inputs, i, j)
                            : Verdict::Assumed;
      tally.assumed += verdict == Verdict::Assumed;
      return find(verdict, &variant, arithmetic, what, inputs);
    }
  }
}

/// States nothing but that the argument is finite, where it is.
static void stateFinite(func::FuncOp function, ArrayRef<Array> inputs) {
  Builder builder(function.getContext());
  for (auto [index, input] : llvm::enumerate(inputs)) {
    if (!input.type.isFloat || function.getArgAttr(index, kRangeAttrName) ||
        !llvm::all_of(input.values(), [](double value) { return std::isfinite(value); }))
      continue;
    double largest = 0x1.fffffep127;
    function.setArgAttr(index, kRangeAttrName,
                        builder.getArrayAttr(
                            {builder.getF64FloatAttr(-largest), builder.getF64FloatAttr(largest)}));
  }
}

void Check::checkValues(Variant &variant, unsigned draw, ArrayRef<Array> inputs,
                        ArrayRef<Array> results, ArrayRef<Array> exact, StringRef chip) {
  func::FuncOp function = variant.function();
  ArrayAttr given = function.getAllArgAttrs();
  StringRef arithmetic = chip.empty() ? "IEEE" : chip;
  auto take = [&](Verdict verdict, const BoundCheck &check) {
    tally.values += check.values;
    tally.bounded += check.bounded;
    if (!check.violations.empty())
      find(verdict, &variant, arithmetic, check.violations.front(), inputs);
  };
  // Against the graph whose constants are rounded already, an error may be within its bound.
  auto isOfConstants = [&](const BoundCheck &check) {
    if (check.violations.empty() || variant.format.empty())
      return false;
    auto rounded = runOnce(*variant.module, inputs, /*inF64=*/true);
    return rounded && checkErrors(*variant.module, function, inputs, results, *rounded, chip)
                          .violations.empty();
  };
  if (draw % 2) // relations count where intervals say nothing
    stateFinite(function, inputs);
  take(Verdict::Range, checkRanges(*variant.module, function, inputs, results));
  BoundCheck errors = checkErrors(*variant.module, function, inputs, results, exact, chip);
  take(isOfConstants(errors) ? Verdict::Constants : Verdict::Error, errors);
  if (given)
    function.setAllArgAttrs(given);
  else
    function.removeArgAttrsAttr();
}

/// Returns false if running the program failed.
bool Check::runDraw(unsigned draw) {
  static constexpr std::optional<Architecture> kArithmetic[] = {std::nullopt, Architecture::SM80,
                                                                Architecture::SM90};
  auto architecture = kArithmetic[(recipe.seed + draw) % std::size(kArithmetic)];
  std::string chip = architecture ? toString(*architecture).str() : "";
  std::vector<Array> inputs =
      drawHostileInputs(program->signature(), graph.dynamicSize, recipe.seed, draw);
  std::optional<TensorCoreScope> scope;
  if (architecture)
    scope.emplace(*architecture);
  auto results = program->run(inputs);
  scope.reset();
  if (!results) {
    find(Verdict::Broken, nullptr, chip, llvm::toString(results.takeError()), inputs);
    return false;
  }
  ++tally.runs;
  std::vector<Array> exact;
  if (draw < options.checked) {
    auto computed = runInF64(*reference, inputs);
    if (!computed) {
      find(Verdict::Broken, nullptr, "f64", llvm::toString(computed.takeError()), inputs);
      return false;
    }
    exact = std::move(*computed);
  }
  ArrayRef<Array> rest = *results, before = rest.take_front(variants.front().all);
  for (Variant &variant : variants) {
    StringRef arithmetic = variant.format.empty() ? "" : StringRef(chip);
    compareResults(variant, inputs, before, rest, arithmetic.empty() ? "IEEE" : arithmetic);
    // Casts aside, the values inside are those of the graph as it was.
    if (variant.isTraced && variant.isProved && variant.all == exact.size())
      checkValues(variant, draw, inputs, rest.take_front(variant.all), exact, arithmetic);
    rest = rest.drop_front(variant.all);
  }
  return true;
}

void Check::run() {
  ++tally.graphs;
  auto breaks = [&](StringRef why) { find(Verdict::Broken, nullptr, "", why, {}); };
  if (failed(verify(*graph.module)))
    return breaks("the generator made an invalid graph");
  (void)addVariant("", true);
  if (!addVariant("f16", true))
    return breaks("not converted to f16");
  // bf16 has f32's range, and needs no proof but of constants.
  if (recipe.seed % 2 == 0 && !addVariant("bf16", true))
    return breaks("not converted to bf16");
  // The default policy trusts assumptions; its result is run where it differs.
  if (recipe.seed % 4 == 1 &&
      printModule(*convert("f16", true)) != printModule(*convert("f16", false)))
    (void)addVariant("f16", false);
  program = compile(variants, /*inF64=*/false);
  reference = program ? compile(ArrayRef(variants).take_front(), /*inF64=*/true) : nullptr;
  for (unsigned draw = 0; reference && draw < options.draws; ++draw)
    if (!runDraw(draw))
      return;
}

void mlir::mp::test::checkHostileGraphs(MLIRContext &context, ArrayRef<HostileRecipe> recipes,
                                        const HostileOptions &options, HostileTally &tally) {
  llvm::CrashRecoveryContext::Enable(); // a crash is a finding of its graph
  for (const HostileRecipe &recipe : recipes) {
    Check check(context, recipe, options, tally);
    llvm::CrashRecoveryContext recovery;
    if (!recovery.RunSafely([&] { check.run(); }))
      check.crashed();
  }
}
