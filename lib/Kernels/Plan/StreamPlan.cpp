// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts the loops of a body into rows and columns, and its reductions by what they need.

#include "StreamPlan.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mp/Interfaces/LoopNest.h"

using namespace mlir;
using namespace mlir::mp;

unsigned StreamPlan::varies(Value value) const {
  unsigned bits = kUniform;
  auto found = dims.find(value);
  if (found == dims.end())
    return bits;
  for (int loop : found->second)
    if (loop >= 0)
      bits |= isColumn(loop) ? kAlongColumns : kAlongRows;
  return bits;
}

void StreamPlan::print(llvm::raw_ostream &os) const {
  auto list = [&](StringRef name, ArrayRef<unsigned> some) {
    os << name;
    for (unsigned loop : some) {
      if (ShapedType::isDynamic(loops[loop].size))
        os << " ?";
      else
        os << " " << loops[loop].size;
    }
  };
  list("rows", rows);
  list(", columns", columns);
  for (auto [depth, level] : llvm::enumerate(levels)) {
    os << ", level " << depth << ":";
    for (linalg::LinalgOp op : level)
      for (unsigned i = 0; i < op->getNumResults(); ++i)
        os << " " << readCombination(op, i)->combiner->getName();
  }
}

namespace {

/// Says which of the joined loops are rows and columns, and sorts reductions.
class StreamPlanner {
public:
  StreamPlanner(Block &body, std::string &reason) : body(body), reason(reason) {}

  FailureOr<StreamPlan> plan() {
    FailureOr<LoopPlan> joined = planLoops(body, reason);
    if (failed(joined))
      return failure();
    static_cast<LoopPlan &>(plan_) = std::move(*joined);
    plan_.results.assign(body.getTerminator()->operand_begin(),
                         body.getTerminator()->operand_end());
    if (failed(splitLoops()) || failed(checkResults()) || failed(sortReductions()))
      return failure();
    return std::move(plan_);
  }

private:
  LogicalResult refuse(const Twine &why) {
    reason = why.str();
    return failure();
  }

  /// The loops that an op reduces, those of one iteration left out.
  SmallVector<unsigned> reduced(linalg::LinalgOp op) {
    SmallVector<unsigned> dims, loops;
    op.getReductionDims(dims);
    for (unsigned dim : dims)
      if (int loop = plan_.opLoops[op][dim]; loop >= 0)
        loops.push_back(loop);
    llvm::sort(loops);
    return loops;
  }

  LogicalResult splitLoops() {
    std::optional<SmallVector<unsigned>> columns;
    for (auto op : body.getOps<linalg::LinalgOp>()) {
      if (op.getNumReductionLoops() == 0)
        continue;
      SmallVector<unsigned> loops = reduced(op);
      if (columns && *columns != loops)
        return refuse("its reductions reduce different loops");
      columns = loops;
      for (unsigned i = 0; i < op->getNumResults(); ++i)
        if (!readCombination(op, i))
          return refuse("a reduction of it does not combine by one operation");
      bool whole = llvm::any_of(op.getDpsInputs(), [&](Value input) {
        size_t real = llvm::count_if(plan_.opLoops[op], [](int loop) { return loop >= 0; });
        return plan_.dims.count(input) &&
               size_t(llvm::count_if(plan_.dims[input], [](int d) { return d >= 0; })) == real;
      });
      if (!whole && !loops.empty())
        return refuse("a reduction of it is a product of operands with different loops");
    }
    for (unsigned loop = 0; loop < plan_.loops.size(); ++loop)
      (columns && llvm::is_contained(*columns, loop) ? plan_.columns : plan_.rows).push_back(loop);
    return success();
  }

  /// Each result varies along all rows and along all columns or none.
  LogicalResult checkResults() {
    for (Value result : plan_.results) {
      if (!plan_.dims.count(result))
        return refuse("it yields a constant");
      size_t rows = 0, columns = 0;
      for (int loop : plan_.dims[result])
        if (loop >= 0)
          ++(plan_.isColumn(loop) ? columns : rows);
      if (rows != plan_.rows.size() || (columns != 0 && columns != plan_.columns.size()))
        return refuse("a result of it lacks a loop of others");
    }
    return success();
  }

  unsigned depthBefore(Value value, DenseMap<Operation *, unsigned> &depth) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return 0;
    auto [it, fresh] = depth.try_emplace(op, 0);
    if (!fresh)
      return it->second;
    unsigned most = 0;
    for (Value operand : op->getOperands())
      most = std::max(most, depthBefore(operand, depth));
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (linalgOp && linalgOp.getNumReductionLoops() != 0) {
      plan_.levels.resize(std::max<size_t>(plan_.levels.size(), most + 1));
      plan_.levels[most].push_back(linalgOp);
      ++most;
    }
    return depth[op] = most;
  }

  LogicalResult sortReductions() {
    DenseMap<Operation *, unsigned> depth;
    for (Value result : plan_.results)
      plan_.resultDepths.push_back(depthBefore(result, depth));
    return success();
  }

  Block &body;
  std::string &reason;
  StreamPlan plan_;
};

} // namespace

FailureOr<StreamPlan> mlir::mp::planStream(Block &body, std::string &reason) {
  return StreamPlanner(body, reason).plan();
}
