// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Observes every float tensor, keeps what was last seen of each, and walks back from the first that
// meets the condition to the operand that looks worst.

#include "BreakOn.h"

#include "../Host/Observer.h"
#include "../Steps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mp/Analysis/Locations.h"
#include "mp/Dialect/MP/Formats.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Numerics/ProbeRecord.h"
#include "mp/Watch/Numbers.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;
using mpcore::watch::shortNumber;

static constexpr size_t kLongestStory = 16;

llvm::Expected<BreakCondition> BreakCondition::parse(StringRef text) {
  BreakCondition condition;
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    auto [name, detail] = part.split(':');
    double share = 0;
    if (part == "nan")
      condition.nan = true;
    else if (part == "inf")
      condition.infinity = true;
    else if (name == "underflow" && !detail.getAsDouble(share) && share >= 0 && share < 1)
      condition.underflow = share;
    else
      return createStringError("--break-on=" + text +
                               ": expected nan, inf, underflow:SHARE with a share of at least 0 "
                               "and less than 1, or several of them with commas, found '" +
                               part + "'");
  }
  return condition;
}

namespace {
/// A value that is looked at.
struct Place {
  Value value;
  /// The format that a cast narrows it to, if one does: its source is looked at, too.
  std::optional<numerics::RangeLimits> narrowed;
};

ValueSummary summarize(ArrayRef<float> elements) {
  ValueSummary summary;
  summary.elements = int64_t(elements.size());
  for (float element : elements) {
    const double size = std::fabs(double(element));
    if (std::isnan(size)) {
      ++summary.nans;
    } else if (std::isinf(size)) {
      ++summary.infinities;
    } else if (size == 0) {
      ++summary.zeros;
    } else {
      summary.largestMagnitude = std::max(summary.largestMagnitude, size);
      summary.leastMagnitude =
          summary.leastMagnitude == 0 ? size : std::min(summary.leastMagnitude, size);
    }
  }
  return summary;
}

class Debugger {
public:
  Debugger(ModuleOp module, const BreakCondition &condition)
      : condition(condition), module(module) {}

  /// Looks at everything that the module computes.
  void observeAll() {
    SmallVector<Value> values;
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto function = dyn_cast<func::FuncOp>(op))
        if (!function.isExternal())
          for (Value argument : function.getArguments())
            if (isa<RankedTensorType>(argument.getType()) && isNarrowFloat(argument.getType()))
              values.push_back(argument);
      if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
        for (Value carried : loop.getRegionIterArgs())
          if (isa<RankedTensorType>(carried.getType()) && isNarrowFloat(carried.getType()))
            values.push_back(carried);
      if (isWritten(op))
        return;
      for (Value result : op->getResults())
        if (isa<RankedTensorType>(result.getType()) && isNarrowFloat(result.getType()))
          values.push_back(result);
    });
    for (Value value : values) {
      numbers[value] = places.size();
      places.push_back({value, limitsOf(value)});
      OpBuilder builder(module.getContext());
      builder.setInsertionPointAfterValue(value);
      observe(module, builder, widened(builder, value), int64_t(places.size() - 1));
    }
    seen.resize(places.size());
  }

  void look(int64_t number, ArrayRef<float> elements) {
    seen[number] = summarize(elements);
    if (hit)
      return;
    std::string reason = whyStop(places[number], seen[number], elements);
    if (reason.empty())
      return;
    hit = number;
    report.reason = reason;
    tell();
  }

  BreakReport report;

