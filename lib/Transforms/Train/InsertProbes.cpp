// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-insert-probes: append records of chosen values to a step (exact).
//
// Chooses values, builds a probe behind each, and appends a ring of records each as state, with one
// counter of calls for all.

#include "../Common/AppendedState.h"
#include "../Common/TensorCode.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Analysis/Locations.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Dialect/MP/Formats.h"
#include "mp/Dialect/MP/Probes.h"
#include "mp/Dialect/MP/Scaling.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Numerics/ProbeRecord.h"
#include "mp/Support/Words.h"
#include "mp/Transforms/Train/Passes.h"
#include "llvm/Support/Regex.h"

namespace mlir::mp {
#define GEN_PASS_DEF_INSERTPROBES
#include "mp/Transforms/Train/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {
/// A value to be probed.
struct Chosen {
  Value value, scale; ///< the loss scale, if it is to be taken out
  std::string name;
  StringRef of;
  SmallVector<numerics::Format> formats = {}; ///< beside those that were asked for
  bool isScaled = false;
};

struct InsertProbes : mlir::mp::impl::InsertProbesBase<InsertProbes> {
  using InsertProbesBase::InsertProbesBase;

  InFlightDiagnostic refuse(const Twine &option, const Twine &value) {
    return emitError(UnknownLoc::get(&getContext()))
           << "mp-insert-probes: option '" << option << "' is " << value << ", expected ";
  }

  LogicalResult parseFormats() {
    numbers.clear();
    for (const ProbedFormat &name : formats) {
      std::optional<numerics::Format> format = ProbedFormatSet::read(name);
      if (!format || llvm::is_contained(numbers, *format))
        return refuse("formats", "'" + name + "'") << "each format once";
      numbers.push_back(*format);
    }
    return success();
  }

  static std::string nameOfArgument(func::FuncOp step, unsigned argument) {
    SmallVector<std::string> names = namesIn(step.getArgument(argument).getLoc());
    return names.empty() ? "argument " + std::to_string(argument) : names.front();
  }

  static std::string nameOfValue(Value value, const std::string &otherwise) {
    SmallVector<std::string> names = namesIn(value.getLoc());
    return names.empty() ? otherwise : names.front();
  }

  /// Gradients are what an unscaling checks, by their scale, else what the roles say.
  LogicalResult chooseGradients(func::FuncOp step) {
    SmallVector<UnscaleOp> unscales(step.getOps<UnscaleOp>());
    FailureOr<TrainingRoles> roles = failure();
    {
      // With an unscaling, roles only add names.
      std::optional<ScopedDiagnosticHandler> quiet;
      if (!unscales.empty())
        quiet.emplace(&getContext(), [](Diagnostic &) { return success(); });
      roles = findTrainingRoles(step);
    }
    if (failed(roles) && unscales.empty())
      return failure();
    auto nameOf = [&](ArrayRef<Value> values, unsigned number) {
      if (succeeded(roles))
        for (const Gradient &gradient : roles->gradients)
          if (llvm::is_contained(values, gradient.value) && gradient.argument)
            return nameOfArgument(step, *gradient.argument);
      return "gradient " + std::to_string(number);
    };
    for (UnscaleOp unscale : unscales)
      for (auto [number, scaled] : llvm::enumerate(unscale.getGradients()))
        chosen.push_back({scaled,
                          unscale.getScale(),
                          nameOf({scaled, unscale.getUnscaled()[number]}, unsigned(chosen.size())),
                          "gradient",
                          {},
                          true});
    if (unscales.empty())
      for (const Gradient &gradient : roles->gradients)
        if (!roles->isSeed(gradient.value))
          chosen.push_back({gradient.value, Value(),
                            nameOf({gradient.value}, unsigned(chosen.size())), "gradient"});
    return success();
  }

  /// Values that casts narrow, each once, with the formats that they are narrowed to.
  void chooseCasts(func::FuncOp step) {
    SetVector<Operation *> scaled;
    for (auto scale : step.getOps<ScaleLossOp>())
      getForwardSlice(scale.getResult(), &scaled);
    llvm::MapVector<Value, SmallVector<numerics::Format>> sources;
    SetVector<Value> overflowing; // what a cast makes infinite beyond its format
    for (auto cast : step.getOps<CastOp>()) {
      auto to = getNumericsFormat(cast.getResult().getType());
      FloatType from = getFloatFormat(cast.getSource().getType());
      if (!to || !numerics::canBeProbed(*to) ||
          !isa<RankedTensorType>(cast.getSource().getType()) || from.getWidth() > 32 ||
          numerics::info(*to).bits >= from.getWidth())
        continue;
      if (cast.getOverflow() != Overflow::Saturate)
        overflowing.insert(cast.getSource());
      SmallVector<numerics::Format> &formats = sources[cast.getSource()];
      if (!llvm::is_contained(formats, *to))
        formats.push_back(*to);
    }
    for (auto &[value, narrow] : sources) {
      auto argument = dyn_cast<BlockArgument>(value);
      std::string name = argument ? nameOfArgument(step, argument.getArgNumber())
                                  : nameOfValue(value, "cast " + std::to_string(chosen.size()));
      Operation *maker = value.getDefiningOp();
      chosen.push_back({value, Value(), name, "cast", narrow,
                        !overflowing.contains(value) || (maker && scaled.contains(maker))});
    }
  }

