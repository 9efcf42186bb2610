// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the collectors of carried values for region branches, parallel insertions and ops that
// pass by position.

#include "CarriedValues.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ParallelCombiningOpInterface.h"
#include "llvm/ADT/IntEqClasses.h"

using namespace mlir;
using namespace mlir::mp;

void mlir::mp::detail::collectForwarded(Operation *op, SmallVectorImpl<CarriedValue> &carried) {
  SmallVector<Value> values;
  DenseMap<Value, unsigned> numbers;
  auto add = [&](Value value) {
    if (getFloatFormat(value.getType()) && numbers.try_emplace(value, values.size()).second)
      values.push_back(value);
  };
  for (Region &region : op->getRegions())
    if (!region.empty())
      llvm::for_each(region.getArguments(), add);
  llvm::for_each(op->getResults(), add);

  RegionBranchSuccessorMapping forwarded;
  cast<RegionBranchOpInterface>(op).getSuccessorOperandInputMapping(forwarded);
  llvm::IntEqClasses classes(values.size());
  for (auto &[operand, inputs] : forwarded)
    if (getFloatFormat(operand->get().getType()))
      for (Value input : inputs)
        classes.join(numbers.at(inputs.front()), numbers.at(input));
  classes.compress();

  unsigned first = carried.size();
  carried.resize(first + classes.getNumClasses());
  for (auto [index, value] : llvm::enumerate(values))
    carried[first + classes[index]].values.push_back(value);
  // In the order of the program: the map has none.
  auto addFeeds = [&](Operation *from) {
    for (OpOperand &operand : from->getOpOperands())
      if (auto it = forwarded.find(&operand);
          it != forwarded.end() && getFloatFormat(operand.get().getType()))
        carried[first + classes[numbers.at(it->second.front())]].feeds.push_back(&operand);
  };
  addFeeds(op);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (!block.empty())
        addFeeds(&block.back());
}

void mlir::mp::detail::collectCombined(Operation *op, SmallVectorImpl<CarriedValue> &carried) {
  auto loop = cast<LoopLikeOpInterface>(op);
  auto inits = cast<DestinationStyleOpInterface>(op).getDpsInitsMutable();
  DenseMap<Value, unsigned> byArgument;
  for (auto [init, argument, result] :
       llvm::zip_equal(inits, loop.getRegionIterArgs(), op->getResults())) {
    if (!getFloatFormat(argument.getType()))
      continue;
    byArgument[argument] = carried.size();
    carried.push_back({{argument, result}, {&init}});
  }
  auto combining = cast<InParallelOpInterface>(op->getRegion(0).front().getTerminator());
  for (Operation &writer : combining.getYieldingOps())
    for (OpOperand &destination :
         cast<ParallelCombiningOpInterface>(writer).getUpdatedDestinations())
      if (auto it = byArgument.find(destination.get()); it != byArgument.end())
        for (OpOperand &operand : writer.getOpOperands())
          if (getFloatFormat(operand.get().getType()))
            carried[it->second].feeds.push_back(&operand);
}

void mlir::mp::detail::collectByPosition(Operation *op, bool isLoop,
                                         SmallVectorImpl<CarriedValue> &carried) {
  auto isFloat = [](Value value) { return static_cast<bool>(getFloatFormat(value.getType())); };
  unsigned passed = op->getRegion(0).getNumArguments();
  auto operands = op->getOpOperands().take_back(passed);
  Operation *last = op->getRegions().back().front().getTerminator();
  for (unsigned i = 0; i < passed; ++i) {
    if (!isFloat(operands[i].get()))
      continue;
    CarriedValue &value = carried.emplace_back();
    for (Region &region : op->getRegions())
      value.values.push_back(region.getArgument(i));
    value.feeds.push_back(&operands[i]);
    if (isLoop) {
      value.values.push_back(op->getResult(i));
      value.feeds.push_back(&last->getOpOperand(i));
    }
  }
  for (unsigned i = 0; !isLoop && i < op->getNumResults(); ++i) {
    if (!isFloat(op->getResult(i)))
      continue;
    CarriedValue &value = carried.emplace_back();
    value.values.push_back(op->getResult(i));
    for (Region &region : op->getRegions())
      value.feeds.push_back(&region.front().getTerminator()->getOpOperand(i));
  }
}
