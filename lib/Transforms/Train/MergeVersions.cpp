// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-merge-versions: several versions of a step, one of which runs in each call
// (exact).
//
//   1. adopt     the functions of every version become private ones of this module
//   2. declare   a function of the step's name has the state that every version appended
//   3. begin     first values are those of the versions' own functions for them
//   4. choose    by signals of earlier calls and of arguments (VersionSignals.h)
//   5. call      the version chosen; the state of others waits

#include "../Common/AppendedState.h"
#include "../Common/TensorCode.h"
#include "VersionPlan.h"
#include "VersionSignals.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Support/Files.h"
#include "mp/Transforms/Train/Passes.h"

#include <cmath>

namespace mlir::mp {
#define GEN_PASS_DEF_MERGEVERSIONS
#include "mp/Transforms/Train/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {
/// A version in the module.
struct Adopted {
  func::FuncOp step;
  func::FuncOp init;     ///< null where nothing is appended
  unsigned appended = 0; ///< arguments at the end, each the state of a result at the end
  unsigned firstOwn = 0; ///< of them, among those of the new function
};

/// Builds the function that chooses.
struct Merger {
  ModuleOp module;
  const VersionPlan &plan;
  SmallVector<Adopted> versions;
  std::string name;
  unsigned arguments = 0, results = 0;  ///< of the step itself
  SmallVector<NamedAttrList> said = {}; ///< of these arguments, by any version
  std::optional<unsigned> loss = {};    ///< result
  func::FuncOp merged = nullptr;

  InFlightDiagnostic refuse(const Twine &text) {
    return emitError(module.getLoc()) << "mp-merge-versions: " << text;
  }
  LogicalResult adopt(ModuleOp from, StringRef function, const VersionPlan::Version &version);
  LogicalResult compare();
  void declare();
  void begin();
  ResultRange callChosen(OpBuilder &b, Value next);
  LogicalResult choose();
};
} // namespace

//===-- 1. adopt ------------------------------------------------------------------------------===//

static func::FuncOp findInit(ModuleOp module, func::FuncOp step) {
  for (auto function : module.getOps<func::FuncOp>()) {
    auto of = function->getAttrOfType<FlatSymbolRefAttr>(kInitOfAttrName);
    if (of && of.getValue() == step.getName())
      return function;
  }
  return nullptr;
}

LogicalResult Merger::adopt(ModuleOp from, StringRef function,
                            const VersionPlan::Version &version) {
  auto found = findTrainStep(from, function, "mp-merge-versions");
  if (failed(found))
    return failure();
  Adopted &adopted = versions[&version - plan.versions.data()];
  adopted.step = *found;
  adopted.init = findInit(from, *found);
  if (version.file.empty())
    name = adopted.step.getName();
  if (adopted.init) {
    if (adopted.init.getNumArguments() > 0)
      return refuse("version '" + version.name +
                    "' stores arguments of the step in another type, expected the state that all "
                    "versions share as it was: leave out master=, moments= and narrow parameters");
    adopted.appended = adopted.init.getNumResults();
    adopted.init->removeAttr(kInitOfAttrName);
  }
  SymbolTable own(module);
  for (Operation &op : llvm::make_early_inc_range(*from.getBody())) {
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    if (!symbol)
      continue;
    std::string renamed = (symbol.getName() + "__" + version.name).str();
    for (unsigned i = 1; own.lookup(renamed) || SymbolTable::lookupSymbolIn(from, renamed); ++i)
      renamed = (symbol.getName() + "__" + version.name + "_" + Twine(i)).str();
    auto attribute = StringAttr::get(module.getContext(), renamed);
    if (failed(SymbolTable::replaceAllSymbolUses(&op, attribute, from)))
      return refuse("version '" + version.name + "': @" + symbol.getName() + " cannot be renamed");
    symbol.setName(attribute);
    symbol.setPrivate();
    if (from != module)
      op.moveBefore(module.getBody(), module.getBody()->end());
  }
  return success();
}

