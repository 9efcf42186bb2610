// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks from an integer back to dimensions of arguments.

#include "SizeForms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mp;

using Form = std::optional<SizeForm>;

static Form add(const Form &a, const Form &b, int64_t sign) {
  if (!a || !b)
    return std::nullopt;
  if (!a->isConstant() && !b->isConstant() &&
      std::pair(a->argument, a->dim) != std::pair(b->argument, b->dim))
    return std::nullopt;
  SizeForm sum = a->isConstant() ? *b : *a;
  sum.factor = a->factor + sign * b->factor;
  sum.constant = a->constant + sign * b->constant;
  return sum.factor == 0 ? SizeForm::of(sum.constant) : sum;
}

Form mlir::mp::multiply(const Form &a, const Form &b) {
  if (!a || !b || (!a->isConstant() && !b->isConstant()))
    return std::nullopt;
  SizeForm product = a->isConstant() ? *b : *a;
  const int64_t by = (a->isConstant() ? *a : *b).constant;
  product.factor *= by;
  product.constant *= by;
  return product.factor == 0 ? SizeForm::of(product.constant) : product;
}

/// Only where nothing is left over.
static Form divide(const Form &a, const Form &b) {
  if (!a || !b || !b->isConstant() || b->constant <= 0 || a->factor % b->constant ||
      a->constant % b->constant)
    return std::nullopt;
  return SizeForm{a->argument, a->dim, a->factor / b->constant, a->constant / b->constant};
}

Form SizeReader::read(OpFoldResult size) {
  if (auto value = dyn_cast<Value>(size))
    return read(value);
  return SizeForm::of(cast<IntegerAttr>(cast<Attribute>(size)).getInt());
}

