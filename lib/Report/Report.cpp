// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collecting the rows of a report from a module.

#include "mp/Report/Report.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Analysis/ConstantRounding.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Analysis/FunctionCopies.h"
#include "mp/Analysis/FunctionHash.h"
#include "mp/Analysis/FunctionWalk.h"
#include "mp/Analysis/Idioms/Idioms.h"
#include "mp/Analysis/Locations.h"
#include "mp/Analysis/TiedStorage.h"
#include "mp/Dialect/MP/Scaling.h"
#include "mp/Dialect/MP/SplitOps.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::mp;

const std::string &Report::typeText(Type type) {
  std::string &text = typeTexts[isa_and_nonnull<NoneType>(type) ? Type() : type];
  if (text.empty() && type && !isa<NoneType>(type))
    llvm::raw_string_ostream(text) << type;
  return text.empty() ? text = "_" : text;
}

/// Bytes of a tensor stored in `format`; saturates instead of overflowing.
static int64_t bytesOf(Type type, Type format, int64_t assumedDim) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto stored = dyn_cast_or_null<FloatType>(format);
  if (!tensor || !stored)
    return 0;
  int64_t elements = 1;
  for (int64_t size : tensor.getShape())
    elements = llvm::SaturatingMultiply<uint64_t>(elements,
                                                  ShapedType::isDynamic(size) ? assumedDim : size);
  return llvm::SaturatingMultiply<uint64_t>(elements, (stored.getWidth() + 7) / 8);
}

/// Adds up the bytes of `values`, each stored as `storages` says or as its own type does.
static void addBytes(ValueRange values, ArrayRef<Type> storages, int64_t assumedDim, OpRow &row) {
  for (auto [value, stored] : llvm::zip(values, storages)) {
    row.bytesBefore = llvm::SaturatingAdd<uint64_t>(
        row.bytesBefore, bytesOf(value.getType(), getFloatFormat(value.getType()), assumedDim));
    row.bytesAfter =
        llvm::SaturatingAdd<uint64_t>(row.bytesAfter, bytesOf(value.getType(), stored, assumedDim));
  }
}

/// Describes what an op with a body of its own does, in a few names; empty for others.
static std::string describeBody(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || structured.getRegionBuilder()) // the body of a named op follows from its name
    return "";
  constexpr unsigned most = 4;
  std::string text;
  unsigned count = 0;
  op->getRegion(0).walk([&](Operation *inner) {
    if (inner->hasTrait<OpTrait::IsTerminator>() || ++count > most)
      return;
    text += (text.empty() ? "" : " ") + inner->getName().stripDialect().str();
  });
  return count > most ? text + " ..." : text;
}

/// Names what `op` is: its operation, body, place, and class.
static void describeOp(Operation *op, OpRow &row) {
  row.op = op->getName().getStringRef();
  row.body = describeBody(op);
  row.location = describeLocation(op->getLoc());
  if (SmallVector<std::string> names = namesIn(op->getLoc()); !names.empty())
    row.name = names.front();
  row.opClass = getOpClass(op);
  if (auto magnitudes = getMagnitudes(op))
    row.magnitudes.assign(magnitudes->begin(), magnitudes->end());
}

/// Tells whether the decision makes the op narrower or wider than it was, and on what ranges it
/// rests.
static void compareWithOwn(Operation *op, PrecisionAttr precision, OpRow &row) {
  FloatType own = op->getNumResults() ? getFloatFormat(op->getResult(0).getType()) : FloatType();
  row.narrowed = row.opClass == OpClass::TensorCore && own && precision.getCompute() &&
                 precision.getCompute() != own && own.isF32();
  auto computed = dyn_cast_or_null<FloatType>(precision.getCompute());
  if (row.narrowed && APFloat::semanticsMaxExponent(computed.getFloatSemantics()) <
                          APFloat::semanticsMaxExponent(APFloat::IEEEsingle()))
    row.evidence = precision.getEvidence() == Evidence::None
                       ? "unchecked"
                       : stringifyEvidence(precision.getEvidence());
  auto isWider = [&](Type format) {
    auto type = dyn_cast_or_null<FloatType>(format);
    return type && own && own.getWidth() < 32 && type.getWidth() > own.getWidth();
  };
  row.promoted = isWider(precision.getCompute()) || isWider(precision.getAcc());
}