/// All versions have the arguments and results of the step itself, then pairs of appended state.
LogicalResult Merger::compare() {
  Adopted &first = versions.front();
  arguments = first.step.getNumArguments() - first.appended;
  results = first.step.getNumResults() - first.appended;
  for (auto [adopted, version] : llvm::zip_equal(versions, plan.versions)) {
    func::FuncOp step = adopted.step;
    if (step.getNumArguments() != arguments + adopted.appended ||
        step.getNumResults() != results + adopted.appended)
      return refuse("version '" + version.name + "' has " +
                    Twine(step.getNumArguments() - adopted.appended) + " arguments and " +
                    Twine(step.getNumResults() - adopted.appended) +
                    " results of its own, expected " + Twine(arguments) + " and " + Twine(results) +
                    ", as '" + plan.versions.front().name + "' has");
    for (unsigned i = 0; i < arguments; ++i)
      if (step.getArgument(i).getType() != first.step.getArgument(i).getType())
        return refuse("argument " + Twine(i) + " of version '" + version.name +
                      "' differs in type from the first version's");
    for (unsigned i = 0; i < results; ++i)
      if (step.getResultTypes()[i] != first.step.getResultTypes()[i])
        return refuse("result " + Twine(i) + " of version '" + version.name +
                      "' differs in type from the first version's");
    for (unsigned i = 0; i < adopted.appended; ++i) {
      auto state = step.getArgAttrOfType<IntegerAttr>(arguments + i, kStateAttrName);
      if (!state || state.getInt() != int64_t(results + i))
        return refuse("version '" + version.name + "': appended argument " + Twine(arguments + i) +
                      " is not the state of result " + Twine(results + i));
    }
  }
  for (unsigned i = 0; i < arguments; ++i) {
    NamedAttrList &all = said.emplace_back();
    for (Adopted &adopted : versions)
      if (DictionaryAttr own = adopted.step.getArgAttrDict(i))
        for (NamedAttribute one : own)
          if (!all.get(one.getName()))
            all.push_back(one);
  }
  auto isState = [&](unsigned result) {
    return llvm::any_of(said, [&](const NamedAttrList &all) {
      auto state = dyn_cast_or_null<IntegerAttr>(all.get(kStateAttrName));
      return state && state.getInt() == int64_t(result);
    });
  };
  for (unsigned i = 0; i < results && !loss; ++i)
    if (isScalarFloat(first.step.getResultTypes()[i]) && !isState(i))
      loss = i;
  return success();
}

//===-- 2. declare, 3. begin ------------------------------------------------------------------===//

void Merger::declare() {
  func::FuncOp first = versions.front().step;
  SmallVector<Type> inputs(first.getArgumentTypes().take_front(arguments));
  SmallVector<Type> outputs(first.getResultTypes().take_front(results));
  SmallVector<DictionaryAttr> attributes;
  SmallVector<Location> locations;
  for (unsigned i = 0; i < arguments; ++i) {
    attributes.push_back(said[i].getDictionary(module.getContext()));
    locations.push_back(first.getArgument(i).getLoc());
  }
  Builder b(module.getContext());
  for (Adopted &adopted : versions) {
    adopted.firstOwn = inputs.size() - arguments;
    for (unsigned i = arguments, e = arguments + adopted.appended; i < e; ++i) {
      NamedAttrList own(adopted.step.getArgAttrDict(i));
      own.set(kStateAttrName, b.getI64IntegerAttr(int64_t(outputs.size())));
      attributes.push_back(own.getDictionary(module.getContext()));
      locations.push_back(adopted.step.getArgument(i).getLoc());
      inputs.push_back(adopted.step.getArgument(i).getType());
      outputs.push_back(adopted.step.getArgument(i).getType());
    }
  }
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  merged = func::FuncOp::create(builder, first.getLoc(), name, b.getFunctionType(inputs, outputs));
  for (auto [i, said] : llvm::enumerate(attributes))
    merged.setArgAttrs(unsigned(i), said);
  Block *entry = merged.addEntryBlock();
  for (auto [argument, location] : llvm::zip_equal(entry->getArguments(), locations))
    argument.setLoc(location);
  SmallVector<Attribute> names, reasons;
  for (const VersionPlan::Version &version : plan.versions)
    names.push_back(b.getStringAttr(version.name));
  for (const VersionRule &rule : plan.rules)
    reasons.push_back(
        b.getStringAttr(rule.reason.empty() ? plan.signals[rule.signal] : rule.reason));
  merged->setAttr(kVersionsAttrName,
                  b.getDictionaryAttr({b.getNamedAttr("versions", b.getArrayAttr(names)),
                                       b.getNamedAttr("reasons", b.getArrayAttr(reasons))}));
}