Form SizeReader::read(AffineExpr expr, unsigned dims, ValueRange operands) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return SizeForm::of(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return read(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return read(operands[dims + symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Form a = read(binary.getLHS(), dims, operands), b = read(binary.getRHS(), dims, operands);
  switch (expr.getKind()) {
  case AffineExprKind::Add: return add(a, b, 1);
  case AffineExprKind::Mul: return multiply(a, b);
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv: return divide(a, b);
  default: return std::nullopt;
  }
}

Form SizeReader::read(Value value) {
  if (!value.getType().isIndex() && !value.getType().isInteger(64))
    return std::nullopt; // sizes may not fit
  if (APInt constant; matchPattern(value, m_ConstantInt(&constant)))
    return SizeForm::of(constant.getSExtValue());
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Form form = compute(op);
  return known[value] = form;
}

Form SizeReader::compute(Operation *op) {
  return llvm::TypeSwitch<Operation *, Form>(op)
      .Case([&](arith::IndexCastOp cast) { return read(cast.getIn()); })
      .Case([&](arith::AddIOp sum) { return add(read(sum.getLhs()), read(sum.getRhs()), 1); })
      .Case([&](arith::SubIOp sum) { return add(read(sum.getLhs()), read(sum.getRhs()), -1); })
      .Case([&](arith::MulIOp product) {
        return multiply(read(product.getLhs()), read(product.getRhs()));
      })
      .Case<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(
          [&](auto quotient) { return divide(read(quotient.getLhs()), read(quotient.getRhs())); })
      .Case<arith::DivUIOp, arith::CeilDivUIOp>([&](auto quotient) -> Form {
        Form whole = read(quotient.getLhs());
        const bool mayBeNegative = whole && (whole->factor < 0 || whole->constant < 0);
        return mayBeNegative ? std::nullopt : divide(whole, read(quotient.getRhs()));
      })
      .Case([&](affine::AffineApplyOp apply) {
        return read(apply.getAffineMap().getResult(0), apply.getAffineMap().getNumDims(),
                    apply.getMapOperands());
      })
      .Case([&](tensor::DimOp dim) -> Form {
        std::optional<int64_t> index = dim.getConstantIndex();
        return index && isa<RankedTensorType>(dim.getSource().getType())
                   ? readDim(dim.getSource(), *index)
                   : std::nullopt;
      })
      .Case([&](arith::SelectOp select) -> Form {
        auto condition = select.getCondition().getDefiningOp<arith::CmpIOp>();
        if (std::optional<bool> outcome = condition ? compare(condition) : std::nullopt)
          return read(*outcome ? select.getTrueValue() : select.getFalseValue());
        Form yes = read(select.getTrueValue());
        return yes && yes == read(select.getFalseValue()) ? yes : std::nullopt;
      })
      .Default(std::nullopt);
}

Form SizeReader::readDim(Value tensor, int64_t dim) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || dim < 0 || dim >= type.getRank())
    return std::nullopt;
  if (!type.isDynamicDim(unsigned(dim)))
    return SizeForm::of(type.getDimSize(unsigned(dim)));
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return argument.getOwner() == entry ? Form({tensor, dim, 1, 0}) : std::nullopt;
  return computeDim(tensor.getDefiningOp(), tensor, dim);
}

Form SizeReader::computeDim(Operation *op, Value tensor, int64_t dim) {
  return llvm::TypeSwitch<Operation *, Form>(op)
      .Case([&](tensor::EmptyOp empty) { return read(empty.getMixedSizes()[size_t(dim)]); })
      .Case([&](tensor::CastOp cast) { return readDim(cast.getSource(), dim); })
      .Case([&](tensor::ExpandShapeOp expand) {
        return read(expand.getMixedOutputShape()[size_t(dim)]);
      })
      .Case([&](tensor::CollapseShapeOp collapse) {
        Form product = SizeForm::of(1);
        for (int64_t part : collapse.getReassociationIndices()[size_t(dim)])
          product = multiply(product, readDim(collapse.getSrc(), part));
        return product;
      })
      .Case([&](tensor::ExtractSliceOp slice) -> Form {
        llvm::SmallBitVector dropped = slice.getDroppedDims();
        for (auto [of, size] : llvm::enumerate(slice.getMixedSizes()))
          if (!dropped.test(unsigned(of)) && dim-- == 0)
            return read(size);
        return std::nullopt;
      })
      .Case([&](tensor::InsertSliceOp slice) { return readDim(slice.getDest(), dim); })
      .Case([&](tensor::PadOp pad) {
        return add(add(readDim(pad.getSource(), dim), read(pad.getMixedLowPad()[size_t(dim)]), 1),
                   read(pad.getMixedHighPad()[size_t(dim)]), 1);
      })
      .Case([&](DestinationStyleOpInterface styled) {
        return readDim(styled.getTiedOpOperand(cast<OpResult>(tensor))->get(), dim);
      })
      .Default([&](Operation *other) -> Form {
        auto hasDims = [](Value operand) { return isa<RankedTensorType>(operand.getType()); };
        auto tensors = llvm::make_filter_range(other->getOperands(), hasDims);
        if (!OpTrait::hasElementwiseMappableTraits(other) || tensors.empty())
          return std::nullopt;
        return readDim(*tensors.begin(), dim);
      });
}

/// Returns what `predicate` says of two numbers.
static bool holds(arith::CmpIPredicate predicate, int64_t a, int64_t b) {
  return arith::applyCmpPredicate(predicate, APInt(64, uint64_t(a), /*isSigned=*/true),
                                  APInt(64, uint64_t(b), /*isSigned=*/true));
}

static bool isUnsigned(arith::CmpIPredicate predicate) {
  using enum arith::CmpIPredicate;
  return llvm::is_contained({ult, ule, ugt, uge}, predicate);
}

std::optional<bool> SizeReader::compare(arith::CmpIOp op) {
  Form a = read(op.getLhs()), b = read(op.getRhs());
  if (!a || !b || isUnsigned(op.getPredicate()))
    return std::nullopt;
  // Multiples of the same size differ by their constants.
  if (a->factor == b->factor && a->argument == b->argument && a->dim == b->dim)
    return holds(op.getPredicate(), a->constant, b->constant);
  // A size is at least 0: the least and the largest that a difference may be.
  Form difference = add(a, b, -1);
  if (!difference || difference->isConstant())
    return std::nullopt;
  constexpr int64_t huge = int64_t(1) << 62;
  const int64_t end = difference->factor > 0 ? huge : -huge, constant = difference->constant;
  const bool atZero = holds(op.getPredicate(), constant, 0);
  const bool isBeyond = difference->factor > 0 ? constant > 0 : constant < 0;
  using enum arith::CmpIPredicate;
  const bool isOrder = llvm::is_contained({slt, sle, sgt, sge}, op.getPredicate());
  if (isOrder ? holds(op.getPredicate(), end, 0) == atZero : isBeyond)
    return atZero;
  return std::nullopt;
}
