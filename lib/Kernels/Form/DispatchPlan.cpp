// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps groups of ops that become dispatches: what may join, and what must move for it.

#include "DispatchPlan.h"

#include "../Plan/MoveTogether.h"
#include "mp/Kernels/Passes.h"

using namespace mlir;
using namespace mlir::mp;

/// True for what may become a dispatch if a family takes it. Products that no matrix kernel takes
/// are sums like others: rows take those of which one operand has all loops.
static bool isStructured(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && op->getNumResults() != 0 && !isFill(op);
}

DispatchPlan::DispatchPlan(Block &block, BodyCost cost) : block(block), cost(cost) {
  for (auto [index, op] : llvm::enumerate(block))
    position[&op] = index;
  for (auto op : block.getOps<linalg::LinalgOp>())
    if (isStructured(op))
      if (std::optional<double> seconds = costOf(op)) {
        (op->hasAttr(kMmaAttrName) ? contractions : candidates).push_back(op);
        alone[op] = *seconds;
      }
}

/// Shows the body of a dispatch of these ops, if there is one.
static void visitBody(ArrayRef<linalg::LinalgOp> members, function_ref<void(Block &)> visit,
                      ArrayRef<Operation *> repeated = {}) {
  FailureOr<DispatchBody> body = readBody(members, repeated);
  if (failed(body) || body->outputs.empty())
    return;
  Block scratch;
  writeBody(*body, scratch);
  visit(scratch);
  scratch.dropAllReferences();
}

std::optional<double> DispatchPlan::costOf(ArrayRef<linalg::LinalgOp> members,
                                           ArrayRef<Operation *> repeated) const {
  std::optional<double> seconds;
  visitBody(members, [&](Block &body) { seconds = cost(body); }, repeated);
  return seconds;
}

std::optional<unsigned> DispatchPlan::getGroup(Operation *op) const {
  auto known = groupOf.find(op);
  return known == groupOf.end() ? std::nullopt : std::optional(known->second);
}

unsigned DispatchPlan::found(linalg::LinalgOp op, StringRef rule) {
  groupOf[op] = groups.size();
  groups.push_back({rule, {op}, alone.at(op), alone.at(op)});
  return groups.size() - 1;
}

bool DispatchPlan::claim(StringRef rule, ArrayRef<linalg::LinalgOp> members, BodyCost cost) {
  if (llvm::any_of(members, [&](Operation *op) { return getGroup(op).has_value(); }) ||
      !isConvex(members))
    return false;
  std::optional<double> seconds;
  visitBody(members, [&](Block &body) { seconds = cost(body); });
  if (!seconds)
    return false;
  double apart = 0;
  for (linalg::LinalgOp member : members)
    apart += alone.lookup(member);
  if (*seconds > apart)
    return false;
  for (linalg::LinalgOp member : members)
    groupOf[member] = groups.size();
  groups.push_back({rule, SmallVector<linalg::LinalgOp>(members), *seconds, apart});
  return true;
}

bool DispatchPlan::add(unsigned group, linalg::LinalgOp op) {
  std::optional<unsigned> other = getGroup(op);
  SmallVector<linalg::LinalgOp> members = groups[group].members;
  double apart = groups[group].seconds + (other ? groups[*other].seconds : alone.at(op));
  if (other)
    llvm::append_range(members, groups[*other].members);
  else
    members.push_back(op);
  llvm::sort(members, [&](Operation *a, Operation *b) { return isBefore(a, b); });
  if (!isConvex(members))
    return false;
  SmallVector<Operation *> repeated = groups[group].repeated;
  if (other)
    llvm::append_range(repeated, groups[*other].repeated);
  std::optional<double> together = costOf(members, repeated);
  if (!together || *together > apart)
    return false;
  groups[group].repeated = std::move(repeated);
  if (other) {
    groups[*other].members.clear();
    groups[*other].repeated.clear();
  }
  for (linalg::LinalgOp member : members)
    groupOf[member] = group;
  groups[group].members = std::move(members);
  groups[group].seconds = *together;
  groups[group].apart += other ? groups[*other].apart : alone.at(op);
  return true;
}