void Merger::begin() {
  OpBuilder b(module.getContext());
  b.setInsertionPointAfter(merged);
  auto init = func::FuncOp::create(b, merged.getLoc(), name + "_init", b.getFunctionType({}, {}));
  init->setAttr(kInitOfAttrName, FlatSymbolRefAttr::get(merged.getOperation()));
  b.setInsertionPointToStart(init.addEntryBlock());
  SmallVector<Value> firsts;
  for (Adopted &adopted : versions)
    if (adopted.init)
      llvm::append_range(
          firsts,
          func::CallOp::create(b, merged.getLoc(), adopted.init, ValueRange()).getResults());
  func::ReturnOp::create(b, merged.getLoc(), firsts);
  updateFunctionType(init);
}

//===-- 4. choose -----------------------------------------------------------------------------===//

LogicalResult Merger::choose() {
  AppendedState appended(merged);
  Builder attributes(module.getContext());
  const int64_t widest = int64_t(plan.versions.size()); // what is chosen first is wider than this
  Value state =
      appended.add(DenseElementsAttr::get(RankedTensorType::get({4}, attributes.getI64Type()),
                                          ArrayRef<int64_t>{widest, 0, -1, 0}),
                   kRoleVersion);
  VersionSignals watched{merged, plan.signals, arguments, results, loss};
  SmallVector<double> firsts = watched.firstValues();
  Value signals =
      appended.add(DenseElementsAttr::get(
                       RankedTensorType::get({int64_t(firsts.size())}, attributes.getF64Type()),
                       ArrayRef<double>(firsts)),
                   kRoleVersionSignals);
  Value measured;
  if (watched.wantsMeasured()) {
    SmallVector<double> nothing(size_t(VersionMeasure::Count), NAN);
    measured = appended.add(DenseElementsAttr::get(RankedTensorType::get({int64_t(nothing.size())},
                                                                         attributes.getF64Type()),
                                                   ArrayRef<double>(nothing)),
                            kRoleVersionMeasured);
  }
  OpBuilder b = OpBuilder::atBlockBegin(&merged.getBody().front());
  auto read = watched.read(b, signals, measured);
  if (failed(read))
    return failure();
  SmallVector<Attribute> names, rules;
  for (StringRef signal : plan.signals)
    names.push_back(b.getStringAttr(signal));
  for (const VersionRule &rule : plan.rules)
    rules.push_back(rule.toAttr(module.getContext()));
  auto versionNames =
      merged->getAttrOfType<DictionaryAttr>(kVersionsAttrName).getAs<ArrayAttr>("versions");
  Value next = SelectVersionOp::create(
      b, merged.getLoc(), state.getType(), state, *read, b.getArrayAttr(names), versionNames,
      b.getI64IntegerAttr(plan.otherwise), b.getI64IntegerAttr(plan.hold), b.getArrayAttr(rules));
  ResultRange outcome = callChosen(b, next);
  Value observed = watched.observe(b, signals, outcome);
  func::ReturnOp::create(b, merged.getLoc(), outcome);
  SmallVector<Value> nexts = {next, observed};
  if (measured)
    nexts.push_back(measured);
  appended.finish(nexts);
  return success();
}

//===-- 5. call -------------------------------------------------------------------------------===//