/// Writes the formats of the decision.
void Report::describeDecision(Operation *op, PrecisionAttr precision, OpRow &row) {
  row.compute = precision.getCompute() ? typeText(precision.getCompute()) : "";
  if (auto scheme = getSplitScheme(op)) {
    row.split = true;
    row.compute = numerics::toString(*scheme);
  }
  if (const auto *recipe = getScaling(op)) {
    row.scaled = true;
    row.compute = recipe->name.str();
  }
  row.acc = precision.getAcc() ? typeText(precision.getAcc()) : "";
  for (Type type : precision.getIn())
    row.in.push_back(typeText(type));
  for (Type type : precision.getOut())
    row.out.push_back(typeText(type));
  auto result = llvm::find_if(
      op->getResults(), [](Value v) { return static_cast<bool>(getFloatFormat(v.getType())); });
  if (result != op->getResults().end())
    row.type = typeText((*result).getType());
  row.by = stringifyOrigin(precision.getOrigin());
  row.reason = precision.getReason();
}

/// The rows of the decided ops; returns how many.
int64_t Report::collectOps(FunctionOpInterface function) {
  DenseMap<Operation *, int64_t> ordinals;
  auto maker = [&](Value value) -> std::string {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument.getOwner()->getParentOp() == function
                 ? "argument " + std::to_string(argument.getArgNumber())
                 : "other";
    auto known = ordinals.find(value.getDefiningOp());
    return known == ordinals.end() ? "other" : "op " + std::to_string(known->second);
  };
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto precision = op->getAttrOfType<PrecisionAttr>(kPrecisionAttrName);
    if (!precision)
      return;
    OpRow row{};
    row.function = function.getName();
    row.ordinal = ordinals.size();
    ordinals[op] = row.ordinal;
    describeOp(op, row);
    describeDecision(op, precision, row);
    for (Value operand : op->getOperands())
      if (getFloatFormat(operand.getType()))
        row.reads.push_back(maker(operand));
    compareWithOwn(op, precision, row);
    addBytes(op->getOperands(), precision.getIn(), assumedDim, row);
    addBytes(op->getResults(), precision.getOut(), assumedDim, row);
    bytesBefore = llvm::SaturatingAdd<uint64_t>(bytesBefore, row.bytesBefore);
    bytesAfter = llvm::SaturatingAdd<uint64_t>(bytesAfter, row.bytesAfter);
    ops.push_back(std::move(row));
  });
  return ordinals.size();
}

/// The signature: formats of arguments and results, those that change, and the state they carry.
void Report::summarizeFunction(FunctionOpInterface function, int64_t decided) {
  FunctionRow summary{};
  summary.name = function.getName();
  summary.hash = hashFunction(function);
  summary.ops = decided;
  for (BlockArgument argument : function.getArguments()) {
    Type own = getFloatFormat(argument.getType()), stored = own;
    if (auto changed =
            function.getArgAttrOfType<TypeAttr>(argument.getArgNumber(), kStorageAttrName))
      stored = changed.getValue();
    if (stored != own) {
      ++summary.changedArguments;
      summary.changedBytesBefore += bytesOf(argument.getType(), own, assumedDim);
      summary.changedBytesAfter += bytesOf(argument.getType(), stored, assumedDim);
    }
    summary.arguments.push_back(typeText(stored));
    auto next = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kStateAttrName);
    if (!next || function->hasAttr(kInitOfAttrName))
      continue;
    auto role = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kRoleAttrName);
    summary.state.push_back({argument.getArgNumber(), next.getInt(), role ? role.str() : "",
                             typeText(argument.getType())});
  }
  bool anyChanges = false;
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    auto changed = function.getResultAttrOfType<TypeAttr>(index, kStorageAttrName);
    anyChanges |= changed != nullptr;
    summary.results.push_back(typeText(changed ? changed.getValue() : getFloatFormat(type)));
  }
  if (!anyChanges)
    summary.results.clear();
  functions.push_back(std::move(summary));
}

void Report::collectFunction(FunctionOpInterface function) {
  int64_t decided = collectOps(function);
  summarizeFunction(function, decided);
  if (decided == 0)
    unassigned.push_back(function.getName().str());
}

