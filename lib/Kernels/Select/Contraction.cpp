// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matches a product-and-sum body and sorts its loops by the operands that they index.

#include "mp/Kernels/Contraction.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;

/// The block argument behind at most one exact widening; null if there is none.
static BlockArgument widenedArgument(Value value) {
  if (Operation *ext = value.getDefiningOp();
      isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(ext))
    value = ext->getOperand(0);
  else if (auto cast = value.getDefiningOp<CastOp>(); cast && !cast.isNarrowing())
    value = cast.getSource();
  return dyn_cast<BlockArgument>(value);
}

/// Linear form of every result of `map`; fails on floordiv, mod and symbols.
static FailureOr<LinearAccess> asLinearAccess(AffineMap map) {
  LinearAccess access;
  if (map.getNumSymbols() != 0)
    return failure();
  for (AffineExpr result : map.getResults()) {
    SmallVector<int64_t> flat;
    if (failed(getFlattenedAffineExpr(result, map.getNumDims(), 0, &flat)) ||
        flat.size() != map.getNumDims() + 1)
      return failure();
    access.constants.push_back(flat.pop_back_val());
    access.coefficients.push_back(std::move(flat));
  }
  return access;
}

/// The product and the sum of `yield(out + a * b)`, operands in any order, floats or integers.
static std::pair<Operation *, Operation *> matchBody(linalg::GenericOp op) {
  Block *body = op.getBody();
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return {};
  Operation *sum = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(sum))
    return {};
  Value out = body->getArgument(2), left = sum->getOperand(0), right = sum->getOperand(1);
  Value other = left == out ? right : right == out ? left : Value();
  Operation *product = other ? other.getDefiningOp() : nullptr;
  return {isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product) ? product : nullptr, sum};
}

bool mlir::mp::looksLikeContraction(linalg::GenericOp op) {
  return op.getNumReductionLoops() != 0 && matchBody(op).first;
}

FailureOr<Contraction> mlir::mp::matchContraction(linalg::GenericOp op, std::string &reason) {
  auto refuse = [&](StringRef why) {
    reason = why.str();
    return failure();
  };
  auto [product, sum] = matchBody(op);
  if (!product || op.getNumReductionLoops() == 0)
    return refuse("it is no sum of products of two operands");
  Value left = product->getOperand(0), right = product->getOperand(1);
  BlockArgument a = widenedArgument(left), b = widenedArgument(right);
  if (!a || !b || a == b || a.getArgNumber() > 1 || b.getArgNumber() > 1)
    return refuse("its factors are not the two operands as they are in memory");

  if (a.getArgNumber() > b.getArgNumber()) { // access and formats are in the order of operands
    std::swap(a, b);
    std::swap(left, right);
  }
  Contraction result;
  result.format = {a.getType(), b.getType()};
  result.isUnsigned = {bool(left.getDefiningOp<arith::ExtUIOp>()),
                       bool(right.getDefiningOp<arith::ExtUIOp>())};
  result.accumulator = sum->getResult(0).getType();
  auto isNarrow = [](Type type) { return type.getIntOrFloatBitWidth() == 8; };
  if (a.getType() != b.getType() && !(isa<FloatType>(a.getType()) && isa<FloatType>(b.getType()) &&
                                      isNarrow(a.getType()) && isNarrow(b.getType())))
    return refuse("its operands have different types");
  if (op.getBody()->getArgument(2).getType() != result.accumulator)
    return refuse("its result type is not its accumulator type");

  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (unsigned operand = 0; operand < 3; ++operand) {
    FailureOr<LinearAccess> access = asLinearAccess(maps[operand]);
    if (failed(access))
      return refuse("an index expression is not linear in the loops");
    result.access[operand] = std::move(*access);
  }
  if (!maps[2].isProjectedPermutation(/*allowZeroInResults=*/true))
    return refuse("its result is not indexed by plain loops");

  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool inA = result.access[0].uses(loop), inB = result.access[1].uses(loop);
    bool inC = result.access[2].uses(loop);
    bool parallel = kind == utils::IteratorType::parallel;
    if (parallel != inC)
      return refuse("a parallel loop does not index the result");
    if (!inA && !inB)
      return refuse("a loop indexes neither operand");
    if (parallel)
      (inA && inB ? result.batch : inA ? result.m : result.n).push_back(loop);
    else if (inA && inB)
      result.k.push_back(loop);
    else
      return refuse("a reduction loop indexes one operand only");
  }
  return result;
}
