// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes the signals of a choice among versions.

#include "VersionSignals.h"

#include "../Common/TensorCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Dialect/MP/Versions.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;

/// Elements of the appended signals; results that rules ask for follow.
enum SignalPart : int64_t { kCalls, kMeanLoss, kLossRatio, kSkipRate, kFirstResult };
/// Shares of the newest value in running means.
static constexpr double kLossShare = 0.1, kSkipShare = 0.01;

bool mlir::mp::isScalarFloat(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return getFloatFormat(type) && (!tensor || tensor.getRank() == 0);
}

/// A scalar float tensor, or float, in f64.
static Value asF64(OpBuilder &b, Location loc, Value value) {
  if (isa<RankedTensorType>(value.getType()))
    value = tensor::ExtractOp::create(b, loc, value, ValueRange());
  return widen(b, loc, value, b.getF64Type());
}

static Value signalAt(OpBuilder &b, Location loc, Value signals, int64_t part) {
  return tensor::ExtractOp::create(b, loc, signals,
                                   ValueRange(scalar(b, loc, b.getIndexAttr(part))));
}

/// The element of what the caller measures that a signal stands for.
static std::optional<VersionMeasure> findMeasure(StringRef signal) {
  return llvm::StringSwitch<std::optional<VersionMeasure>>(signal)
      .Case("seconds", VersionMeasure::Seconds)
      .Case("bytes", VersionMeasure::Bytes)
      .Default(std::nullopt);
}

bool VersionSignals::wantsMeasured() const {
  return llvm::any_of(names, [](StringRef name) { return findMeasure(name).has_value(); });
}

SmallVector<double> VersionSignals::firstValues() const {
  SmallVector<double> firsts = {0, NAN, 1, 0};
  for (StringRef name : names)
    if (name.starts_with("result "))
      firsts.push_back(NAN);
  return firsts;
}

FailureOr<SmallVector<Value>> VersionSignals::read(OpBuilder &b, Value signals, Value measured) {
  Location loc = merged.getLoc();
  SmallVector<Value> read;
  int64_t result = kFirstResult;
  for (StringRef signal : names) {
    unsigned number = 0;
    StringRef rest = signal;
    const size_t before = read.size();
    if (signal == "step")
      read.push_back(signalAt(b, loc, signals, kCalls));
    else if (signal == "loss-ratio" && loss)
      read.push_back(signalAt(b, loc, signals, kLossRatio));
    else if (signal == "skip-rate")
      read.push_back(signalAt(b, loc, signals, kSkipRate));
    else if (auto measure = findMeasure(signal))
      read.push_back(signalAt(b, loc, measured, int64_t(*measure)));
    else if (signal == "rows")
      llvm::append_range(read, readRows(b));
    else if (rest.consume_front("argument ") && !rest.getAsInteger(10, number) &&
             number < arguments && isScalarFloat(merged.getArgument(number).getType()))
      read.push_back(asF64(b, loc, merged.getArgument(number)));
    else if (rest.consume_front("result ") && !rest.getAsInteger(10, number) && number < results &&
             isScalarFloat(merged.getResultTypes()[number]))
      read.push_back(signalAt(b, loc, signals, result++));
    if (read.size() == before)
      return emitError(merged.getLoc())
             << "mp-merge-versions: the plan asks for the signal '" << signal
             << "', expected step, loss-ratio (of a step with a scalar result), skip-rate, "
                "rows (of an argument whose first dimension only a call tells), seconds, bytes, or "
                "argument N or result N of a scalar float";
  }
  return read;
}

/// The first dimension of the first argument whose calls may differ in it, if there is one.
SmallVector<Value> VersionSignals::readRows(OpBuilder &b) {
  for (BlockArgument argument : merged.getArguments().take_front(arguments)) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.getRank() == 0 || !type.isDynamicDim(0))
      continue;
    Value rows = tensor::DimOp::create(b, merged.getLoc(), argument, 0);
    rows = arith::IndexCastOp::create(b, merged.getLoc(), b.getI64Type(), rows);
    return {arith::SIToFPOp::create(b, merged.getLoc(), b.getF64Type(), rows)};
  }
  return {};
}

/// True if the count of skipped steps of some version has grown.
static Value findSkip(OpBuilder &b, func::FuncOp merged, unsigned arguments, ResultRange outcome) {
  Location loc = merged.getLoc();
  Value skipped = scalar(b, loc, b.getBoolAttr(false));
  for (unsigned i = arguments; i < merged.getNumArguments(); ++i) {
    auto role = merged.getArgAttrOfType<StringAttr>(i, kRoleAttrName);
    auto state = merged.getArgAttrOfType<IntegerAttr>(i, kStateAttrName);
    if (!role || role.getValue() != kRoleSkippedSteps || size_t(state.getInt()) >= outcome.size())
      continue;
    Value before = tensor::ExtractOp::create(b, loc, merged.getArgument(i), ValueRange());
    Value after = tensor::ExtractOp::create(b, loc, outcome[state.getInt()], ValueRange());
    Value grew = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, before, after);
    skipped = arith::OrIOp::create(b, loc, skipped, grew);
  }
  return skipped;
}

/// The signals after the call.
Value VersionSignals::observe(OpBuilder &b, Value signals, ResultRange outcome) {
  Location loc = merged.getLoc();
  auto constant = [&](double value) { return scalar(b, loc, b.getF64FloatAttr(value)); };
  auto mean = [&](Value old, Value newest, double share) -> Value {
    return arith::AddFOp::create(b, loc, arith::MulFOp::create(b, loc, old, constant(1 - share)),
                                 arith::MulFOp::create(b, loc, newest, constant(share)));
  };
  auto choose = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(b, loc, condition, x, y);
  };
  auto compare = [&](arith::CmpFPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  };
  SmallVector<Value> next;
  next.push_back(arith::AddFOp::create(b, loc, signalAt(b, loc, signals, kCalls), constant(1)));
  Value meanLoss = signalAt(b, loc, signals, kMeanLoss), ratio = constant(1);
  if (loss) {
    Value newest = asF64(b, loc, outcome[*loss]);
    Value isFirst = compare(arith::CmpFPredicate::UNO, meanLoss, meanLoss);
    ratio = choose(isFirst, constant(1), arith::DivFOp::create(b, loc, newest, meanLoss));
    // A mean that took up an infinite loss would say nothing any more.
    Value difference = arith::SubFOp::create(b, loc, newest, newest);
    Value isFinite = compare(arith::CmpFPredicate::OEQ, difference, constant(0));
    Value moved = choose(isFirst, newest, mean(meanLoss, newest, kLossShare));
    meanLoss = choose(isFinite, moved, meanLoss);
  }
  next.push_back(meanLoss);
  next.push_back(ratio);
  Value skipped = choose(findSkip(b, merged, arguments, outcome), constant(1), constant(0));
  next.push_back(mean(signalAt(b, loc, signals, kSkipRate), skipped, kSkipShare));
  for (StringRef signal : names) {
    unsigned number = 0;
    if (signal.consume_front("result ") && !signal.getAsInteger(10, number))
      next.push_back(asF64(b, loc, outcome[number]));
  }
  return tensor::FromElementsOp::create(b, loc, signals.getType(), next);
}
