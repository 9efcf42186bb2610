// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A trial is a policy file: what is tried is what a user can ask for.

#include "Trials.h"

#include "../Steps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "mp/Analysis/Locations.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Pipelines/Pipelines.h"
#include "mp/Support/OptionWords.h"
#include "mp/Support/ScratchFile.h"
#include "mp/Transforms/Annotate/Passes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"

#include <chrono>
#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

static std::vector<TrialContraction> findContractions(ModuleOp module) {
  std::vector<TrialContraction> found;
  for (auto function : module.getOps<func::FuncOp>()) {
    unsigned ordinal = 0;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isContraction(op))
        return;
      SmallVector<std::string> names = namesIn(op->getLoc());
      found.push_back({function.getName().str(), op->getName().getStringRef().str(),
                       describeLocation(op->getLoc()), names.empty() ? "" : names.front(),
                       ordinal++});
    });
  }
  return found;
}

/// The words of `assign` that are not `policy=`, and what those of its request are.
static std::string withoutPolicy(StringRef assign) {
  std::string kept;
  SmallVector<StringRef> words;
  assign.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words)
    if (!word.starts_with("policy="))
      kept += (kept.empty() ? "" : " ") + word.str();
  return kept;
}

static policy::Request requestOf(StringRef assign) {
  policy::Request request;
  SmallVector<StringRef> words;
  assign.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    // A policy does not know formats with scales, and decides the rest as for bf16.
    if (word.consume_front("format="))
      request.format = word == "e4m3" || word == "e5m2" ? "bf16" : word.str();
    else if (word.consume_front("target="))
      request.target = word.str();
    else if (word.consume_front("policy="))
      request.policy = word.str();
  }
  return request;
}

/// A copy of a train step that says what its state is, as the conversion finds it.
static OwningOpRef<ModuleOp> stateOf(ModuleOp source, StringRef entry) {
  OwningOpRef<ModuleOp> module = cast<ModuleOp>(source->clone());
  PassManager manager(module->getContext());
  manager.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  manager.addPass(createCSEPass());
  manager.addPass(createAnnotateRoles({entry.str()}));
  // The conversion has said why, or will.
  ScopedDiagnosticHandler silent(module->getContext(), [](Diagnostic &) { return success(); });
  return failed(manager.run(*module)) ? nullptr : std::move(module);
}

llvm::Expected<Trials> Trials::create(ModuleOp source, StringRef entry, StringRef assign,
                                      TrialData data) {
  Trials trials;
  trials.source = source;
  trials.entry = entry.str();
  trials.assign = withoutPolicy(assign);
  trials.asGiven = assign.str();
  trials.request = requestOf(assign);
  trials.data = std::move(data);
  auto function = findEntry(source, entry);
  if (!function)
    return function.takeError();
  trials.results = function->getNumResults();
  trials.places = findContractions(source);
  if (trials.data.steps > 1)
    trials.stated = stateOf(source, entry);
  if (trials.places.empty())
    return createStringError("@" + function->getName() + " has no contraction to decide about");
  llvm::StringSet<> known;
  for (const TrialContraction &place : trials.places)
    if (!known.insert(place.function + " " + place.location).second)
      return createStringError("two contractions have the location '" + place.location +
                               "', so that no policy can tell them apart; print the module "
                               "without locations (mp-opt IN.mlir -o OUT.mlir) and take that");
  return trials;
}

policy::Selector Trials::selectorOf(unsigned contraction) const {
  const TrialContraction &place = places[contraction];
  policy::Selector selector;
  selector.function = place.function;
  selector.location =
      "(^|/)" + llvm::Regex::escape(llvm::sys::path::filename(place.location)) + "$";
  return selector;
}

llvm::Expected<policy::Policy> Trials::policyWith(ArrayRef<unsigned> wide) const {
  auto effective = policy::findPolicy(request);
  if (!effective)
    return effective.takeError();
  if (effective->report)
    return createStringError("policy=" + request.policy +
                             ": expected a policy, found the report of a run, which decides all");
  std::vector<policy::Rule> rules;
  for (unsigned contraction : wide) {
    policy::Rule rule;
    rule.name = "wide " + std::to_string(contraction);
    rule.select = selectorOf(contraction);
    rule.wish = policy::Wish::Wide;
    rule.reason = "measured";
    rules.push_back(std::move(rule));
  }
  llvm::append_range(rules, effective->policy.rules);
  effective->policy.rules = std::move(rules);
  return effective->policy;
}

