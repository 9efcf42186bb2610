// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-partition: which arguments are held in parts, then every op on parts or wholes, then results.

#include "Partitioner.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Transforms/Distribute/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_PARTITION
#include "mp/Transforms/Distribute/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::distribute;

namespace {

struct Partition : mlir::mp::impl::PartitionBase<Partition> {
  using PartitionBase::PartitionBase;

  /// Reads what the options ask to hold in parts: a dimension for each argument that is.
  FailureOr<SmallVector<std::optional<int64_t>>> chooseParts(func::FuncOp function) {
    SmallVector<std::optional<int64_t>> dims;
    for (BlockArgument argument : function.getArguments()) {
      unsigned i = argument.getArgNumber();
      auto role = function.getArgAttrOfType<StringAttr>(i, kRoleAttrName);
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      if (auto stated = function.getArgAttrOfType<IntegerAttr>(i, comm::kShardAttrName)) {
        dims.push_back(stated.getInt());
      } else if (!type || type.getRank() == 0) {
        dims.push_back(std::nullopt);
      } else if (!function.getArgAttr(i, kStateAttrName) &&
                 (!role || role.getValue() == kRoleInput)) {
        dims.push_back(batch ? std::optional<int64_t>(0) : std::nullopt);
      } else {
        dims.push_back(isSpread(role ? role.getValue() : "") ? firstDivisible(type) : std::nullopt);
      }
      if (dims.back() && !divides(type, *dims.back()))
        return function.emitError("mp-partition: argument #")
               << i << " of type " << type << " is to be held in parts along dimension "
               << *dims.back() << ", expected a static size there that is a multiple of "
               << ranks.getValue() << " ranks";
    }
    return dims;
  }

  bool isSpread(StringRef role) const {
    if (role == kRoleParameter)
      return parameters;
    return optimizerState &&
           llvm::is_contained({kRoleOptimizer, kRoleMaster, kRoleRemainder, kRoleGradientSum},
                              role);
  }
  bool divides(RankedTensorType type, int64_t dim) const {
    return !type.isDynamicDim(unsigned(dim)) && type.getDimSize(unsigned(dim)) % ranks == 0;
  }
  std::optional<int64_t> firstDivisible(RankedTensorType type) const {
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (divides(type, dim))
        return dim;
    return std::nullopt;
  }

  LogicalResult check(func::FuncOp function) {
    if (ranks < 1)
      return function.emitError("mp-partition: option 'ranks' is ")
             << ranks.getValue() << ", expected a positive number";
    if (auto held = function->getAttrOfType<IntegerAttr>(comm::kRanksAttrName))
      return function.emitError("mp-partition: is for one of ")
             << held.getInt() << " ranks already, expected a function for one process";
    if (!function.getBody().hasOneBlock())
      return function.emitError("mp-partition: has ")
             << function.getBody().getBlocks().size() << " blocks, expected one";
    auto symbol = SymbolTable::getSymbolUses(function, getOperation());
    bool isCalled = symbol && llvm::any_of(*symbol, [](SymbolTable::SymbolUse use) {
                      return isa<CallOpInterface>(use.getUser());
                    });
    if (isCalled)
      return function.emitError("mp-partition: is called by another function, which would have to "
                                "hold parts, too; run --inline first");
    return success();
  }

  /// Pure ops that nobody reads would become collectives that nothing removes.
  static void eraseDead(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  /// Results that replace an argument are held as that is.
  SmallVector<std::optional<int64_t>> placeResults(func::FuncOp function,
                                                   ArrayRef<std::optional<int64_t>> arguments) {
    SmallVector<std::optional<int64_t>> results(function.getNumResults());
    for (auto [i, dim] : llvm::enumerate(arguments)) {
      auto state = function.getArgAttrOfType<IntegerAttr>(unsigned(i), kStateAttrName);
      if (state && state.getInt() < int64_t(results.size()) &&
          function.getResultTypes()[size_t(state.getInt())] ==
              function.getArgumentTypes()[unsigned(i)])
        results[size_t(state.getInt())] = dim;
    }
    return results;
  }

  /// Lets state be held in parts from step to step: which result replaces which argument is found,
  /// as in every train step, unless something says it already.
  LogicalResult findState(func::FuncOp function) {
    bool isStated = false;
    for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i)
      isStated |= bool(function.getArgAttr(i, kStateAttrName));
    if (isStated || (!optimizerState && !parameters))
      return success();
    FailureOr<TrainingRoles> roles = findTrainingRoles(function);
    if (succeeded(roles))
      annotateRoles(function, *roles);
    return roles;
  }

