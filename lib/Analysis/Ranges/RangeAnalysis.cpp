// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranges of a module: functions are swept when they are asked for, callers before callees; a call
// is swept with what it hands over.

#include "mp/Analysis/Ranges/RangeAnalysis.h"
#include "RangeSweep.h"
#include "mp/Analysis/ConstantRounding.h"
#include "mp/Analysis/Ranges/MaskConstants.h"
#include "mp/Analysis/Ranges/Poles.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Numerics/Format.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::mp;
using domains::FloatFacts;
using domains::Provenance;

/// Sets of arguments that one function is swept with for its calls; further ones share what holds
/// of all.
static constexpr size_t kMostContexts = 16;

RangeState RangeState::unknown(StringRef lostAt) {
  return {FloatFacts::top(), Assumption::lost(lostAt)};
}

RangeState mlir::mp::join(const RangeState &a, const RangeState &b) {
  return {domains::join(a.facts, b.facts), join(a.assumption, b.assumption)};
}

//===-- one function --------------------------------------------------------------------------===//

FunctionRanges::~FunctionRanges() = default;

const RangeState &FunctionRanges::lookup(Value value) const {
  static const RangeState unknown = RangeState::unknown();
  auto known = states.find(value);
  // Never reached, or not understood: nothing is known.
  return known == states.end() || known->second.isBottom() ? unknown : known->second;
}

const LemmaBound *FunctionRanges::findLemma(Value value) const {
  auto known = lemmas.find(value);
  if (known != lemmas.end())
    return &known->second;
  // A linalg op gives what its body computes.
  auto structured = value.getDefiningOp<linalg::LinalgOp>();
  if (!structured || structured->getNumRegions() != 1)
    return nullptr;
  unsigned index = cast<OpResult>(value).getResultNumber();
  known = lemmas.find(structured.getBlock()->getTerminator()->getOperand(index));
  return known == lemmas.end() ? nullptr : &known->second;
}

static double limitOf(FloatType format) {
  return numerics::info(*numerics::formatOf(format.getFloatSemantics())).maxFinite;
}

Evidence FunctionRanges::findEvidence(Value value, FloatType format) const {
  const RangeState &state = lookup(value);
  if (state.facts.mag() <= limitOf(format))
    switch (state.facts.provenance) {
    case Provenance::Proved: return Evidence::Proved;
    case Provenance::Assumed: return Evidence::Stated;
    case Provenance::Sampled: return Evidence::Measured;
    }
  if (guarded.contains(value))
    return Evidence::Guarded;
  const Assumption &assumption = state.assumption;
  bool isAssumed = assumption.range.mag() <= limitOf(format) || assumption.isAssumed();
  return isAssumed ? Evidence::Assumed : Evidence::None;
}

std::string FunctionRanges::explainMissing(Value value, FloatType format, StringRef what) const {
  const RangeState &state = lookup(value);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "no evidence that " << what << " stays below " << llvm::format("%.6g", limitOf(format));
  if (!state.assumption.lostAt.empty() && !state.assumption.isAssumed())
    os << ": '" << state.assumption.lostAt << "' has no bound";
  else if (state.facts.range.isBounded())
    os << ": it may reach " << llvm::format("%.4g", state.facts.mag());
  else
    os << ": it is assumed, not proved";
  return text;
}

//===-- a module ------------------------------------------------------------------------------===//

struct ModuleRanges::Function {
  explicit Function(FunctionOpInterface function, const RangeOptions &options)
      : values(function), transfer(options), function(function) {}

  const TrustedNorms &getNorms() {
    if (!norms)
      norms.emplace(values, function);
    return *norms;
  }

  struct Context {
    SmallVector<RangeState> arguments;
    std::unique_ptr<FunctionRanges> ranges; ///< null while it is being computed
  };

  ValueNumbering values;
  RangeTransfer transfer;
  FunctionOpInterface function;
  std::optional<TrustedNorms> norms;
  std::optional<SmallVector<RangeState>> arguments; ///< of all calls together
  bool isJoining = false;
  std::vector<std::unique_ptr<Context>> contexts;
  const FunctionRanges *ranges = nullptr; ///< with those arguments, once computed
};

ModuleRanges::ModuleRanges(Operation *module, RangeOptions options)
    : module(module), options(options) {}
ModuleRanges::~ModuleRanges() = default;

ModuleRanges::Function &ModuleRanges::find(FunctionOpInterface function) {
  std::unique_ptr<Function> &known = functions[function];
  if (!known)
    known = std::make_unique<Function>(function, options);
  return *known;
}

const ValueNumbering &ModuleRanges::getNumbering(FunctionOpInterface function) {
  return find(function).values;
}

static bool areStatesEqual(ArrayRef<RangeState> a, ArrayRef<RangeState> b) {
  return llvm::equal(a, b, [](const RangeState &x, const RangeState &y) {
    return x.facts == y.facts && x.assumption.range == y.assumption.range &&
           x.assumption.growth == y.assumption.growth &&
           x.assumption.parameter == y.assumption.parameter;
  });
}