llvm::Expected<OwningOpRef<ModuleOp>> Trials::convertWith(ArrayRef<unsigned> wide) const {
  auto policy = policyWith(wide);
  return policy ? convert(*policy) : policy.takeError();
}

/// Converts a copy; nothing where a pass fails, which says why.
llvm::Expected<OwningOpRef<ModuleOp>> Trials::runPipeline(StringRef text,
                                                          std::shared_ptr<Report> report) const {
  if (llvm::Error error = support::checkOptionsOnce(text, "--assign"))
    return std::move(error);
  OwningOpRef<ModuleOp> module = cast<ModuleOp>(source->clone());
  PassManager manager(module->getContext());
  auto parse = [&](auto &options) {
    return options.parseFromString((text + " table=false").str(), llvm::errs());
  };
  if (data.steps > 1) {
    TrainStepOptions options;
    if (failed(parse(options)))
      return createStringError("--assign: expected options of mp-train-step, found '" + text + "'");
    options.function = entry;
    buildTrainStepPipeline(manager, options, std::move(report));
  } else {
    MixedPrecisionOptions options;
    if (failed(parse(options)))
      return createStringError("--assign: expected options of mp-mixed-precision, found '" + text +
                               "'");
    buildMixedPrecisionPipeline(manager, options, std::move(report));
  }
  if (failed(manager.run(*module)))
    return OwningOpRef<ModuleOp>();
  return std::move(module);
}

llvm::Expected<OwningOpRef<ModuleOp>> Trials::convert(const policy::Policy &policy) const {
  auto file = support::ScratchFile::create(
      "mp-trial", "json", [&](raw_ostream &os) { policy::writePolicy(policy, os); });
  if (!file)
    return file.takeError();
  auto module = runPipeline(assign + " policy=" + file->path().str(), nullptr);
  if (module && !*module)
    return createStringError("the program was not converted with --assign=" + assign);
  return module;
}

llvm::Expected<OwningOpRef<ModuleOp>> Trials::convertWithin(double maxRelError,
                                                            std::shared_ptr<Report> report) const {
  std::string limit;
  llvm::raw_string_ostream(limit) << llvm::format(" max-rel-error=%.6g", maxRelError);
  return runPipeline(asGiven + limit, std::move(report));
}

static bool areFinite(ArrayRef<Array> results) {
  for (const Array &result : results)
    for (int64_t i = 0, e = result.type.isFloat ? result.size() : 0; i < e; ++i)
      if (!std::isfinite(result.value(i)))
        return false;
  return true;
}

/// A converted program, compiled, and the arguments of its draws.
struct Trials::Prepared {
  std::unique_ptr<Program> program;
  Signature before; ///< what mp has changed as it was
  std::optional<StepLoop> loop;
  /// Scalar floats that are no state, the loss first.
  std::vector<std::pair<std::string, size_t>> scalars;
};

static std::vector<std::pair<std::string, size_t>> findScalars(const Signature &signature,
                                                               size_t results) {
  std::vector<std::pair<std::string, size_t>> scalars;
  for (size_t i = 0; i < std::min(results, signature.results.size()); ++i) {
    const Parameter &result = signature.results[i];
    if (result.type.isFloat && result.shape.empty() &&
        llvm::none_of(signature.arguments,
                      [&](const Parameter &argument) { return argument.nextValue == int64_t(i); }))
      scalars.push_back(
          {llvm::is_contained(llvm::make_first_range(scalars), result.name) || result.name.empty()
               ? "result " + std::to_string(i)
               : result.name,
           i});
  }
  return scalars;
}

llvm::Expected<Trials::Prepared> Trials::prepare(ModuleOp program, int64_t calls) const {
  ProgramOptions options;
  options.fuse = true;
  options.calls = calls;
  auto compiled = Program::compile(program, entry, options);
  if (!compiled)
    return compiled.takeError();
  const Signature &signature = (*compiled)->signature();
  auto before = signatureBefore(program, entry, signature);
  if (!before)
    return before.takeError();
  StepLoop loop(signature, signature.results.size());
  std::vector<std::pair<std::string, size_t>> scalars = findScalars(signature, results);
  return Prepared{std::move(*compiled), std::move(*before), std::move(loop), std::move(scalars)};
}

