// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Steps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Execution/Comparison.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;

StepLoop::StepLoop(const Signature &signature, size_t results)
    : results(results), names(results), values(results) {
  bool isStated = llvm::any_of(signature.arguments, [](auto &p) { return p.nextValue.has_value(); });
  for (auto [i, argument] : llvm::enumerate(signature.arguments)) {
    if (isStated) {
      if (!argument.nextValue || size_t(*argument.nextValue) >= results)
        continue;
      state.push_back({size_t(*argument.nextValue), i});
      names[*argument.nextValue] = argument.role;
    } else {
      if (i >= results || signature.results[i].typeStr() != argument.typeStr())
        break;
      state.push_back({i, i});
    }
  }
}

void StepLoop::advance(std::vector<Array> &arguments, llvm::ArrayRef<Array> outcome) const {
  for (auto [result, argument] : state)
    arguments[argument] = outcome[result];
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
      printArray(os, llvm::formatv("step {0}, {1}", step, labelOf(i)).str(), outcome[i]);
  }
}

llvm::json::Value StepLoop::toJSON() const {
  llvm::json::Object object;
  for (size_t i = 0; i != results; ++i) {
    if (values[i].empty())
      continue;
    llvm::json::Array list;
    for (double value : values[i])
      list.push_back(std::isfinite(value) ? llvm::json::Value(value) : nullptr);
    object[names[i].empty() ? llvm::formatv("result {0}", i).str() : names[i]] = std::move(list);
  }
  return object;
}

llvm::Error mlir::mp::applyInit(ModuleOp module, llvm::StringRef entry, const Signature &signature,
                                std::vector<Array> &arguments) {
  auto step = findEntry(module, entry);
  if (!step)
    return step.takeError();
  for (auto function : module.getOps<func::FuncOp>()) {
    auto of = function->getAttrOfType<FlatSymbolRefAttr>(kInitOfAttrName);
    if (!of || of.getValue() != step->getName())
      continue;
    auto program = Program::compile(module, function.getName());
    if (!program)
      return program.takeError();
    auto first = (*program)->run({});
    if (!first)
      return first.takeError();
    if (first->size() > arguments.size())
      return llvm::createStringError("@" + function.getName() + " returns more values than @" +
                                     step->getName() + " has arguments");
    std::move(first->begin(), first->end(), arguments.end() - first->size());
    return llvm::Error::success();
  }
  return llvm::Error::success();
}