private:
  static bool isNarrowFloat(Type type) {
    FloatType format = getFloatFormat(type);
    return format && format.getWidth() <= 32 && getNumericsFormat(type);
  }

  /// True of what the program holds as it is: reductions to a maximum start from -infinity.
  static bool isWritten(Operation *op) {
    if (auto fill = dyn_cast<linalg::FillOp>(op))
      return matchPattern(fill.getInputs().front(), m_Constant());
    return op->hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(op);
  }

  static Value widened(OpBuilder &builder, Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementType().isF32())
      return value;
    return CastOp::create(builder, value.getLoc(), type.clone(builder.getF32Type()), value, Value(),
                          RoundingAttr(), OverflowAttr(), UnitAttr());
  }

  /// Limits of the narrowest format that a cast takes the value to.
  static std::optional<numerics::RangeLimits> limitsOf(Value value) {
    std::optional<numerics::RangeLimits> narrowest;
    for (Operation *user : value.getUsers())
      if (auto cast = dyn_cast<CastOp>(user))
        if (auto format = getNumericsFormat(cast.getResult().getType());
            format && numerics::canBeProbed(*format)) {
          const numerics::RangeLimits limits = numerics::rangeLimits(*format);
          if (!narrowest || limits.flushedUpTo > narrowest->flushedUpTo)
            narrowest = limits;
        }
    return narrowest;
  }

  std::string whyStop(const Place &place, const ValueSummary &summary,
                      ArrayRef<float> elements) const {
    if (condition.nan && summary.nans)
      return llvm::formatv("{0} of {1} elements are NaN", summary.nans, summary.elements);
    if (condition.infinity && summary.infinities)
      return llvm::formatv("{0} of {1} elements are infinite", summary.infinities,
                           summary.elements);
    if (!condition.underflow || !place.narrowed)
      return "";
    const int64_t nonzero = summary.elements - summary.zeros - summary.nans - summary.infinities;
    const int64_t flushed = llvm::count_if(elements, [&](float element) {
      return element != 0 && std::fabs(element) <= place.narrowed->flushedUpTo;
    });
    if (!nonzero || double(flushed) <= *condition.underflow * double(nonzero))
      return "";
    return llvm::formatv("a cast makes {0} of {1} elements zero that are not, more than {2}",
                         flushed, nonzero, llvm::format("%g", *condition.underflow));
  }

  BreakFrame frameOf(Value value) const {
    BreakFrame frame;
    llvm::raw_string_ostream(frame.type) << value.getType();
    if (Operation *op = value.getDefiningOp())
      frame.op = op->getName().getStringRef().str();
    else
      frame.op = "argument " + std::to_string(cast<BlockArgument>(value).getArgNumber());
    frame.location = describeLocation(value.getLoc());
    SmallVector<std::string> names = namesIn(value.getLoc());
    frame.name = names.empty() ? "" : names.front();
    if (auto number = numbers.find(value); number != numbers.end())
      frame.summary = seen[number->second];
    return frame;
  }

  /// Those operands first that are no numbers, then the larger ones.
  static double suspicion(const ValueSummary &summary) {
    return summary.nans + summary.infinities > 0 ? INFINITY : summary.largestMagnitude;
  }

  void tell() {
    Value value = places[*hit].value;
    while (report.story.size() < kLongestStory) {
      report.story.push_back(frameOf(value));
      Operation *op = value.getDefiningOp();
      if (!op)
        return;
      Value worst;
      for (Value operand : op->getOperands()) {
        if (!isa<RankedTensorType>(operand.getType()) || !getFloatFormat(operand.getType()))
          continue;
        if (report.story.size() == 1)
          report.operands.push_back(frameOf(operand));
        if (!numbers.contains(operand) && !isa<BlockArgument>(operand))
          continue; // a constant, or what was filled
        if (!worst || suspicion(frameOf(operand).summary) > suspicion(frameOf(worst).summary))
          worst = operand;
      }
      if (!worst)
        return;
      value = worst;
    }
  }

  const BreakCondition &condition;
  ModuleOp module;
  std::vector<Place> places;
  std::vector<ValueSummary> seen;
  llvm::DenseMap<Value, size_t> numbers;
  std::optional<size_t> hit;
};
} // namespace

llvm::Expected<BreakReport> mlir::mp::findBreak(ModuleOp original, StringRef entry,
                                                const BreakCondition &condition,
                                                std::vector<Array> arguments,
                                                ArrayRef<BatchedInput> batches, int64_t steps) {
  OwningOpRef<ModuleOp> module = original.clone();
  Debugger debugger(*module, condition);
  debugger.observeAll();
  auto program = Program::compile(*module, entry);
  if (!program)
    return program.takeError();
  StepLoop loop((*program)->signature(), (*program)->signature().results.size());
  auto look = [&](int64_t place, ArrayRef<float> elements) { debugger.look(place, elements); };
  Observer observer(look);
  for (int64_t step = 0; step < steps && debugger.report.story.empty(); ++step) {
    if (llvm::Error error = loop.feed(arguments, batches, step))
      return std::move(error);
    auto results = (*program)->run(arguments);
    if (!results)
      return results.takeError();
    if (!debugger.report.story.empty())
      debugger.report.step = step;
    loop.advance(arguments, *results);
  }
  return std::move(debugger.report);
}

void ValueSummary::print(llvm::raw_ostream &os) const {
  if (!elements) {
    os << "not looked at";
    return;
  }
  os << elements << " elements";
  for (auto [count, what] : {std::pair(nans, " NaN"), {infinities, " infinite"}, {zeros, " zero"}})
    if (count)
      os << ", " << count << what;
  if (largestMagnitude > 0)
    os << ", magnitudes " << shortNumber(leastMagnitude) << " to " << shortNumber(largestMagnitude);
}

static void printFrame(llvm::raw_ostream &os, const BreakFrame &frame) {
  os << frame.op << " " << frame.type << " at " << frame.location;
  if (!frame.name.empty() && frame.name != frame.location)
    os << " (" << frame.name << ")";
  os << ": ";
  frame.summary.print(os);
  os << "\n";
}

void BreakReport::print(llvm::raw_ostream &os) const {
  if (step < 0) {
    os << "nothing met the condition\n";
    return;
  }
  os << "step " << step << ": " << reason << "\n";
  for (auto [number, frame] : llvm::enumerate(story)) {
    os << (number ? "  from " : "  in ");
    printFrame(os, frame);
    for (const BreakFrame &operand : number ? std::vector<BreakFrame>() : operands) {
      os << "    reads ";
      printFrame(os, operand);
    }
  }
}

static llvm::json::Object frameToJSON(const BreakFrame &frame) {
  return llvm::json::Object{{"op", frame.op},
                            {"location", frame.location},
                            {"name", frame.name},
                            {"type", frame.type},
                            {"elements", frame.summary.elements},
                            {"nan", frame.summary.nans},
                            {"infinite", frame.summary.infinities},
                            {"zero", frame.summary.zeros},
                            {"least_magnitude", frame.summary.leastMagnitude},
                            {"largest_magnitude", frame.summary.largestMagnitude}};
}

llvm::json::Object BreakReport::toJSON() const {
  llvm::json::Array frames, reads;
  for (const BreakFrame &frame : story)
    frames.push_back(frameToJSON(frame));
  for (const BreakFrame &operand : operands)
    reads.push_back(frameToJSON(operand));
  return llvm::json::Object{{"version", 1},
                            {"step", step < 0 ? llvm::json::Value(nullptr) : step},
                            {"reason", reason},
                            {"story", std::move(frames)},
                            {"reads", std::move(reads)}};
}