llvm::Expected<std::vector<Array>> Trials::argumentsOf(ModuleOp program, const Prepared &prepared,
                                                       int64_t draw,
                                                       std::vector<BatchedInput> &batches) const {
  InputOptions inputs = data.inputs;
  inputs.seed += uint64_t(draw);
  std::vector<std::string> notes;
  auto arguments = makeInputs(prepared.before, inputs, notes, &batches);
  if (!arguments)
    return arguments.takeError();
  if (llvm::Error error = applyInit(program, entry, *arguments))
    return std::move(error);
  return arguments;
}

llvm::Expected<TrialRun> Trials::run(ModuleOp program, int64_t firstDraw, int64_t draws) const {
  auto prepared = prepare(program, draws * data.steps);
  if (!prepared)
    return prepared.takeError();
  TrialRun run;
  const auto start = std::chrono::steady_clock::now();
  for (int64_t draw = firstDraw; draw < firstDraw + draws; ++draw) {
    run.losses.emplace_back();
    std::vector<BatchedInput> batches;
    auto arguments = argumentsOf(program, *prepared, draw, batches);
    if (!arguments)
      return arguments.takeError();
    for (int64_t step = 0; step < data.steps; ++step) {
      if (llvm::Error error = prepared->loop->feed(*arguments, batches, draw * data.steps + step))
        return std::move(error);
      auto outcome = prepared->program->run(*arguments);
      if (!outcome)
        return outcome.takeError();
      prepared->loop->advance(*arguments, *outcome);
      outcome->resize(std::min(outcome->size(), results));
      run.isFinite &= areFinite(*outcome);
      for (auto [i, scalar] : llvm::enumerate(prepared->scalars)) {
        std::vector<std::vector<double>> &series = i ? run.metrics[scalar.first] : run.losses;
        series.resize(run.losses.size());
        series.back().push_back((*outcome)[scalar.second].value(0));
      }
      if (step + 1 == data.steps)
        run.results.push_back(std::move(*outcome));
    }
  }
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.peakBytes = prepared->program->peakBytes();
  return run;
}

llvm::Error
Trials::runChanged(ModuleOp program, int64_t draw,
                   llvm::function_ref<llvm::Error(RunWith, ArrayRef<Array>)> body) const {
  constexpr int64_t kChanges = 16; // one or a few of each parameter
  auto prepared = prepare(program, kChanges);
  if (!prepared)
    return prepared.takeError();
  std::vector<BatchedInput> batches;
  auto arguments = argumentsOf(program, *prepared, draw, batches);
  if (!arguments)
    return arguments.takeError();
  if (llvm::Error error = prepared->loop->feed(*arguments, batches, draw * data.steps))
    return error;
  return body(
      [&](std::optional<size_t> argument, Array value) {
        if (argument)
          std::swap((*arguments)[*argument], value);
        auto results = prepared->program->run(*arguments);
        if (argument)
          std::swap((*arguments)[*argument], value);
        return results;
      },
      *arguments);
}

llvm::Expected<std::vector<Array>> Trials::runOnce(ModuleOp program) const {
  std::vector<Array> all;
  auto keep = [&](RunWith runWith, ArrayRef<Array>) -> llvm::Error {
    auto results = runWith(std::nullopt, {});
    if (!results)
      return results.takeError();
    all = std::move(*results);
    return llvm::Error::success();
  };
  if (llvm::Error error = runChanged(program, 0, keep))
    return std::move(error);
  return all;
}

double mlir::mp::meanSquareError(ArrayRef<Array> results, ArrayRef<Array> reference) {
  double sum = 0;
  for (auto [result, exact] : llvm::zip(results, reference)) {
    if (!exact.type.isFloat || exact.size() == 0)
      continue;
    double apart = 0, whole = 0;
    for (int64_t i = 0, e = exact.size(); i < e; ++i) {
      const double x = result.value(i), y = exact.value(i);
      if (std::isfinite(x) && std::isfinite(y)) {
        apart += (x - y) * (x - y);
        whole += y * y;
      } else if (!(x == y) && !(std::isnan(x) && std::isnan(y))) {
        return INFINITY;
      }
    }
    sum += apart > 0 ? apart / whole : 0;
  }
  return sum;
}