  LogicalResult partition(func::FuncOp function) {
    if (failed(findState(function)))
      return failure();
    auto arguments = chooseParts(function);
    if (failed(arguments))
      return failure();
    Block &old = function.getBody().front();
    eraseDead(old);
    auto results = placeResults(function, *arguments);

    auto *made = new Block;
    function.getBody().push_back(made);
    OpBuilder builder = OpBuilder::atBlockEnd(made);
    Partitioner partitioner(builder, ranks);
    for (auto [argument, dim] : llvm::zip_equal(old.getArguments(), *arguments)) {
      Type type = dim ? partitioner.partType(argument.getType(), *dim) : argument.getType();
      Value own = made->addArgument(type, argument.getLoc());
      if (dim)
        partitioner.setPart(argument, own, *dim);
      else
        partitioner.setWhole(argument, own);
    }
    partitioner.findWanted(old, results);
    for (Operation &op : old.without_terminator())
      partitioner.visit(&op);
    SmallVector<Value> returned;
    for (auto [value, dim] : llvm::zip_equal(old.getTerminator()->getOperands(), results))
      returned.push_back(dim ? partitioner.part(value, *dim) : partitioner.whole(value));
    func::ReturnOp::create(builder, old.getTerminator()->getLoc(), returned);
    old.dropAllDefinedValueUses();
    old.dropAllReferences();
    old.erase();

    eraseDead(*made);
    finish(function, *made, *arguments, results);
    report(function, partitioner);
    return success();
  }

  void finish(func::FuncOp function, Block &body, ArrayRef<std::optional<int64_t>> arguments,
              ArrayRef<std::optional<int64_t>> results) {
    Builder b(&getContext());
    function.setType(
        b.getFunctionType(body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
    function->setAttr(comm::kRanksAttrName, b.getI64IntegerAttr(ranks));
    for (auto [i, dim] : llvm::enumerate(arguments))
      if (dim)
        function.setArgAttr(unsigned(i), comm::kShardAttrName, b.getI64IntegerAttr(*dim));
    for (auto [i, dim] : llvm::enumerate(results))
      if (dim)
        function.setResultAttr(unsigned(i), comm::kShardAttrName, b.getI64IntegerAttr(*dim));
  }

  void report(func::FuncOp function, const Partitioner &partitioner) {
    unsigned reduces = 0, gathers = 0, scatters = 0;
    for (Operation &op : function.getBody().front()) {
      reduces += isa<comm::AllReduceOp>(op);
      gathers += isa<comm::AllGatherOp>(op);
      scatters += isa<comm::ReduceScatterOp>(op);
    }
    remark::analysis(function.getLoc(), remarks::kPartitioned) << remark::add(
        "@{0} is for one of {1} ranks: {2} ops on parts, {3} on wholes; {4} "
        "all_reduce, {5} all_gather, {6} reduce_scatter; each rank sends {7} bytes "
        "a call",
        function.getName().str(), ranks.getValue(), partitioner.onParts, partitioner.onWholes,
        reduces, gathers, scatters, bytesSentPerCall(function.getBody().front(), ranks));
  }

  void runOnOperation() override {
    FailureOr<func::FuncOp> found = findTrainStep(getOperation(), function, "mp-partition");
    if (failed(found) || failed(check(*found)) || failed(partition(*found)))
      signalPassFailure();
  }
};

} // namespace
