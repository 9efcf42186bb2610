// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --save-state and --load-state: the state of a train step, of one process or of many.

#include "Run.h"

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

static llvm::Error hasNoState(const Twine &option) {
  return createStringError(option + " is for functions with state: no result replaces an argument "
                                    "(mp.state)");
}

std::vector<StateArray> Run::stateOf(const Side &side, ArrayRef<Array> arguments) const {
  std::vector<StateArray> arrays;
  for (size_t i : loopOf(side).stateArguments())
    arrays.push_back({side.program->signature().arguments[i].role,
                      side.distributed ? side.distributed->argumentDim(i) : std::nullopt,
                      arguments[i]});
  return arrays;
}

llvm::Error Run::resume(std::vector<Array> &arguments) {
  // Said before the steps run, not after them.
  if (!options.saveState.empty() && loopOf(main).stateArguments().empty())
    return hasNoState("--save-state");
  if (options.loadState.empty())
    return llvm::Error::success();
  if (!options.compare.empty())
    return createStringError("--load-state goes without --compare, which begins at the start");
  std::vector<StateArray> arrays = stateOf(main, arguments);
  if (arrays.empty())
    return hasNoState("--load-state");
  auto step = loadState(options.loadState, arrays);
  if (!step)
    return step.takeError();
  for (auto [argument, array] : llvm::zip_equal(loopOf(main).stateArguments(), arrays))
    arguments[argument] = std::move(array.whole);
  firstStep = *step;
  return llvm::Error::success();
}

llvm::Error Run::save(const Side &side, ArrayRef<Array> arguments, int64_t step) const {
  if (options.saveState.empty() || &side != &main)
    return llvm::Error::success();
  std::vector<StateArray> arrays = stateOf(side, arguments);
  auto gather = [&](StringRef own) -> llvm::Expected<std::string> {
    if (!side.distributed)
      return own.str();
    return side.distributed->gather(own);
  };
  StateWriters writers{0, 1, gather};
  if (side.distributed) {
    writers.process = side.distributed->process();
    writers.processes = side.distributed->processes();
  }
  return saveState(options.saveState, step, arrays, writers);
}
