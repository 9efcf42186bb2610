// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a report and makes its decisions again, checked against the function they were made for.

#include "Replay.h"
#include "../Common/SplitCode.h"
#include "SpecializeFunctions.h"
#include "mp/Analysis/FunctionCopies.h"
#include "mp/Analysis/FunctionHash.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Support/JSON.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::mp;
namespace json = llvm::json;

/// Version of reports that can be replayed (lib/Report writes it).
static constexpr int64_t kReplayedVersion = 1;

static llvm::Error error(const Twine &what) {
  return llvm::createStringError("cannot replay " + what);
}

llvm::Expected<Replay> Replay::read(StringRef text, StringRef file) {
  llvm::Expected<json::Value> root = mpcore::support::parseJSON(text);
  if (!root)
    return error("'" + file + "': " + llvm::toString(root.takeError()));
  const json::Object *object = root->getAsObject();
  std::optional<int64_t> version = object ? object->getInteger("mp_report") : std::nullopt;
  if (version != kReplayedVersion)
    return error("'" + file + "': expected a report of version " + Twine(kReplayedVersion));
  Replay replay;
  replay.file = file;
  const json::Array *functions = object->getArray("functions"), *ops = object->getArray("ops");
  if (!functions || !ops)
    return error("'" + file + "': it has no 'functions' or no 'ops'");
  for (const json::Value &entry : *functions) {
    const json::Object *function = entry.getAsObject();
    auto name = function ? function->getString("name") : std::nullopt;
    auto hash = function ? function->getString("hash") : std::nullopt;
    if (!name || !hash)
      return error("'" + file + "': an entry of 'functions' lacks its name or hash");
    replay.names.push_back(name->str());
    Function &known = replay.functions[*name];
    known.hash = *hash;
    if (const json::Array *arguments = function->getArray("arguments"))
      for (const json::Value &storage : *arguments)
        known.arguments.push_back(storage.getAsString().value_or("").str());
    if (const json::Array *results = function->getArray("results"))
      for (const json::Value &storage : *results)
        known.results.push_back(storage.getAsString().value_or("").str());
    known.copyOf = function->getString("copy_of").value_or("");
    if (const json::Array *calls = function->getArray("calls"))
      for (const json::Value &entry : *calls)
        if (const json::Object *call = entry.getAsObject())
          known.calls.push_back({call->getString("function").value_or("").str(),
                                 call->getInteger("call").value_or(-1)});
  }
  for (auto [index, entry] : llvm::enumerate(*ops)) {
    const json::Object *fields = entry.getAsObject();
    const json::Array *out = fields ? fields->getArray("out") : nullptr;
    auto function = fields ? fields->getString("function") : std::nullopt;
    auto ordinal = fields ? fields->getInteger("ordinal") : std::nullopt;
    auto op = fields ? fields->getString("op") : std::nullopt;
    auto compute = fields ? fields->getString("compute") : std::nullopt;
    if (!out || !function || !ordinal || !op || !compute)
      return error("'" + file + "': row " + Twine(index) +
                   " of 'ops' lacks one of function, ordinal, op, compute, out");
    auto known = replay.functions.find(*function);
    if (known == replay.functions.end() || *ordinal != int64_t(known->second.rows.size()))
      return error("'" + file + "': row " + Twine(index) + " of 'ops' is number " +
                   Twine(*ordinal) + " of @" + *function + ", out of order or of no function");
    Row row{op->str(),
            compute->str(),
            fields->getString("acc").value_or("").str(),
            fields->getString("by").value_or("?").str(),
            fields->getString("reason").value_or("").str(),
            fields->getString("evidence").value_or("").str(),
            {},
            {}};
    for (const json::Value &storage : *out)
      row.out.push_back(storage.getAsString().value_or("").str());
    if (const json::Array *magnitudes = fields->getArray("magnitudes"))
      for (const json::Value &magnitude : *magnitudes)
        row.magnitudes.push_back(magnitude.getAsNumber().value_or(0));
    known->second.rows.push_back(std::move(row));
  }
  return replay;
}