/// Calls the chosen version; of all results, those of the step and of the version are new.
ResultRange Merger::callChosen(OpBuilder &b, Value next) {
  Location loc = merged.getLoc();
  Value part = scalar(b, loc, b.getIndexAttr(int64_t(VersionState::Version)));
  Value version = tensor::ExtractOp::create(b, loc, next, part);
  Value index = arith::IndexCastOp::create(b, loc, b.getIndexType(), version);
  auto cases = llvm::to_vector(llvm::seq<int64_t>(1, int64_t(versions.size())));
  auto chosen = scf::IndexSwitchOp::create(b, loc, merged.getResultTypes(), index, cases,
                                           unsigned(cases.size()));
  for (auto [number, adopted] : llvm::enumerate(versions)) {
    Region &region = number == 0 ? chosen.getDefaultRegion() : chosen.getCaseRegions()[number - 1];
    OpBuilder inside = OpBuilder::atBlockBegin(&region.emplaceBlock());
    SmallVector<Value> operands(merged.getArguments().take_front(arguments));
    auto waiting = merged.getArguments().drop_front(arguments);
    llvm::append_range(operands, waiting.slice(adopted.firstOwn, adopted.appended));
    auto call = func::CallOp::create(inside, loc, adopted.step, operands);
    SmallVector<Value> yielded(call.getResults().take_front(results));
    llvm::append_range(yielded, waiting.take_front(merged.getNumResults() - results));
    llvm::copy(call.getResults().drop_front(results), yielded.begin() + results + adopted.firstOwn);
    scf::YieldOp::create(inside, loc, yielded);
  }
  return chosen.getResults();
}

namespace {
struct MergeVersions : mlir::mp::impl::MergeVersionsBase<MergeVersions> {
  using MergeVersionsBase::MergeVersionsBase;

  /// Parses here, not when run: files may need dialects that are not loaded yet.
  LogicalResult initialize(MLIRContext *context) override {
    auto fail = [&](llvm::Error error) {
      return emitError(UnknownLoc::get(context))
             << "mp-merge-versions: " << llvm::toString(std::move(error));
    };
    if (plan.empty())
      return fail(llvm::createStringError("option 'plan' is empty, expected a file"));
    auto read = VersionPlan::read(plan, "plan=" + plan);
    if (!read)
      return fail(read.takeError());
    parsed = std::make_shared<VersionPlan>(std::move(*read));
    files.clear();
    for (const VersionPlan::Version &version : parsed->versions) {
      OwningOpRef<ModuleOp> module;
      if (!version.file.empty()) {
        if (llvm::Error error = support::noteInput(version.file, "plan=" + plan))
          return fail(std::move(error));
        module = parseSourceFile<ModuleOp>(version.file, context);
        if (!module)
          return fail(llvm::createStringError("cannot read version '" + version.name + "' from '" +
                                              version.file + "'"));
      }
      files.push_back(std::make_shared<OwningOpRef<ModuleOp>>(std::move(module)));
    }
    return success();
  }

  void runOnOperation() override {
    Merger merger{getOperation(), *parsed, {}, ""};
    merger.versions.resize(parsed->versions.size());
    // The module's own first: what comes from files has its final names.
    for (bool isFile : {false, true})
      for (auto [file, version] : llvm::zip_equal(files, parsed->versions)) {
        if (isFile == version.file.empty())
          continue;
        OwningOpRef<ModuleOp> copy;
        if (isFile)
          copy = cast<ModuleOp>((*file)->getOperation()->clone());
        if (failed(merger.adopt(copy ? *copy : getOperation(), function, version)))
          return signalPassFailure();
      }
    if (failed(merger.compare()))
      return signalPassFailure();
    merger.declare();
    merger.begin();
    if (failed(merger.choose()))
      return signalPassFailure();
  }

  std::shared_ptr<VersionPlan> parsed;
  std::vector<std::shared_ptr<OwningOpRef<ModuleOp>>> files; ///< shared by copies of the pass
};
} // namespace
