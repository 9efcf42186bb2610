// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the bytes and instructions of an element of a stream.

#include "StreamProblem.h"

#include "LiveWords.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mp/Performance/Doubles.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mpcore::performance;

static double bytesOf(Value tensor) {
  Type element = getElementTypeOrSelf(tensor.getType());
  return element.isIntOrFloat() ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8) : 8;
}

/// Points of the loops that a value varies along, sizes that are not known assumed.
static double pointsOf(const StreamPlan &plan, Value tensor) {
  double points = 1;
  for (int loop : plan.dims.lookup(tensor))
    if (loop >= 0)
      points *= ShapedType::isDynamic(plan.loops[loop].size) ? kAssumedSize : plan.loops[loop].size;
  return points;
}

static double pointsOf(const StreamPlan &plan, ArrayRef<unsigned> loops) {
  double points = 1;
  for (unsigned loop : loops)
    points *= ShapedType::isDynamic(plan.loops[loop].size) ? kAssumedSize : plan.loops[loop].size;
  return points;
}

double mlir::mp::instructionsOf(Operation *op) {
  if (isa<math::SqrtOp, math::RsqrtOp, arith::DivFOp, arith::RemFOp>(op))
    return 8;
  return isa_and_nonnull<math::MathDialect>(op->getDialect()) ? 20 : 1;
}

/// True for what an op computes on f64: not for what it moves.
static bool isDouble(Operation *op) {
  auto isF64 = [](Type type) { return type.isF64(); };
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
         !isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp>(op) &&
         (llvm::any_of(op->getOperandTypes(), isF64) || llvm::any_of(op->getResultTypes(), isF64));
}

/// Instructions of all bodies, for each of `points`.
static double instructionsOfBodies(const StreamPlan &plan, Block &body, double points,
                                   const Part &part) {
  double instructions = 0;
  for (auto op : body.getOps<linalg::LinalgOp>()) {
    double each = 0, iterations = 1;
    for (Operation &inner : op.getBlock()->without_terminator())
      each += instructionsOf(&inner) * (isDouble(&inner) ? instructionsOfDouble(part) : 1);
    for (int loop : plan.opLoops.lookup(op))
      if (loop >= 0)
        iterations *=
            ShapedType::isDynamic(plan.loops[loop].size) ? kAssumedSize : plan.loops[loop].size;
    instructions += each * iterations;
  }
  return points ? instructions / points : 0;
}

/// Bytes that are read of a tensor at indices that the body computes: each element at most once.
static double gatheredBytes(BlockArgument argument, double points) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type)
    return 0;
  const double reads = points * double(std::distance(argument.use_begin(), argument.use_end()));
  const double all = type.hasStaticShape() ? double(type.getNumElements()) : reads;
  return bytesOf(argument) * std::min(reads, all);
}

/// Elements that a body reads at indices it computes; all may be under way at once.
static double gathersOf(Block &body) {
  double gathers = 0;
  for (auto op : body.getOps<linalg::LinalgOp>())
    for (auto extract : op.getBlock()->getOps<tensor::ExtractOp>())
      gathers += isa<BlockArgument>(extract.getTensor());
  return gathers;
}

Problem mlir::mp::problemOf(const StreamPlan &plan, Block &body, const Part &part) {
  const double rows = pointsOf(plan, plan.rows), columns = pointsOf(plan, plan.columns);
  const double points = rows * columns;
  const size_t outputs = plan.results.size();
  double read = 0, written = 0, columnBytes = 0;
  bool isInner = false;
  for (BlockArgument argument : body.getArguments().drop_back(outputs)) {
    if (!plan.dims.contains(argument)) {
      read += gatheredBytes(argument, points);
      continue;
    }
    if (argument.use_empty())
      continue;
    double bytes = bytesOf(argument) * pointsOf(plan, argument);
    unsigned varies = plan.varies(argument);
    // Without loops of rows, there is one row.
    if (varies == kAlongColumns && !plan.rows.empty() && !plan.levels.empty())
      columnBytes += bytesOf(argument);
    else
      read += bytes;
    if ((varies & kAlongColumns) && (plan.rows.empty() || (varies & kAlongRows)))
      isInner |= plan.isColumn(plan.dims.lookup(argument).back());
  }
  for (Value result : plan.results)
    written += bytesOf(result) * pointsOf(plan, result);
  const double instructions = instructionsOfBodies(plan, body, points, part);
  auto each = [&](double bytes) { return points ? bytes / points : 0; };
  LiveWords live = liveWords(plan);
  live.passing += 2.0 * double(outputs); // their addresses
  if (plan.levels.empty())
    live.held = std::max(live.held, gathersOf(body));
  if (plan.levels.empty())
    return MapProblem{int64_t(points), each(read), each(written),
                      instructions,    live.held,  live.passing};
  if (isInner)
    return RowProblem{int64_t(rows), int64_t(columns), each(read),
                      each(written), columnBytes,      unsigned(plan.levels.size()),
                      instructions,  live.held,        live.passing};
  return ColumnReductionProblem{int64_t(columns), int64_t(rows), each(read + written),
                                instructions};
}

bool mlir::mp::movesAcross(const StreamPlan &plan, Block &body) {
  auto innermost = [&](Value tensor) {
    int found = -1;
    for (int loop : plan.dims.lookup(tensor))
      found = loop >= 0 ? loop : found;
    return found;
  };
  return llvm::any_of(body.getArguments().drop_back(plan.results.size()), [&](Value argument) {
    size_t loops = llvm::count_if(plan.dims.lookup(argument), [](int loop) { return loop >= 0; });
    return loops == plan.loops.size() && llvm::any_of(plan.results, [&](Value result) {
             return plan.varies(result) & kAlongRows && innermost(argument) != innermost(result) &&
                    plan.levels.empty();
           });
  });
}