  LogicalResult chooseByName(func::FuncOp step, StringRef pattern) {
    llvm::Regex regex(pattern);
    std::string reason;
    if (!regex.isValid(reason))
      return refuse("select", "'name=" + pattern + "'") << "a regular expression: " << reason;
    const size_t before = chosen.size();
    for (Operation &op : step.getBody().front())
      for (OpResult result : op.getResults())
        if (llvm::any_of(namesIn(op.getLoc()), [&](StringRef name) { return regex.match(name); }))
          addIfFloat(result, nameOfValue(result, ""), "value");
    if (chosen.size() == before)
      return refuse("select", "'name=" + pattern + "'")
             << "an expression found in the name of a location of @" << step.getName();
    return success();
  }

  void addIfFloat(Value value, std::string name, StringRef of) {
    FloatType format =
        isa<RankedTensorType>(value.getType()) ? getFloatFormat(value.getType()) : FloatType();
    if (format && format.getWidth() <= 32)
      chosen.push_back({value, Value(), std::move(name), of});
  }

  LogicalResult choose(func::FuncOp step) {
    for (const std::string &what : select) {
      if (what == "gradients") {
        if (failed(chooseGradients(step)))
          return failure();
      } else if (what == "contractions") {
        unsigned number = 0;
        for (Operation &op : step.getBody().front()) {
          if (!isContraction(&op))
            continue;
          std::string fallback = "contraction " + std::to_string(number++);
          addIfFloat(op.getResult(0), nameOfValue(op.getResult(0), fallback), "contraction");
        }
      } else if (what == "casts") {
        chooseCasts(step);
      } else if (what == "parameters") {
        for (unsigned i = 0, e = step.getNumArguments(); i != e; ++i) {
          auto role = step.getArgAttrOfType<StringAttr>(i, kRoleAttrName);
          if (role && role.getValue() == kRoleParameter)
            addIfFloat(step.getArgument(i), nameOfArgument(step, i), "parameter");
        }
      } else if (what == "results") {
        Operation *end = step.getBody().front().getTerminator();
        for (auto [number, value] : llvm::enumerate(end->getOperands()))
          addIfFloat(value, "result " + std::to_string(number), "result");
      } else if (StringRef(what).starts_with("name=")) {
        if (failed(chooseByName(step, StringRef(what).drop_front(5))))
          return failure();
      } else {
        return refuse("select", "'" + what + "'")
               << "gradients, casts, contractions, parameters, results or name=REGEX"
               << support::didYouMean(
                      what, {"gradients", "casts", "contractions", "parameters", "results"});
      }
    }
    return success();
  }

  /// One name, one probe: the second of a name is told apart by a number.
  void tellApart() {
    llvm::StringMap<unsigned> seen;
    for (Chosen &one : chosen)
      if (unsigned times = seen[(one.of + "/" + one.name).str()]++)
        one.name += " (" + std::to_string(times + 1) + ")";
  }

