// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the loop of steps: pairs results with arguments, moves inputs on, keeps scalars.

#include "Steps.h"

#include "mp/Dialect/MP/Probes.h"
#include "mp/Dialect/MP/Versions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Execution/Compare/Comparison.h"
#include "mp/Support/Memory.h"
#include "mp/Watch/Numbers.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;

/// Scales come in the order of the moments that are stored with one: of those that are narrower
/// than f32.
static std::map<size_t, size_t> findScales(const Signature &signature) {
  std::vector<size_t> scaled, scales;
  for (const Parameter &argument : signature.arguments) {
    if (!argument.nextValue)
      continue;
    if (argument.role == "moment_scale")
      scales.push_back(*argument.nextValue);
    else if (argument.role == "optimizer_state" && argument.type.isFloat &&
             argument.type.bytes() < 4)
      scaled.push_back(*argument.nextValue);
  }
  std::map<size_t, size_t> pairs;
  if (scales.size() == scaled.size())
    for (auto [moment, scale] : llvm::zip_equal(scaled, scales))
      pairs[moment] = scale;
  return pairs;
}

StepLoop::StepLoop(const Signature &signature, size_t results, llvm::StringRef prefix)
    : results(results), prefix(prefix), names(results), values(results) {
  // Probes say what is theirs, also of a step that says nothing of its own state.
  auto isOfProbes = [](const Parameter &p) {
    return p.role == kRoleProbe || p.role == kRoleProbeCalls;
  };
  const bool isStated = llvm::any_of(signature.arguments, [&](const Parameter &p) {
    return p.nextValue.has_value() && !isOfProbes(p);
  });
  bool leads = !isStated;
  for (auto [i, argument] : llvm::enumerate(signature.arguments)) {
    if (argument.role == kRoleVersionMeasured)
      measured = i;
    if (argument.nextValue) {
      if (size_t(*argument.nextValue) >= results)
        continue;
      state.push_back({size_t(*argument.nextValue), i});
      names[*argument.nextValue] = argument.role;
    } else if (leads) {
      leads = i < results && signature.results[i].typeStr() == argument.typeStr();
      if (leads)
        state.push_back({i, i});
    }
  }
  scales = findScales(signature);
}

void StepLoop::advance(std::vector<Array> &arguments, llvm::ArrayRef<Array> outcome) const {
  for (auto [result, argument] : state)
    arguments[argument] = outcome[result];
}

void StepLoop::tellMeasured(std::vector<Array> &arguments, double seconds) const {
  if (!measured)
    return;
  Array &told = arguments[*measured];
  told.setPattern(int64_t(VersionMeasure::Seconds), llvm::bit_cast<uint64_t>(seconds));
  told.setPattern(int64_t(VersionMeasure::Bytes),
                  llvm::bit_cast<uint64_t>(double(support::residentMemory())));
}

std::vector<size_t> StepLoop::stateArguments() const {
  std::vector<size_t> arguments;
  for (auto [result, argument] : state)
    arguments.push_back(argument);
  llvm::sort(arguments);
  return arguments;
}

llvm::Error StepLoop::feed(std::vector<Array> &arguments, llvm::ArrayRef<BatchedInput> batches,
                           int64_t step) const {
  for (const BatchedInput &batch : batches) {
    Array &argument = arguments[batch.argument];
    auto rows = convertTo(batch.at(step, argument.shape), argument.type);
    if (!rows)
      return rows.takeError();
    argument = std::move(*rows);
  }
  return llvm::Error::success();
}

std::string StepLoop::labelOf(size_t result) const {
  std::string label = llvm::formatv("result {0}", result);
  return names[result].empty() ? label : label + " (" + names[result] + ")";
}

void StepLoop::record(llvm::raw_ostream &os, int64_t step, int64_t steps, int64_t every,
                      llvm::ArrayRef<Array> outcome) {
  bool prints = step % every == 0 || step + 1 == steps;
  for (size_t i = 0; i != results; ++i) {
    if (!outcome[i].shape.empty())
      continue;
    values[i].push_back(outcome[i].value(0));
    if (prints)
      printArray(os, llvm::formatv("{0}step {1}, {2}", prefix, step, labelOf(i)).str(), outcome[i]);
  }
}