LogicalResult Replay::makeCopies(ModuleOp module) const {
  auto lookup = [&](StringRef name) {
    return dyn_cast_or_null<FunctionOpInterface>(module.lookupSymbol(name));
  };
  // First all copies, of what is not changed yet.
  for (const std::string &name : names) {
    const Function &function = functions.find(name)->second;
    FunctionOpInterface original = lookup(function.copyOf);
    if (!original)
      continue;
    if (original->hasAttr(kPhaseAttrName) || lookup(name))
      return original.emitError() << "the replayed report '" << file << "' has a copy of it named @"
                                  << name << ", which cannot be made: "
                                  << (lookup(name) ? "that name is taken"
                                                   : "it is decided already");
    copyFunction(original, name);
  }
  SmallVector<std::pair<CallOpInterface, StringRef>> moved;
  for (const std::string &name : names) {
    const Function &function = functions.find(name)->second;
    if (!lookup(function.copyOf))
      continue;
    for (auto &[caller, number] : function.calls) {
      SmallVector<CallOpInterface> calls;
      if (FunctionOpInterface found = lookup(caller))
        calls = findCallsOf(found, function.copyOf);
      if (number < 0 || number >= int64_t(calls.size()))
        return lookup(function.copyOf).emitError()
               << "the replayed report '" << file << "' has call " << number << " of it in @"
               << caller << ", which has " << calls.size();
      moved.push_back({calls[number], name});
    }
  }
  for (auto &[call, name] : moved)
    call.setCalleeFromCallable(FlatSymbolRefAttr::get(module.getContext(), name));
  return success();
}

LogicalResult Replay::applyRow(const Row &row, FunctionDecisions &decisions, Operation *op,
                               Decision &decision) const {
  MLIRContext *context = op->getContext();
  auto refuse = [&](const Twine &why) {
    return op->emitError() << "the replayed report '" << file << "' " << why;
  };
  std::optional<numerics::SplitScheme> split = numerics::parseSplitScheme(row.compute);
  if (split) {
    std::string why;
    if (!viewSplit(op, *split, &why))
      return refuse("lets it compute as '" + row.compute + "', which it cannot: " + why);
    decision.split = split;
  } else if (const auto *recipe = numerics::findRecipe(row.compute)) {
    bool hasMagnitudes = row.magnitudes.size() == 2;
    if (!decisions.canScale(op) || !recipe->isSelfContained() ||
        hasMagnitudes != (recipe->name == kScaledName))
      return refuse("lets it compute as '" + row.compute + "', which it cannot");
    if (hasMagnitudes)
      decision.magnitudes = {row.magnitudes[0], row.magnitudes[1]};
    decision.scaled = recipe;
  } else if (!row.compute.empty() && row.compute != getFormatName(decision.compute)) {
    // An empty format is that of control flow.
    FloatType format = getAssignableFormat(row.compute, context);
    bool isPromotion = row.compute == "f32" && decision.compute.getWidth() < 32;
    if (isPromotion)
      format = Float32Type::get(context);
    bool isUniform =
        decision.opClass == OpClass::ExactCommute && decision.rule == TypeRule::Uniform;
    if (!format ||
        !(isPromotion || (isUniform ? !format.isTF32() : decisions.canContractIn(op, format))))
      return refuse("lets it compute in '" + row.compute + "', which it cannot");
    decision.compute = format;
  }
  if (row.acc == "f32")
    decision.accumulator = Float32Type::get(context);
  if (row.out.size() != op->getNumResults())
    return refuse("has " + Twine(row.out.size()) + " results for it, it has " +
                  Twine(op->getNumResults()));
  for (auto [result, name] : llvm::zip_equal(op->getResults(), row.out)) {
    FloatType own = getFloatFormat(result.getType());
    const TiedValues *tied = decisions.getCarried().ties.find(result);
    if (tied && tied->frozen.empty())
      continue; // follows from what reads it
    if (name == (own ? getFormatName(own) : "_"))
      continue;
    FloatType format = getAssignableFormat(name, context);
    if (!format || format.isTF32() || decision.rule == TypeRule::Container ||
        !decisions.mayStoreNarrow(result))
      return refuse("stores a result in '" + name + "', which it cannot");
    decisions.setStorage(result, format);
  }
  StringRef reason = row.reason;
  bool again = row.by == stringifyOrigin(Origin::Policy) && reason.starts_with("replay: ");
  decision.decide(decision.compute, Origin::Policy,
                  again ? reason.str() : "replay: " + row.by + " " + row.reason);
  decision.evidence = symbolizeEvidence(row.evidence).value_or(Evidence::None);
  return success();
}

