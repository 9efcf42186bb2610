// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Control: a run of ops of @main goes into a loop, a branch or a function of its own, wherever that
// cuts a claim in two. With `substitutes` it is also run on another value than it was made for, as
// what a loop carries or what a second caller hands over.

#include "ClaimWriter.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::mp::test;

namespace {

/// Ops of @main, one behind the other, and what they read and give.
class Part {
public:
  Part(func::FuncOp function, std::mt19937_64 &random, bool mayNotRun)
      : function(function), builder(function.getContext()), loc(builder.getUnknownLoc()),
        random(random), mayNotRun(mayNotRun) {}

  /// Returns false where nothing can be cut out.
  bool choose(bool untilTheEnd);
  /// Chooses the other value that the part is run on.
  void chooseSubstitute();
  void put(Control control, bool substitutes);

private:
  static bool isMovable(Operation &op) { return !op.hasTrait<OpTrait::ConstantLike>(); }
  void collect();
  SmallVector<Value> clone(const IRMapping &given);
  /// Clones the part for the other value, or makes zeros for its results.
  SmallVector<Value> cloneOther(bool substitutes);
  IRMapping substituted(Value by) const;
  Value zeroLike(Value value);
  Value argument(Type type);
  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  /// Says how often a loop runs: a constant from 1 to 3, or 0 or 1 as an argument says.
  Value trips();
  void replace(ValueRange results);

  SmallVector<Value> writeFor(bool substitutes);
  SmallVector<Value> writeWhile(bool substitutes);
  SmallVector<Value> writeIf(bool substitutes);
  SmallVector<Value> writeCalls(bool twice);
  void writeBlocks(bool isLoop, bool substitutes);
  /// Finds the carried value that stands for the substituted one in the body of a loop, if any
  /// does.
  std::optional<unsigned> carriedFor() const;

  func::FuncOp function;
  OpBuilder builder;
  Location loc;
  std::mt19937_64 &random;
  bool mayNotRun;
  SmallVector<Operation *> ops;
  SetVector<Value> reads;
  SmallVector<Value> gives;
  Value replaced, substitute;
};

} // namespace

void Part::collect() {
  DenseSet<Operation *> inside(ops.begin(), ops.end());
  reads.clear();
  gives.clear();
  auto isInside = [&](Operation *op) {
    return op && llvm::any_of(ops, [&](Operation *part) { return part->isAncestor(op); });
  };
  for (Operation *op : ops) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *owner = operand.getParentBlock()->getParentOp();
        bool isOutside = owner == function && !inside.contains(operand.getDefiningOp());
        if (isOutside)
          reads.insert(operand);
      }
    });
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !isInside(user); }))
        gives.push_back(result);
  }
}

/// A `tensor.empty` in some shape, which has no contents to hand over.
static bool isUndefined(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op))
    return isUndefined(op->getOperand(0));
  return isa_and_nonnull<tensor::EmptyOp>(op);
}

bool Part::choose(bool untilTheEnd) {
  SmallVector<Operation *> all;
  for (Operation &op : function.getBody().front().without_terminator())
    if (isMovable(op))
      all.push_back(&op);
  for (unsigned attempt = 0; attempt < 16 && !all.empty(); ++attempt) {
    size_t begin = random() % all.size();
    size_t end = untilTheEnd ? all.size() : begin + 1 + random() % (all.size() - begin);
    ops.assign(all.begin() + begin, all.begin() + end);
    collect();
    bool fits = !gives.empty() && gives.size() <= 3 && llvm::all_of(gives, [](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type && type.hasStaticShape() && isa<FloatType>(type.getElementType()) &&
             !isUndefined(value);
    });
    if (fits)
      return true;
  }
  return false;
}

Value Part::trips() {
  int64_t most = 1 + random() % 3;
  if (!mayNotRun)
    return index(most);
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                      argument(builder.getI1Type()));
}

Value Part::argument(Type type) { return function.getBody().front().addArgument(type, loc); }

void Part::chooseSubstitute() {
  SmallVector<Value> candidates;
  for (Value value : reads) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    Operation *def = value.getDefiningOp();
    if (type && isa<FloatType>(type.getElementType()) && (!def || isMovable(*def)) &&
        !isa_and_nonnull<tensor::EmptyOp, linalg::FillOp>(def) &&
        !isa_and_nonnull<tensor::CastOp>(def)) // whose sizes are known, though its type hides them
      candidates.push_back(value);
  }
  if (candidates.empty())
    return;
  replaced = candidates[random() % candidates.size()];
  SmallVector<Value> others;
  for (BlockArgument other : function.getArguments())
    if (other != replaced && other.getType() == replaced.getType())
      others.push_back(other);
  substitute = others.empty() ? argument(replaced.getType()) : others[random() % others.size()];
}

