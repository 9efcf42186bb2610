// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the choice among versions as scalar arithmetic: the last rule first, so that the first
// one that holds has the last word.

#include "DecomposeTraining.h"

#include "../Common/TensorCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp;

/// Builds an i1 that says whether the rule holds.
static Value holds(OpBuilder &b, Location loc, const VersionRule &rule, Value signal) {
  Value result;
  auto also = [&](arith::CmpFPredicate predicate, double limit) {
    Value said =
        arith::CmpFOp::create(b, loc, predicate, signal, scalar(b, loc, b.getF64FloatAttr(limit)));
    result = result ? Value(arith::AndIOp::create(b, loc, result, said)) : said;
  };
  if (rule.from)
    also(arith::CmpFPredicate::OGE, *rule.from);
  if (rule.below)
    also(arith::CmpFPredicate::OLT, *rule.below);
  if (!rule.onNaN)
    return result;
  Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, signal, signal);
  return result ? Value(arith::OrIOp::create(b, loc, result, isNaN)) : isNaN;
}

Value mlir::mp::expand(OpBuilder &b, SelectVersionOp op) {
  Location loc = op.getLoc();
  auto integer = [&](int64_t value) { return scalar(b, loc, b.getI64IntegerAttr(value)); };
  auto read = [&](VersionState part) -> Value {
    Value index = scalar(b, loc, b.getIndexAttr(int64_t(part)));
    return tensor::ExtractOp::create(b, loc, op.getState(), index);
  };
  auto choose = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(b, loc, condition, x, y);
  };
  Value wanted = integer(op.getOtherwise()), by = integer(-1);
  for (auto number = int64_t(op.getRules().size()) - 1; number >= 0; --number) {
    VersionRule rule = *VersionRule::fromAttr(op.getRules()[number]);
    Value isMet = holds(b, loc, rule, op.getSignals()[rule.signal]);
    wanted = choose(isMet, integer(rule.version), wanted);
    by = choose(isMet, integer(number), by);
  }
  Value version = read(VersionState::Version), since = read(VersionState::Since);
  Value isWider = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, wanted, version);
  Value isNarrower = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, wanted, version);
  Value mayNarrow =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, since, integer(op.getHold()));
  Value changes = arith::OrIOp::create(b, loc, isWider,
                                       Value(arith::AndIOp::create(b, loc, isNarrower, mayNarrow)));
  auto increased = [&](Value x) -> Value { return arith::AddIOp::create(b, loc, x, integer(1)); };
  Value count = read(VersionState::Changes);
  Value next[] = {choose(changes, wanted, version), choose(changes, integer(1), increased(since)),
                  choose(changes, by, read(VersionState::Rule)),
                  choose(changes, increased(count), count)};
  return tensor::FromElementsOp::create(b, loc, op.getNext().getType(), next);
}
