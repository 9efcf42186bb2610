// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RandomGraph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::mp::test;

/// A condition that hangs on data.
static Value condition(OpBuilder &builder, Location loc, Value tensor) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value read = tensor::ExtractOp::create(builder, loc, tensor, ValueRange{zero, zero});
  Value limit = arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(cast<FloatType>(read.getType()), 0.5));
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, read, limit);
}

void RandomGraph::addFor(Pool &pool, unsigned depth) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value trips = arith::ConstantIndexOp::create(builder, loc, 2 + below(4));
  SmallVector<Value> inits = {pick(pool)};
  if (oneIn(2))
    inits.push_back(pickLike(pool, inits[0]));
  auto loop = scf::ForOp::create(builder, loc, zero, trips, one, inits);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Pool inner(pool);
    llvm::append_range(inner, loop.getRegionIterArgs());
    addOps(inner, 1 + below(4), depth);
    SmallVector<Value> yielded;
    for (Value carried : loop.getRegionIterArgs()) // in any order among equal types
      yielded.push_back(pickLike(inner, carried));
    scf::YieldOp::create(builder, loc, yielded);
  }
  llvm::append_range(pool, loop.getResults());
}

void RandomGraph::addIf(Pool &pool, unsigned depth) {
  Value chosen = pick(pool);
  Value test = condition(builder, loc, pick(pool));
  auto branch = scf::IfOp::create(builder, loc, chosen.getType(), test, /*withElseRegion=*/true);
  for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()}) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&region->front());
    Pool inner(pool);
    addOps(inner, below(4), depth);
    scf::YieldOp::create(builder, loc, pickLike(inner, chosen));
  }
  pool.push_back(branch.getResult(0));
}

/// Ends when data say so, and after some rounds in any case.
void RandomGraph::addWhile(Pool &pool, unsigned depth) {
  Value init = pick(pool);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value most = arith::ConstantIndexOp::create(builder, loc, 1 + below(4));
  auto loop = scf::WhileOp::create(
      builder, loc, TypeRange{zero.getType(), init.getType()}, ValueRange{zero, init},
      [&](OpBuilder &inner, Location at, ValueRange arguments) {
        Value goesOn = condition(inner, at, arguments[1]);
        Value isEarly =
            arith::CmpIOp::create(inner, at, arith::CmpIPredicate::ult, arguments[0], most);
        Value both = arith::AndIOp::create(inner, at, goesOn, isEarly);
        scf::ConditionOp::create(inner, at, both, arguments);
      },
      [&](OpBuilder &inner, Location at, ValueRange arguments) {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        Pool within(pool);
        within.push_back(arguments[1]);
        addOps(within, 1 + below(3), depth);
        Value next = arith::AddIOp::create(builder, loc, arguments[0], one);
        scf::YieldOp::create(builder, loc, ValueRange{next, pickLike(within, arguments[1])});
        inner.setInsertionPointToEnd(builder.getInsertionBlock());
      });
  pool.push_back(loop.getResult(1));
}

void RandomGraph::addCall(Pool &pool) {
  if (helpers.empty())
    return addUnary(pool);
  func::FuncOp callee = helpers[below(helpers.size())];
  SmallVector<Value> arguments;
  for (Type type : callee.getArgumentTypes()) {
    auto found = llvm::find_if(pool, [&](Value value) { return value.getType() == type; });
    auto tensorType = cast<RankedTensorType>(type);
    if (found != pool.end())
      arguments.push_back(*found);
    else if (tensorType.hasStaticShape())
      arguments.push_back(constant(tensorType));
    else
      return addBinary(pool);
  }
  auto call = func::CallOp::create(builder, loc, callee, arguments);
  for (Value result : call.getResults())
    if (typeOf(result).getRank() == 2)
      pool.push_back(result);
}

/// Reads the functions of a module that can be called with constants, under names of their own.
void RandomGraph::addIdiom(ModuleOp idiom) {
  auto entry = idiom.lookupSymbol<func::FuncOp>("main");
  auto isGiven = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() && isa<FloatType>(tensor.getElementType());
  };
  if (!llvm::all_of(entry.getArgumentTypes(), isGiven) ||
      !llvm::all_of(entry.getResultTypes(), llvm::IsaPred<RankedTensorType>))
    return;
  std::string prefix = "idiom" + std::to_string(helpers.size()) + "_";
  OwningOpRef<ModuleOp> copy = idiom.clone();
  SymbolTable symbols(*copy);
  for (auto function : llvm::make_early_inc_range(copy->getOps<func::FuncOp>())) {
    if (function.getName() == "main")
      helpers.push_back(function);
    (void)symbols.rename(function, prefix + function.getName().str());
    function.setPrivate();
    function.removeArgAttrsAttr(); // what is said of arguments need not hold of these
  }
  Block &into = *builder.getInsertionBlock();
  into.getOperations().splice(builder.getInsertionPoint(), copy->getBody()->getOperations());
}

void RandomGraph::addDiamond(Pool &pool) {
  Value carried = pick(pool);
  Value test = condition(builder, loc, pick(pool));
  Region &body = *builder.getInsertionBlock()->getParent();
  Block *head = builder.getInsertionBlock(), *end = new Block, *left = new Block,
        *right = new Block;
  // The end stands before the branches: program order is not order of dominance.
  for (Block *block : {end, left, right})
    body.push_back(block);
  Value merged = end->addArgument(carried.getType(), loc);
  for (Block *branch : {left, right}) {
    builder.setInsertionPointToStart(branch);
    Pool inner(pool);
    addOps(inner, 1 + below(3), 3);
    cf::BranchOp::create(builder, loc, end, pickLike(inner, carried));
  }
  builder.setInsertionPointToEnd(head);
  cf::CondBranchOp::create(builder, loc, test, left, right);
  builder.setInsertionPointToStart(end);
  pool.push_back(merged);
}