IRMapping Part::substituted(Value by) const {
  IRMapping mapping;
  if (replaced)
    mapping.map(replaced, by);
  return mapping;
}

SmallVector<Value> Part::clone(const IRMapping &given) {
  IRMapping mapping = given;
  for (Operation *op : ops)
    builder.clone(*op, mapping);
  return llvm::map_to_vector(gives, [&](Value value) { return mapping.lookup(value); });
}

Value Part::zeroLike(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(builder.getZeroAttr(type)));
}

SmallVector<Value> Part::cloneOther(bool substitutes) {
  if (substitutes)
    return clone(substituted(substitute));
  return llvm::map_to_vector(gives, [&](Value value) { return zeroLike(value); });
}

std::optional<unsigned> Part::carriedFor() const {
  for (auto [index, value] : llvm::enumerate(gives))
    if (replaced && value.getType() == replaced.getType())
      return index;
  return std::nullopt;
}

void Part::replace(ValueRange results) {
  DenseSet<Operation *> inside(ops.begin(), ops.end());
  for (auto [old, result] : llvm::zip_equal(gives, results))
    old.replaceUsesWithIf(result, [&](OpOperand &use) {
      for (Operation *op = use.getOwner(); op; op = op->getParentOp())
        if (inside.contains(op))
          return false;
      return true;
    });
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}

SmallVector<Value> Part::writeFor(bool substitutes) {
  std::optional<unsigned> carried = substitutes ? carriedFor() : std::nullopt;
  SmallVector<Value> inits = llvm::map_to_vector(gives, [&](Value v) { return zeroLike(v); });
  if (carried)
    inits[*carried] = replaced;
  auto loop = scf::ForOp::create(builder, loc, index(0), trips(), index(1), inits);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  IRMapping mapping;
  if (substitutes)
    mapping = substituted(carried ? Value(loop.getRegionIterArg(*carried)) : substitute);
  scf::YieldOp::create(builder, loc, clone(mapping));
  return llvm::to_vector_of<Value>(loop.getResults());
}

SmallVector<Value> Part::writeWhile(bool substitutes) {
  std::optional<unsigned> carried = substitutes ? carriedFor() : std::nullopt;
  SmallVector<Value> inits = {index(0)};
  for (Value value : gives)
    inits.push_back(zeroLike(value));
  if (carried)
    inits[1 + *carried] = replaced;
  Value trips = this->trips(), one = index(1);
  auto goesOn = [&](OpBuilder &inner, Location at, ValueRange state) {
    Value holds = arith::CmpIOp::create(inner, at, arith::CmpIPredicate::slt, state.front(), trips);
    scf::ConditionOp::create(inner, at, holds, state);
  };
  auto body = [&](OpBuilder &inner, Location at, ValueRange state) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
    SmallVector<Value> yielded = {arith::AddIOp::create(builder, at, state.front(), one)};
    IRMapping mapping;
    if (substitutes)
      mapping = substituted(carried ? state[1 + *carried] : substitute);
    llvm::append_range(yielded, clone(mapping));
    scf::YieldOp::create(builder, at, yielded);
  };
  auto loop = scf::WhileOp::create(builder, loc, ValueRange(inits).getTypes(), inits, goesOn, body);
  return llvm::to_vector_of<Value>(llvm::drop_begin(loop.getResults()));
}

SmallVector<Value> Part::writeIf(bool substitutes) {
  Value condition = argument(builder.getI1Type());
  auto branch = scf::IfOp::create(builder, loc, ValueRange(gives).getTypes(), condition, true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&branch.getThenRegion().front());
  scf::YieldOp::create(builder, loc, clone({}));
  builder.setInsertionPointToStart(&branch.getElseRegion().front());
  scf::YieldOp::create(builder, loc, cloneOther(substitutes));
  return llvm::to_vector_of<Value>(branch.getResults());
}