  /// The row of the ring with this call's number and record, or as it was in calls that are left
  /// out.
  Value writeRow(OpBuilder &b, Location loc, Value row, Value record, Value calls) {
    const unsigned last = unsigned(cast<RankedTensorType>(row.getType()).getRank() - 1);
    return buildElementwise(
        b, loc, {row, calls}, b.getF64Type(),
        [&](OpBuilder &at, Location loc, ValueRange x) -> Value {
          auto whole = [&](int64_t value) { return scalar(at, loc, at.getI64IntegerAttr(value)); };
          Value due =
              arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq,
                                    arith::RemUIOp::create(at, loc, x[1], whole(every)), whole(0));
          Value column = linalg::IndexOp::create(at, loc, last);
          Value zero = arith::ConstantIndexOp::create(at, loc, 0);
          Value one = arith::ConstantIndexOp::create(at, loc, 1);
          Value isNumber = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq, column, zero);
          Value place =
              arith::SubIOp::create(at, loc, arith::MaxSIOp::create(at, loc, column, one), one);
          Value recorded = tensor::ExtractOp::create(at, loc, record, place);
          Value number = arith::UIToFPOp::create(at, loc, at.getF64Type(), x[1]);
          Value now = arith::SelectOp::create(at, loc, isNumber, number, recorded);
          return arith::SelectOp::create(at, loc, due, now, x[0]);
        });
  }

  /// The ring with the row of this call in its place.
  Value writeRing(OpBuilder &b, Location loc, Value ring, Value record, Value calls) {
    if (ringSize == 1)
      return writeRow(b, loc, ring, record, calls);
    auto type = cast<RankedTensorType>(ring.getType());
    Value call = tensor::ExtractOp::create(b, loc, calls, ValueRange());
    auto number = [&](int64_t value) { return scalar(b, loc, b.getI64IntegerAttr(value)); };
    Value turn = arith::RemUIOp::create(b, loc, arith::DivUIOp::create(b, loc, call, number(every)),
                                        number(ringSize));
    Value at = arith::IndexCastOp::create(b, loc, b.getIndexType(), turn);
    SmallVector<OpFoldResult> offsets{at, b.getIndexAttr(0)},
        sizes{b.getIndexAttr(1), b.getIndexAttr(type.getDimSize(1))}, strides(2, b.getIndexAttr(1));
    auto rowType = RankedTensorType::get({type.getDimSize(1)}, b.getF64Type());
    Value old = tensor::ExtractSliceOp::create(b, loc, rowType, ring, offsets, sizes, strides);
    Value next = writeRow(b, loc, old, record, calls);
    return tensor::InsertSliceOp::create(b, loc, next, ring, offsets, sizes, strides);
  }

  /// The formats that the value is stored in, or rounded to by whoever reads it.
  static SmallVector<numerics::Format> formatsUsed(Value value,
                                                   ArrayRef<numerics::Format> formats) {
    SmallVector<numerics::Format> used;
    auto note = [&](Type type) {
      auto format = getNumericsFormat(type);
      if (format && llvm::is_contained(formats, *format) && !llvm::is_contained(used, *format))
        used.push_back(*format);
    };
    note(value.getType());
    for (Operation *user : value.getUsers())
      if (auto cast = dyn_cast<CastOp>(user))
        note(cast.getResult().getType());
    return used;
  }

  /// Inserts the probe behind the value and its ring at the end; returns the next ring.
  Value insertProbe(func::FuncOp step, const Chosen &one, AppendedState &appended, Value calls) {
    SmallVector<numerics::Format> counted = numbers;
    for (numerics::Format format : one.formats)
      if (!llvm::is_contained(counted, format))
        counted.push_back(format);
    OpBuilder b(step.getBody().front().getTerminator());
    SmallVector<Attribute> types;
    for (numerics::Format format : counted)
      types.push_back(TypeAttr::get(floatTypeOf(&getContext(), format)));
    const int64_t size = numerics::probeRecordSize(counted.size(), histogram);
    Location loc = one.value.getLoc();
    Value ring = appended.add(
        DenseElementsAttr::get(RankedTensorType::get({ringSize, size + 1}, b.getF64Type()),
                               b.getF64FloatAttr(-1).getValue()),
        kRoleProbe);
    ProbeInfo info{one.name, one.of.str(), counted,     formatsUsed(one.value, counted),
                   every,    histogram,    one.isScaled};
    step.setArgAttr(cast<BlockArgument>(ring).getArgNumber(), kProbeAttrName,
                    info.toAttr(&getContext()));
    OpBuilder behind(&getContext());
    behind.setInsertionPointAfterValue(one.value);
    Value record = ProbeOp::create(behind, loc, RankedTensorType::get({size}, b.getF64Type()),
                                   one.value, one.scale, b.getArrayAttr(types), histogram);
    return writeRing(b, loc, ring, record, calls);
  }

  LogicalResult insert() {
    if (every < 1)
      return refuse("every", Twine(every)) << "at least 1";
    if (ringSize < 1)
      return refuse("ring", Twine(ringSize)) << "at least 1";
    if (failed(parseFormats()))
      return failure();
    auto found = findTrainStep(getOperation(), function, "mp-insert-probes");
    if (failed(found))
      return failure();
    func::FuncOp step = *found;
    if (!step.getBody().hasOneBlock())
      return step.emitError("has control flow between blocks, expected one block to probe");
    if (failed(choose(step)))
      return failure();
    if (chosen.empty())
      return step.emitError("has nothing of 'select', expected a value to probe");
    tellApart();

    Operation *end = step.getBody().front().getTerminator();
    AppendedState appended(step);
    SmallVector<Value> next;
    OpBuilder atEnd(end);
    Value calls = appended.add(atEnd.getI64IntegerAttr(0), kRoleProbeCalls);
    next.push_back(buildElementwise(atEnd, step.getLoc(), calls, atEnd.getI64Type(),
                                    [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                                      return arith::AddIOp::create(
                                          b, loc, x[0], scalar(b, loc, b.getI64IntegerAttr(1)));
                                    }));
    for (const Chosen &one : chosen)
      next.push_back(insertProbe(step, one, appended, calls));
    appended.finish(next);
    return success();
  }

  void runOnOperation() override {
    chosen.clear();
    if (failed(insert()))
      signalPassFailure();
  }

  SmallVector<Chosen> chosen;
  SmallVector<numerics::Format> numbers;
};
} // namespace