static bool isDecided(FunctionOpInterface function) {
  return function
      ->walk([](Operation *op) {
        return op->hasAttr(kPrecisionAttrName) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Notes in the rows of copies who calls them.
void Report::collectCopies(ModuleOp module) {
  for (FunctionRow &row : functions) {
    auto copy = dyn_cast_or_null<FunctionOpInterface>(module.lookupSymbol(row.name));
    StringAttr original = copy ? getOriginalName(copy) : StringAttr();
    if (!original)
      continue;
    row.copyOf = original.str();
    for (auto caller : module.getOps<FunctionOpInterface>())
      for (auto [number, call] : llvm::enumerate(findCallsOf(caller, row.copyOf)))
        if (cast<SymbolRefAttr>(call.getCallableForCallee()).getRootReference() == row.name)
          row.calls.push_back({caller.getName().str(), number});
  }
}

void Report::collectDecisions(ModuleOp module) {
  if (auto file = module.getLoc()->findInstanceOf<FileLineColLoc>())
    model = llvm::sys::path::filename(file.getFilename().getValue()).str();
  (void)walkOutsideFunctionBodies<ModuleOp>(module, [&](ModuleOp inner) { // modules in modules, too
    // Before there are rows, which take as much memory as the analysis.
    for (auto function : inner.getOps<FunctionOpInterface>()) {
      if (!isDecided(function))
        continue;
      IdiomAnalysis analysis(function);
      for (const Idiom &idiom : analysis.getIdioms())
        idioms.push_back({function.getName().str(), idiom.kind.str(),
                          describeLocation(idiom.root->getLoc()), int64_t(idiom.members.size())});
    }
    TiedStorage ties(inner);
    for (auto function : inner.getOps<FunctionOpInterface>()) {
      if (function.isExternal())
        continue;
      collectFunction(function);
      functions.back().isPrivate = function.isPrivate();
      if (!function.isPrivate())
        continue;
      for (BlockArgument argument : function.getArguments())
        if (const TiedValues *tied = ties.find(argument); tied && !tied->frozen.empty())
          functions.back().keeps = tied->frozen;
    }
    collectCopies(inner);
    return WalkResult::advance();
  });
}

std::string mlir::mp::describeSource(Value source) {
  if (auto argument = dyn_cast<BlockArgument>(source)) {
    std::string text = "argument " + std::to_string(argument.getArgNumber());
    SmallVector<std::string> names = namesIn(argument.getLoc());
    return names.empty() ? text : text + " (" + names.front() + ")";
  }
  Operation *op = source.getDefiningOp();
  SmallVector<std::string> names = namesIn(op->getLoc());
  std::string text = op->getName().getStringRef().str();
  return names.empty() ? text : text + " (" + names.front() + ")";
}

/// Elements of a constant that `op`, the constant or a cast of what is made of it by moves, clamps.
static int64_t countSaturated(Operation *op) {
  if (auto elements = op->getAttrOfType<IntegerAttr>(kSaturatedAttrName))
    return elements.getInt();
  auto cast = dyn_cast<CastOp>(op);
  if (!cast || !cast.getInserted() || cast.getOverflow() != Overflow::Saturate)
    return 0;
  Attribute constant = findConstant(cast.getSource());
  auto rounding = constant ? inspectRounding(constant, cast.getResultFormat()) : std::nullopt;
  return rounding ? rounding->overflowed : 0;
}

void Report::collectCasts(ModuleOp module) {
  walkFunctions(module, [&](FunctionOpInterface function) {
    function->walk([&](Operation *op) {
      if (int64_t elements = countSaturated(op))
        saturated.push_back({function.getName().str(), describeLocation(op->getLoc()),
                             typeText(op->getResult(0).getType()), elements});
      collectRewrite(function, op);
      if (!op->hasAttr("inserted") || !isa<CastOp, RoundOp>(op))
        return;
      CastRow row;
      row.function = function.getName();
      row.location = describeLocation(op->getLoc());
      Value source = op->getOperand(0);
      row.tensor = describeSource(source);
      row.type = typeText(source.getType());
      row.from = typeText(getFloatFormat(source.getType()));
      auto round = dyn_cast<RoundOp>(op);
      row.to = typeText(round ? round.getFormat() : getFloatFormat(op->getResult(0).getType()));
      row.bytes = bytesOf(source.getType(), getFloatFormat(source.getType()), assumedDim);
      row.users = std::distance(op->user_begin(), op->user_end());
      auto argument = dyn_cast<BlockArgument>(source);
      row.ofArgument = argument && argument.getOwner()->getParentOp() == function;
      casts.push_back(std::move(row));
    });
  });
}