/// The results of the second call are results of @main.
SmallVector<Value> Part::writeCalls(bool twice) {
  SmallVector<Value> inputs;
  IRMapping mapping;
  for (Value value : reads)
    if (!value.getDefiningOp() || isMovable(*value.getDefiningOp()))
      inputs.push_back(value);
  SmallVector<Value> results;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(function);
    auto type =
        builder.getFunctionType(ValueRange(inputs).getTypes(), ValueRange(gives).getTypes());
    auto callee = func::FuncOp::create(builder, loc, "part", type);
    callee.setPrivate();
    builder.setInsertionPointToStart(callee.addEntryBlock());
    for (auto [input, parameter] : llvm::zip_equal(inputs, callee.getArguments()))
      mapping.map(input, parameter);
    for (Value value : reads) // constants
      if (!mapping.contains(value))
        builder.clone(*value.getDefiningOp(), mapping);
    func::ReturnOp::create(builder, loc, clone(mapping));
  }
  auto callee = cast<func::FuncOp>(*std::prev(Block::iterator(function)));
  auto call = [&](ValueRange arguments) {
    return func::CallOp::create(builder, loc, callee, arguments).getResults();
  };
  llvm::append_range(results, call(inputs));
  if (twice && replaced) {
    for (Value &input : inputs)
      input = input == replaced ? substitute : input;
    Operation *end = function.getBody().front().getTerminator();
    end->insertOperands(end->getNumOperands(), call(inputs));
  }
  return results;
}

/// A loop of blocks, or two branches; the rest of @main comes last.
void Part::writeBlocks(bool isLoop, bool substitutes) {
  Block *entry = &function.getBody().front();
  Value condition = isLoop ? Value() : argument(builder.getI1Type());
  std::optional<unsigned> carried = isLoop && substitutes ? carriedFor() : std::nullopt;
  Block *end = entry->splitBlock(std::next(Block::iterator(ops.back())));
  SmallVector<Type> types(ValueRange(gives).getTypes());
  auto addBlock = [&](bool takesIndex) {
    Block *block = new Block;
    function.getBody().getBlocks().insert(Region::iterator(end), block);
    if (takesIndex)
      block->addArgument(builder.getIndexType(), loc);
    return block;
  };
  SmallVector<Value> arguments;
  for (Type type : types)
    arguments.push_back(end->addArgument(type, loc));
  Block *left = addBlock(isLoop), *right = addBlock(false);
  builder.setInsertionPointToEnd(entry);
  if (!isLoop) {
    cf::CondBranchOp::create(builder, loc, condition, left, right);
    builder.setInsertionPointToStart(left);
    cf::BranchOp::create(builder, loc, end, clone({}));
    builder.setInsertionPointToStart(right);
    cf::BranchOp::create(builder, loc, end, cloneOther(substitutes));
    return replace(arguments);
  }
  SmallVector<Value> inits = {index(0)};
  for (Value value : gives)
    inits.push_back(zeroLike(value));
  if (carried)
    inits[1 + *carried] = replaced;
  Value trips = this->trips(), one = index(1);
  for (Type type : types)
    left->addArgument(type, loc);
  cf::BranchOp::create(builder, loc, left, inits);
  builder.setInsertionPointToStart(left);
  Value goesOn =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, left->getArgument(0), trips);
  cf::CondBranchOp::create(builder, loc, goesOn, right, ValueRange(), end,
                           left->getArguments().drop_front());
  builder.setInsertionPointToStart(right);
  SmallVector<Value> next = {arith::AddIOp::create(builder, loc, left->getArgument(0), one)};
  IRMapping mapping;
  if (substitutes)
    mapping = substituted(carried ? Value(left->getArgument(1 + *carried)) : substitute);
  llvm::append_range(next, clone(mapping));
  cf::BranchOp::create(builder, loc, left, next);
  replace(arguments);
}

void Part::put(Control control, bool substitutes) {
  substitutes &= bool(replaced);
  builder.setInsertionPointAfter(ops.back());
  switch (control) {
  case Control::None: return;
  case Control::For: return replace(writeFor(substitutes));
  case Control::While: return replace(writeWhile(substitutes));
  case Control::If: return replace(writeIf(substitutes));
  case Control::Call: return replace(writeCalls(false));
  case Control::CallTwice: return replace(writeCalls(true));
  case Control::Blocks:
  case Control::Diamond: return writeBlocks(control == Control::Blocks, substitutes);
  }
}

void mlir::mp::test::addControl(func::FuncOp function, const HostileRecipe &recipe,
                                std::mt19937_64 &random) {
  bool isBlocks = recipe.control == Control::Blocks || recipe.control == Control::Diamond;
  bool hasLoops =
      function.walk([](scf::ForOp) { return WalkResult::interrupt(); }).wasInterrupted();
  // Upstream's ownership-based deallocation crashes on loops of scf before blocks (LLVM 22).
  if (recipe.control == Control::None || (isBlocks && hasLoops))
    return;
  Part part(function, random, recipe.mayNotRun);
  if (!part.choose(recipe.control == Control::CallTwice))
    return;
  if (recipe.substitutes || recipe.control == Control::CallTwice)
    part.chooseSubstitute();
  part.put(recipe.control, recipe.substitutes);
}