LogicalResult Replay::applyArguments(ArrayRef<std::string> storages,
                                     FunctionDecisions &decisions) const {
  FunctionOpInterface function = decisions.getFunction();
  if (storages.size() != function.getNumArguments())
    return function.emitError() << "the replayed report '" << file << "' has " << storages.size()
                                << " arguments for this function, which has "
                                << function.getNumArguments();
  for (auto [argument, name] : llvm::zip_equal(function.getArguments(), storages)) {
    FloatType own = getFloatFormat(argument.getType());
    const TiedValues *tied = decisions.getCarried().ties.find(argument);
    if (name == (own ? getFormatName(own) : "_") || (tied && tied->frozen.empty()))
      continue; // as it is, or follows from what reads it
    FloatType format = getAssignableFormat(name, function.getContext());
    if (!own || !own.isF32() || !format || format.isTF32())
      return function.emitError() << "the replayed report '" << file << "' stores argument "
                                  << argument.getArgNumber() << " in '" << name
                                  << "', which it cannot";
    decisions.setStorage(argument, format);
  }
  return success();
}

LogicalResult Replay::chooseResults(FunctionDecisions &decisions, CarriedStorage &carried) const {
  FunctionOpInterface function = decisions.getFunction();
  auto found = functions.find(function.getName());
  if (found == functions.end() || found->second.results.empty())
    return success();
  ArrayRef<std::string> storages = found->second.results;
  if (storages.size() != function.getNumResults())
    return function.emitError() << "the replayed report '" << file << "' has " << storages.size()
                                << " results for this function, which has "
                                << function.getNumResults();
  for (auto [index, type, name] : llvm::enumerate(function.getResultTypes(), storages)) {
    FloatType own = getFloatFormat(type);
    if (name == (own ? getFormatName(own) : "_"))
      continue;
    SmallVector<OpOperand *> returned = decisions.getReturned(index);
    const TiedValues *tied = returned.empty() ? nullptr : carried.ties.findFed(*returned.front());
    FloatType format = getAssignableFormat(name, function.getContext());
    if (!tied || !own.isF32() || !format || format.isTF32())
      return function.emitError() << "the replayed report '" << file << "' stores result " << index
                                  << " in '" << name << "', which it cannot";
    carried.chosen[tied] = format;
  }
  return success();
}

LogicalResult Replay::apply(FunctionDecisions &decisions) const {
  FunctionOpInterface function = decisions.getFunction();
  auto found = functions.find(function.getName());
  if (found == functions.end())
    return function.emitError() << "the replayed report '" << file
                                << "' does not know this function";
  const Function &known = found->second;
  const std::string &hash = known.hash;
  const std::vector<Row> &rows = known.rows;

  // Rows are numbered in order of a walk that meets containers before what they hold.
  SmallVector<Operation *> ops;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (decisions.find(op))
      ops.push_back(op);
  });
  std::string actual = hashFunction(function);
  if (actual != hash) {
    InFlightDiagnostic diagnostic = function.emitError()
                                    << "the replayed report '" << file
                                    << "' was made for another version of this function (hash "
                                    << hash << ", this one has " << actual << ")";
    size_t common = 0;
    while (common < std::min(rows.size(), ops.size()) &&
           rows[common].op == ops[common]->getName().getStringRef())
      ++common;
    if (common < ops.size())
      diagnostic.attachNote(ops[common]->getLoc())
          << "op " << common << " is '" << ops[common]->getName() << "', the report has "
          << (common < rows.size() ? "'" + rows[common].op + "'" : std::string("none there"));
    return diagnostic;
  }
  if (rows.size() != ops.size())
    return function.emitError() << "the replayed report '" << file << "' has " << rows.size()
                                << " rows for this function, which has " << ops.size()
                                << " ops to decide";
  if (failed(applyArguments(known.arguments, decisions)))
    return failure();
  for (auto [row, op] : llvm::zip_equal(rows, ops))
    if (failed(applyRow(row, decisions, op, *decisions.find(op))))
      return failure();
  return success();
}
