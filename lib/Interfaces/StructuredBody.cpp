// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classes of linalg.generic, map, reduce and elementwise, read off the body.

#include "StructuredBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Interfaces/Contraction.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::detail;

/// The block argument behind `value`, seen through float casts; null if none.
static BlockArgument throughCasts(Value value, Block *body) {
  while (Operation *def = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(def))
      return {};
    value = def->getOperand(0);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == body ? argument : BlockArgument();
}

/// If `combined` is `out + rest` or `rest + out` under Combiner, `rest`.
template <typename Combiner> static Value combinedWith(Value combined, BlockArgument out) {
  auto combiner = combined.getDefiningOp<Combiner>();
  if (!combiner)
    return {};
  if (combiner.getLhs() == out)
    return combiner.getRhs();
  return combiner.getRhs() == out ? combiner.getLhs() : Value();
}

/// Factors of `out += a * b`, as input block arguments; nulls if the body is another.
static std::pair<BlockArgument, BlockArgument> getFactors(Block *body, BlockArgument out) {
  std::optional<ProductSum> found = readProductSum(body, out);
  if (!found)
    return {};
  BlockArgument a = throughCasts(found->factors[0], body),
                b = throughCasts(found->factors[1], body);
  return a && b ? std::pair(a, b) : std::pair<BlockArgument, BlockArgument>();
}

static BodyFacts classifyReduction(linalg::LinalgOp op, Block *body) {
  auto frozen = [](OpClass opClass, StringRef note) {
    return BodyFacts{opClass, TypeRule::Frozen, note};
  };
  if (op.getNumDpsInits() != 1)
    return frozen(OpClass::Discontinuous, "reduces several values together, as argmax does");
  Value yielded = body->getTerminator()->getOperand(0);
  // linalg.reduce passes (element, accumulator), generic ops (elements..., accumulator).
  BlockArgument out = body->getArguments().back();
  if (!isa<FloatType>(out.getType()))
    return frozen(OpClass::Barrier, "integers only");

  if (auto [a, b] = getFactors(body, out); a) {
    unsigned inputs = op.getNumDpsInputs();
    if (a == b || (a.getArgNumber() < inputs && b.getArgNumber() < inputs &&
                   op.getIndexingMapsArray()[a.getArgNumber()] ==
                       op.getIndexingMapsArray()[b.getArgNumber()]))
      return frozen(OpClass::Accumulate, "a sum of squares or of pairwise products");
    if (a.getArgNumber() < inputs && b.getArgNumber() < inputs)
      return {OpClass::TensorCore, TypeRule::Contraction,
              "contraction: narrow factors, f32 accumulator"};
  }
  auto combines = [&](auto combiner) {
    using Combiner = typename decltype(combiner)::type;
    return static_cast<bool>(combinedWith<Combiner>(yielded, out));
  };
  if (combines(std::type_identity<arith::AddFOp>{}))
    return frozen(OpClass::Accumulate, "sums in f32");
  if (combines(std::type_identity<arith::MulFOp>{}))
    return frozen(OpClass::KeepWide, "products explode");
  if (combines(std::type_identity<arith::MaximumFOp>{}) ||
      combines(std::type_identity<arith::MaxNumFOp>{}) ||
      combines(std::type_identity<arith::MinimumFOp>{}) ||
      combines(std::type_identity<arith::MinNumFOp>{}))
    return frozen(OpClass::ExactCommute, "commutes with rounding");
  return frozen(OpClass::KeepWide, "an unknown reduction");
}

/// Returns how much an op's class restricts the body it stands in.
static unsigned restriction(OpClass opClass) {
  switch (opClass) {
  case OpClass::ExactCommute: return 0;
  case OpClass::TensorCore:
  case OpClass::Follow: return 1;
  case OpClass::RangeConditional: return 2;
  case OpClass::Accumulate:
  case OpClass::KeepWide: return 3;
  case OpClass::Discontinuous: return 4;
  case OpClass::Barrier: return 5;
  }
  llvm_unreachable("unknown class");
}

/// True if the body yields arguments of its own, and does nothing else.
static bool movesData(Block *body) {
  return body->without_terminator().empty() &&
         llvm::all_of(body->getTerminator()->getOperands(), [&](Value value) {
           auto argument = dyn_cast<BlockArgument>(value);
           return argument && argument.getOwner() == body;
         });
}

static TypeRule getParallelRule(Operation *op, Block *body) {
  return movesData(body) && isa<linalg::GenericOp>(op) ? TypeRule::Uniform : TypeRule::Frozen;
}

static BodyFacts classifyParallel(linalg::LinalgOp op, Block *body) {
  if (movesData(body))
    return {OpClass::ExactCommute, getParallelRule(op, body), "moves data"};

  BodyFacts facts = {OpClass::ExactCommute, TypeRule::Frozen, "commutes with rounding"};
  for (Operation &inner : body->without_terminator()) {
    bool hasFloat = llvm::any_of(inner.getOperandTypes(), hasFloatFormat) ||
                    llvm::any_of(inner.getResultTypes(), hasFloatFormat);
    if (!hasFloat || isa<arith::ConstantOp, tensor::ExtractOp>(inner))
      continue;
    auto precision = dyn_cast<PrecisionOpInterface>(inner);
    OpClass opClass = precision ? precision.getOpClass() : OpClass::Barrier;
    // A comparison that only steers a select (relu, masks) makes no step by itself.
    if (isa<arith::CmpFOp>(inner) &&
        llvm::all_of(inner.getUsers(), [](Operation *user) { return isa<arith::SelectOp>(user); }))
      opClass = OpClass::Follow;
    if (restriction(opClass) > restriction(facts.opClass))
      facts = {opClass, TypeRule::Frozen,
               precision ? precision.getClassNote()
                         : StringRef("an op of an unknown dialect inside")};
  }
  return facts;
}

BodyFacts mlir::mp::detail::classifyBody(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  if (op.getNumReductionLoops() > 0)
    return classifyReduction(op, body);
  return classifyParallel(op, body);
}

TypeRule mlir::mp::detail::getBodyRule(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  return op.getNumReductionLoops() > 0 ? classifyReduction(op, body).rule
                                       : getParallelRule(op, body);
}