const FunctionRanges *ModuleRanges::analyze(FunctionOpInterface function,
                                            ArrayRef<RangeState> arguments) {
  Function &entry = find(function);
  SmallVector<RangeState> known(arguments);
  auto search = [&]() -> Function::Context * {
    for (auto &context : entry.contexts)
      if (areStatesEqual(context->arguments, known))
        return context.get();
    return nullptr;
  };
  // A recursive call finds no results: unknown.
  if (Function::Context *context = search())
    return context->ranges.get();
  if (entry.contexts.size() >= kMostContexts) {
    for (auto [index, state] : llvm::enumerate(known))
      state = RangeState::unknown();
    if (Function::Context *context = search())
      return context->ranges.get();
  }
  bool isActive = llvm::any_of(entry.contexts, [](auto &context) { return !context->ranges; });
  if (isActive)
    return nullptr;
  auto *context = entry.contexts.emplace_back(std::make_unique<Function::Context>()).get();
  context->arguments = known;
  std::unique_ptr<FunctionRanges> ranges(new FunctionRanges());
  RangeSweep(
      *this, function, entry.values, [&]() -> const TrustedNorms & { return entry.getNorms(); },
      entry.transfer, *ranges)
      .run(known);
  context->ranges = std::move(ranges);
  return context->ranges.get();
}

void ModuleRanges::collectCalls() {
  if (calls)
    return;
  calls.emplace();
  // With one function nobody calls another, and no use says more.
  unsigned functionCount = 0;
  for (Region &region : module->getRegions())
    for (Block &block : region)
      functionCount += llvm::range_size(block.getOps<FunctionOpInterface>());
  if (functionCount < 2)
    return;
  SymbolTableCollection symbols;
  SmallVector<SymbolTable::SymbolUse> all;
  for (Region &region : module->getRegions()) {
    auto uses = SymbolTable::getSymbolUses(&region);
    if (!uses) // of an op that may refer to anything
      return;
    all.append(uses->begin(), uses->end());
  }
  for (SymbolTable::SymbolUse use : all) {
    auto function =
        symbols.lookupNearestSymbolFrom<FunctionOpInterface>(use.getUser(), use.getSymbolRef());
    if (!function)
      continue;
    auto call = dyn_cast<CallOpInterface>(use.getUser());
    auto callee = call ? dyn_cast<SymbolRefAttr>(call.getCallableForCallee()) : SymbolRefAttr();
    CallSites &sites = (*calls)[function];
    if (callee == use.getSymbolRef() && call->getNumOperands() == function.getNumArguments())
      sites.calls.push_back(call);
    else
      sites.areAll = false;
  }
}

OverflowingConstants &ModuleRanges::getOverflowing(FloatType format) {
  if (!overflowing)
    overflowing = std::make_unique<OverflowingConstants>(module, *this, format);
  return *overflowing;
}

const Poles &ModuleRanges::getPoles() {
  if (!poles)
    poles = std::make_unique<Poles>(module);
  return *poles;
}

ArrayRef<CallOpInterface> ModuleRanges::getCalls(FunctionOpInterface function) {
  collectCalls();
  auto known = calls->find(function);
  return known == calls->end() ? ArrayRef<CallOpInterface>() : known->second.calls;
}

SmallVector<RangeState> ModuleRanges::getArguments(FunctionOpInterface function) {
  collectCalls();
  CallSites sites = calls->lookup(function);
  bool isOpen = !function.isPrivate() || !sites.areAll || sites.calls.empty();
  SmallVector<RangeState> arguments(function.getNumArguments());
  for (CallOpInterface call : sites.calls)
    for (auto [operand, state] : llvm::zip_equal(call->getOperands(), arguments))
      if (getFloatFormat(operand.getType()))
        state = join(state, lookup(operand));
  if (!isOpen)
    return arguments;
  for (auto [argument, state] : llvm::zip_equal(function.getArguments(), arguments)) {
    state = {FloatFacts::top(), join(state.assumption, Assumption::ofArgument(argument))};
    state.assumption.parameter = Assumption::ofArgument(argument).parameter;
    state.assumption.range = domains::Interval::top();
    bool isStated = bool(function.getArgAttr(argument.getArgNumber(), kRangeAttrName));
    if (options.arguments > 0 && !isStated) {
      state.facts =
          FloatFacts::finite(domains::Interval::symmetric(options.arguments), Provenance::Assumed);
      state.facts.reduce(rowLengthOf(argument.getType()));
      state.assumption.range = state.facts.range;
    }
  }
  return arguments;
}

const FunctionRanges &ModuleRanges::get(FunctionOpInterface function) {
  Function &entry = find(function);
  static const FunctionRanges unknown;
  if (entry.ranges)
    return *entry.ranges;
  if (!entry.arguments) {
    if (entry.isJoining) // calls on a cycle say nothing
      return unknown;
    entry.isJoining = true;
    entry.arguments = getArguments(function);
    entry.isJoining = false;
  }
  entry.ranges = analyze(function, *entry.arguments);
  return entry.ranges ? *entry.ranges : unknown;
}

const FunctionRanges &ModuleRanges::getInCall(Operation *call, FunctionOpInterface callee) {
  SmallVector<RangeState> arguments;
  for (Value operand : call->getOperands())
    arguments.push_back(getFloatFormat(operand.getType()) ? lookup(operand) : RangeState());
  const FunctionRanges *ranges = analyze(callee, arguments);
  return ranges ? *ranges : get(callee);
}

const RangeState &ModuleRanges::lookup(Value value) {
  auto function = value.getParentRegion()->getParentOfType<FunctionOpInterface>();
  static const RangeState unknown = RangeState::unknown();
  return function && !function.isExternal() ? get(function).lookup(value) : unknown;
}