llvm::json::Value StepLoop::toJSON() const {
  llvm::json::Object object;
  for (size_t i = 0; i != results; ++i) {
    if (values[i].empty())
      continue;
    llvm::json::Array list;
    for (double value : values[i])
      list.push_back(mpcore::watch::numberOrNull(value));
    object[names[i].empty() ? llvm::formatv("result {0}", i).str() : names[i]] = std::move(list);
  }
  return object;
}

double StepLoop::drift(llvm::ArrayRef<Array> start, llvm::ArrayRef<Array> outcome,
                       llvm::ArrayRef<Array> reference) const {
  double apart = 0, moved = 0;
  for (auto [result, argument] : state) {
    if (result >= reference.size() || argument >= start.size() || !reference[result].type.isFloat ||
        reference[result].shape.empty() || outcome[result].shape != reference[result].shape ||
        start[argument].shape != reference[result].shape) // state that one of them alone has
      continue;
    auto scale = scales.find(result);
    double factor = scale != scales.end() && scale->second < outcome.size()
                        ? outcome[scale->second].value(0)
                        : 1;
    for (int64_t i = 0, count = reference[result].size(); i != count; ++i) {
      double expected = reference[result].value(i);
      apart += std::pow(outcome[result].value(i) * factor - expected, 2);
      moved += std::pow(expected - start[argument].value(i), 2);
    }
  }
  return std::sqrt(apart / moved);
}

Signature mlir::mp::withStateOf(Signature own, size_t results, const Signature &other) {
  if (llvm::any_of(own.arguments, [](auto &p) { return p.nextValue.has_value(); }))
    return own;
  for (auto [argument, stated] : llvm::zip(own.arguments, other.arguments)) {
    if (!stated.nextValue || size_t(*stated.nextValue) >= results)
      continue;
    argument.nextValue = stated.nextValue;
    argument.role = stated.role;
  }
  return own;
}

/// The function that says `mp.init_of` the entry, or null.
static llvm::Expected<func::FuncOp> findInit(ModuleOp module, llvm::StringRef entry) {
  auto step = findEntry(module, entry);
  if (!step)
    return step.takeError();
  for (auto function : module.getOps<func::FuncOp>()) {
    auto of = function->getAttrOfType<FlatSymbolRefAttr>(kInitOfAttrName);
    if (of && of.getValue() == step->getName())
      return function;
  }
  return func::FuncOp();
}

llvm::Expected<size_t> mlir::mp::countAppended(ModuleOp module, llvm::StringRef entry) {
  auto init = findInit(module, entry);
  if (!init)
    return init.takeError();
  return *init ? init->getNumResults() - init->getNumArguments() : 0;
}

llvm::Expected<Signature> mlir::mp::signatureBefore(ModuleOp module, llvm::StringRef entry,
                                                    Signature now) {
  auto init = findInit(module, entry);
  if (!init)
    return init.takeError();
  if (!*init)
    return now;
  auto original = signatureOf(*init);
  if (!original)
    return original.takeError();
  for (const Parameter &parameter : original->arguments) {
    if (!parameter.nextValue || size_t(*parameter.nextValue) >= now.arguments.size())
      return llvm::createStringError("@" + init->getName() +
                                     ": expected 'mp.state' on every "
                                     "argument, an argument of the step");
    now.arguments[*parameter.nextValue].type = parameter.type;
  }
  return now;
}

llvm::Error mlir::mp::applyInit(ModuleOp module, llvm::StringRef entry,
                                std::vector<Array> &arguments,
                                llvm::function_ref<bool(size_t)> stated) {
  auto init = findInit(module, entry);
  if (!init)
    return init.takeError();
  if (!*init)
    return llvm::Error::success();
  auto program = Program::compile(module, init->getName());
  if (!program)
    return program.takeError();
  std::vector<size_t> converted;
  std::vector<Array> originals;
  for (const Parameter &parameter : (*program)->signature().arguments) {
    converted.push_back(*parameter.nextValue);
    originals.push_back(arguments[converted.back()]);
  }
  auto first = (*program)->run(originals);
  if (!first)
    return first.takeError();
  if (first->size() > converted.size() + arguments.size())
    return llvm::createStringError("@" + init->getName() +
                                   " returns more values than the step has arguments");
  auto appended = first->begin() + converted.size();
  for (auto [argument, value] : llvm::zip(converted, *first))
    arguments[argument] = std::move(value);
  for (size_t argument = arguments.size() - (first->end() - appended); appended != first->end();
       ++argument, ++appended)
    if (!stated || !stated(argument))
      arguments[argument] = std::move(*appended);
  return llvm::Error::success();
}