bool DispatchPlan::repeat(ArrayRef<unsigned> readers, Operation *op) {
  SmallVector<double> together;
  double gain = alone.lookup(op); // none is known of paddings
  for (unsigned reader : readers) {
    SmallVector<Operation *> repeated = groups[reader].repeated;
    repeated.push_back(op);
    std::optional<double> seconds = costOf(groups[reader].members, repeated);
    if (!seconds)
      return false;
    gain -= *seconds - groups[reader].seconds;
    together.push_back(*seconds);
  }
  if (gain < 0)
    return false;
  for (auto [reader, seconds] : llvm::zip_equal(readers, together)) {
    groups[reader].repeated.push_back(op);
    groups[reader].apart += alone.lookup(op) / double(readers.size());
    groups[reader].seconds = seconds;
  }
  groupOf[op] = groups.size(); // a group of nothing: the op has no kernel any more
  groups.push_back({"operand", {}});
  return true;
}

SmallVector<linalg::LinalgOp> DispatchPlan::getNeighbors(unsigned group) const {
  llvm::SetVector<Operation *> found;
  auto consider = [&](Operation *op) {
    if (op && alone.contains(op) && getGroup(op) != group)
      found.insert(op);
  };
  auto considerReaders = [&](auto &&self, Value value) -> void {
    for (Operation *user : value.getUsers()) {
      consider(user);
      if (isUnitReshape(user))
        self(self, user->getResult(0));
    }
  };
  for (linalg::LinalgOp member : groups[group].members) {
    for (Value operand : member->getOperands())
      consider(skipUnitReshapes(operand).getDefiningOp());
    for (Value result : member->getResults())
      considerReaders(considerReaders, result);
  }
  SmallVector<linalg::LinalgOp> sorted(
      llvm::map_range(found, [](Operation *op) { return cast<linalg::LinalgOp>(op); }));
  llvm::sort(sorted, [&](Operation *a, Operation *b) { return isBefore(a, b); });
  return sorted;
}

/// Calls `visit` with each op of the block that reads `op`'s results, itself or in a region; views
/// of the results are looked through, since a dispatch has its own.
static void forReaders(Block &block, Operation *op, llvm::function_ref<void(Operation *)> visit) {
  for (Operation *user : op->getUsers())
    if (Operation *reader = block.findAncestorOpInBlock(*user)) {
      visit(reader);
      if (isUnitReshape(reader))
        forReaders(block, reader, visit);
    }
}

bool DispatchPlan::isConvex(ArrayRef<linalg::LinalgOp> members) const {
  llvm::DenseSet<Operation *> inside, reached;
  for (linalg::LinalgOp member : members)
    inside.insert(member);
  SmallVector<Operation *> pending;
  auto reach = [&](Operation *op) {
    if (!inside.contains(op) && reached.insert(op).second)
      pending.push_back(op);
  };
  for (linalg::LinalgOp member : members)
    forReaders(block, member, [&](Operation *reader) {
      if (!isUnitReshape(reader))
        reach(reader);
    });
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val();
    if (std::optional<unsigned> group = getGroup(op))
      for (linalg::LinalgOp other : groups[*group].members)
        reach(other);
    bool returns = false;
    for (Operation *user : op->getUsers())
      if (Operation *reader = block.findAncestorOpInBlock(*user)) {
        returns |= inside.contains(reader);
        reach(reader);
      }
    if (returns)
      return false;
  }
  return true;
}

/// Erases an op that nothing reads but views that nothing reads.
static void eraseWithViews(RewriterBase &rewriter, Operation *op) {
  for (Operation *view : llvm::make_early_inc_range(op->getUsers()))
    eraseWithViews(rewriter, view);
  rewriter.eraseOp(op);
}

FailureOr<mpk::DispatchOp> mlir::mp::formDispatch(RewriterBase &rewriter,
                                                  const DispatchGroup &group) {
  SmallVector<linalg::LinalgOp> members = group.members;
  llvm::sort(members, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  FailureOr<DispatchBody> body = readBody(members, group.repeated);
  if (failed(body))
    return failure();
  FailureOr<SmallVector<Operation *>> followers =
      findFollowers(SmallVector<Operation *>(members.begin(), members.end()));
  if (failed(followers))
    return failure();
  rewriter.setInsertionPointAfter(members.back());
  mpk::DispatchOp dispatch = makeDispatch(rewriter, members.back().getLoc(), *body);
  moveBehind(rewriter, dispatch, *followers);
  Block &block = *dispatch->getBlock();
  llvm::DenseSet<Operation *> inside;
  for (linalg::LinalgOp member : members)
    inside.insert(member);
  for (auto [output, result] : llvm::zip_equal(body->outputs, dispatch.getResults()))
    rewriter.replaceUsesWithIf(output.result, result, [&](OpOperand &use) {
      return !inside.contains(block.findAncestorOpInBlock(*use.getOwner()));
    });
  for (linalg::LinalgOp member : llvm::reverse(members))
    eraseWithViews(rewriter, member);
  return dispatch;
}
